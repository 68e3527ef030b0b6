"""Rehearsal: how long a predictor would take on all graphs, tried on a few before a time budget is spent on it."""

import time
from collections.abc import Callable
from dataclasses import replace
from functools import cached_property
from typing import Any

import numpy as np

from phist.estimators.members.member import Lesson

SHARE = 0.4  # of the time left that one predictor may take: the networks come last
FEWEST, MOST, FRACTION = 40, 300, 4  # graphs that it is tried on; in between one of so many


class Rehearsal:
    """What of a lesson there is time for.

    Args:
        lesson: with a deadline; without one there is time for everything, and nothing is tried.

    Attributes:
        left_out: predictors that there was no time for, and how many seconds each would take; infinite where time was up.
        planned: seconds of work that is to be done later, for which time must be kept.
    """

    def __init__(self, lesson: Lesson) -> None:
        self.lesson = lesson
        self.left_out: dict[str, float] = {}
        self.planned = 0.0

    def has_time_for(self, name: str, work: Callable[[Lesson], Any], growth: float = 1.0, *, later: int = 0) -> bool:
        """Whether the predictor called ``name`` takes no more than its share of the time left.

        Args:
            work: what has to be done for it, with all graphs or a few.
            growth: of its time with the number of graphs, as an exponent.
            later: how often it has to be done later; else it is done once, now.
        """
        if self.lesson.deadline is None:
            return True
        seconds = self.seconds(work, growth, max(1, later))
        if seconds > self._most():
            self.left_out[name] = seconds
            return False
        if later:
            self.planned += seconds
        return True

    def seconds(self, work: Callable[[Lesson], Any], growth: float = 1.0, times: int = 1) -> float:
        """What ``work`` would take with all graphs: as a few say, asked again where they say too long, as the first time may."""
        least = np.inf
        for _ in range(2):
            if 0 < self._most() < least:
                begin = time.monotonic()
                work(self.few)
                least = min(least, times * (time.monotonic() - begin) * self._ratio**growth)
        return least

    @cached_property
    def few(self) -> Lesson:
        """The lesson with a few graphs, of every part and class."""
        examples, n_graphs = self.lesson.examples, len(self.lesson.examples.targets)
        n_few = min(n_graphs, max(FEWEST, min(MOST, n_graphs // FRACTION)))
        order = np.lexsort((examples.targets, self.lesson.parts.number))
        few = self.lesson.only(np.sort(order[np.linspace(0, n_graphs - 1, n_few).astype(np.int64)]))
        return replace(few, examples=replace(few.examples, weights=np.ones(n_few)), progress=False)

    def _most(self) -> float:
        """Seconds that the next predictor may take."""
        return SHARE * (self.lesson.seconds_left() - self.planned)

    @property
    def _ratio(self) -> float:
        return len(self.lesson.examples.targets) / len(self.few.examples.targets)
