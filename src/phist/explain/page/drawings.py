"""The drawings of graphs: places of nodes and the edges between them."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phist.explain.page.layout import Places, neighbourhood, place_nodes
from phist.explain.page.packing import Packer
from phist.graphs.arrays import IntArray
from phist.graphs.graph import Graph

LEVELS = 1023  # of each coordinate: half a pixel on a large screen, in ten bits


@dataclass(frozen=True)
class Drawing:
    """The part of a graph that is shown, all of it or a neighbourhood.

    Attributes:
        nodes: those that are shown, by their numbers in the graph.
        edges: (edges, 2): those between them, by their places in ``nodes``.
        edge_numbers: their positions in `Graph.edges`.
        weights: of the edges, or ``None``.
        places: (nodes, 2).
        whole: whether that is all.
    """

    nodes: IntArray
    edges: IntArray
    edge_numbers: IntArray
    weights: NDArray[np.float64] | None
    places: Places
    whole: bool


def draw(graph: Graph, matters: NDArray[np.float64] | None = None) -> Drawing:
    """Choose what to show of a graph, and place it.

    Args:
        matters: how much each node does, of a graph that is too large to be shown; its degree unless given.
    """
    nodes = neighbourhood(graph, np.diff(graph.indptr).astype(np.float64) if matters is None else matters)
    position = np.full(graph.n_nodes, -1)
    position[nodes] = np.arange(len(nodes))
    edges = position[graph.edges()]
    between = np.flatnonzero((edges >= 0).all(1))
    part = graph if len(nodes) == graph.n_nodes else _induced(graph, nodes)
    weights = None if graph.weights is None else _edge_weights(graph)[between]
    return Drawing(nodes, edges[between], between, weights, place_nodes(part), len(nodes) == graph.n_nodes)


def _induced(graph: Graph, nodes: IntArray) -> Graph:
    part = graph.adjacency()[nodes][:, nodes].tocsr()
    part.sort_indices()
    return Graph(part.indptr.astype(np.int64), part.indices.astype(np.int32), directed=graph.directed)


def _edge_weights(graph: Graph) -> NDArray[np.float64]:
    assert graph.weights is not None
    if graph.directed:
        return graph.weights
    source = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    return graph.weights[source <= graph.indices]


def drawings_content(drawings: Sequence[Drawing | None], packer: Packer) -> dict[str, Any]:
    """The drawings of all graphs of the map, one after the other; nothing for a graph without one."""
    there = [drawing for drawing in drawings if drawing is not None]
    weighted = any(drawing.weights is not None for drawing in there)
    partial = {number: drawing.nodes for number, drawing in enumerate(drawings) if drawing is not None and not drawing.whole}
    places = np.concatenate([drawing.places for drawing in there])
    edges = np.concatenate([drawing.edges for drawing in there])
    weights = [np.ones(len(drawing.edges)) if drawing.weights is None else drawing.weights for drawing in there]
    return {
        "nodes": packer.whole([0 if drawing is None else len(drawing.nodes) for drawing in drawings]),
        "edges": packer.whole([0 if drawing is None else len(drawing.edges) for drawing in drawings]),
        "x": packer.add(np.round(places[:, 0] * LEVELS), "u2"),
        "y": packer.add(np.round(places[:, 1] * LEVELS), "u2"),
        "levels": LEVELS,
        "sources": packer.whole(edges[:, 0]),
        "targets": packer.whole(edges[:, 1]),
        "weights": packer.add(np.concatenate(weights), "f8") if weighted else None,
        "partial": {str(number): packer.whole(nodes) for number, nodes in partial.items()},
    }
