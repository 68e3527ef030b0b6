"""The training loop."""

import math
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray

from phist.engine.computation import Computation, weighted_loss
from phist.engine.steps import Steps
from phist.errors import ConfigError, DivergenceError, GroupError
from phist.graphs.graphset import GraphSet
from phist.nn.adamw import AdamW
from phist.nn.network import StructuralNetwork
from phist.training.checkpoint import (
    Checkpoint,
    State,
    check_contents,
    load_checkpoint,
    optimizer_state,
    restore_optimizer,
    save_checkpoint,
)
from phist.training.config import TrainingConfig
from phist.training.finite import first_non_finite
from phist.training.group import current_group
from phist.training.history import Ending, Epoch, History
from phist.training.inference import average_over_roots
from phist.training.parallel import DataParallel
from phist.training.progress import TrainingProgress
from phist.training.time_budget import epochs_at, plan_epochs
from phist.training.windows import Windowed, compute_windowed, is_windowed, order_in_windows


@dataclass(frozen=True)
class Examples:
    """Graphs, the number of each graph's class, and how much each counts."""

    graphs: GraphSet
    targets: NDArray[np.int64]
    weights: NDArray[np.float64]
    rows: NDArray[np.int64] | None = None  # which of the graphs are meant, where they are too many to be copied; else all of them

    def part(self, positions: NDArray[np.int64]) -> "Examples":
        """Some of them."""
        targets, weights = self.targets[positions], self.weights[positions]
        if not is_windowed(self.graphs):
            return Examples(self.graphs[positions], targets, weights)
        return Examples(self.graphs, targets, weights, positions if self.rows is None else self.rows[positions])


def fit_network(
    network: StructuralNetwork,
    training: Examples,
    validation: Examples | None,
    config: TrainingConfig,
    *,
    engine: str = "auto",
    checkpoint: str | Path | None = None,
    run: str = "",
    progress: bool | None = None,
) -> History:
    """Train ``network`` in place and leave it with the weights of the selected epoch.

    Ctrl-C ends training early and keeps the best weights so far. A loss that is not finite is a `DivergenceError`; the network
    then has the best weights of the epochs before. With ``checkpoint`` the run can be killed at any moment and goes on after
    its last complete epoch when called again with the same arguments: everything random in an epoch comes from the seed and
    the epoch's number, so it ends with the same weights as an uninterrupted one.

    Args:
        engine: ``"auto"``, ``"fused"`` or ``"reference"``; which it came to is in the history.
        run: a name for what is trained on what, so that a checkpoint of something else is refused.
        progress: whether to show a bar; ``None`` shows it on a terminal.
    """
    trainer = Trainer(network, training, validation, config, engine)
    if checkpoint is not None and Path(checkpoint).exists():
        trainer.resume(checkpoint, run)
    try:
        with TrainingProgress(progress, config.epochs) as bar, trainer.computation.at_work():
            while trainer.ending() is None:
                bar.show(trainer.run_epoch(), trainer.n_epochs)
                if checkpoint is not None:
                    trainer.save(checkpoint, run)
        trainer.history.ending = trainer.ending() or "finished"
    except KeyboardInterrupt:
        if trainer.history.best < 0:
            raise
        trainer.history.ending = "interrupted"
    except DivergenceError:
        network.load_state_dict(trainer.best)
        network.eval()
        raise
    network.load_state_dict(trainer.best)
    network.eval()
    return trainer.history


