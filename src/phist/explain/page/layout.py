"""Where the nodes of a graph are drawn, and which are, where they are too many."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.csgraph import breadth_first_order, connected_components

from phist.extras import require
from phist.graphs.arrays import IntArray
from phist.graphs.graph import Graph

MOST_SHOWN = 300  # nodes: more of them on one canvas are a hairball
MOST_AROUND = 120  # nodes of a larger graph: its hubs and their many edges are to be told apart
Places = NDArray[np.float64]


def place_nodes(graph: Graph) -> Places:
    """Places in [0, 1]² by the springs of Kamada and Kawai, components side by side, the wider way across: (nodes, 2)."""
    _, component = connected_components(graph.adjacency(), directed=False)
    groups = [np.flatnonzero(component == number) for number in np.unique(component)]
    groups.sort(key=len, reverse=True)
    drawn = [_upright(_springs(graph, nodes)) for nodes in groups]
    places = np.empty((graph.n_nodes, 2))
    for nodes, own, corner in zip(groups, drawn, _shelves(drawn), strict=True):
        places[nodes] = own + corner
    return _into_unit_square(places)


def neighbourhood(graph: Graph, matters: NDArray[np.float64]) -> IntArray:
    """The nodes to show: all of a small graph, else those first met in a breadth-first search from where it matters most."""
    if graph.n_nodes <= MOST_SHOWN:
        return np.arange(graph.n_nodes)
    order = np.argsort(-np.abs(np.nan_to_num(matters)), kind="stable")
    both_ways = graph.adjacency() + graph.adjacency().T
    chosen: list[int] = []
    met = np.zeros(graph.n_nodes, bool)
    for start in order.tolist():
        if not met[start]:
            reached = breadth_first_order(both_ways, start, directed=True, return_predecessors=False)
            chosen += reached.tolist()
            met[reached] = True
        if len(chosen) >= MOST_AROUND:
            break
    return np.sort(chosen[:MOST_AROUND])


def _springs(graph: Graph, nodes: IntArray) -> Places:
    """One connected component, in units of an edge."""
    if len(nodes) == 1:
        return np.zeros((1, 2))
    igraph = require("igraph", "report", "the page of explanations")
    position = np.full(graph.n_nodes, -1)
    position[nodes] = np.arange(len(nodes))
    edges = position[graph.edges()]
    edges = edges[(edges[:, 0] >= 0) & (edges[:, 0] != edges[:, 1])]
    found = igraph.Graph(len(nodes), edges.tolist()).layout_kamada_kawai()
    return np.array(found.coords, dtype=np.float64)


def _upright(places: Places) -> Places:
    """Turned so that it is wider than high, its lower left corner at zero."""
    centred = places - places.mean(0)
    if len(places) > 2:
        axes = np.linalg.eigh(centred.T @ centred)[1][:, ::-1]
        axes *= np.where(axes.sum(0) < 0, -1, 1)  # an axis and its opposite are the same; take one of them
        centred = centred @ axes
    shifted: Places = centred - centred.min(0)
    return shifted


def _shelves(drawn: Sequence[Places], gap: float = 1.0) -> list[NDArray[np.float64]]:
    """Corners of components that stand side by side in rows, the rows about as wide as all are high."""
    sizes = [own.max(0) + gap for own in drawn]
    width = max(float(np.sqrt(sum(size.prod() for size in sizes)) * 1.3), float(sizes[0][0]))
    corners, across, up, height = [], 0.0, 0.0, 0.0
    for size in sizes:
        if across and across + size[0] > width:
            across, up, height = 0.0, up + height, 0.0
        corners.append(np.array([across, up]))
        across, height = across + float(size[0]), max(height, float(size[1]))
    return corners


def _into_unit_square(places: Places) -> Places:
    centred = places - (places.min(0) + places.max(0)) / 2
    extent = float(np.abs(centred).max(initial=0.0))
    unit: Places = centred / (2 * extent or 1.0) + 0.5
    return unit
