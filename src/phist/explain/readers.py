"""Which networks of a model the node shares explain: those under a linear head, and how much each counts."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phist.estimators.ensemble import Ensemble
from phist.estimators.fitted.classifier import FittedClassifier
from phist.estimators.members.network import Network
from phist.estimators.trained import TrainedNetwork
from phist.explain.parts import is_mean
from phist.graphs.arrays import IntArray
from phist.nn.network import StructuralNetwork
from phist.nn.normalization import RunningStandardizer

LINEAR = "linear"


@dataclass(frozen=True)
class Reader:
    """A network and its linear layer, as they count in the logits that are explained.

    Logits are centred: over the classes they add up to zero, which changes no probability.

    Attributes:
        bag, number: the label of its bag, and its number in that.
        trained: the network.
        slopes: (classes, m_graph): of the logits, by the embedding before standardisation.
        base: (classes): the logits of the average embedding.
        usual, scale: (m_graph): what embeddings are standardised with.
        mean_nodes: of the training graphs.
    """

    bag: str
    number: int
    trained: TrainedNetwork
    slopes: NDArray[np.float64]
    base: NDArray[np.float64]
    usual: NDArray[np.float64]
    scale: NDArray[np.float64]
    mean_nodes: float

    @classmethod
    def of(cls, bag: str, number: int, trained: TrainedNetwork, factor: float, mean_nodes: float) -> "Reader":
        """``factor``: how much its logits count."""
        network = trained.network
        weight = network.head.weight.detach().cpu().double().numpy()
        bias = network.head.bias.detach().cpu().double().numpy()
        usual, scale = _standardisation(network)
        slopes = factor * (weight - weight.mean(0)) / scale
        return cls(bag, number, trained, slopes, factor * (bias - bias.mean()), usual, scale, mean_nodes)

    @property
    def name(self) -> str:
        """The bag and the number."""
        return f"{self.bag}/{self.number}"

    def logits(self, embeddings: NDArray[np.float32]) -> NDArray[np.float64]:
        """Its part of the logits, by standardised embeddings: (graphs, classes)."""
        rows: NDArray[np.float64] = self.base + (embeddings * self.scale) @ self.slopes.T
        return rows

    @property
    def counts(self) -> bool:
        """Whether the histogram grows with the graph."""
        return not is_mean(self.trained.network.f_graph.aggregation)

    @property
    def n_histogram(self) -> int:
        """Columns of the embedding that are the histogram; moments of f_graph and of f_node follow, where there are any."""
        return int(self.trained.network.f_graph.out_channels)

    def usual_parts(self, sizes: NDArray[np.float64], roots: NDArray[np.float64]) -> NDArray[np.float64]:
        """What an ordinary node adds to the embedding of its graph: (nodes, m_graph).

        Args:
            sizes: (nodes): how many nodes the graph of each has.
            roots: (nodes): how much each counts among the roots of its graph.
        """
        begin, end = self.n_histogram, self.n_histogram + (len(self.usual) - self.n_histogram) // 2
        shares = np.empty((len(sizes), len(self.usual)))
        shares[:, :begin] = 1 / self.mean_nodes if self.counts else (1 / sizes)[:, None]
        shares[:, begin:end] = (1 / sizes)[:, None]
        shares[:, end:] = roots[:, None]
        return shares * self.usual

    def size_effects(self, sizes: IntArray) -> NDArray[np.float64]:
        """What more or fewer ordinary nodes than usual add to the logits: (graphs, classes)."""
        histogram = slice(self.n_histogram if self.counts else 0)
        one_graph: NDArray[np.float64] = self.slopes[:, histogram] @ self.usual[histogram]
        return np.outer(sizes / self.mean_nodes - 1, one_graph)


def _standardisation(network: StructuralNetwork) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    standardizer = network.graph_standardizer
    if not isinstance(standardizer, RunningStandardizer):
        return np.zeros(network.out_channels), np.ones(network.out_channels)
    mean, variance = (values.detach().cpu().double().numpy() for values in (standardizer.mean, standardizer.variance))
    return mean, np.sqrt(variance + standardizer.epsilon)


def readers_of(model: FittedClassifier) -> tuple[list[Reader], float]:
    """The networks whose linear layers the model uses, and the weight of these in its predictions.

    Where it uses none, all its networks under their own linear layers, which then explain nothing of its predictions by weight.
    """
    ensemble: Ensemble = model.ensemble_
    bags = {member.label: member for member in ensemble.members if isinstance(member, Network) and member.trained}
    used = {candidate.name: candidate for candidate in ensemble.candidates if candidate.weight}
    weights = {label: used[f"{label}/{LINEAR}"].weight for label in bags if f"{label}/{LINEAR}" in used}
    covered = sum(weights.values())
    weights = weights or dict.fromkeys(bags, 1.0)
    readers = []
    for label, weight in weights.items():
        temperature = used[f"{label}/{LINEAR}"].temperature if covered else 1.0
        factor = weight / sum(weights.values()) / temperature / len(bags[label].trained)
        for number, trained in enumerate(bags[label].trained):
            readers.append(Reader.of(label, number, trained, factor, float(model.data_["nodes"]["mean"])))
    return readers, min(covered, 1.0)
