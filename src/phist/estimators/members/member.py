"""Member: a way to classify graphs that the estimator can weigh against others."""

import time
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from phist.estimators.parts import Parts
from phist.graphs.graphset import GraphSet
from phist.training.loop import Examples

Probabilities = NDArray[np.float64]
Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class Lesson:
    """What a member learns from, and under which circumstances.

    Attributes:
        examples: graphs, classes by number, weights.
        n_classes: of them.
        parts: how the graphs are cut.
        seed: of everything random.
        deadline: on the clock of `time.monotonic`; what has not begun by then is left out.
        checkpoint: a file beside which unfinished work is kept, and from which it goes on.
        progress: whether to show what is going on; on a terminal, unless given.
        known: what the members fitted before this one give the graphs in ``parts.asked``, tempered, by predictor.
        optional: whether other members will predict where this one finds no time.
    """

    examples: Examples
    n_classes: int
    parts: Parts
    seed: int
    deadline: float | None = None
    checkpoint: Path | None = None
    progress: bool | None = None
    known: Mapping[str, Probabilities] = field(default_factory=dict)
    optional: bool = False

    @property
    def graphs(self) -> GraphSet:
        return self.examples.graphs

    def seconds_left(self) -> float:
        """Until the deadline; infinite where there is none."""
        return np.inf if self.deadline is None else self.deadline - time.monotonic()

    def sample(self, most: int) -> "Lesson":
        """All graphs that are left out, and at most so many of the others, drawn at random."""
        others = np.flatnonzero(self.parts.number >= self.parts.held_out)
        drawn = np.random.default_rng(self.seed).choice(others, min(most, len(others)), replace=False)
        return self.only(np.sort(np.concatenate([self.parts.asked, drawn])))

    def only(self, chosen: NDArray[np.int64]) -> "Lesson":
        """The same with these graphs alone."""
        examples = Examples(self.graphs[chosen], self.examples.targets[chosen], self.examples.weights[chosen])
        return replace(self, examples=examples, parts=Parts(self.parts.number[chosen], self.parts.held_out), known={})

    def blank(self) -> Probabilities:
        """Room for the probabilities of all graphs; rows of graphs that are in no part held out stay undefined."""
        return np.full((len(self.examples.targets), self.n_classes), np.nan)


class Member(ABC):
    """Learns classes of graphs, predicts them by one or more predictors, and can be saved.

    A new one is a file with a subclass and a line in `phist.estimators.members.MEMBERS`.
    """

    name: ClassVar[str]  # of the kind
    label: str  # of this one, where there are several of a kind
    predictors: tuple[str, ...]  # known once it is fitted
    left_out: Mapping[str, float] = {}  # predictors that a time budget had no room for, and the seconds that they would have taken

    def notes(self, lesson: Lesson) -> Iterable[str]:
        """What was left out or approximated in the fit to ``lesson``, for its report."""
        return ()

    @abstractmethod
    def fit(self, lesson: Lesson) -> Mapping[str, Probabilities]:
        """Learn; returns, by predictor, the probabilities of every graph by fits that had not seen it: (graphs, classes)."""

    @abstractmethod
    def predict_proba(self, graphs: GraphSet) -> Mapping[str, Probabilities]:
        """Probabilities by each predictor: (graphs, classes)."""

    @abstractmethod
    def keep(self, predictors: Iterable[str]) -> None:
        """Forget what only other predictors need."""

    @abstractmethod
    def to_state(self) -> tuple[Arrays, dict[str, Any]]:
        """Arrays by name, and plain values, ready to be saved."""

    @classmethod
    @abstractmethod
    def from_state(cls, arrays: Mapping[str, NDArray[Any]], values: Mapping[str, Any], n_classes: int) -> Self:
        """The inverse of `to_state`; what is no such member is a `ModelFileError`."""

    @abstractmethod
    def describe(self) -> str:
        """A line for people."""
