"""Graphs with nodes and edges taken out or put in."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from numbers import Integral
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phist.checks import finite_number
from phist.errors import GraphInputError, shown
from phist.graphs.arrays import IntArray, starts_of
from phist.graphs.convert import as_graphset
from phist.graphs.graph import Graph
from phist.graphs.graphset import GraphSet
from phist.graphs.packing import Reading, pack

Item = Any  # a node by its number, or an edge as a pair of numbers; where edges are added, a third number is its weight


@dataclass(frozen=True)
class Items:
    """Nodes and edges as somebody names them."""

    nodes: list[int]
    edges: list[tuple[int, int]]
    weights: list[float]  # of the edges


def read_items(items: Any) -> Items:
    """Nodes and edges from a number, a tuple of two, or a list of such.

    >>> read_items([4, (0, 1)])
    Items(nodes=[4], edges=[(0, 1)], weights=[1.0])
    >>> read_items((0, 1)).edges, read_items([0, 1]).nodes
    ([(0, 1)], [0, 1])
    """
    found = Items([], [], [])
    single = _is_node(items) or (isinstance(items, tuple) and _is_edge(items))
    for item in [items] if single else listed(items, "nodes by number and edges as pairs are needed, in a list"):
        if _is_node(item):
            found.nodes.append(int(item))
        elif _is_edge(item) or (_is_edge(item[:2]) if isinstance(item, tuple | list) and len(item) == 3 else False):
            found.edges.append((int(item[0]), int(item[1])))
            found.weights.append(float(finite_number("weight", item[2], least=0)) if len(item) == 3 else 1.0)
        else:
            raise GraphInputError(f"{shown(item)} is neither a node nor an edge; give a node's number or a pair of them")
    return found


def listed(items: Any, needed: str) -> list[Any]:
    """The items of anything that can be listed; text, and what only looks as if it could be, such as an array without a
    dimension, is a `GraphInputError` that says what is ``needed``.
    """
    try:
        found = None if isinstance(items, str) else list(items)
    except TypeError:
        found = None
    if found is None:
        raise GraphInputError(f"{shown(items)} was given; {needed}")
    return found


def _is_node(item: Any) -> bool:
    return isinstance(item, Integral) and not isinstance(item, bool)


def _is_edge(item: Any) -> bool:
    is_row = isinstance(item, tuple | list) or (isinstance(item, np.ndarray) and item.ndim == 1)
    return is_row and len(item) == 2 and all(_is_node(end) for end in item)


def without(graph: Graph, sets: Sequence[Item | Iterable[Item]]) -> GraphSet:
    """The graph without the nodes and edges of each set in turn; what is left is numbered anew, in order."""
    source = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    keep_nodes = np.ones((len(sets), graph.n_nodes), bool)
    keep_arcs = np.ones((len(sets), len(source)), bool)
    for number, items in enumerate(sets):
        found = read_items(items)
        check_nodes(graph, found.nodes)
        keep_nodes[number, found.nodes] = False
        keep_arcs[number, [arc for edge in found.edges for arc in arcs_of(graph, edge)]] = False
    if not keep_nodes.any(axis=1).all():
        raise GraphInputError(f"no node of graph {shown(graph.id)} would be left; leave at least one")
    return subgraphs(graph, keep_nodes, keep_arcs)


def subgraphs(graph: Graph, keep_nodes: NDArray[np.bool_], keep_arcs: NDArray[np.bool_]) -> GraphSet:
    """One graph for each row: what is kept of the nodes (rows, nodes) and of the arcs between them (rows, arcs)."""
    source = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    kept = keep_arcs & keep_nodes[:, source] & keep_nodes[:, graph.indices]
    row, arc = np.nonzero(kept)
    renamed = np.cumsum(keep_nodes, axis=1) - 1
    counts = np.bincount(row * graph.n_nodes + source[arc], minlength=keep_nodes.size)
    return GraphSet(
        node_ptr=starts_of(keep_nodes.sum(1)),
        indptr=starts_of(counts[keep_nodes.ravel()]),
        indices=renamed[row, graph.indices[arc]].astype(np.int32),
        weights=None if graph.weights is None else graph.weights[arc],
        directed=graph.directed,
    )


def arcs_of(graph: Graph, edge: Sequence[int]) -> list[int]:
    """The positions of an edge among the arcs, both directions of an undirected one; an error if it is not there."""
    check_nodes(graph, edge)
    ends = [(edge[0], edge[1])] if graph.directed or edge[0] == edge[1] else [(edge[0], edge[1]), (edge[1], edge[0])]
    found = []
    for source, target in ends:
        begin, end = graph.indptr[source], graph.indptr[source + 1]
        position = begin + int(np.searchsorted(graph.indices[begin:end], target))
        if position == end or graph.indices[position] != target:
            raise GraphInputError(
                f"graph {shown(graph.id)} has no edge {edge[0]}-{edge[1]}; node {edge[0]} is joined to "
                f"{shown(graph.indices[graph.indptr[edge[0]] : graph.indptr[edge[0] + 1]].tolist())}"
            )
        found.append(int(position))
    return found


def edge_of_arcs(graph: Graph) -> IntArray:
    """For every arc the position of its edge in `Graph.edges`."""
    if graph.directed:
        return np.arange(len(graph.indices))
    source = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    low, high = np.minimum(source, graph.indices), np.maximum(source, graph.indices)
    edges = graph.edges()
    return np.searchsorted(edges[:, 0] * graph.n_nodes + edges[:, 1], low * graph.n_nodes + high)


def check_nodes(graph: Graph, nodes: Iterable[int]) -> None:
    """Raise a `GraphInputError` for a node that is not there."""
    for node in nodes:
        if not 0 <= node < graph.n_nodes:
            raise GraphInputError(f"graph {shown(graph.id)} has no node {node}; its nodes are 0 to {graph.n_nodes - 1}")


def edited(graph: Graph, add: Iterable[Item] = (), remove: Iterable[Item] = ()) -> GraphSet:
    """The graph with some nodes and edges more and others less, all numbered as in ``graph``, new nodes after its last.

    What is left is numbered anew, in order.
    """
    new, old = read_items(add), read_items(remove)
    n_nodes = _grown(graph, new)
    _check_new_edges(graph, new, set(old.nodes))
    keep = np.ones(len(graph.indices), bool)
    keep[[arc for edge in old.edges for arc in arcs_of(graph, edge)]] = False
    check_nodes(graph, old.nodes)
    source = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))[keep]
    arcs = np.concatenate([np.stack([source, graph.indices[keep]], axis=1), np.array(new.edges, np.int64).reshape(-1, 2)])
    weights = None
    if graph.weights is not None or any(weight != 1 for weight in new.weights):
        own = np.ones(len(graph.indices)) if graph.weights is None else graph.weights
        weights = np.concatenate([own[keep], new.weights])
    reading = Reading(directed="keep" if graph.directed else "symmetrise", self_loops="keep")
    grown = pack(np.array([n_nodes]), arcs[:, 0], arcs[:, 1], weights, reading=reading)
    grown = as_graphset(grown, ids=[graph.id])
    return grown if not old.nodes else as_graphset(without(grown[0], [old.nodes]), ids=[graph.id])


def _grown(graph: Graph, new: Items) -> int:
    """How many nodes there are with the new ones, which must be named without gaps."""
    named = {*new.nodes, *(end for edge in new.edges for end in edge)}
    fresh = sorted(node for node in named if node >= graph.n_nodes)
    there = [node for node in new.nodes if node < graph.n_nodes]
    if there:
        raise GraphInputError(f"node {there[0]} is there already; the next new one is {graph.n_nodes}")
    if fresh != list(range(graph.n_nodes, graph.n_nodes + len(fresh))):
        raise GraphInputError(f"new nodes {shown(fresh)} were given; they must follow the last: {graph.n_nodes} comes next")
    return graph.n_nodes + len(fresh)


def _check_new_edges(graph: Graph, new: Items, removed: set[int]) -> None:
    present = {tuple(edge) for edge in graph.edges().tolist()}
    for (one, other), weight in zip(new.edges, new.weights, strict=True):
        ends = (one, other) if graph.directed else (min(one, other), max(one, other))
        if one == other or min(ends) < 0 or not (np.isfinite(weight) and weight > 0):
            raise GraphInputError(f"edge {one}-{other} of weight {weight:g} cannot be added; name two nodes and a positive weight")
        if ends in present or removed & set(ends):
            why = "is there already" if ends in present else "ends at a node that is removed"
            raise GraphInputError(f"edge {one}-{other} cannot be added: it {why}")
