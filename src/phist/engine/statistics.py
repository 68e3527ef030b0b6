"""Running standardisation in compiled code: the same numbers as `RunningStandardizer`, without a dozen small tensors a step.

Embeddings lie bin by bin in the engine and channel by channel in torch (`columns_of`), as the running statistics do.
"""

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import nn

from phist.engine.jit import compiled, inner
from phist.engine.parameters import FlatViews
from phist.engine.shape import Standardizer
from phist.nn.normalization import RunningStandardizer

Array = NDArray[Any]
NEVER = 1 << 62


class RunningStatistics(NamedTuple):
    """Running statistics as compiled code takes them; they lie where torch has them."""

    mean: Array
    variance: Array
    updates: Array  # (1): batches they were updated from
    momentum: float
    epsilon: float
    columns: Array  # where each of them stands in the engine
    first_step: int  # that updates them


def no_statistics() -> RunningStatistics:
    """Statistics that nothing updates."""
    nothing = np.empty(0, np.float32)
    return RunningStatistics(nothing, nothing, np.zeros(1, np.int64), 1.0, 0.0, np.empty(0, np.int64), NEVER)


class Statistics:
    """Running statistics of a `RunningStandardizer`, read and updated in place; without one, zeros and ones.

    Args:
        columns: where each column of an embedding stands in the engine.
        size: of an embedding in the engine, with padding.
    """

    def __init__(self, module: nn.Module, columns: Array, size: int) -> None:
        self.module = module if isinstance(module, RunningStandardizer) else None
        self.columns, self.size = columns, size
        self._views = FlatViews()

    def standardizer(self) -> Standardizer:
        """What is subtracted and multiplied with as it is now; a pass keeps its own for the backward pass."""
        both = Standardizer(np.zeros(self.size, np.float32), np.ones(self.size, np.float32))
        if self.module is not None:
            mean, variance, _ = self.arrays()
            fill_standardizer(mean, variance, self.module.epsilon, self.columns, both.shift, both.scale)
        return both

    def to_torch(self, embeddings: Array, standardizer: Standardizer) -> Array:
        """Embeddings as they come from the engine, standardised, in torch's order: (rows, columns)."""
        standard = (embeddings.reshape(-1, self.size) - standardizer.shift) * standardizer.scale
        return np.take(standard, self.columns, axis=1)

    def from_torch(self, gradient: Array, standardizer: Standardizer) -> Array:
        """The gradient of embeddings, given that of what `to_torch` makes of them; padding gets zeros."""
        grad_embeddings = np.zeros((len(gradient), self.size), np.float32)
        grad_embeddings[:, self.columns] = gradient
        return (grad_embeddings * standardizer.scale).reshape(-1)

    @property
    def is_first(self) -> bool:
        """Whether the batch at hand is the first to update them."""
        return self.module is not None and self.module.training and self.arrays()[2][0] == 0

    def update(self, numbers: Array, update: Callable[..., None]) -> None:
        """From a batch, in training: by `update_from_moments` of every shard or `update_from_embeddings` of graphs."""
        if self.module is not None and self.module.training:
            mean, variance, updates = self.arrays()
            updates += 1
            step = max(self.module.momentum, 1 / float(updates[0]))
            update(numbers, self.columns, self.size, step, mean, variance)

    def running(self, first_step: int) -> RunningStatistics:
        """For steps of training of which the ``first_step`` is the first to update them."""
        if self.module is None or not self.module.training:
            return no_statistics()
        mean, variance, updates = self.arrays()
        return RunningStatistics(mean, variance, updates, self.module.momentum, self.module.epsilon, self.columns, first_step)

    def arrays(self) -> list[Array]:
        """Mean, variance and the number of updates, where torch has them."""
        if self.module is None:
            return []
        buffers = self.module._buffers
        return self._views.of([buffers["mean"], buffers["variance"], buffers["updates"]])  # type: ignore[list-item]


@inner
def next_step_size(running: RunningStatistics) -> float:
    """Count another batch; by how much it moves the statistics, as in `RunningStandardizer.next_step`."""
    running.updates[0] += 1
    step: float = max(running.momentum, 1 / running.updates[0])
    return step


@compiled
def fill_standardizer(mean: Any, variance: Any, epsilon: float, columns: Any, shift: Any, scale: Any) -> None:
    """Shift and scale of embeddings, in the engine's order, from running statistics in torch's."""
    for at in range(len(mean)):
        shift[columns[at]] = mean[at]
        scale[columns[at]] = 1 / math.sqrt(variance[at] + epsilon)


@compiled
def update_from_moments(sums: Any, columns: Any, size: int, step: float, mean: Any, variance: Any) -> None:
    """Move running statistics towards those of a batch, given each shard's draws, sums and squares about the running mean."""
    weight = 0.0
    for shard in range(len(sums)):
        weight += sums[shard, 0]
    for at in range(len(mean)):
        total, square = 0.0, 0.0
        for shard in range(len(sums)):
            total += sums[shard, 1 + columns[at]]
            square += sums[shard, 1 + columns[at] + size]
        batch_mean = total / weight
        batch_variance = max(square / weight - batch_mean * batch_mean, 0.0)
        _approach(mean, variance, at, mean[at] + batch_mean, batch_variance, step)


@inner
def _approach(mean: Any, variance: Any, at: int, new_mean: float, new_variance: float, step: float) -> None:
    away = new_mean - mean[at]
    variance[at] += step * (new_variance + (1 - step) * away * away - variance[at])
    mean[at] += step * away


@compiled
def update_from_embeddings(results: Any, columns: Any, size: int, step: float, mean: Any, variance: Any) -> None:
    """Move running statistics towards those of a batch of graphs' embeddings."""
    n_graphs = len(results) // size
    for at in range(len(mean)):
        batch_mean, batch_variance = 0.0, 0.0
        for graph in range(n_graphs):
            batch_mean += results[graph * size + columns[at]]
        batch_mean /= n_graphs
        for graph in range(n_graphs):
            away = results[graph * size + columns[at]] - batch_mean
            batch_variance += away * away
        _approach(mean, variance, at, batch_mean, batch_variance / n_graphs, step)
