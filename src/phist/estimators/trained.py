"""TrainedNetwork: a network with all that its use depends on, and Features: what heads see of graphs through it."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from phist.engine.computation import Computation
from phist.graphs.graphset import GraphSet
from phist.nn.network import StructuralNetwork
from phist.training.inference import Inference, average_over_roots, embed_both_levels, embed_nodes, node_moments
from phist.training.windows import compute_windowed, take

DRAWS = 10  # of roots, over which predictions are averaged: the paper's


@dataclass(frozen=True)
class TrainedNetwork:
    """A network and how it is used.

    Attributes:
        network: with its trained weights.
        seed: of the roots that are drawn in use.
        engine: ``"auto"``, ``"fused"`` or ``"reference"``.
        inference: see `phist.training.inference.average_over_roots`.
        progress: whether to show a bar; on a terminal, unless given.
    """

    network: StructuralNetwork
    seed: int
    engine: str = "auto"
    inference: Inference = "auto"
    progress: bool | None = None

    def embeddings(self, graphs: GraphSet) -> NDArray[np.float32]:
        """Of graphs, averaged over draws of roots: (graphs, m_graph)."""
        return average_over_roots(
            self._computation(graphs), "graph_embeddings",
            realizations=DRAWS, seed=self.seed, inference=self.inference, progress=self.progress,
        )  # fmt: skip

    def node_embeddings(self, graphs: GraphSet) -> list[NDArray[np.float32]]:
        """For every graph those of its nodes, each as the root: a list of (nodes, m_node)."""
        return embed_nodes(self._computation(graphs), self.progress)

    def node_moments(self, graphs: GraphSet) -> NDArray[np.float32]:
        """Mean and standard deviation of the embeddings of a graph's nodes: (graphs, 2 · m_node)."""
        return node_moments(
            self._computation(graphs), realizations=DRAWS, seed=self.seed, inference=self.inference, progress=self.progress
        )

    def both_levels(self, graphs: GraphSet) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """`embeddings` and `node_moments`, every node embedded once."""
        return embed_both_levels(
            self._computation(graphs), realizations=DRAWS, seed=self.seed, inference=self.inference, progress=self.progress
        )

    def logits(self, embeddings: NDArray[np.float32]) -> NDArray[np.float32]:
        """The network's own scores; of a mean of embeddings they are the mean of scores.

        A product of matrices would round a graph's scores by how many graphs there are.
        """
        head = self.network.head
        weight, bias = (values.detach().cpu().double().numpy() for values in (head.weight, head.bias))
        scores: NDArray[np.float64] = np.stack([(embeddings.astype(np.float64) * row).sum(1) for row in weight], axis=1) + bias
        return scores.astype(np.float32)

    def _computation(self, graphs: GraphSet) -> Computation:
        return compute_windowed(self.network, graphs.with_labels(None), self.engine)


class Features:
    """Both levels of a network on some graphs, computed when they are first asked for, and once.

    Args:
        positions: which of the graphs are meant, all of them unless given; they are copied when they are looked at.
        both: whether both levels will be asked for; they are then computed together, which takes little longer than one.
    """

    def __init__(
        self, trained: TrainedNetwork, graphs: GraphSet, positions: NDArray[np.int64] | None = None, *, both: bool = False
    ) -> None:
        self.trained = trained
        self._graphs, self._positions, self._both = graphs, positions, both

    @cached_property
    def graphs(self) -> GraphSet:
        """Those that are meant."""
        return self._graphs if self._positions is None else take(self._graphs, self._positions)

    @cached_property
    def embeddings(self) -> NDArray[np.float32]:
        """Of the graphs: (graphs, m_graph)."""
        return self._levels[0] if self._both else self.trained.embeddings(self.graphs)

    @cached_property
    def node_level(self) -> NDArray[np.float32]:
        """Sizes of the graphs and moments of their nodes' embeddings: (graphs, 2 + 2 · m_node)."""
        sizes = np.stack([self.graphs.node_counts(), self.graphs.edge_counts()], axis=1)
        moments = self._levels[1] if self._both else self.trained.node_moments(self.graphs)
        return np.concatenate([np.log1p(sizes).astype(np.float32), moments], axis=1)

    @cached_property
    def both_levels(self) -> NDArray[np.float32]:
        """Embeddings, sizes, and moments of the nodes' embeddings."""
        return np.concatenate([self.embeddings, self.node_level], axis=1)

    @cached_property
    def _levels(self) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Embeddings, and moments of the nodes' embeddings."""
        return self.trained.both_levels(self.graphs)

    def part(self, positions: NDArray[np.int64]) -> "Features":
        """The same of some of the graphs; what is computed here is not computed again."""
        chosen = positions if self._positions is None else self._positions[positions]
        part = Features(self.trained, self._graphs, chosen, both=self._both)
        for name in ("embeddings", "node_level", "both_levels"):
            if name in self.__dict__:
                part.__dict__[name] = self.__dict__[name][positions]
        return part


def n_node_level(network: StructuralNetwork) -> int:
    """Columns of `Features.node_level`."""
    return 2 + 2 * int(network.f_node.out_channels)


def n_both_levels(network: StructuralNetwork) -> int:
    """Columns of `Features.both_levels`."""
    return int(network.head.in_features) + n_node_level(network)
