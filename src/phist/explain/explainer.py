"""explain() and what_if(): questions to a fitted model about single graphs."""

from collections.abc import Hashable, Iterable
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phist.checks import whole_number
from phist.errors import ConfigError, GraphInputError, shown
from phist.estimators.fitted.classifier import FittedClassifier
from phist.explain.answers import Answering
from phist.explain.deletions import deletion_effects, set_effects
from phist.explain.distinct import distinct_graphs
from phist.explain.edits import Item, edited, listed
from phist.explain.explanation import Explanation
from phist.explain.readers import Reader, readers_of
from phist.explain.shares import NodeShares, node_shares
from phist.graphs.arrays import IntArray
from phist.graphs.canonical import in_canonical_order
from phist.graphs.graph import Graph
from phist.graphs.graphset import GraphSet


def explain(
    model: FittedClassifier,
    graphs: Any,
    target: Hashable = None,
    *,
    votes: bool = True,
    edges: bool = True,
    nodes: bool = True,
    max_deletions: int | None = None,
) -> list[Explanation]:
    """Why a model says what it says of each of ``graphs``; the same for the same model and graph, whatever comes with it.

    Args:
        model: a fitted classifier.
        graphs: anything `as_graphset` takes.
        target: the class to explain; that which is predicted for each graph unless given.
        votes: compute root votes.
        edges, nodes: delete every edge, and every node, in turn.
        max_deletions: the most edges, and the most nodes, to delete of a graph: those with the largest shares. Unless given, so
            many that the graphs without them come to 500,000 nodes, fewer above 1,000 nodes, and at least 20: all, up to some
            700 nodes.
    """
    read = read_graphs_of(model, graphs)
    limit = None if max_deletions is None else whole_number("max_deletions", max_deletions, least=0)
    readers, covered = readers_of(model)
    answer = Answering(model.ensemble_, readers)
    answers = answer(read)
    targets = _targets(model, target, answers.probabilities)
    shares = _shares(readers, read, targets, votes)
    order = [_importance(graph, own) for graph, own in zip(read, shares, strict=True)]
    deletions = deletion_effects(answer, read, answers, order, edges=edges, nodes=nodes, limit=limit, progress=model.progress)
    classes = model.classes_.tolist()
    return [
        Explanation(graph, classes, classes[number], row, own, covered, model.ensemble_.weights, deleted)
        for graph, number, row, own, deleted in zip(read, targets.tolist(), answers.probabilities, shares, deletions, strict=True)
    ]


@dataclass(frozen=True)
class WhatIf:
    """A graph with an edit, and what a model says of it.

    Attributes:
        graph: as it is then.
        classes: all labels.
        before, after: (classes): the probabilities without and with the edit.
    """

    graph: Graph
    classes: list[Hashable]
    before: NDArray[np.float64]
    after: NDArray[np.float64]

    @property
    def change(self) -> NDArray[np.float64]:
        """Of the probabilities: (classes)."""
        return self.after - self.before

    @property
    def predicted(self) -> Hashable:
        """The most probable class after the edit."""
        return self.classes[int(self.after.argmax())]


def what_if(model: FittedClassifier, graph: Any, add: Iterable[Item] = (), remove: Iterable[Item] = ()) -> WhatIf:
    """What a model would say of a graph with some nodes and edges more, and others less.

    Args:
        model: a fitted classifier.
        graph: one graph, anything `as_graphset` takes.
        add: edges as pairs of nodes (a third number is the weight), and new nodes by number, which follow the last one.
        remove: edges as pairs, and nodes by number, which go with their edges.
    """
    one = read_one(model, graph)
    other = edited(one[0], add, remove)
    before, after = _probabilities(model, one)[0], _probabilities(model, other)[0]
    return WhatIf(other[0], model.classes_.tolist(), before, after)


def delete(model: FittedClassifier, graph: Any, sets: Iterable[Item | Iterable[Item]]) -> NDArray[np.float64]:
    """The probabilities of a graph less those without each of several sets of nodes and edges: (sets, classes).

    Args:
        model: a fitted classifier.
        graph: one graph, anything `as_graphset` takes.
        sets: each a node's number, an edge as a pair of them, or a list of such.
    """
    chosen = listed(sets, "a list of sets is needed: of nodes by number, edges as pairs, or lists of such")
    return set_effects(partial(_probabilities, model), read_one(model, graph)[0], chosen)


def _probabilities(model: FittedClassifier, graphs: GraphSet) -> NDArray[np.float64]:
    return model.ensemble_.predict_proba(in_canonical_order(graphs).graphs)


def read_graphs_of(model: FittedClassifier, graphs: Any) -> GraphSet:
    """Graphs as the model reads them, their nodes in the order given; a `ConfigError` if it is no fitted classifier."""
    if not isinstance(model, FittedClassifier):
        raise ConfigError(f"{shown(model)} cannot be explained; a fitted StructuralClassifier is needed")
    model._check_fitted()
    read: GraphSet = model.reading_.read(graphs)
    for member in model._members():
        member.use(model.engine, model.inference, model.progress)
    return read


def read_one(model: FittedClassifier, graph: Any) -> GraphSet:
    """One graph as the model reads it."""
    read = read_graphs_of(model, graph)
    if len(read) != 1:
        raise GraphInputError(f"{len(read)} graphs were given; one is needed: choose it with graphs[number]")
    return read


def _shares(readers: list[Reader], graphs: GraphSet, targets: IntArray, votes: bool) -> list[NodeShares] | list[None]:
    """Computed for nodes in canonical order, as the networks see them, once of equal graphs, and handed out in the order given."""
    if not readers:
        return [None] * len(graphs)
    ordered = in_canonical_order(graphs)
    first, kind = distinct_graphs(ordered.graphs)
    found = list(node_shares(readers, ordered.graphs[first], targets[first], votes))
    return [found[own].at(ordered.places(position)) for position, own in enumerate(kind.tolist())]


def _targets(model: FittedClassifier, target: Hashable, probabilities: NDArray[np.float64]) -> IntArray:
    if target is None:
        most_probable: IntArray = probabilities.argmax(1)
        return most_probable
    classes = model.classes_.tolist()
    if not isinstance(target, Hashable) or target not in classes:
        raise ConfigError(f"target={shown(target)} is no class of this model; its classes are {shown(classes, 120)}")
    return np.full(len(probabilities), classes.index(target))


def _importance(graph: Graph, shares: NodeShares | None) -> NDArray[np.float64]:
    """Which nodes are deleted first where not all are: by their shares, or by their degrees."""
    if shares is None:
        return np.diff(graph.indptr).astype(np.float64)
    largest: NDArray[np.float64] = np.abs(shares.shares).max(1)
    return largest
