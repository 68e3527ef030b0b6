"""1-WL on graphs with a marked root: what no network of this kind, whatever its weights, can exceed with all nodes as roots."""

import numpy as np
from numpy.typing import NDArray

from phist.graphs.arrays import IntArray
from phist.graphs.graphset import GraphSet
from phist.graphs.packing import Reading, pack
from phist.graphs.symmetry import targets_of, weisfeiler_lehman_hashes


def rooted_colors(graphs: GraphSet) -> IntArray:
    """A number for every node, equal exactly where 1-WL with that node marked sees the same graph; undirected, without loops."""
    hashes = [weisfeiler_lehman_hashes(_each_node_marked(graphs[[graph]])) for graph in range(len(graphs))]
    return np.unique(np.concatenate(hashes), return_inverse=True)[1]


def told_apart_by_roots(pair: GraphSet) -> bool:
    """Whether two graphs differ in the multiset of their nodes' `rooted_colors`."""
    first, second = _colors_of_each(pair)
    return not np.array_equal(np.sort(first), np.sort(second))


def told_apart_by_outer_refinement(pair: GraphSet) -> bool:
    """Whether 1-WL that begins with `rooted_colors` tells two graphs apart: f_node, then f_graph, at their best."""
    marked = [_with_loops(pair[[graph]], (1 + colors).astype(np.float64)) for graph, colors in enumerate(_colors_of_each(pair))]
    first, second = (weisfeiler_lehman_hashes(graph)[0] for graph in marked)
    return bool(first != second)


def _colors_of_each(pair: GraphSet) -> list[IntArray]:
    return np.split(rooted_colors(pair), [int(pair.node_ptr[1])])


def _each_node_marked(graph: GraphSet) -> GraphSet:
    """A copy of the graph for every node, which has a loop there."""
    n_nodes = graph.n_nodes
    copies = graph[np.zeros(n_nodes, np.int64)]
    source, target = _arcs(copies)
    roots = np.arange(n_nodes) * (n_nodes + 1)
    return pack(copies.node_counts(), np.r_[source, roots], np.r_[target, roots], reading=Reading(self_loops="keep"))


def _with_loops(graph: GraphSet, weights: NDArray[np.float64]) -> GraphSet:
    """The graph with a loop of a given weight at every node, for 1-WL to begin with."""
    source, target = _arcs(graph)
    nodes = np.arange(graph.n_nodes)
    values = np.r_[np.ones(len(source)), weights]
    return pack(graph.node_counts(), np.r_[source, nodes], np.r_[target, nodes], values, reading=Reading(self_loops="keep"))


def _arcs(graphs: GraphSet) -> tuple[IntArray, IntArray]:
    """Both ends of all arcs, numbered through the set."""
    return np.repeat(np.arange(graphs.n_nodes), graphs.degrees()), targets_of(graphs)
