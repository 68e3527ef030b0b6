"""Plans: everything about a set of graphs that does not change from step to step, worked out once."""

import math
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phist.engine.jit import ZERO, compiled, inner
from phist.engine.recursion import BESIDE, Operator
from phist.engine.twins import SparseRows, merge_twins, twin_classes
from phist.engine.views import stretch
from phist.graphs.arrays import starts_of
from phist.graphs.graphset import GraphSet
from phist.nn.batch import LEAST_DEGREE, LEAST_EXPONENT, check_operator

BALL_PAYS = 0.6  # a ball with more of the rows than this costs less when computed whole
PROBES = 8  # roots per graph whose balls are measured
LARGE = 4096  # rows whose terms no longer stay in the cache: roots side by side wait less for memory

Array = NDArray[Any]


class Operators(NamedTuple):
    """A sparse matrix for each graph of a set."""

    entry_ptr: Array  # (graphs + 1): entries of each graph
    indptr: Array  # (nodes + graphs): entries of each node, counted from the graph's first; a graph has one more than nodes
    indices: Array  # numbered within the graph
    values: Array


class Plan(NamedTuple):
    """The graphs of a set, ready to be computed on in any order; a tuple of arrays, as compiled code takes it."""

    node_ptr: Array  # (graphs + 1)
    nodes: Operators  # on nodes, for f_graph
    nodes_transposed: Operators  # the same arrays where graphs are undirected and the operator is the Laplacian
    row_ptr: Array  # (graphs + 1): rows of each graph, that is its nodes with twins merged
    rows: Operators  # on rows, for f_node
    rows_transposed: Operators
    multiplicity: Array  # (rows): nodes merged into each
    root_row: Array  # (nodes): the row that stands for a node when it is the root
    by_balls: Array  # (graphs): whether rows beyond the reach of a root are taken from a background
    ball_sizes: Array  # (graphs): rows that a root reaches, the mean over a few; all of them where balls are not used
    beside: Array  # (graphs): roots that are computed side by side, row by row; one where they come one after the other

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


def make_plan(graphs: GraphSet, scale: float, reach: int, balls: bool, operator: str = "laplacian") -> Plan:
    """Plan ``graphs`` for an operator of `Batch` scaled by ``scale``.

    Args:
        reach: hops from a root to the farthest row it can change.
        balls: whether the network allows a background at all, and roots side by side, since it whitens all of them alike.
        operator: that of directed graphs, ``"random-walk"``, is computed without balls, and twins are not merged there.
    """
    check_operator(operator, graphs.directed)
    symmetric = operator == "laplacian"
    weights, node_ptr = graphs.weights_or_ones(), np.ascontiguousarray(graphs.node_ptr, np.int64)
    values = scaled_operator(SparseRows(graphs.indptr, graphs.indices, weights), node_ptr, scale, symmetric)
    first = np.arange(graphs.n_nodes)
    if not graphs.directed:
        first = twin_classes(node_ptr, graphs.indptr, graphs.indices, weights)
    nodes = SparseRows(graphs.indptr, np.ascontiguousarray(graphs.indices, np.int32), values)
    transposed = nodes if symmetric else transpose(node_ptr, nodes)
    rows = merge_twins(node_ptr, nodes, first)
    rows_transposed = rows if symmetric else merge_twins(node_ptr, transposed, first)
    by_balls, ball_sizes = np.zeros(len(graphs), np.bool_), np.diff(rows.ptr)
    if balls and symmetric:
        by_balls, measured = measure_balls(rows.ptr, rows.operator.indptr, rows.operator.indices, reach)
        ball_sizes = np.where(by_balls, measured, ball_sizes)
    on_nodes, on_rows = _by_graph(node_ptr, nodes), _by_graph(rows.ptr, rows.operator)
    return Plan(
        node_ptr,
        on_nodes,
        on_nodes if symmetric else _by_graph(node_ptr, transposed),
        rows.ptr,
        on_rows,
        on_rows if symmetric else _by_graph(rows.ptr, rows_transposed.operator),
        rows.multiplicity,
        rows.root_row,
        by_balls,
        ball_sizes,
        np.where(balls & ~by_balls & (np.diff(rows.ptr) >= LARGE), BESIDE, 1),
    )


def transpose(node_ptr: Array, matrix: SparseRows) -> SparseRows:
    """The transposes of the graphs' matrices."""
    n_nodes = len(matrix.indptr) - 1
    first = np.repeat(node_ptr[:-1], np.diff(matrix.indptr[node_ptr]))  # of the graph of each entry
    rows, columns = np.repeat(np.arange(n_nodes), np.diff(matrix.indptr)), first + matrix.indices
    order = np.argsort(columns, kind="stable")
    indptr = starts_of(np.bincount(columns, minlength=n_nodes))
    return SparseRows(indptr, (rows - first)[order].astype(np.int32), matrix.values[order])


