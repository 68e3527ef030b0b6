"""Features: what the heads on top of a trained network see of graphs."""

from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from phist.graphs.graphset import GraphSet

if TYPE_CHECKING:
    from phist.estimators.base import StructuralEstimator


class Features:
    """Both levels of an estimator's network on some graphs, computed when they are first asked for, and once."""

    def __init__(self, estimator: "StructuralEstimator", graphs: GraphSet) -> None:
        self.estimator = estimator
        self.graphs = graphs

    @cached_property
    def embeddings(self) -> NDArray[np.float32]:
        """Of the graphs, averaged over draws of roots: (graphs, m_graph)."""
        return self.estimator.transform(self.graphs)

    @cached_property
    def sizes(self) -> NDArray[np.float32]:
        """Logarithms of the numbers of nodes and edges: (graphs, 2)."""
        return np.log1p(np.stack([self.graphs.node_counts(), self.graphs.edge_counts()], axis=1)).astype(np.float32)

    @cached_property
    def node_moments(self) -> NDArray[np.float32]:
        """Mean and deviation of the embeddings of the nodes: (graphs, 2 · m_node)."""
        return self.estimator.node_moments(self.graphs)

    def graph_level(self) -> NDArray[np.float32]:
        """Embeddings and sizes."""
        return np.concatenate([self.embeddings, self.sizes], axis=1)

    def node_level(self) -> NDArray[np.float32]:
        """Sizes and moments of the nodes' embeddings."""
        return np.concatenate([self.sizes, self.node_moments], axis=1)

    def both_levels(self) -> NDArray[np.float32]:
        """Embeddings, sizes, and moments of the nodes' embeddings."""
        return np.concatenate([self.embeddings, self.sizes, self.node_moments], axis=1)


def n_graph_level(estimator: "StructuralEstimator") -> int:
    """Columns of `Features.graph_level`."""
    return int(estimator.network_.out_channels) + 2


def n_node_level(estimator: "StructuralEstimator") -> int:
    """Columns of `Features.node_level`."""
    return 2 + 2 * int(estimator.network_.f_node.out_channels)


def n_both_levels(estimator: "StructuralEstimator") -> int:
    """Columns of `Features.both_levels`."""
    return n_graph_level(estimator) + n_node_level(estimator) - 2
