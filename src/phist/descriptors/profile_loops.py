"""Compiled loops over the edges of packed graphs: overlaps of neighbourhoods, local degree scores, betweenness.

All of them take graphs without loops and directions, in the arrays of a `GraphSet`, and write one number per edge. Edges are
numbered through the set in the order of their smaller end and then of their larger one.
"""

import numpy as np
from numpy.typing import NDArray

from phist.graphs.arrays import IntArray
from phist.jit import compiled

Scores = NDArray[np.float32]


@compiled
def score_edges(node_ptr: IntArray, indptr: IntArray, indices: NDArray[np.int32], edge_ptr: IntArray, scores: Scores) -> None:
    """Betweenness, Jaccard index and local degree score of every edge into ``scores``, (edges, 3)."""
    for graph in range(len(node_ptr) - 1):
        first, last = node_ptr[graph], node_ptr[graph + 1]
        rows = indptr[first : last + 1] - indptr[first]
        neighbours = indices[indptr[first] : indptr[last]]
        edge_of = _number_edges(rows, neighbours)
        own = scores[edge_ptr[graph] : edge_ptr[graph + 1]]
        own[:, 0] = _betweenness(rows, neighbours, edge_of)
        own[:, 1] = _jaccard(rows, neighbours)
        own[:, 2] = _local_degree(rows, neighbours, edge_of)


@compiled
def _number_edges(rows: IntArray, neighbours: NDArray[np.int32]) -> IntArray:
    """The edge of every arc. Rows are sorted, so the arcs back to smaller nodes are met in their own order."""
    edge_of = np.empty(len(neighbours), np.int64)
    next_back = rows[:-1].copy()
    edge = 0
    for node in range(len(rows) - 1):
        for arc in range(rows[node], rows[node + 1]):
            other = neighbours[arc]
            if other > node:
                edge_of[arc] = edge
                edge_of[next_back[other]] = edge
                next_back[other] += 1
                edge += 1
    return edge_of


@compiled
def _betweenness(rows: IntArray, neighbours: NDArray[np.int32], edge_of: IntArray) -> NDArray[np.float64]:
    """Over all pairs of nodes, the share of their shortest paths that use the edge (Brandes, 2001)."""
    n_nodes = len(rows) - 1
    scores = np.zeros(len(neighbours) // 2)
    queue = np.empty(n_nodes, np.int32)
    distance = np.empty(n_nodes, np.int32)
    paths = np.empty(n_nodes)
    dependency = np.empty(n_nodes)
    for source in range(n_nodes):
        distance[:] = -1
        paths[:] = 0.0
        dependency[:] = 0.0
        distance[source], paths[source], queue[0] = 0, 1.0, source
        reached, head = 1, 0
        while head < reached:
            node = queue[head]
            head += 1
            for arc in range(rows[node], rows[node + 1]):
                other = neighbours[arc]
                if distance[other] < 0:
                    distance[other] = distance[node] + 1
                    queue[reached] = other
                    reached += 1
                if distance[other] == distance[node] + 1:
                    paths[other] += paths[node]
        for place in range(reached - 1, 0, -1):
            node = queue[place]
            share = (1.0 + dependency[node]) / paths[node]
            for arc in range(rows[node], rows[node + 1]):
                other = neighbours[arc]
                if distance[other] == distance[node] - 1:
                    dependency[other] += paths[other] * share
                    scores[edge_of[arc]] += paths[other] * share
    return scores / 2  # every pair was counted from both of its ends


@compiled
def _jaccard(rows: IntArray, neighbours: NDArray[np.int32]) -> NDArray[np.float64]:
    """Common neighbours of the two ends, as a share of the neighbours of either."""
    n_nodes = len(rows) - 1
    scores = np.empty(len(neighbours) // 2)
    is_neighbour = np.zeros(n_nodes, np.int64)
    edge = 0
    for node in range(n_nodes):
        own = neighbours[rows[node] : rows[node + 1]]
        is_neighbour[own] = 1
        for other in own:
            if other > node:
                common = 0
                for arc in range(rows[other], rows[other + 1]):
                    common += is_neighbour[neighbours[arc]]
                scores[edge] = common / (len(own) + rows[other + 1] - rows[other] - common)
                edge += 1
        is_neighbour[own] = 0
    return scores


@compiled
def _local_degree(rows: IntArray, neighbours: NDArray[np.int32], edge_of: IntArray) -> NDArray[np.float64]:
    """How early an edge comes when either end ranks its neighbours by degree: 1 - log(rank) / log(degree), the better of two.

    Neighbours of equal degree share the better rank; the only edge of a node scores one.
    """
    scores = np.zeros(len(neighbours) // 2)
    degrees = rows[1:] - rows[:-1]
    for node in range(len(degrees)):
        own = slice(rows[node], rows[node + 1])
        ordered = np.sort(degrees[neighbours[own]])
        for arc in range(rows[node], rows[node + 1]):
            rank = 1 + degrees[node] - np.searchsorted(ordered, degrees[neighbours[arc]], side="right")
            score = 1.0 - np.log(rank) / np.log(degrees[node]) if degrees[node] > 1 else 1.0
            scores[edge_of[arc]] = max(scores[edge_of[arc]], score)
    return scores
