"""Graph: one graph of a set."""

from collections.abc import Hashable
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from phist.graphs.arrays import IntArray, loops_of_rows

if TYPE_CHECKING:
    import networkx
    import scipy.sparse


@dataclass(frozen=True, eq=False)
class Graph:
    """One graph of a `GraphSet`, as a view of its arrays.

    ``indices[indptr[i]:indptr[i + 1]]`` are the neighbours of node ``i``. An undirected edge is stored in both
    directions; ``weights`` is ``None`` when every edge weighs one.
    """

    indptr: IntArray
    indices: NDArray[np.int32]
    weights: NDArray[np.float64] | None = None
    label: Hashable = None
    id: Hashable = None
    directed: bool = False

    @property
    def n_nodes(self) -> int:
        return len(self.indptr) - 1

    @property
    def n_edges(self) -> int:
        """Edges of the graph: each undirected edge once, loops once."""
        return count_edges(self.indptr, self.indices, self.directed)

    def edges(self) -> IntArray:
        """The edges, in order: each undirected edge once, its lower end first; loops once: (edges, 2)."""
        source = np.repeat(np.arange(self.n_nodes), np.diff(self.indptr))
        arcs = np.stack([source, self.indices.astype(np.int64)], axis=1)
        return arcs if self.directed else arcs[arcs[:, 0] <= arcs[:, 1]]

    def __repr__(self) -> str:
        named = "".join(f", {name}={value!r}" for name, value in (("id", self.id), ("label", self.label)) if value is not None)
        kinds = "".join(
            f", {kind}" for kind, holds in (("directed", self.directed), ("weighted", self.weights is not None)) if holds
        )
        return f"Graph({self.n_nodes:,} nodes, {self.n_edges:,} edges{named}{kinds})"

    def adjacency(self) -> "scipy.sparse.csr_array":
        """The weighted adjacency matrix."""
        from scipy.sparse import csr_array

        weights = np.ones(len(self.indices)) if self.weights is None else self.weights
        return csr_array((weights, self.indices, self.indptr), shape=(self.n_nodes, self.n_nodes))

    def to_networkx(self) -> "networkx.Graph[int]":
        """The same graph for networkx, nodes numbered from 0, edge attribute ``weight`` where weighted."""
        import networkx

        graph: networkx.Graph[int] = networkx.DiGraph() if self.directed else networkx.Graph()
        graph.add_nodes_from(range(self.n_nodes))
        sources = np.repeat(np.arange(self.n_nodes), np.diff(self.indptr)).tolist()
        if self.weights is None:
            graph.add_edges_from(zip(sources, self.indices.tolist(), strict=True))
        else:
            graph.add_weighted_edges_from(zip(sources, self.indices.tolist(), self.weights.tolist(), strict=True))
        return graph


def count_edges(indptr: IntArray, indices: NDArray[np.int32], directed: bool) -> int:
    """Edges of one graph: each undirected edge once, loops once."""
    if directed:
        return len(indices)
    loops = int(loops_of_rows(indptr, indices, np.arange(len(indptr) - 1)).sum())
    return (len(indices) + loops) // 2
