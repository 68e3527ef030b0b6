"""The eight graph neural networks of the paper's comparison, on degrees."""

import math
from collections.abc import Callable
from dataclasses import dataclass
from itertools import product
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from phist.baselines.method import Account, Method, Task
from phist.baselines.options import check_above_zero, check_positive, read_options
from phist.errors import GraphInputError
from phist.progress import SlowProgress

if TYPE_CHECKING:
    from phist.baselines.gnn_batches import GnnGraphs
    from phist.baselines.gnn_models import Architecture, GnnNetwork
    from phist.baselines.gnn_training import Run


@dataclass(frozen=True)
class GnnOptions:
    """The grid, and how each network of it is trained."""

    layers: tuple[int, ...] = (2, 3, 4, 5)  # the paper's grid
    hidden: tuple[int, ...] = (16, 32, 64, 128)  # likewise
    epochs: int = 400  # at most, as in the paper
    patience: int = 50  # one halving of the learning rate: a loss that falls after it is not missed
    batch_size: int = 128  # this and the two below as in PyTorch Geometric's benchmark
    learning_rate: float = 0.01
    halve_every: int = 50  # epochs after which the learning rate is halved

    def __post_init__(self) -> None:
        check_positive(layers=self.layers, hidden=self.hidden, epochs=self.epochs, patience=self.patience)
        check_positive(batch_size=self.batch_size, halve_every=self.halve_every)
        check_above_zero(learning_rate=self.learning_rate)


class GraphNeuralNetwork(Method):
    """One of the networks, trained for every number of layers and channels of a grid."""

    family = "gnn"
    selection = "lowest validation loss, over the epochs of each network and then over layers and channels"
    libraries = (
        "phist.baselines.gnn_batches", "phist.baselines.gnn_models", "phist.baselines.gnn_training",
        "torch._dynamo",  # which PyTorch's optimizers load when they are made
    )  # fmt: skip

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        read_options(GnnOptions, self.name, options)

    def fit(self, task: Task) -> Self:
        from phist.baselines.gnn_models import ARCHITECTURES
        from phist.baselines.gnn_training import measure, part_of

        options = read_options(GnnOptions, self.name, self.options)
        _check_parts(self.name, task)
        architecture = ARCHITECTURES[self.name]
        graphs = _prepared(task, architecture, options)
        self.account, self._n_classes = Account(notes=_notes(architecture, options)), task.n_classes
        lowest = math.inf
        grid = list(product(options.layers, options.hidden))
        with SlowProgress(f"training {self.name}", len(grid) * options.epochs, show=None) as bar:
            for number, (layers, hidden) in enumerate(grid):
                needed = graphs.down_to(architecture.coarsenings(layers))
                network, run = _trained(task, architecture, needed, options, layers, hidden, tick=lambda: bar.advance(1))
                bar.advance_to((number + 1) * options.epochs)
                is_best = number == 0 or run.lowest_loss < lowest
                self._note({"layers": layers, "hidden": hidden, "epoch": run.best}, run, is_best)
                if is_best:
                    lowest, self._network, self._graphs = run.lowest_loss, network, needed
        self.account.training_accuracy = measure(self._network, part_of(self._graphs, task.labels, task.training))[1]
        return self

    def _note(self, settings: dict[str, Any], run: "Run", is_best: bool) -> None:
        figures = {name: run.figures[name] for name in ("validation_loss", "validation_accuracy")}
        self.account.tried.append(settings | {"epochs": len(run.history)} | figures)
        if is_best:
            self.account.chosen, self.account.history = settings, run.history
            self.account.validation_accuracy = figures["validation_accuracy"]

    def predict(self, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        from phist.baselines.gnn_training import probabilities_of

        return probabilities_of(self._network, self._graphs, positions, self._n_classes)


class GCN(GraphNeuralNetwork):
    """Graph convolutions by the normalised adjacency (Kipf and Welling, 2016), the readouts of all layers joined."""

    name = "gcn"


class GIN0(GraphNeuralNetwork):
    """Graph isomorphism network (Xu et al., 2018) whose epsilon is zero, the readouts of all layers joined."""

    name = "gin-0"


class GINEps(GraphNeuralNetwork):
    """The same with an epsilon that is learnt."""

    name = "gin-eps"


class Sage(GraphNeuralNetwork):
    """GraphSAGE with means (Hamilton et al., 2017), the readouts of all layers joined."""

    name = "sage"


class SageNoJK(GraphNeuralNetwork):
    """The same with the readout of the last layer only."""

    name = "sage-no-jk"


class GlobalAttention(GraphNeuralNetwork):
    """GraphSAGE read out by attention over the nodes (Li et al., 2015)."""

    name = "global-attention"


class Graclus(GraphNeuralNetwork):
    """Convolutions on graphs that are halved by pairing neighbours (Dhillon et al., 2007), the readouts of all layers joined."""

    name = "graclus"


class Set2Set(GraphNeuralNetwork):
    """GraphSAGE read out by a recurrent network that asks the nodes four times (Vinyals et al., 2015)."""

    name = "set2set"


METHODS: tuple[type[Method], ...] = (GCN, GIN0, GINEps, Sage, SageNoJK, GlobalAttention, Graclus, Set2Set)


def _check_parts(name: str, task: Task) -> None:
    if len(task.validation) == 0 or len(task.training) == 0:
        raise GraphInputError(
            f"{name} was given {len(task.training)} training and {len(task.validation)} validation graphs; "
            "it learns from the ones and chooses an epoch by the others: pass some of both"
        )
    task.labels_of(task.training), task.labels_of(task.validation)  # a hidden label is refused here


def _notes(architecture: "Architecture", options: GnnOptions) -> list[str]:
    notes = [f"early stopping after {options.patience} epochs without a lower validation loss, {options.epochs} epochs at most"]
    if (options.layers, options.hidden) != (GnnOptions.layers, GnnOptions.hidden):
        notes.append(f"grid of layers {list(options.layers)} and channels {list(options.hidden)}, not the paper's whole grid")
    if architecture.coarsening:
        notes.append("each graph is coarsened once, not anew at every step; with two layers there is no coarsening")
    return notes


def _prepared(task: Task, architecture: "Architecture", options: GnnOptions) -> "GnnGraphs":
    from phist.baselines.gnn_batches import GnnGraphs

    deepest = architecture.coarsenings(max(options.layers))
    return GnnGraphs(task.graphs, architecture.aggregation, coarsenings=deepest, seed=task.seed, cache=task.cache)


def _trained(
    task: Task,
    architecture: "Architecture",
    graphs: "GnnGraphs",
    options: GnnOptions,
    layers: int,
    hidden: int,
    tick: Callable[[], None],
) -> "tuple[GnnNetwork, Run]":
    from phist.baselines.gnn_models import GnnNetwork
    from phist.baselines.gnn_training import TrainingSchedule, part_of, train

    schedule = TrainingSchedule(
        options.epochs, options.patience, options.batch_size, options.learning_rate, options.halve_every, task.seed
    )
    return train(
        lambda: GnnNetwork(architecture, graphs.n_degrees, hidden, layers, task.n_classes),
        graphs,
        task.labels,
        task.training,
        part_of(graphs, task.labels, task.validation),
        schedule,
        tick,
    )
