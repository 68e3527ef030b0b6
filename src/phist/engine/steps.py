"""Steps of training: graphs in the order they are taken, and the steps they are taken in."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phist.graphs.arrays import starts_of
from phist.nn.sampling import Draws


@dataclass(frozen=True)
class Steps:
    """Steps of training, one after the other."""

    ptr: NDArray[np.int64]  # (steps + 1): where each begins and ends among the graphs
    rates: NDArray[np.float64]  # (steps): learning rates
    graphs: NDArray[np.int64]  # by their positions in a set
    draws: Draws
    targets: NDArray[np.int64]  # (graphs): their classes
    weights: NDArray[np.float64]  # (graphs): what each counts

    def part(self, begin: int, end: int) -> "Steps":
        """Some consecutive steps."""
        first, last = int(self.ptr[begin]), int(self.ptr[end])
        own = slice(first, last)
        return Steps(
            self.ptr[begin : end + 1] - first, self.rates[begin:end], self.graphs[own], self.draws.part(first, last),
            self.targets[own], self.weights[own],
        )  # fmt: skip

    def parts(self, costs: NDArray[np.int64], most: int) -> Iterator["Steps"]:
        """All steps, as many at a time as together cost less than ``most``, given the cost of each graph; at least one."""
        until = np.concatenate([[0], np.cumsum(costs)])[self.ptr]
        begin = 0
        while begin < len(self.rates):
            end = max(begin + 1, int(np.searchsorted(until, until[begin] + most, side="right")) - 1)
            yield self.part(begin, end)
            begin = end

    def without_idle_steps(self) -> "Steps":
        """Without the steps in which no graph counts: they have no loss to follow."""
        sizes = np.diff(self.ptr)
        kept = np.maximum.reduceat(self.weights, self.ptr[:-1]) > 0
        if kept.all():
            return self
        own = np.repeat(kept, sizes)
        return Steps(
            starts_of(sizes[kept]), self.rates[kept], self.graphs[own], self.draws.select(own), self.targets[own],
            self.weights[own],
        )  # fmt: skip

    def weight_fractions(self) -> NDArray[np.float32]:
        """What each graph counts for in its step."""
        return weight_fractions(self.weights, self.ptr)


def weight_fractions(weights: NDArray[np.float64], ptr: NDArray[np.int64]) -> NDArray[np.float32]:
    """The part of each weight in the sum of its step; zeros in a step in which all weights are zero."""
    sizes, begins = np.diff(ptr), ptr[:-1]
    scaled = _scale(weights, np.repeat(np.maximum.reduceat(weights, begins), sizes)).astype(np.float32)
    totals = np.add.reduceat(scaled, begins)
    fractions: NDArray[np.float32] = scaled / np.repeat(np.where(totals > 0, totals, np.float32(1)), sizes)
    return fractions


def scale_weights(weights: NDArray[np.floating[Any]]) -> NDArray[np.float64]:
    """Weights in the same proportion, the largest between 1 and 2, so that no later sum, product or cast leaves its range."""
    return _scale(weights.astype(np.float64), weights.max(initial=0))


def _scale(weights: NDArray[np.float64], largest: Any) -> NDArray[np.float64]:
    """By a power of two, which rounds nothing."""
    exponents = np.where(largest > 0, np.frexp(largest)[1] - 1, 0)
    scaled: NDArray[np.float64] = np.ldexp(weights, -exponents)
    return scaled
