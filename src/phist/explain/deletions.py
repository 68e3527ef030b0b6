"""Deletion effects: what the model would say without an edge, a node or a set of them, computed by the model itself."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from phist.explain.answers import Answers
from phist.explain.edits import Item, edge_of_arcs, subgraphs, without
from phist.graphs.graph import Graph
from phist.graphs.graphset import GraphSet
from phist.progress import SlowProgress

NODES_AT_ONCE = 1 << 16  # of the graphs that are predicted together
ENTRIES_AT_ONCE = 1 << 22  # of the tables that say which arcs of a graph are kept
WORK = 500_000  # nodes of all graphs with something deleted, of one graph and kind, unless somebody asks for more
SQUARES = 500_000_000  # the same of their squares, as some members compare all nodes with one another
LEAST = 20  # deletions that are made of a graph however large it is
Answer = Callable[[GraphSet], Answers]
Predict = Callable[[GraphSet], NDArray[np.float64]]
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Deletions:
    """What a model says of one graph less what it says without each of its edges, or nodes: positive where it speaks for a class.

    What was not computed is NaN: deletions beyond the limit, and that of the only node.

    Attributes:
        edges: (edges, classes), in the order of `Graph.edges`: of the probabilities of the whole model.
        nodes: (nodes, classes): likewise.
        edge_logits, node_logits: of the logits of its networks, which differ even where probabilities are all but certain; all NaN
            for a model without networks.
    """

    edges: Array
    nodes: Array
    edge_logits: Array
    node_logits: Array


def default_limit(graph: Graph) -> int:
    """How many edges, and how many nodes, are deleted of a graph unless a limit is given.

    >>> from phist.graphs.generate import make_trees
    >>> default_limit(make_trees(1, n_nodes=30, seed=0)[0])
    16666
    """
    return max(LEAST, min(WORK // graph.n_nodes, SQUARES // graph.n_nodes**2))


def deletion_effects(
    answer: Answer,
    graphs: GraphSet,
    before: Answers,
    order: Sequence[Array],
    *,
    edges: bool = True,
    nodes: bool = True,
    limit: int | None = None,
    progress: bool | None = False,
) -> list[Deletions]:
    """Delete single edges and nodes of every graph.

    Args:
        answer: what the model says of graphs.
        before: what it says of these as they are.
        order: for each graph how much each node matters: where a limit is reached, nodes that matter more come first, and edges
            whose ends together do.
        limit: the most edges, and the most nodes, that are deleted of a graph; `default_limit` unless given.
    """
    n_classes = before.probabilities.shape[1]
    found = [Deletions(*(np.full((rows, n_classes), np.nan) for rows in _rows(graph))) for graph in graphs]
    with SlowProgress("deleting nodes and edges", len(graphs), progress) as bar:
        done = 0
        for pooled in _pool(_jobs(graphs, order, edges, nodes, limit)):
            after = answer(GraphSet.concatenate([job.variants for job in pooled]))
            begin = 0
            for job in pooled:
                rows, own = slice(begin, begin + len(job.chosen)), found[job.graph]
                targets = (own.edges, own.edge_logits) if job.kind == "edge" else (own.nodes, own.node_logits)
                for target, one, other in zip(targets, before, after, strict=True):
                    target[job.chosen] = one[job.graph] - other[rows]
                begin = rows.stop
            bar.advance(pooled[-1].graph - done)
            done = pooled[-1].graph
        bar.advance(len(graphs) - done)
    return found


def _rows(graph: Graph) -> tuple[int, int, int, int]:
    return graph.n_edges, graph.n_nodes, graph.n_edges, graph.n_nodes


def set_effects(predict: Predict, graph: Graph, sets: Sequence[Item | Iterable[Item]]) -> Array:
    """The probabilities less those without each of several sets of nodes and edges: (sets, classes)."""
    at_once = max(1, min(NODES_AT_ONCE // graph.n_nodes, ENTRIES_AT_ONCE // max(1, len(graph.indices))))
    before = predict(without(graph, [[]]))[0]
    parts = [predict(without(graph, sets[begin : begin + at_once])) for begin in range(0, len(sets), at_once)]
    return before - np.concatenate(parts) if parts else np.empty((0, len(before)))


@dataclass(frozen=True)
class _Job:
    graph: int
    kind: Literal["edge", "node"]
    chosen: NDArray[np.int64]  # by their positions
    variants: GraphSet


def _jobs(graphs: GraphSet, order: Sequence[Array], edges: bool, nodes: bool, limit: int | None) -> Iterator[_Job]:
    for number, graph in enumerate(graphs):
        most = default_limit(graph) if limit is None else limit
        if edges:
            matters = order[number][graph.edges()].sum(1)
            for chosen in _chosen(matters, most, graph):
                yield _Job(number, "edge", chosen, _without_edges(graph, chosen))
        if nodes and graph.n_nodes > 1:
            for chosen in _chosen(order[number], most, graph):
                yield _Job(number, "node", chosen, _without_nodes(graph, chosen))


def _chosen(matters: Array, most: int, graph: Graph) -> Iterator[NDArray[np.int64]]:
    """The positions that matter most, as many at a time as memory allows."""
    rows = np.sort(np.argsort(-matters, kind="stable")[:most])
    at_once = max(1, min(NODES_AT_ONCE // graph.n_nodes, ENTRIES_AT_ONCE // max(1, len(graph.indices))))
    yield from (rows[begin : begin + at_once] for begin in range(0, len(rows), at_once))


def _without_edges(graph: Graph, chosen: NDArray[np.int64]) -> GraphSet:
    arcs = edge_of_arcs(graph)
    keep = arcs[None] != chosen[:, None]
    return subgraphs(graph, np.ones((len(chosen), graph.n_nodes), bool), keep)


def _without_nodes(graph: Graph, chosen: NDArray[np.int64]) -> GraphSet:
    keep = np.arange(graph.n_nodes)[None] != chosen[:, None]
    return subgraphs(graph, keep, np.ones((len(chosen), len(graph.indices)), bool))


def _pool(jobs: Iterator[_Job]) -> Iterator[list[_Job]]:
    """Jobs of several small graphs together, so that the engine has enough to do."""
    pooled: list[_Job] = []
    total = 0
    for job in jobs:
        if pooled and total + job.variants.n_nodes > NODES_AT_ONCE:
            yield pooled
            pooled, total = [], 0
        pooled.append(job)
        total += job.variants.n_nodes
    if pooled:
        yield pooled
