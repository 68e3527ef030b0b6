"""The three forms of the network whose training steps are compared: PyG's, the reference, the engine."""

import time
from abc import ABC, abstractmethod
from dataclasses import dataclass, replace

import numpy as np
import torch
from numpy.typing import NDArray

from phist.graphs.datasets import load_dataset
from phist.graphs.graphset import GraphSet
from phist.nn.network import make_network
from phist.training.loop import Examples, Trainer  # an epoch of the real loop, without what surrounds a run
from phist.training.presets import Preset, make_preset

FORMS = ("pyg", "reference", "engine")
SHORTEST = 0.2


@dataclass(frozen=True)
class Task:
    """Graphs to train on and the network and training to do it with."""

    examples: Examples
    preset: Preset

    @property
    def n_classes(self) -> int:
        return int(self.examples.targets.max()) + 1

    @property
    def n_steps(self) -> int:
        """Steps of an epoch."""
        return -(-len(self.examples.graphs) // self.preset.training.batch_size)

    def part(self, chosen: NDArray[np.int64]) -> "Task":
        """The same with some of the graphs."""
        examples = self.examples
        return Task(Examples(examples.graphs[chosen], examples.targets[chosen], examples.weights[chosen]), self.preset)


def make_task(graphs: GraphSet, preset: Preset) -> Task:
    """``graphs`` with their classes; one class where they have none."""
    labels = np.zeros(len(graphs)) if graphs.labels is None else graphs.label_list()
    targets = np.unique(np.asarray(labels).astype(str), return_inverse=True)[1].astype(np.int64)
    return Task(Examples(graphs, targets, np.ones(len(graphs), np.float32)), preset)


def dataset_task(name: str, steps: int) -> Task:
    """Enough graphs of a dataset for so many steps with the appendix's sizes, evenly over the sizes that occur."""
    graphs, preset = load_dataset(name, download=False), make_preset(name)
    count = min(len(graphs), steps * preset.training.batch_size)
    by_size = np.argsort(graphs.node_counts(), kind="stable")
    quantiles = ((np.arange(count) + 0.5) * len(graphs) / count).astype(np.int64)
    return make_task(graphs, preset).part(np.sort(by_size[quantiles]))


def smallest(task: Task) -> Task:
    """The smallest few graphs: enough to run all code once, in next to no memory."""
    return task.part(np.argsort(task.examples.graphs.node_counts(), kind="stable")[:2])


class Form(ABC):
    """One form of a network on a task.

    Args:
        threads: how many a step may use.
    """

    def __init__(self, task: Task, threads: int) -> None:
        self.task, self.threads = task, threads
        self.epochs = 0

    def run(self) -> float:
        """Epochs for at least `SHORTEST` seconds, so that what another form left in the caches is soon gone; seconds a step."""
        before = torch.get_num_threads()
        torch.set_num_threads(self.threads)
        begin, epochs = time.perf_counter(), 0
        while not epochs or time.perf_counter() - begin < SHORTEST:
            self.run_epoch(self.epochs)
            self.epochs += 1
            epochs += 1
        seconds = time.perf_counter() - begin
        torch.set_num_threads(before)
        return seconds / (epochs * self.task.n_steps)

    @abstractmethod
    def run_epoch(self, number: int) -> None:
        """All graphs once in random order."""


class PhistForm(Form):
    """The real training loop, by either engine."""

    def __init__(self, task: Task, threads: int, engine: str) -> None:
        super().__init__(task, threads)
        training = replace(task.preset.training, epochs=1_000_000, warmup=0)  # a learning rate that never ends
        network = make_network(task.preset.network, task.n_classes, seed=0)
        before = torch.get_num_threads()
        torch.set_num_threads(threads)  # the engine's budget is what torch has when it is made
        self.trainer = Trainer(network, task.examples, None, training, engine)
        torch.set_num_threads(before)

    def run_epoch(self, number: int) -> None:
        trainer = self.trainer
        trainer.network.train()
        with trainer.computation.at_work():
            for steps in trainer.steps_of(number):
                trainer.learner.train(steps, trainer.optimizer, trainer.config.gradient_clip)


class PygForm(Form):
    """The straightforward form of benchmarks/pyg_form.py."""

    def __init__(self, task: Task, threads: int) -> None:
        import pyg_form

        super().__init__(task, threads)
        self.pyg = pyg_form
        self.data = pyg_form.as_data_list(task.examples.graphs, torch.from_numpy(task.examples.targets))
        self.network = pyg_form.PygNetwork(task.preset.network, task.n_classes)
        self.optimizer = pyg_form.make_optimizer(self.network, task.preset.training)
        self.generator = torch.Generator().manual_seed(0)

    def run_epoch(self, number: int) -> None:
        training = self.task.preset.training
        order = np.random.default_rng((0, number)).permutation(len(self.data))
        for start in range(0, len(order), training.batch_size):
            chosen = [self.data[position] for position in order[start : start + training.batch_size]]
            self.pyg.pyg_step(self.network, self.optimizer, chosen, training.gradient_clip, self.generator)


def make_form(name: str, task: Task, threads: int) -> Form:
    """A form by its name."""
    if name == "pyg":
        return PygForm(task, threads)
    return PhistForm(task, threads, engine="reference" if name == "reference" else "fused")
