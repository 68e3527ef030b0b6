"""Twins: nodes that no other node can tell merged into one row that counts several times."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phist.engine.jit import ZERO, compiled, inner

Array = NDArray[Any]


class SparseRows(NamedTuple):
    """Matrices of all graphs, one below the other; columns are numbered within each graph."""

    indptr: Array
    indices: Array
    values: Array


class MergedRows(NamedTuple):
    """The matrices of all graphs on rows instead of nodes."""

    ptr: Array  # (graphs + 1): where the rows of each graph begin
    operator: SparseRows  # what a node of a row sees, summed over the nodes of each other row of its graph
    multiplicity: Array  # (rows): nodes of each
    root_row: Array  # (nodes): the row of its graph that stands for each when it is the root


class _Marks(NamedTuple):
    """What is remembered while nodes are merged: of every node its row, of every row its first node and a sum."""

    row_of: Array
    rest_row: Array
    representative: Array
    total: Array
    seen: Array


def twin_classes(node_ptr: Array, indptr: Array, indices: Array, weights: Array) -> Array:
    """For each node the first node of its twin class.

    Open twins have the same neighbours with the same weights. Closed twins are neighbours of each other and otherwise have
    the same neighbours with the same weights. A graph with a loop is left as it is.
    """
    n_graphs, n_nodes = len(node_ptr) - 1, len(indptr) - 1
    signatures, has_loop = np.empty((2, n_nodes), np.uint64), np.zeros(n_graphs, np.bool_)
    _sign(node_ptr, indptr, indices, weights.view(np.uint64), signatures, has_loop)
    graph, first = np.repeat(np.arange(n_graphs), np.diff(node_ptr)), np.arange(n_nodes)
    unlooped = np.flatnonzero(~has_loop)
    for closed, signature in enumerate(signatures):
        order = np.lexsort((signature, graph))  # stable: the first of equals has the smallest number
        _match(unlooped, node_ptr, (indptr, indices, weights), signature, order, bool(closed), first)
    return first


@inner
def _scramble(value: Any) -> Any:
    """A 64-bit number that looks random (splitmix64)."""
    value = np.uint64(value) + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@compiled
def _sign(node_ptr: Any, indptr: Any, indices: Any, weight_bits: Any, signatures: Any, has_loop: Any) -> None:
    """Hash each node's neighbourhood, without itself and with, and find loops."""
    for graph in range(len(node_ptr) - 1):
        for node in range(node_ptr[graph], node_ptr[graph + 1]):
            number = np.uint64(node - node_ptr[graph])
            opened, closed = np.uint64(0), _scramble(number)
            for arc in range(indptr[node], indptr[node + 1]):
                other = np.uint64(indices[arc])
                opened += _scramble(other ^ _scramble(weight_bits[arc]))
                # closed twins have the same weights, to each other included, but not all from the same nodes
                closed += _scramble(~weight_bits[arc]) + _scramble(other)
                if other == number:
                    has_loop[graph] = True
            signatures[0, node], signatures[1, node] = opened, closed


@compiled
def _match(graphs: Any, node_ptr: Any, operator: Any, signature: Any, order: Any, closed: bool, first: Any) -> None:
    """Of nodes with one signature, which have one neighbourhood."""
    for graph in graphs:
        begin, end = node_ptr[graph], node_ptr[graph + 1]
        leader = order[begin] if begin < end else begin
        for number in range(begin + 1, end):
            node = order[number]
            if signature[node] != signature[leader]:
                leader = node
            elif _same_neighbourhood(operator, begin, leader, node, closed):
                first[node] = leader


@inner
def _same_neighbourhood(operator: Any, begin: int, u: int, v: int, closed: bool) -> bool:
    """Whether u and v have the same neighbours, each other left out where ``closed``; rows are sorted."""
    indptr, indices, weights = operator
    a, b = indptr[u], indptr[v]
    while True:
        while closed and a < indptr[u + 1] and begin + indices[a] == v:
            a += 1
        while closed and b < indptr[v + 1] and begin + indices[b] == u:
            b += 1
        if a == indptr[u + 1] or b == indptr[v + 1]:
            return bool(a == indptr[u + 1] and b == indptr[v + 1])
        if indices[a] != indices[b] or weights[a] != weights[b]:
            return False
        a += 1
        b += 1


def merge_twins(node_ptr: Array, matrix: SparseRows, first: Array) -> MergedRows:
    """One row for the first node of each class of twins, and one for all the others.

    The first node has a row of its own because it may be a root, which makes it differ from its twins.
    """
    n_nodes, n_arcs = len(matrix.indptr) - 1, len(matrix.indices)
    rows = MergedRows(
        np.zeros(len(node_ptr), np.int64),
        SparseRows(np.zeros(n_nodes + 1, np.int64), np.empty(n_arcs, np.int32), np.empty(n_arcs, np.float32)),
        np.zeros(n_nodes, np.float32),
        np.empty(n_nodes, np.int32),
    )
    marks = _Marks(
        np.empty(n_nodes, np.int64),
        np.full(n_nodes, -1, np.int64),
        np.empty(n_nodes, np.int64),
        np.zeros(n_nodes, np.float32),
        np.full(n_nodes, -1, np.int64),
    )
    _merge(node_ptr, matrix, first, rows, marks)
    indptr, indices, values = rows.operator
    n_rows = rows.ptr[-1]
    n_entries = indptr[n_rows]
    operator = SparseRows(indptr[: n_rows + 1].copy(), indices[:n_entries].copy(), values[:n_entries].copy())
    return MergedRows(rows.ptr, operator, rows.multiplicity[:n_rows].copy(), rows.root_row)


@compiled
def _merge(node_ptr: Any, operator: Any, first: Any, rows: Any, marks: Any) -> None:
    row = ZERO
    for graph in range(len(node_ptr) - 1):
        begin, end = node_ptr[graph], node_ptr[graph + 1]
        last = _number_rows(begin, end, row, first, rows, marks)
        while row < last:
            _add_entries(begin, rows.ptr[graph], row, operator, rows, marks)
            row += 1
        rows.ptr[graph + 1] = row


@inner
def _number_rows(begin: int, end: int, first_row: int, first: Any, rows: Any, marks: Any) -> int:
    """Give the nodes of a graph rows; the number of the row after the last."""
    row = first_row
    for node in range(begin, end):
        leader = first[node]
        if leader == node or marks.rest_row[leader] < 0:
            if leader != node:
                marks.rest_row[leader] = row
            marks.representative[row] = node
            marks.row_of[node] = row
            row += 1
        else:
            marks.row_of[node] = marks.rest_row[leader]
        rows.root_row[node] = marks.row_of[leader] - first_row
        rows.multiplicity[marks.row_of[node]] += np.float32(1.0)
    return row


@inner
def _add_entries(begin: int, first_row: int, row: int, operator: Any, rows: Any, marks: Any) -> None:
    """What the first node of a row sees, by row."""
    indptr, indices, values = operator
    to, node = rows.operator, marks.representative[row]
    count = to.indptr[row]
    for arc in range(indptr[node], indptr[node + 1]):
        other = marks.row_of[begin + indices[arc]]
        if marks.seen[other] != row:
            marks.seen[other] = row
            marks.total[other] = np.float32(0.0)
            to.indices[count] = other - first_row
            count += 1
        marks.total[other] += values[arc]
    for entry in range(to.indptr[row], count):
        to.values[entry] = marks.total[first_row + to.indices[entry]]
    to.indptr[row + 1] = count