class Trainer:
    """The state of a run between two epochs."""

    def __init__(
        self, network: StructuralNetwork, training: Examples, validation: Examples | None, config: TrainingConfig, engine: str
    ) -> None:
        self.network, self.training, self.validation, self.config = network, training, validation, config
        self.group = current_group()
        self.computation = _computation(network, training, engine)
        self.validation_computation = None if validation is None else _computation(network, validation, engine)
        self.learner = self.computation if self.group.size == 1 else DataParallel(self.computation, self.group)
        groups = _parameter_groups(network, config.weight_decay)
        self.optimizer = AdamW(groups, lr=config.learning_rate, fused=True)
        self.history = History()
        self.best: State = copy_state(network)

    def ending(self) -> Ending | None:
        """Why training is over, or ``None`` while it is not."""
        done, history = len(self.history.epochs), self.history
        if done >= self.n_epochs:
            return "finished" if done >= self.config.epochs else "time budget"
        if self.config.patience is not None and done - 1 - history.best >= self.config.patience:
            return "patience"
        budget = self.config.time_budget
        if budget is not None and done and history.seconds + history.seconds / done > budget:
            return "time budget"
        return None

    @property
    def n_epochs(self) -> int:
        """How many there will be, as far as is known."""
        return self.history.planned or self.config.epochs

    def run_epoch(self) -> Epoch:
        """One pass over the training graphs, then a look at the validation graphs."""
        begin, number = time.perf_counter(), len(self.history.epochs)
        self.network.train()
        losses, hits, count = 0.0, 0, 0
        for steps in self.steps_of(number):
            own_losses, own_hits = self.learner.train(steps, self.optimizer, self.config.gradient_clip)
            losses, hits, count = losses + own_losses, hits + own_hits, count + len(steps.graphs)
        try:
            validation_loss, validation_accuracy = self._validate(number)
        except DivergenceError:
            losses, validation_loss = math.nan, None
        if not math.isfinite(losses) or first_non_finite(self.network.state_dict()) is not None:
            raise self._diverged(number)
        epoch = Epoch(
            number=number,
            learning_rate=self._learning_rate_at(number),
            loss=losses / count,
            accuracy=hits / count,
            validation_loss=validation_loss,
            validation_accuracy=validation_accuracy,
            seconds=self.group.agree(time.perf_counter() - begin),
        )
        if self.history.add(epoch, self.config.selection):
            self.best = copy_state(self.network)
        plan_epochs(self.history, self.config)
        return epoch

    def _learning_rate_at(self, progress: float) -> float:
        return self.config.learning_rate_at(progress, epochs_at(self.history, self.config, int(progress)))

    def _diverged(self, number: int) -> DivergenceError:
        config = self.config
        return DivergenceError(
            f"training diverged in epoch {number + 1}: the loss is no longer a finite number; lower learning_rate "
            f"({config.learning_rate:g}), set a gradient_clip ({config.gradient_clip}), and look at edge weights if they differ by "
            "many orders of magnitude",
            self.history,
        )

    def steps_of(self, number: int) -> Iterator[Steps]:
        """The steps of epoch ``number``: all at once, or as many as have their graphs in memory together."""
        generator = np.random.default_rng((self.config.seed, number))
        examples, n_graphs, size = self.training, len(self.training.targets), self.config.batch_size
        mean_size = self.computation.mean_size if isinstance(self.computation, Windowed) else None
        done = 0
        for order in order_in_windows(n_graphs, mean_size, size, generator):
            begins = np.arange(0, len(order), size)
            steps = Steps(
                ptr=np.append(begins, len(order)),
                rates=np.array([self._learning_rate_at(number + (done + begin) / n_graphs) for begin in begins.tolist()]),
                graphs=order,
                draws=self.network.config.sampler.draw(self.computation.sizes[order], generator),
                targets=examples.targets[order],
                weights=examples.weights[order],
            )
            done += len(order)
            if steps.weights.any():
                yield steps.without_idle_steps()

    def _validate(self, number: int) -> tuple[float | None, float | None]:
        if self.validation is None or self.validation_computation is None:
            return None, None
        examples, config = self.validation, self.config
        logits = torch.from_numpy(
            average_over_roots(
                self.validation_computation,
                "scores",
                realizations=config.validation_realizations,
                seed=config.seed,
                inference="sampled",
            )
        )
        targets = torch.from_numpy(examples.targets)
        loss = weighted_loss(logits, targets, examples.weights)
        return float(loss), float((logits.argmax(1) == targets).double().mean())

    def save(self, path: str | Path, run: str) -> None:
        """Write all a later call needs to go on from here; of several processes the first does."""
        if not self.group.is_first:
            return
        state = optimizer_state(self.optimizer)
        save_checkpoint(path, Checkpoint(run, copy_state(self.network), self.best, state, self.history))

    def resume(self, path: str | Path, run: str) -> None:
        """Go on where the checkpoint at ``path`` ends."""
        saved = load_checkpoint(path)
        if saved.run != run:
            raise ConfigError(f"{path} belongs to another run (other data, settings or seed); choose another file or remove it")
        check_contents(path, saved, self.network.state_dict(), self.optimizer)
        self.network.load_state_dict(saved.network)
        restore_optimizer(self.optimizer, saved.optimizer)
        self.best, self.history = saved.best, saved.history
        if self.group.agree(len(self.history.epochs)) != len(self.history.epochs):
            raise GroupError(
                f"the processes of this fit read different files at {path}; keep the checkpoint where all see it at once"
            )


def _computation(network: StructuralNetwork, examples: Examples, engine: str) -> Computation:
    return compute_windowed(network, examples.graphs, engine, examples.rows)


def _parameter_groups(network: StructuralNetwork, weight_decay: float) -> list[dict[str, Any]]:
    """Weights decay; biases, bin centres and bin widths, whose zero means nothing, do not."""
    matrices = [parameter for parameter in network.parameters() if parameter.dim() > 1]
    others = [parameter for parameter in network.parameters() if parameter.dim() <= 1]
    return [{"params": matrices, "weight_decay": weight_decay}, {"params": others, "weight_decay": 0.0}]


def copy_state(network: StructuralNetwork) -> State:
    return {name: tensor.detach().clone() for name, tensor in network.state_dict().items()}
