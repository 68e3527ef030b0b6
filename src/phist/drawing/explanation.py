"""A graph with what its nodes and edges speak for."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from phist.drawing.responses import place_nodes
from phist.drawing.style import INK, matplotlib_part, new_figure
from phist.graphs.graph import Graph

if TYPE_CHECKING:
    from matplotlib.figure import Figure

COLORS = "PuOr_r"  # diverging, and safe for the colour-blind
FOR, AGAINST, NEUTRAL = "#b35806", "#542788", "#c8c8c8"  # its ends, and edges without an effect
Values = NDArray[np.float64]
MOST_NODES = 1000  # in a picture: more of them nobody can tell apart, and to place them takes minutes


def plot_explanation(graph: Graph, node_values: Values, edge_values: Values, title: str = "") -> "Figure":
    """A graph in which orange nodes and edges speak for something and purple ones against it, the stronger the wider.

    Args:
        node_values: (nodes); edge_values: (edges), in the order of `Graph.edges`.
    """
    graph, node_values, edge_values = _most_telling(graph, node_values, edge_values)
    figure = new_figure(6.0, 5.2)
    axes = figure.subplots()
    places = place_nodes(graph)
    strength = edge_values / max(np.abs(edge_values).max(initial=0), 1e-12)
    colors = np.where(strength == 0, NEUTRAL, np.where(strength > 0, FOR, AGAINST)).tolist()
    lines = matplotlib_part("matplotlib.collections").LineCollection(
        list(places[graph.edges()]), colors=colors, linewidths=1 + 4 * np.abs(strength), zorder=1
    )
    axes.add_collection(lines)
    limit = max(float(np.abs(node_values).max(initial=0)), 1e-12)
    x, y = places.T
    dots = axes.scatter(
        x, y, c=node_values, s=float(np.clip(4200 / graph.n_nodes, 12, 190)), cmap=COLORS, vmin=-limit, vmax=limit,
        edgecolors=INK, linewidths=0.7, zorder=2,
    )  # fmt: skip
    figure.colorbar(dots, ax=axes, shrink=0.7, label="speaks against (below 0) or for it")
    axes.set_title(title, fontsize=10, color=INK)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.12)
    axes.axis("off")
    return figure


def _most_telling(graph: Graph, node_values: Values, edge_values: Values) -> tuple[Graph, Values, Values]:
    """A small graph as it is; of a large one the nodes with the largest values, and the edges between them."""
    if graph.n_nodes <= MOST_NODES:
        return graph, node_values, edge_values
    nodes = np.sort(np.argsort(-np.abs(node_values), kind="stable")[:MOST_NODES])
    among = np.isin(graph.edges(), nodes).all(1)
    part = graph.adjacency()[nodes][:, nodes].tocsr()
    part.sort_indices()
    small = Graph(part.indptr.astype(np.int64), part.indices.astype(np.int32), directed=graph.directed)
    return small, node_values[nodes], edge_values[among]
