"""The network as a picture: an impulse becomes a node embedding, embeddings of sampled roots become a graph embedding."""

from typing import TYPE_CHECKING

import numpy as np
import torch
from numpy.typing import NDArray

from phist.drawing.pieces import draw_arrow, draw_bars, draw_dots, draw_graph, draw_panel, draw_vector, write
from phist.drawing.responses import RootResponse, root_response
from phist.drawing.style import COLORS, INK, new_figure
from phist.graphs.convert import as_graphset
from phist.nn.batch import Batch
from phist.nn.config import NetworkConfig
from phist.nn.network import make_network

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EDGES = ((0, 1), (1, 2), (2, 3), (3, 4), (4, 5), (5, 0), (3, 6), (6, 7), (7, 8))
PLACES = np.array([
    (0.0, 0.0), (0.4, 0.65), (1.1, 0.65), (1.5, 0.0), (1.1, -0.65), (0.4, -0.65), (2.1, 0.0), (2.55, 0.5), (3.1, 0.0)
])  # fmt: skip
ROOT, ROOTS = 3, (0, 3, 8)
CHANNELS, BINS = 3, 6
WIDTH, HEIGHT = 20.0, 9.5  # of the page, in units of the drawing
UPPER, LOWER = 7.05, 2.2  # middle of each level
CHANNEL_HEIGHTS = np.array([0.95, 0.0, -0.95])
NODE_COLOR, GRAPH_COLOR = COLORS[0], COLORS[1]


def plot_architecture() -> "Figure":
    """Two rows: f_node from an impulse to the embedding of its root, f_graph from embeddings to the scores of the classes."""
    figure = new_figure(10.0, 10.0 * HEIGHT / WIDTH)
    axes = figure.subplots()
    axes.set(xlim=(0, WIDTH), ylim=(0, HEIGHT), aspect="equal")
    axes.axis("off")
    node_level, graph_level = example_of_both_levels()
    _draw_node_level(axes, node_level[ROOT])
    _draw_way_down(axes)
    _draw_graph_level(axes, {root: response.histogram for root, response in node_level.items()}, *graph_level)
    return figure


@torch.no_grad()
def example_of_both_levels() -> tuple[dict[int, RootResponse], tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """What a new network makes of the graph: of each root, and of all of them (elements and histogram of f_graph)."""
    graphs = as_graphset([(len(PLACES), EDGES)])
    network = make_network(NetworkConfig(channels=(8, CHANNELS), bins=BINS), n_classes=2, seed=1)
    seen = {root: root_response(network, graphs[0], root) for root in ROOTS}

    batch = Batch.from_graphs(graphs)
    signal = torch.zeros(batch.n_nodes, 1, CHANNELS * BINS)
    for root, example in seen.items():
        signal[root, 0] = torch.from_numpy(example.histogram.ravel())
    f_graph, once = network.f_graph, torch.ones(1, 1)
    elements = f_graph.norm(f_graph.responses(signal, batch), batch.graph_of, f_graph.moments(signal, batch, once))
    histogram = f_graph(signal, batch, once).reshape(CHANNELS, BINS)
    return seen, (elements[:, 0].numpy(), histogram.numpy())


def _draw_node_level(axes: "Axes", example: RootResponse) -> None:
    draw_panel(axes, (0.1, 5.1), (19.8, 4.3), NODE_COLOR, r"$f_\mathrm{node}$, for every root")
    draw_graph(axes, PLACES + np.array([0.6, UPPER]), EDGES, np.arange(len(PLACES)) == ROOT, [ROOT])
    draw_arrow(axes, 4.1, 5.7, UPPER, "graph\nconvolutions")
    draw_graph(axes, PLACES + np.array([6.1, UPPER]), EDGES, example.elements[:, 0], [ROOT])
    draw_arrow(axes, 9.6, 11.0, UPPER, "whiten,\ntanh")
    draw_arrow(axes, 13.8, 15.0, UPPER, "count")
    draw_arrow(axes, 17.6, 18.6, UPPER, "")
    for channel, height in enumerate(UPPER + CHANNEL_HEIGHTS):
        draw_dots(axes, (11.4, height), 2.1, example.elements[:, channel])
        draw_bars(axes, (15.3, height), (2.0, 0.7), example.histogram[channel])
    draw_vector(axes, (19.1, UPPER), example.histogram.ravel(), NODE_COLOR)
    captions = {2.15: "impulse at a root", 7.65: "responses of all nodes", 12.45: "elements in [-1, 1]"}
    for x, text in {**captions, 16.3: "projective histogram", 19.0: "embedding"}.items():
        write(axes, x, 5.42, text)


def _draw_way_down(axes: "Axes") -> None:
    """From the embedding of one root to the graph that carries those of all roots."""
    y = 4.8
    axes.plot([19.1, 19.1, 2.15], [5.1, y, y], color=INK, linewidth=1.3, solid_joinstyle="round")
    look = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.3, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (2.15, 4.4), (2.15, y), arrowprops=look)


def _draw_graph_level(
    axes: "Axes", embeddings: dict[int, NDArray[np.float32]], elements: NDArray[np.float32], histogram: NDArray[np.float32]
) -> None:
    draw_panel(axes, (0.1, 0.1), (15.1, 4.3), GRAPH_COLOR, r"$f_\mathrm{graph}$, for every graph")
    places = PLACES + np.array([0.6, LOWER])
    draw_graph(axes, places, EDGES, np.zeros(len(PLACES)), list(embeddings))
    for root, values in embeddings.items():
        middle = (float(places[root][0]), float(places[root][1]) + 0.72)
        draw_vector(axes, middle, values.ravel()[::2], NODE_COLOR, cell=(0.18, 0.09))
    draw_arrow(axes, 4.1, 5.7, LOWER, "graph\nconvolutions")
    draw_graph(axes, PLACES + np.array([6.1, LOWER]), EDGES, elements[:, 0], [])
    draw_arrow(axes, 9.6, 11.0, LOWER, "whiten,\ntanh, count")
    for channel, height in enumerate(LOWER + CHANNEL_HEIGHTS):
        draw_bars(axes, (11.3, height), (1.7, 0.7), histogram[channel])
    draw_vector(axes, (14.2, LOWER), histogram.ravel(), GRAPH_COLOR)
    draw_arrow(axes, 13.2, 13.8, LOWER, "")
    draw_arrow(axes, 15.35, 16.95, LOWER, "linear head")
    draw_bars(axes, (17.4, LOWER), (1.3, 1.4), np.array([0.35, 1.0]))
    captions = {2.25: "embeddings of sampled roots", 7.65: "responses", 12.15: "histogram", 14.2: "embedding", 18.05: "classes"}
    for x, text in captions.items():
        write(axes, x, 0.45, text)
