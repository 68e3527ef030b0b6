"""Nodes that no message passing can tell apart are one row: graphs of rows, on which networks give the same answers.

A network that starts from degrees and passes messages gives two nodes of one 1-WL colour the same signal in every layer. So
one row a colour is enough, if sums over neighbours count how many nodes a row stands for. That is exact, whatever the weights.
"""

from dataclasses import dataclass
from pathlib import Path

import numpy as np

from phist.baselines.feature_cache import Arrays, computed_once
from phist.graphs.arrays import IntArray, ranges, starts_of
from phist.graphs.graphset import GraphSet
from phist.graphs.symmetry import split_by_size, targets_of, weisfeiler_lehman_colors


@dataclass(frozen=True)
class Rows:
    """Graphs as rows that stand for one or more nodes, and the arcs between them.

    Attributes:
        row_ptr: where the rows of each graph begin.
        indptr, indices: the rows that each row has arcs to, numbered within its graph.
        counts: arcs of the graph that each of these stands for, the same in both directions.
        sizes: nodes of each row.
        degrees: neighbours of each of these nodes.
    """

    row_ptr: IntArray
    indptr: IntArray
    indices: IntArray
    counts: IntArray
    sizes: IntArray
    degrees: IntArray


def single_nodes(graphs: GraphSet) -> Rows:
    """A row for every node."""
    ones = np.ones(len(graphs.indices), np.int64)
    indices = graphs.indices.astype(np.int64)
    return Rows(graphs.node_ptr, graphs.indptr, indices, ones, np.ones(graphs.n_nodes, np.int64), graphs.degrees())


def color_classes(graphs: GraphSet, cache: Path | None = None) -> Rows:
    """A row for every stable 1-WL colour of every graph.

    Args:
        graphs: undirected, without weights and loops.
        cache: a folder to keep the rows in for other processes.
    """
    return Rows(**computed_once(graphs, "color-classes-1", cache, lambda: _joined(graphs)))


def _joined(graphs: GraphSet) -> Arrays:
    """The rows of all graphs, found part by part, so that no temporary array grows with the set."""
    parts = [_merged(part) for part in split_by_size(graphs)]
    return {
        "row_ptr": starts_of(np.concatenate([np.empty(0, np.int64), *(np.diff(part.row_ptr) for part in parts)])),
        "indptr": starts_of(np.concatenate([np.empty(0, np.int64), *(np.diff(part.indptr) for part in parts)])),
        **{
            name: np.concatenate([np.empty(0, np.int64), *(getattr(part, name) for part in parts)])
            for name in ("indices", "counts", "sizes", "degrees")
        },
    }


def _merged(graphs: GraphSet) -> Rows:
    colors = weisfeiler_lehman_colors(graphs)
    graph_of_node = np.repeat(np.arange(len(graphs)), graphs.node_counts())
    keys = graph_of_node * (colors.max(initial=0) + 1) + colors
    _, first, row_of_node, sizes = np.unique(keys, return_index=True, return_inverse=True, return_counts=True)
    row_ptr = starts_of(np.bincount(graph_of_node[first], minlength=len(graphs)))

    # All nodes of a row see the same, so that the arcs of its first node tell those of all.
    degrees = graphs.degrees()[first]
    arcs = ranges(graphs.indptr[first], degrees)
    ends = row_of_node[targets_of(graphs)[arcs]]
    source = np.repeat(np.arange(len(first)), degrees)
    pairs, seen = np.unique(source * len(first) + ends, return_counts=True)
    source, ends = np.divmod(pairs, max(len(first), 1))
    indices = ends - row_ptr[graph_of_node[first]][source]
    indptr = starts_of(np.bincount(source, minlength=len(first)))
    return Rows(row_ptr, indptr, indices, seen * sizes[source], sizes, degrees)
