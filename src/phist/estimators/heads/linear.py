"""The linear head: the paper's, trained together with the network."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from phist.estimators.combining import softmax
from phist.estimators.heads.head import Arrays, Head
from phist.estimators.trained import Features
from phist.nn.network import StructuralNetwork


class LinearHead(Head):
    """The network's last layer; it is saved with the network, so there is nothing of its own to fit or keep."""

    name = "linear"
    view = "embeddings"

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
        return cls()

    def predict_proba(self, features: Features) -> NDArray[np.float64]:
        logits = features.trained.logits(features.embeddings)
        return softmax(logits.astype(np.float64))

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        return {}

    @classmethod
    def from_arrays(cls, arrays: Arrays, network: StructuralNetwork, n_classes: int) -> Self:
        return cls()

    @classmethod
    def describe(cls) -> str:
        return "the paper's linear layer on the graph embedding"
