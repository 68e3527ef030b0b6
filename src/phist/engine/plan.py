"""Plans: everything about a set of graphs that does not change from step to step, worked out once."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phist.engine.jit import compiled, inner
from phist.engine.twins import merge_twins, twin_classes
from phist.graphs.graphset import GraphSet
from phist.nn.batch import LEAST_DEGREE, LEAST_EXPONENT

BALL_PAYS = 0.6  # a ball with more of the rows than this costs less when computed whole
PROBES = 8  # roots per graph whose balls are measured

Array = NDArray[Any]


class Plan(NamedTuple):
    """The graphs of a set, ready to be computed on in any order; a tuple of arrays, as compiled code takes it."""

    node_ptr: Array  # (graphs + 1)
    entry_ptr: Array  # (graphs + 1): entries of each graph's scaled Laplacian, for f_graph
    indptr: Array  # (nodes + graphs): entries of each node, counted from the graph's first; a graph has one more than nodes
    indices: Array  # numbered within the graph
    values: Array
    row_ptr: Array  # (graphs + 1): rows of each graph, that is its nodes with twins merged
    row_entry_ptr: Array  # and so on: the same operator on rows, for f_node
    row_indptr: Array
    row_indices: Array
    row_values: Array
    multiplicity: Array  # (rows): nodes merged into each
    root_row: Array  # (nodes): the row that stands for a node when it is the root
    by_balls: Array  # (graphs): whether rows beyond the reach of a root are taken from a background
    ball_sizes: Array  # (graphs): rows that a root reaches, the mean over a few; all of them where balls are not used

    def costs(self, graphs: Array, n_roots: Array) -> Array:
        """What some graphs cost, seen from so many roots, in rows of a root; the other weights were fitted to times of steps."""
        nodes = self.node_ptr[graphs + 1] - self.node_ptr[graphs]
        rows = self.row_ptr[graphs + 1] - self.row_ptr[graphs]
        roots = np.minimum(n_roots, rows)
        background = np.where(self.by_balls[graphs], rows, 0)
        costs: Array = roots * self.ball_sizes[graphs] + 3 * roots + 7 * background + 3 * nodes + 60
        return costs

    @property
    def node_counts(self) -> Array:
        return np.diff(self.node_ptr)

    @property
    def row_counts(self) -> Array:
        return np.diff(self.row_ptr)


def make_plan(graphs: GraphSet, scale: float, reach: int, balls: bool) -> Plan:
    """Plan ``graphs`` for the Laplacian scaled by ``scale``.

    Args:
        reach: hops from a root to the farthest row it can change.
        balls: whether the network allows a background at all.
    """
    weights = graphs.weights_or_ones()
    values = scaled_laplacian(graphs.indptr, graphs.indices, weights, graphs.node_ptr, scale)
    first = twin_classes(graphs.node_ptr, graphs.indptr, graphs.indices, weights)
    row_ptr, row_indptr, row_indices, row_values, multiplicity, root_row = merge_twins(
        graphs.node_ptr, graphs.indptr, graphs.indices, values, first
    )
    by_balls, ball_sizes = np.zeros(len(graphs), np.bool_), np.diff(row_ptr)
    if balls:
        by_balls, measured = measure_balls(row_ptr, row_indptr, row_indices, reach)
        ball_sizes = np.where(by_balls, measured, ball_sizes)
    indices = np.ascontiguousarray(graphs.indices, np.int32)
    return Plan(
        np.ascontiguousarray(graphs.node_ptr, np.int64), *_within_graphs(graphs.node_ptr, graphs.indptr), indices, values,
        row_ptr, *_within_graphs(row_ptr, row_indptr), row_indices, row_values, multiplicity, root_row, by_balls, ball_sizes,
    )  # fmt: skip


def _within_graphs(ptr: Array, indptr: Array) -> tuple[Array, Array]:
    """Entries of each graph, and the rows' pointers counted from the graph's first entry: small numbers in any set."""
    entry_ptr = np.ascontiguousarray(indptr[ptr], np.int64)
    graphs = np.arange(len(ptr) - 1)
    ends = np.delete(np.arange(len(indptr) - 1 + len(graphs)), ptr[:-1] + graphs)  # all but the first pointer of a graph
    counted = np.zeros(len(indptr) - 1 + len(graphs), np.int64)
    counted[ends] = indptr[1:] - np.repeat(entry_ptr[:-1], np.diff(ptr))
    return entry_ptr, counted.astype(np.int32)


@compiled
def scaled_laplacian(indptr: Any, indices: Any, weights: Any, node_ptr: Any, scale: float) -> Any:
    """The entries of scale·(L - I), graph by graph."""
    inverse_root = np.zeros(len(indptr) - 1)
    values = np.empty(len(indices), np.float32)
    for graph in range(len(node_ptr) - 1):
        first, last = node_ptr[graph], node_ptr[graph + 1]
        factor = _weight_factor(weights[indptr[first] : indptr[last]])
        for node in range(first, last):
            degree = 0.0
            for arc in range(indptr[node], indptr[node + 1]):
                degree += weights[arc] * factor
            if degree >= LEAST_DEGREE:
                inverse_root[node] = np.sqrt(1 / degree)
        for node in range(first, last):
            for arc in range(indptr[node], indptr[node + 1]):
                values[arc] = -scale * inverse_root[node] * (weights[arc] * factor) * inverse_root[first + indices[arc]]
    return values


@inner
def _weight_factor(weights: Any) -> float:
    """The power of four that brings the largest weight near one, as in `Batch`: sums and inverses of weights stay in range."""
    largest = 0.0
    for weight in weights:
        largest = max(largest, weight)
    exponent = max(math.frexp(largest)[1], LEAST_EXPONENT)
    return math.ldexp(1.0, -(exponent - exponent % 2))


@compiled
def measure_balls(row_ptr: Any, indptr: Any, indices: Any, reach: int) -> Any:
    """For each graph whether balls pay, and how many rows a ball has on average."""
    n_graphs = len(row_ptr) - 1
    largest = 0
    for graph in range(n_graphs):
        largest = max(largest, row_ptr[graph + 1] - row_ptr[graph])
    seen = np.full(largest, -1, np.int64)
    queue = np.empty(largest, np.int64)
    pays, sizes = np.zeros(n_graphs, np.bool_), np.zeros(n_graphs, np.int64)
    probe = 0
    for graph in range(n_graphs):
        first, n_rows = row_ptr[graph], row_ptr[graph + 1] - row_ptr[graph]
        step = max(1, n_rows // PROBES)
        found, roots = 0, 0
        seen[:n_rows] = -1
        for root in range(0, n_rows, step):
            found += _ball_size(root, first, indptr, indices, reach, seen, queue, probe)
            probe += 1
            roots += 1
        pays[graph] = found < BALL_PAYS * roots * n_rows
        sizes[graph] = found // max(roots, 1)
    return pays, sizes


@inner
def _ball_size(root: int, first: int, indptr: Any, indices: Any, reach: int, seen: Any, queue: Any, mark: int) -> int:
    queue[0], seen[root] = root, mark
    begin, count = 0, 1
    for _ in range(reach):
        end = count
        for position in range(begin, end):
            row = first + queue[position]
            for entry in range(indptr[row], indptr[row + 1]):
                other = indices[entry]
                if seen[other] != mark:
                    seen[other] = mark
                    queue[count] = other
                    count += 1
        begin = end
    return count
