"""Running standardisation in compiled code: the same numbers as `RunningStandardizer`, without a dozen small tensors a step.

Embeddings lie bin by bin in the engine, (bins, width), and channel by channel in torch, (channels, bins), as the running
statistics do.
"""

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray
from torch import nn

from phist.engine.parameters import FlatViews
from phist.engine.shape import Standardizer
from phist.engine.vectors import compiled, inner
from phist.nn.normalization import RunningStandardizer

Array = NDArray[Any]
NEVER = 1 << 62


class Running(NamedTuple):
    """Running statistics as compiled code takes them; they lie where torch has them."""

    mean: Array
    variance: Array
    updates: Array  # (1): batches they have learnt from
    momentum: float
    epsilon: float
    first_step: int  # that they learn from


def no_running() -> Running:
    """What nothing is learnt from."""
    return Running(np.empty(0, np.float32), np.empty(0, np.float32), np.zeros(1, np.int64), 1.0, 0.0, NEVER)


class Statistics:
    """Running statistics of a `RunningStandardizer`, read and moved in place; without one, zeros and ones."""

    def __init__(self, module: nn.Module, bins: int, width: int) -> None:
        self.module = module if isinstance(module, RunningStandardizer) else None
        self.bins, self.width = bins, width
        self._views = FlatViews()

    def settle(self) -> Standardizer:
        """What is subtracted and multiplied with as it is now; a pass keeps its own for the way back."""
        size = self.bins * self.width
        both = Standardizer(np.zeros(size, np.float32), np.ones(size, np.float32))
        if self.module is not None:
            mean, variance, _ = self.arrays()
            settle(mean, variance, self.module.epsilon, self.bins, self.width, both.shift, both.scale)
        return both

    @property
    def is_first(self) -> bool:
        """Whether the batch at hand is the first they learn from."""
        return self.module is not None and self.module.training and self.arrays()[2][0] == 0

    def learn(self, numbers: Array, learn: Callable[..., None]) -> None:
        """From a batch, if they are learnt: `learn_nodes` from every thread's moments or `learn_graphs` from histograms."""
        if self.module is not None and self.module.training:
            mean, variance, updates = self.arrays()
            updates += 1
            step = max(self.module.momentum, 1 / float(updates[0]))
            learn(numbers, self.bins, self.width, step, mean, variance)

    def running(self, first_step: int) -> Running:
        """For steps of training of which the ``first_step`` is the first to learn from."""
        if self.module is None or not self.module.training:
            return no_running()
        mean, variance, updates = self.arrays()
        return Running(mean, variance, updates, self.module.momentum, self.module.epsilon, first_step)

    def arrays(self) -> list[Array]:
        """Mean, variance and the number of updates, where torch has them."""
        if self.module is None:
            return []
        buffers = self.module._buffers
        return self._views.of([buffers["mean"], buffers["variance"], buffers["updates"]])  # type: ignore[list-item]


@inner
def next_share(running: Running) -> float:
    """Count another batch; what share of the statistics it makes, as in `RunningStandardizer.next_step`."""
    running.updates[0] += 1
    share: float = max(running.momentum, 1 / running.updates[0])
    return share


@compiled
def settle(mean: Any, variance: Any, epsilon: float, bins: int, width: int, shift: Any, scale: Any) -> None:
    """Shift and scale of embeddings, in the engine's order, from running statistics in torch's."""
    for channel in range(len(mean) // bins):
        for number in range(bins):
            at, to = channel * bins + number, number * width + channel
            shift[to] = mean[at]
            scale[to] = 1 / np.sqrt(variance[at] + epsilon)


@compiled
def learn_nodes(sums: Any, bins: int, width: int, step: float, mean: Any, variance: Any) -> None:
    """Move running statistics towards those of a batch, given every thread's weights, sums and sums of squares about the mean."""
    weight, size = 0.0, bins * width
    for share in range(len(sums)):
        weight += sums[share, 0]
    for channel in range(len(mean) // bins):
        for number in range(bins):
            at, total, square = 1 + number * width + channel, 0.0, 0.0
            for share in range(len(sums)):
                total += sums[share, at]
                square += sums[share, at + size]
            average = total / weight
            spread = max(square / weight - average * average, 0.0)
            _approach(mean, variance, channel * bins + number, mean[channel * bins + number] + average, spread, step)


@compiled
def _approach(mean: Any, variance: Any, at: int, new_mean: float, new_variance: float, step: float) -> None:
    away = new_mean - mean[at]
    variance[at] += step * (new_variance + (1 - step) * away * away - variance[at])
    mean[at] += step * away


@compiled
def learn_graphs(results: Any, bins: int, width: int, step: float, mean: Any, variance: Any) -> None:
    """Move running statistics towards those of a batch of graphs' histograms."""
    n_graphs = len(results) // (bins * width)
    for channel in range(len(mean) // bins):
        for number in range(bins):
            first, average, spread = number * width + channel, 0.0, 0.0
            for graph in range(n_graphs):
                average += results[graph * bins * width + first]
            average /= n_graphs
            for graph in range(n_graphs):
                away = results[graph * bins * width + first] - average
                spread += away * away
            _approach(mean, variance, channel * bins + number, average, spread / n_graphs, step)
