"""Floors: what can be had with hardly a look at the structure. A method that does not beat all of them has learnt nothing."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from phist.baselines.forests import ForestMethod, Settings, accuracy_of
from phist.baselines.method import Account, Method, Task
from phist.baselines.options import NoOptions, read_options
from phist.graphs.arrays import Array
from phist.graphs.checkup import degree_histograms, size_features, small_forest
from phist.graphs.graphset import GraphSet


class Majority(Method):
    """The frequencies of the classes among the training graphs, whatever the graph."""

    name = "majority"
    family = "floor"
    selection = "nothing is chosen"
    randomized = False

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        read_options(NoOptions, self.name, options)

    def fit(self, task: Task) -> Self:
        labels = task.labels_of(task.training)
        self._frequencies = np.bincount(labels, minlength=task.n_classes) / len(labels)
        self.account = Account(
            training_accuracy=accuracy_of(self.predict(task.training), labels),
            validation_accuracy=accuracy_of(self.predict(task.validation), task.labels_of(task.validation)),
        )
        return self

    def predict(self, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        return np.tile(self._frequencies, (len(positions), 1))


class ForestFloor(ForestMethod):
    """The forest of the checkup's floors on one small table."""

    family = "floor"
    selection = "nothing is chosen"

    def candidates(self, task: Task) -> Iterator[tuple[Settings, Array]]:
        yield {}, self.features(task.graphs)

    def forest(self, task: Task) -> Any:
        return small_forest(task.seed)

    @abstractmethod
    def features(self, graphs: GraphSet) -> Array:
        """The table."""


class SizeOnly(ForestFloor):
    """Numbers of nodes and edges."""

    name = "size-only"

    def features(self, graphs: GraphSet) -> Array:
        return size_features(graphs)


class DegreeHistogram(ForestFloor):
    """Nodes of each degree, see `phist.graphs.checkup.degree_histograms`."""

    name = "degree-histogram"

    def features(self, graphs: GraphSet) -> Array:
        return degree_histograms(graphs)


METHODS: tuple[type[Method], ...] = (Majority, SizeOnly, DegreeHistogram)
