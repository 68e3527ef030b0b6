"""A course of training: graphs in the order they are taken, and the steps they are taken in."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phist.nn.sampling import Draws


@dataclass(frozen=True)
class Course:
    """Steps of training, one after the other."""

    steps: NDArray[np.int64]  # (steps + 1): where each begins and ends among the graphs
    rates: NDArray[np.float64]  # (steps): learning rates
    graphs: NDArray[np.int64]  # by their positions in a set
    draws: Draws
    targets: NDArray[np.int64]  # (graphs): their classes
    weights: NDArray[np.float32]  # (graphs): what each counts

    def part(self, begin: int, end: int) -> "Course":
        """Some consecutive steps."""
        first, last = int(self.steps[begin]), int(self.steps[end])
        own = slice(first, last)
        return Course(
            self.steps[begin : end + 1] - first, self.rates[begin:end], self.graphs[own], self.draws.part(first, last),
            self.targets[own], self.weights[own],
        )  # fmt: skip

    def parts(self, costs: NDArray[np.int64], most: int) -> Iterator["Course"]:
        """All steps, as many at a time as together cost less than ``most``, given the cost of each graph; at least one."""
        until = np.concatenate([[0], np.cumsum(costs)])[self.steps]
        begin = 0
        while begin < len(self.rates):
            end = max(begin + 1, int(np.searchsorted(until, until[begin] + most, side="right")) - 1)
            yield self.part(begin, end)
            begin = end

    def shares_of_weights(self) -> NDArray[np.float32]:
        """What each graph counts for in its step."""
        totals = np.add.reduceat(self.weights, self.steps[:-1])
        shares: NDArray[np.float32] = self.weights / np.repeat(totals, np.diff(self.steps))
        return shares
