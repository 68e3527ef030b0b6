"""Twins: nodes that no other node can tell merged into one row that counts several times."""

from typing import Any

import numpy as np

from phist.engine.vectors import compiled


@compiled
def _scramble(value: Any) -> Any:
    """A 64-bit number that looks random (splitmix64)."""
    value = np.uint64(value) + np.uint64(0x9E3779B97F4A7C15)
    value = (value ^ (value >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    value = (value ^ (value >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return value ^ (value >> np.uint64(31))


@compiled
def _same_neighbourhood(indptr: Any, indices: Any, weights: Any, u: int, v: int, closed: bool) -> bool:
    """Whether u and v have the same neighbours, each other left out where ``closed``; rows are sorted."""
    a, b = indptr[u], indptr[v]
    while True:
        while closed and a < indptr[u + 1] and indices[a] == v:
            a += 1
        while closed and b < indptr[v + 1] and indices[b] == u:
            b += 1
        if a == indptr[u + 1] or b == indptr[v + 1]:
            return bool(a == indptr[u + 1] and b == indptr[v + 1])
        if indices[a] != indices[b] or weights[a] != weights[b]:
            return False
        a += 1
        b += 1


@compiled
def _signatures(indptr: Any, indices: Any, weights: Any, closed: bool) -> Any:
    """A hash of each node's neighbourhood, itself included where ``closed``."""
    n_nodes = len(indptr) - 1
    signature = np.empty(n_nodes, np.uint64)
    weight_bits = weights.view(np.uint64)
    for node in range(n_nodes):
        total = _scramble(np.uint64(node)) if closed else np.uint64(0)
        for arc in range(indptr[node], indptr[node + 1]):
            code = np.uint64(indices[arc])
            if closed:  # twins have the same weights, to each other included, but not all from the same nodes
                total += _scramble(~weight_bits[arc])
            else:
                code = code ^ _scramble(weight_bits[arc])
            total += _scramble(code)
        signature[node] = total
    return signature


@compiled
def twin_classes(indptr: Any, indices: Any, weights: Any) -> Any:
    """For each node the first node of its twin class.

    Open twins have the same neighbours with the same weights. Closed twins are neighbours of each other and otherwise have
    the same neighbours with the same weights. A graph with a loop is left as it is.
    """
    n_nodes = len(indptr) - 1
    first = np.arange(n_nodes)
    for node in range(n_nodes):
        for arc in range(indptr[node], indptr[node + 1]):
            if indices[arc] == node:
                return first
    for closed in (False, True):
        signature = _signatures(indptr, indices, weights, closed)
        order = np.argsort(signature, kind="mergesort")  # stable: the first of equals has the smallest number
        leader = order[0]
        for node in order[1:]:
            if signature[node] != signature[leader]:
                leader = node
            elif _same_neighbourhood(indptr, indices, weights, leader, node, closed):
                first[node] = leader
    return first


@compiled
def merge_twins(indptr: Any, indices: Any, values: Any, first: Any) -> Any:
    """The operator on rows instead of nodes: a class of twins is one row for its first node and one for all the others.

    The first node has a row of its own because it may be a root, which makes it differ from its twins.

    Returns:
        row_indptr, row_indices, row_values: what a node of the row sees, summed over the nodes of each other row.
        multiplicity: nodes of each row.
        root_row: for every node the row that stands for it when it is the root.
    """
    n_nodes = len(first)
    row_of = np.empty(n_nodes, np.int64)
    root_row = np.empty(n_nodes, np.int32)
    rest_row = np.full(n_nodes, -1, np.int64)
    representative = np.empty(n_nodes, np.int64)
    multiplicity = np.zeros(n_nodes, np.float32)
    n_rows = 0
    for node in range(n_nodes):
        leader = first[node]
        if leader == node or rest_row[leader] < 0:
            if leader != node:
                rest_row[leader] = n_rows
            representative[n_rows] = node
            row_of[node] = n_rows
            n_rows += 1
        else:
            row_of[node] = rest_row[leader]
        root_row[node] = row_of[leader]
        multiplicity[row_of[node]] += np.float32(1.0)

    row_indptr = np.zeros(n_rows + 1, np.int64)
    row_indices = np.empty(len(indices), np.int32)
    row_values = np.empty(len(indices), np.float32)
    total = np.zeros(n_rows, np.float32)
    seen = np.full(n_rows, -1, np.int64)
    count = 0
    for row in range(n_rows):
        node = representative[row]
        begin = count
        for arc in range(indptr[node], indptr[node + 1]):
            other = row_of[indices[arc]]
            if seen[other] != row:
                seen[other] = row
                total[other] = np.float32(0.0)
                row_indices[count] = other
                count += 1
            total[other] += values[arc]
        for arc in range(begin, count):
            row_values[arc] = total[row_indices[arc]]
        row_indptr[row + 1] = count
    return row_indptr, row_indices[:count], row_values[:count], multiplicity[:n_rows], root_row
