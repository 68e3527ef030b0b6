"""Method: what the study asks of anything that classifies graphs, ours or others'."""

from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar, Literal, Self

import numpy as np
from numpy.typing import NDArray

from phist.graphs.graphset import GraphSet

Family = Literal["phist", "kernel", "gnn", "descriptor", "floor"]
HIDDEN = -1  # in place of a label that a method must not see


@dataclass(frozen=True)
class Task:
    """One fold of one dataset as a method sees it: all graphs, and the labels of the training and validation graphs only.

    Args:
        dataset: its name.
        graphs: all graphs, without labels.
        labels: numbers of classes, `HIDDEN` for every graph that is in neither part, (graphs).
        n_classes: how many classes there are.
        training: positions of the training graphs.
        validation: positions of the graphs by which hyper-parameters and epochs are chosen.
        seed: of whatever the method draws.
        cache: a folder for what depends on the graphs alone, such as Gram matrices, and for what a kill must not undo.
        threads: cores that the method may use.
    """

    dataset: str
    graphs: GraphSet  # without labels
    labels: NDArray[np.int64]  # (graphs): numbers of classes, HIDDEN for every graph that is in neither part
    n_classes: int
    training: NDArray[np.int64]  # positions in graphs
    validation: NDArray[np.int64]  # likewise; hyper-parameters and epochs are chosen by these
    seed: int
    cache: Path | None = None  # for what depends on the graphs alone, such as Gram matrices, and for what a kill must not undo
    threads: int = 1  # cores this method may use

    def labels_of(self, positions: NDArray[np.int64]) -> NDArray[np.int64]:
        """The labels at ``positions``, all of which must be visible."""
        labels: NDArray[np.int64] = self.labels[positions]
        if (labels == HIDDEN).any():
            raise LookupError(f"{int((labels == HIDDEN).sum())} of {len(labels)} labels asked for are hidden from methods")
        return labels


@dataclass
class Account:
    """What a record keeps of a fit besides its predictions.

    Args:
        chosen: hyper-parameters and epoch that validation picked.
        tried: every configuration tried, with its validation figures.
        history: epoch by epoch, where there are epochs.
        training_accuracy: at the chosen configuration and epoch.
        validation_accuracy: likewise.
        notes: anything a reader of the figure must know.
    """

    chosen: dict[str, Any] = field(default_factory=dict)  # hyper-parameters and epoch that validation picked
    tried: list[dict[str, Any]] = field(default_factory=list)  # every configuration tried, with its validation figures
    history: list[dict[str, Any]] = field(default_factory=list)  # epoch by epoch, where there are epochs
    training_accuracy: float | None = None  # at the chosen configuration and epoch
    validation_accuracy: float | None = None
    notes: list[str] = field(default_factory=list)  # anything a reader of the figure must know


class Method(ABC):
    """A way to classify graphs by their structure; a new instance is made for every fit.

    Args:
        options: choices that a study's specification makes for this method, such as the epochs or a smaller grid; they
            become part of the cell's hash. Those that it does not take are best refused here, with a `ConfigError`: then
            the study does not even begin.
    """

    name: ClassVar[str]
    family: ClassVar[Family]
    selection: ClassVar[str]  # the rule that picks epoch and hyper-parameters, stated beforehand
    extra: ClassVar[str | None] = None  # of phist's optional dependencies, the one it needs
    randomized: ClassVar[bool] = True  # whether the seed matters
    libraries: ClassVar[tuple[str, ...]] = ()  # modules that a fit would load; `prepare` does so first
    earlier_seconds: float = 0.0  # of work that a killed run had left behind and ``fit`` went on with

    def __init__(self, **options: Any) -> None:
        self.options = options
        self.account = Account()

    def skip(self, dataset: str) -> str | None:
        """Why this method is not run on ``dataset``, or ``None`` if it is."""
        return None

    def skip_size(self, n_graphs: int) -> str | None:
        """Why this method is not run on so many graphs, or ``None`` if it is.

        Args:
            n_graphs: how many graphs the dataset has.
        """
        return None

    def prepare(self) -> None:
        """Do what a process has to do only once, such as loading libraries and compiling: no record's time counts it."""
        for library in self.libraries:
            import_module(library)

    @abstractmethod
    def fit(self, task: Task) -> Self:
        """Learn from the training part, choose by the validation part, and fill ``account``.

        Args:
            task: the fold to learn from.
        """

    def look_back(self) -> None:  # noqa: B027  # most have told everything by then
        """Fill what of ``account`` is asked for by a study alone and takes time, after all else: no record's time counts it."""

    @abstractmethod
    def predict(self, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        """Class probabilities of the task's graphs at ``positions``, (positions, classes)."""
