"""Head: what turns a trained network's view of graphs into class probabilities."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from phist.estimators.trained import Features
from phist.nn.network import StructuralNetwork

Arrays = Mapping[str, NDArray[Any]]


class Head(ABC):
    """A classifier on one network's features. A new one is a file with a subclass and a line in `phist.estimators.heads.HEADS`."""

    name: ClassVar[str]
    view: ClassVar[str]  # which of the features it sees
    growth: ClassVar[float] = 1.0  # of the time that fitting takes with the number of graphs, as an exponent

    @classmethod
    def look_at(cls, features: Features) -> NDArray[np.float32]:
        """What it sees of graphs: (graphs, columns)."""
        seen: NDArray[np.float32] = getattr(features, cls.view)
        return seen

    @classmethod
    @abstractmethod
    def fit(
        cls,
        features: Features,
        targets: NDArray[np.int64],
        weights: NDArray[np.float64],
        n_classes: int,
        seed: int,
        share: float = 1.0,
    ) -> Self:
        """Learn the classes of the graphs that ``features`` are of.

        Args:
            share: of a head's usual work, where several networks have one each and their answers are averaged.
        """

    @abstractmethod
    def predict_proba(self, features: Features) -> NDArray[np.float64]:
        """Probabilities: (graphs, classes)."""

    @abstractmethod
    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """What was learnt, by name, ready to be saved."""

    @classmethod
    @abstractmethod
    def from_arrays(cls, arrays: Arrays, network: StructuralNetwork, n_classes: int) -> Self:
        """The inverse of `to_arrays`; arrays that are no such head of such a network are a `ModelFileError`."""

    @classmethod
    @abstractmethod
    def describe(cls) -> str:
        """Half a line for people."""
