"""The compiled loop that looks whether lists of arcs are packed already; imported only when graphs come one a row."""

import numpy as np
from numpy.typing import NDArray

from phist.graphs.arrays import Array, IntArray
from phist.jit import compiled


@compiled
def fill_indptr(
    node_ptr: IntArray,
    arc_ptr: IntArray,
    source: Array,
    target: Array,
    weights: NDArray[np.float64],
    mutual: bool,
    indptr: IntArray,
) -> bool:
    """Fill ``indptr`` (nodes + 1) where the arcs of every graph stand as a `GraphSet` has them, and say whether they do.

    They do where ends are nodes of the graph, sources ascend, targets ascend within a source, no arc is a loop, weights are
    positive and finite and, if ``mutual``, every arc has its reverse of equal weight. Targets that ascend under ascending
    sources come back in the same order from the other side: one cursor for each node finds all the reverses.
    """
    indptr[0] = 0
    for graph in range(len(node_ptr) - 1):
        first, n_nodes = node_ptr[graph], node_ptr[graph + 1] - node_ptr[graph]
        begin, end = arc_ptr[graph], arc_ptr[graph + 1]
        node, before = 0, -1
        for arc in range(begin, end):
            while node < source[arc] and node < n_nodes:
                node, before = node + 1, -1
                indptr[first + node] = arc
            inside = source[arc] == node < n_nodes and before < target[arc] < n_nodes
            if not inside or target[arc] == node:
                return False
            before = target[arc]
            if len(weights) and not 0 < weights[arc] < np.inf:
                return False
        for rest in range(node + 1, n_nodes + 1):
            indptr[first + rest] = end
        if mutual and not _is_mutual(first, (begin, end), source, target, weights, indptr, np.zeros(n_nodes, np.int64)):
            return False
    return True


@compiled
def _is_mutual(
    first: int, arcs: tuple[int, int], source: Array, target: Array, weights: NDArray[np.float64], indptr: IntArray, taken: IntArray
) -> bool:
    for arc in range(arcs[0], arcs[1]):
        node = target[arc]
        reverse = indptr[first + node] + taken[node]
        if reverse >= indptr[first + node + 1] or target[reverse] != source[arc]:
            return False
        if len(weights) and weights[reverse] != weights[arc]:
            return False
        taken[node] += 1
    return True
