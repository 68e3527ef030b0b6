"""The forest head: extra trees on embeddings of graphs and of their nodes."""

from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from phist.estimators.heads.head import Arrays, Head
from phist.estimators.trained import Features, n_both_levels
from phist.estimators.trees import Trees, grow_trees
from phist.nn.network import StructuralNetwork

TREES = 500  # of all networks of a bag together


@dataclass(frozen=True)
class ForestHead(Head):
    """Training pulls on the graph embedding until it fits the training graphs; the nodes' level, which it fits less, helps."""

    name = "forest"
    view = "both_levels"
    growth = 0.85  # there are as many trees for a few graphs
    trees: Trees

    @classmethod
    def fit(
        cls,
        features: Features,
        targets: NDArray[np.int64],
        weights: NDArray[np.float64],
        n_classes: int,
        seed: int,
        share: float = 1.0,
    ) -> Self:
        return cls(grow_trees(features.both_levels, targets, weights, n_classes, max(1, round(share * TREES)), seed))

    def predict_proba(self, features: Features) -> NDArray[np.float64]:
        return self.trees.predict_proba(features.both_levels)

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return self.trees.to_arrays()

    @classmethod
    def from_arrays(cls, arrays: Arrays, network: StructuralNetwork, n_classes: int) -> Self:
        return cls(Trees.from_arrays(arrays, n_both_levels(network), n_classes))

    @classmethod
    def describe(cls) -> str:
        return f"{TREES} extra trees on embeddings of graphs and nodes"