def _by_graph(ptr: Array, matrix: SparseRows) -> Operators:
    """Entries of each graph, and the rows' pointers counted from the graph's first entry: small numbers in any set."""
    indptr = matrix.indptr
    entry_ptr = np.ascontiguousarray(indptr[ptr], np.int64)
    graphs = np.arange(len(ptr) - 1)
    ends = np.delete(np.arange(len(indptr) - 1 + len(graphs)), ptr[:-1] + graphs)  # all but the first pointer of a graph
    counted = np.zeros(len(indptr) - 1 + len(graphs), np.int64)
    counted[ends] = indptr[1:] - np.repeat(entry_ptr[:-1], np.diff(ptr))
    indices = matrix.indices.view()
    indices.flags.writeable = False  # as those of graphs are: code is compiled for one kind of array
    return Operators(entry_ptr, counted.astype(np.int32), indices, matrix.values)


@inner
def operator_of(matrices: Any, ptr: Any, graph: int) -> Operator:
    """The matrix of a graph, given where the rows of each begin."""
    entry, n = matrices.entry_ptr[graph], ptr[graph + 1] - ptr[graph]
    n_entries = matrices.entry_ptr[graph + 1] - entry
    return Operator(
        stretch(matrices.indptr, ptr[graph] + graph, n + 1),
        stretch(matrices.indices, entry, n_entries),
        stretch(matrices.values, entry, n_entries),
    )


@inner
def rows_in(plan: Any, graph: int) -> int:
    """Rows of a graph."""
    n: int = plan.row_ptr[graph + 1] - plan.row_ptr[graph]
    return n


@inner
def nodes_in(plan: Any, graph: int) -> int:
    """Nodes of a graph."""
    n: int = plan.node_ptr[graph + 1] - plan.node_ptr[graph]
    return n


def scaled_operator(adjacency: SparseRows, node_ptr: Array, scale: float, symmetric: bool) -> Array:
    """The entries of scale·(L - I), graph by graph; of -scale·D^-1 A unless ``symmetric``."""
    values = np.empty(len(adjacency.indices), np.float32)
    _fill_operator(adjacency, node_ptr, scale, symmetric, np.zeros(len(adjacency.indptr) - 1), values)
    return values


@compiled
def _fill_operator(adjacency: Any, node_ptr: Any, scale: float, symmetric: bool, inverse: Any, values: Any) -> None:
    """``inverse`` is scratch: what each node's entries are divided by."""
    indptr, indices, weights = adjacency
    for graph in range(len(node_ptr) - 1):
        first, last = node_ptr[graph], node_ptr[graph + 1]
        factor = _weight_factor(weights[indptr[first] : indptr[last]])
        for node in range(first, last):
            degree = 0.0
            for arc in range(indptr[node], indptr[node + 1]):
                degree += weights[arc] * factor
            if degree >= LEAST_DEGREE:
                inverse[node] = math.sqrt(1 / degree) if symmetric else 1 / degree
        for node in range(first, last):
            for arc in range(indptr[node], indptr[node + 1]):
                other = inverse[first + indices[arc]] if symmetric else 1.0
                values[arc] = -scale * inverse[node] * (weights[arc] * factor) * other


@inner
def _weight_factor(weights: Any) -> float:
    """The power of four that brings the largest weight near one, as in `Batch`: sums and inverses of weights stay in range."""
    largest = 0.0
    for weight in weights:
        largest = max(largest, weight)
    exponent = max(math.frexp(largest)[1], LEAST_EXPONENT)
    return math.ldexp(1.0, -(exponent - exponent % 2))


def measure_balls(row_ptr: Array, indptr: Array, indices: Array, reach: int) -> tuple[Array, Array]:
    """For each graph whether balls pay, and how many rows a ball has on average."""
    n_graphs, largest = len(row_ptr) - 1, int(np.diff(row_ptr).max(initial=0))
    pays, sizes = np.zeros(n_graphs, np.bool_), np.zeros(n_graphs, np.int64)
    _measure_balls(row_ptr, (indptr, indices), reach, np.empty(largest, np.int64), np.empty(largest, np.int64), pays, sizes)
    return pays, sizes


@compiled
def _measure_balls(row_ptr: Any, matrix: Any, reach: int, seen: Any, queue: Any, pays: Any, sizes: Any) -> None:
    """``seen`` and ``queue`` are scratch, for the rows of the largest graph."""
    indptr, indices = matrix
    probe = ZERO
    for graph in range(len(row_ptr) - 1):
        n_rows = row_ptr[graph + 1] - row_ptr[graph]
        own = indptr[row_ptr[graph] : row_ptr[graph + 1] + 1]
        step = max(1, n_rows // PROBES)
        found, roots = 0, 0
        for row in range(n_rows):
            seen[row] = -1
        for root in range(0, n_rows, step):
            found += _ball_size(root, own, indices, reach, seen, queue, probe)
            probe += 1
            roots += 1
        pays[graph] = found < BALL_PAYS * roots * n_rows
        sizes[graph] = found // max(roots, 1)


@inner
def _ball_size(root: int, indptr: Any, indices: Any, reach: int, seen: Any, queue: Any, mark: int) -> int:
    """Rows within reach of a root of a graph, whose pointers are ``indptr``; those that were seen are marked."""
    queue[0], seen[root] = root, mark
    begin, count = 0, 1
    for _ in range(reach):
        end = count
        for position in range(begin, end):
            row = queue[position]
            for entry in range(indptr[row], indptr[row + 1]):
                other = indices[entry]
                if seen[other] != mark:
                    seen[other] = mark
                    queue[count] = other
                    count += 1
        begin = end
    return count
