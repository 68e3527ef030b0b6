"""Training one graph neural network: Adam, a learning rate that halves, and the epoch with the lowest validation loss."""

import math
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor, nn
from torch.nn import functional as F

from phist.baselines.gnn_batches import GnnBatch, GnnGraphs

_GRAPHS_AT_A_TIME = 512  # where nothing is learnt, so that the largest sets stay within memory

Network = TypeVar("Network", bound=nn.Module)
Positions = NDArray[np.int64]
Part = list[tuple[GnnBatch, Tensor]]  # batches and their labels


@dataclass(frozen=True)
class TrainingSchedule:
    """How to train."""

    epochs: int
    patience: int  # epochs without a lower validation loss after which training ends
    batch_size: int
    learning_rate: float
    halve_every: int  # epochs
    seed: int

    def learning_rate_at(self, epoch: int) -> float:
        return self.learning_rate * 0.5 ** (epoch // self.halve_every)


@dataclass
class Run:
    """What came of it."""

    history: list[dict[str, Any]] = field(default_factory=list)
    best: int = -1  # epoch, counted from 0
    state: dict[str, Tensor] = field(default_factory=dict)

    @property
    def figures(self) -> dict[str, Any]:
        """Those of the best epoch."""
        return self.history[self.best]

    @property
    def lowest_loss(self) -> float:
        """Of the validation graphs; infinite where it is not a number, so that any number is lower."""
        loss = float(self.figures["validation_loss"])
        return math.inf if math.isnan(loss) else loss


def train(
    make_network: Callable[[], Network],
    graphs: GnnGraphs,
    labels: NDArray[np.int64],
    training: Positions,
    validation: Part,
    schedule: TrainingSchedule,
    tick: Callable[[], None],
) -> tuple[Network, Run]:
    """Make a network, train it, and leave it with the weights of the best epoch; all random numbers come from the schedule's seed.

    Args:
        make_network: called once the generator has its seed.
        labels: of all graphs; only those at ``training`` are looked at.
        validation: see `part_of`.
        tick: called after every epoch.
    """
    run = Run()
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(schedule.seed)
        network = make_network()
        optimizer = torch.optim.Adam(network.parameters(), lr=schedule.learning_rate, fused=True)
        for epoch in range(schedule.epochs):
            optimizer.param_groups[0]["lr"] = schedule.learning_rate_at(epoch)
            loss, accuracy = _train_epoch(network, optimizer, graphs, labels, _shuffled(training, schedule, epoch))
            validation_loss, validation_accuracy = measure(network, validation)
            run.history.append(
                {
                    "epoch": epoch,
                    "learning_rate": schedule.learning_rate_at(epoch),
                    "loss": loss,
                    "accuracy": accuracy,
                    "validation_loss": validation_loss,
                    "validation_accuracy": validation_accuracy,
                }
            )
            tick()
            if run.best < 0 or validation_loss < run.lowest_loss:
                run.best, run.state = epoch, {name: value.clone() for name, value in network.state_dict().items()}
            if epoch - run.best >= schedule.patience:
                break
    network.load_state_dict(run.state)
    return network, run


def part_of(graphs: GnnGraphs, labels: NDArray[np.int64], positions: Positions) -> Part:
    """The graphs at ``positions`` with their labels, ready to be measured again and again."""
    return [(graphs.batch(chosen), torch.from_numpy(labels[chosen])) for chosen in _pieces(positions)]


@torch.no_grad()
def measure(network: nn.Module, part: Part) -> tuple[float, float]:
    """Mean loss and accuracy."""
    network.eval()
    results = [(network(batch), targets) for batch, targets in part]
    scores = torch.cat([found for found, _ in results])
    targets = torch.cat([expected for _, expected in results])
    return float(F.cross_entropy(scores, targets)), float((scores.argmax(1) == targets).double().mean())


@torch.no_grad()
def probabilities_of(network: nn.Module, graphs: GnnGraphs, positions: Positions, n_classes: int) -> NDArray[np.float64]:
    """Class probabilities of the graphs at ``positions``."""
    network.eval()
    rows = [network(graphs.batch(chosen)).double().softmax(1).numpy() for chosen in _pieces(positions)]
    return np.concatenate([np.empty((0, n_classes)), *rows])


def _train_epoch(
    network: nn.Module,
    optimizer: torch.optim.Optimizer,
    graphs: GnnGraphs,
    labels: NDArray[np.int64],
    batches: list[Positions],
) -> tuple[float, float]:
    network.train()
    total, hits, seen = 0.0, 0, 0
    for chosen in batches:
        targets = torch.from_numpy(labels[chosen])
        scores = network(graphs.batch(chosen))
        loss = F.cross_entropy(scores, targets)
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        total += float(loss.detach()) * len(chosen)
        hits += int((scores.argmax(1) == targets).sum())
        seen += len(chosen)
    return total / seen, hits / seen


def _shuffled(training: Positions, schedule: TrainingSchedule, epoch: int) -> list[Positions]:
    """All training graphs in random order, in as few batches as the schedule allows and these of equal size."""
    order = np.random.default_rng((schedule.seed, epoch)).permutation(training)
    return np.array_split(order, -(-len(order) // schedule.batch_size))


def _pieces(positions: Positions) -> Iterator[Positions]:
    return (positions[start : start + _GRAPHS_AT_A_TIME] for start in range(0, len(positions), _GRAPHS_AT_A_TIME))
