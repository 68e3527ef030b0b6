"""Hop distances between all nodes of a graph, by breadth-first search from every node."""

import numpy as np
from numpy.typing import NDArray

from phist.graphs.arrays import IntArray
from phist.graphs.graph import Graph
from phist.graphs.graphset import GraphSet
from phist.jit import compiled
from phist.progress import SlowProgress


def distance_histograms(graphs: GraphSet) -> IntArray:
    """Ordered pairs of nodes by distance, one row per graph. (graphs, longest distance + 1)"""
    with SlowProgress("distances", len(graphs), show=None) as progress:
        rows = []
        for graph in graphs:
            rows.append(distance_counts(graph))
            progress.advance(1)
    histograms = np.zeros((len(graphs), max(map(len, rows), default=1)), np.int64)
    for histogram, row in zip(histograms, rows, strict=True):
        histogram[: len(row)] = row
    return histograms


def distance_counts(graph: Graph) -> IntArray:
    """How many ordered pairs of different nodes are 0, 1, 2, ... steps apart, up to the longest; unreachable pairs are left out.

    >>> from phist import as_graphset
    >>> import networkx as nx
    >>> distance_counts(as_graphset([nx.path_graph(4)])[0])
    array([0, 6, 4, 2])
    """
    counts: IntArray = _distance_counts(graph.indptr, graph.indices)
    return counts


@compiled
def search(indptr: IntArray, indices: NDArray[np.int32], source: int, queue: NDArray[np.int32], distance: NDArray[np.int32]) -> int:
    """Fill ``queue`` with the nodes reached from ``source``, nearest first, and ``distance`` at these nodes.

    ``distance`` must be -1 everywhere before, and it is the caller's to put that back. Returns how many were reached, the
    source among them.
    """
    queue[0], distance[source] = source, 0
    head, tail = 0, 1
    while head < tail:
        node = queue[head]
        head += 1
        for arc in range(indptr[node], indptr[node + 1]):
            neighbour = indices[arc]
            if distance[neighbour] < 0:
                distance[neighbour] = distance[node] + 1
                queue[tail] = neighbour
                tail += 1
    return tail


@compiled
def _distance_counts(indptr: IntArray, indices: NDArray[np.int32]) -> IntArray:
    n_nodes = len(indptr) - 1
    counts = np.zeros(n_nodes, np.int64)
    queue, distance = np.empty(n_nodes, np.int32), np.full(n_nodes, -1, np.int32)
    longest = 0
    for source in range(n_nodes):
        reached = search(indptr, indices, source, queue, distance)
        longest = max(longest, distance[queue[reached - 1]])
        for position in range(1, reached):
            counts[distance[queue[position]]] += 1
        distance[queue[:reached]] = -1
    return counts[: longest + 1]
