"""Weisfeiler-Lehman features as sparse tables: colours, and pairs of colours with the distance between them.

The kernels of the same names compare two graphs by the inner product of these counts. Keys are 64-bit numbers that mean the same
in every set, so that what was learnt from some graphs can be asked about others, and the cost grows with the nodes (or the pairs
of nodes) of the graphs, not with the square of their number.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from phist.descriptors.grams.distances import search
from phist.graphs.arrays import IntArray
from phist.graphs.graphset import GraphSet
from phist.graphs.symmetry import Hashes, refinement_rounds
from phist.jit import compiled

ROUNDS = 5  # of refinement, as the kernels of the study
MOST_NODES = 3000  # of a graph whose pairs of nodes are counted: 200 MB of keys
_LEVEL = np.uint64(0xD6E8FEB86659FD93)  # any odd constant would do


@dataclass(frozen=True)
class Counts:
    """How often each key occurs in each graph, graph by graph; an entry is a key in a graph."""

    ptr: IntArray  # (graphs + 1): where the entries of each graph begin
    keys: Hashes  # (entries)
    counts: NDArray[np.float32]  # (entries)

    def lengths(self) -> NDArray[np.float64]:
        """The Euclidean length of each graph's counts: the square root of its kernel with itself."""
        squares = np.concatenate([[0.0], np.cumsum(self.counts.astype(np.float64) ** 2)])
        lengths: NDArray[np.float64] = np.sqrt(squares[self.ptr[1:]] - squares[self.ptr[:-1]])
        return lengths


def subtree_counts(graphs: GraphSet, rounds: int = ROUNDS) -> Counts:
    """How many nodes have each colour, in rounds 0 to ``rounds`` (Shervashidze et al., 2011)."""
    graph_of_node = np.repeat(np.arange(len(graphs)), graphs.node_counts())
    colours = list(refinement_rounds(graphs, rounds))
    return _count(np.tile(graph_of_node, rounds + 1), np.concatenate(colours), len(graphs))


def assignment_counts(graphs: GraphSet, rounds: int = ROUNDS) -> Counts:
    """The same in unary: a colour that k nodes have is k keys that occur once.

    Inner products then add up the smaller of two counts, which is the optimal assignment kernel of Kriege et al. (2016).
    """
    subtree = subtree_counts(graphs, rounds)
    repeats = subtree.counts.astype(np.int64)
    starts = np.concatenate([[0], np.cumsum(repeats)])
    level = np.arange(starts[-1]) - np.repeat(starts[:-1], repeats)
    keys = np.repeat(subtree.keys, repeats) ^ (level.astype(np.uint64) * _LEVEL)
    return Counts(starts[subtree.ptr], keys, np.ones(len(keys), np.float32))


def path_counts(graphs: GraphSet, rounds: int = ROUNDS) -> Counts:
    """How many pairs of connected nodes have such colours and such a distance, in rounds 0 to ``rounds``.

    A graph of more than `MOST_NODES` nodes has no counts: its pairs would take more memory than there may be.
    """
    colours = np.stack(list(refinement_rounds(graphs, rounds)))  # (rounds + 1, nodes)
    parts = [_paths_of_graph(graphs, graph, colours) for graph in range(len(graphs))]
    sizes = [len(keys) for keys, _ in parts]
    keys = np.concatenate([np.empty(0, np.uint64), *(keys for keys, _ in parts)])
    counts = np.concatenate([np.empty(0, np.float32), *(counts for _, counts in parts)])
    return Counts(np.concatenate([[0], np.cumsum(sizes, dtype=np.int64)]), keys, counts)


def hashed_table(counts: Counts, columns: int) -> csr_array:
    """One row of unit length for each graph, its keys spread over ``columns``, a power of two; no counts, a row of zeros.

    Keys that meet in a column have random signs, so that inner products are right on average and off by about one over the
    square root of ``columns`` (Weinberger et al., 2009). No list of keys has to be kept, and none is unknown.
    """
    lengths = counts.lengths()
    scales = np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)
    signs = 1.0 - 2.0 * (counts.keys >> np.uint64(63))
    values = counts.counts * signs * np.repeat(scales, np.diff(counts.ptr))
    places = (counts.keys & np.uint64(columns - 1)).astype(np.int32)
    table = csr_array((values, places, counts.ptr.astype(np.int32)), shape=(len(lengths), columns))
    table.sum_duplicates()
    return table


def _count(graphs: IntArray, keys: Hashes, n_graphs: int) -> Counts:
    order = np.lexsort((keys, graphs))
    graphs, keys = graphs[order], keys[order]
    is_first = np.ones(len(keys), dtype=bool)
    is_first[1:] = (keys[1:] != keys[:-1]) | (graphs[1:] != graphs[:-1])
    first = np.flatnonzero(is_first)
    counts = np.diff(np.append(first, len(keys))).astype(np.float32)
    ptr = np.searchsorted(graphs[first], np.arange(n_graphs + 1))
    return Counts(ptr, keys[first], counts)


def _paths_of_graph(graphs: GraphSet, graph: int, colours: NDArray[np.uint64]) -> tuple[Hashes, NDArray[np.float32]]:
    nodes = slice(int(graphs.node_ptr[graph]), int(graphs.node_ptr[graph + 1]))
    if nodes.stop - nodes.start > MOST_NODES:
        return np.empty(0, np.uint64), np.empty(0, np.float32)
    indptr = graphs.indptr[nodes.start : nodes.stop + 1]
    keys = _path_keys(indptr - indptr[0], graphs.indices[indptr[0] : indptr[-1]], colours[:, nodes])
    distinct, counts = np.unique(keys, return_counts=True)
    return distinct, counts.astype(np.float32)


@compiled
def _path_keys(indptr: IntArray, indices: NDArray[np.int32], colours: NDArray[np.uint64]) -> Hashes:
    """A key for every pair of different connected nodes of one graph and every round."""
    n_rounds, n_nodes = colours.shape
    keys = np.empty(n_rounds * n_nodes * (n_nodes - 1) // 2, np.uint64)
    queue, distance = np.empty(n_nodes, np.int32), np.full(n_nodes, -1, np.int32)
    filled = 0
    for source in range(n_nodes):
        reached = search(indptr, indices, source, queue, distance)
        for node in queue[1:reached]:
            if node > source:
                for finished in range(n_rounds):
                    keys[filled] = _pair_key(colours[finished, source], colours[finished, node], distance[node])
                    filled += 1
        distance[queue[:reached]] = -1
    return keys[:filled]


@compiled
def _pair_key(one: np.uint64, other: np.uint64, distance: int) -> np.uint64:
    """The same for both orders of the ends; mixed by splitmix64's finaliser, so that sums do not collide."""
    low, high = min(one, other), max(one, other)
    mixed = (
        low * np.uint64(0xBF58476D1CE4E5B9) + (high ^ (high >> np.uint64(29))) + np.uint64(distance) * np.uint64(0x9E3779B97F4A7C15)
    )
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))


def pair_counts(graphs: GraphSet) -> IntArray:
    """At most so many pairs of nodes of each graph have a key in every round."""
    sizes = graphs.node_counts()
    return np.where(sizes <= MOST_NODES, sizes * (sizes - 1) // 2, 0)
