"""The learned response to an impulse, and its projective histogram."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from phist.drawing.style import INK, finish_axes, matplotlib_part, new_figure
from phist.errors import ConfigError
from phist.estimators import StructuralClassifier, StructuralEmbedder
from phist.graphs.convert import as_graphset
from phist.graphs.graph import Graph
from phist.graphs.graphset import GraphSet
from phist.nn.batch import Batch
from phist.nn.functional import impulses
from phist.nn.histogram import ProjectiveHistogram
from phist.nn.network import StructuralNetwork
from phist.nn.sampling import Roots

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

RESPONSE_COLORS = "PuOr"  # diverging, and safe for the colour-blind
MOST_CLASSES = 8  # in one picture
MOST_ROOTS = 64  # over which the joint statistics of a large graph are taken


@dataclass(frozen=True)
class RootResponse:
    """What f_node makes of the impulse at one root of one graph."""

    graph: Graph
    root: int
    elements: NDArray[np.float32]  # (nodes, channels): whitened and squashed into [-1, 1]
    histogram: NDArray[np.float32]  # (channels, bins)


def plot_responses(estimator: StructuralClassifier | StructuralEmbedder, graphs: Any) -> "Figure":
    """The learned response to an impulse, and its projective histogram, in one graph of each class.

    Of each class the graph of median size is taken, and its node of highest degree as the root. Of all channels the one is
    shown whose histograms differ most between these graphs. The colour of a node is its place on the histogram's axis.

    Args:
        estimator: fitted, with a network that aggregates by histograms.
        graphs: anything `as_graphset` takes; without labels they are taken as one class.
    """
    check_is_fitted(estimator, "reading_")
    examples = [root_response(estimator.network_, graph) for graph in one_of_each_class(as_graphset(graphs))]
    channel = most_telling_channel(np.stack([example.histogram for example in examples]))
    figure = new_figure(8.0, 2.6 * len(examples) + 0.5)
    tallest = max(float(example.histogram[channel].max()) for example in examples)
    axes = figure.subplots(len(examples), 2, squeeze=False, width_ratios=(1.0, 1.15))
    for row, (left, right) in enumerate(axes):
        _draw_graph(left, examples[row], channel)
        _draw_histogram(right, examples[row], channel, estimator.network_, 1.1 * tallest)
        right.set_xlabel(f"response (channel {channel + 1} of {len(examples[row].histogram)})" if row == len(examples) - 1 else "")
    figure.suptitle("Response to an impulse at the ringed root, and its projective histogram", fontsize=12, color=INK)
    return figure


def one_of_each_class(graphs: GraphSet) -> list[Graph]:
    """Of each class the graph whose size is nearest to the class's median, the first of several."""
    sizes = graphs.node_counts()
    labels = graphs.label_list() or [None] * len(graphs)
    chosen = []
    for label in (graphs.classes or [None])[:MOST_CLASSES]:
        mine = np.array([position for position, other in enumerate(labels) if other == label])
        chosen.append(graphs[int(mine[np.abs(sizes[mine] - np.median(sizes[mine])).argmin()])])
    return chosen


def most_telling_channel(histograms: NDArray[np.float32]) -> int:
    """The channel in which the histograms (graphs, channels, bins) of two graphs differ most; of one graph, the most spread."""
    if len(histograms) == 1:
        return int(histograms[0].std(axis=1).argmin())
    shares = histograms / np.maximum(histograms.sum(axis=2, keepdims=True), 1e-12)
    return int(np.abs(shares[:, None] - shares[None]).sum(axis=3).max(axis=(0, 1)).argmax())


@torch.no_grad()
def root_response(network: StructuralNetwork, graph: Graph, root: int | None = None) -> RootResponse:
    """f_node of one root, step by step; its statistics are joint over all nodes as roots, or some of them in a large graph."""
    aggregation = _histogram_of(network)
    root = int(np.diff(graph.indptr).argmax()) if root is None else root
    others = np.linspace(0, graph.n_nodes - 1, min(graph.n_nodes, MOST_ROOTS)).astype(np.int64)
    nodes = torch.from_numpy(np.unique(np.append(others, root)))[None]
    batch = Batch.from_graphs(as_graphset([graph]), next(network.parameters()).device)
    roots = Roots(nodes.to(batch.device), torch.ones(nodes.shape, device=batch.device, dtype=batch.dtype))

    f_node = network.eval().f_node
    response = f_node.responses(impulses(roots.nodes, batch.n_nodes, batch.dtype), batch)
    moments = f_node.norm.moments(response, batch.graph_of, batch.node_counts, roots.multiplicity)
    elements = f_node.norm(response, batch.graph_of, moments)  # (nodes, roots, channels)
    slot = int((nodes[0] == root).nonzero())
    histogram = aggregation(elements[:, slot])[0].unflatten(0, (elements.shape[-1], -1))
    return RootResponse(graph, root, elements[:, slot].cpu().numpy(), histogram.cpu().numpy())


def _histogram_of(network: StructuralNetwork) -> ProjectiveHistogram:
    aggregation = network.f_node.aggregation
    if not isinstance(aggregation, ProjectiveHistogram):
        raise ConfigError('the responses of a network without histograms cannot be drawn; it needs aggregation="histogram"')
    return aggregation


def _draw_graph(axes: "Axes", example: RootResponse, channel: int) -> None:
    collections = matplotlib_part("matplotlib.collections")
    graph = example.graph
    places = place_nodes(graph)
    sources = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    edges = np.stack([places[sources], places[graph.indices]], axis=1)
    size = float(np.clip(4200 / graph.n_nodes, 12, 190))
    axes.add_collection(collections.LineCollection(list(edges), colors="#b8b8b8", linewidths=1.2, zorder=1))
    x, y = places.T
    values = example.elements[:, channel]
    axes.scatter(x, y, c=values, s=size, cmap=RESPONSE_COLORS, vmin=-1, vmax=1, edgecolors=INK, linewidths=0.7, zorder=2)
    axes.scatter(x[example.root], y[example.root], s=2.6 * size, facecolors="none", edgecolors=INK, linewidths=1.8, zorder=3)
    named = "" if graph.label is None else f"class {graph.label}: "
    axes.set_title(f"{named}{graph.n_nodes} nodes, {graph.n_edges} edges", fontsize=10, color=INK)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.12)
    axes.axis("off")


def _draw_histogram(axes: "Axes", example: RootResponse, channel: int, network: StructuralNetwork, top: float) -> None:
    aggregation = _histogram_of(network)
    centers, widths = aggregation.centers.detach().cpu(), aggregation.widths.detach().cpu()  # (bins)
    grid = torch.linspace(-1, 1, 401)
    kernels = aggregation.kernel.value((grid - centers[:, None]) / widths[:, None])  # (bins, places)
    axes.plot(grid, 0.85 * top * kernels.T, color="#dcdcdc", linewidth=1, zorder=1)

    colors = matplotlib_part("matplotlib").colormaps[RESPONSE_COLORS]((centers.numpy() + 1) / 2)
    heights = example.histogram[channel]
    axes.bar(centers, heights, width=1.5 / len(centers), color=colors, edgecolor=INK, linewidth=0.7, zorder=2)
    axes.plot(example.elements[:, channel], np.full(len(example.elements), -0.04 * top), "|", color=INK, markersize=7, zorder=3)
    axes.set(xlim=(-1.05, 1.05), ylim=(-0.08 * top, top))
    axes.set_xticks([-1, -0.5, 0, 0.5, 1])
    finish_axes(axes, "", "bin value per node" if aggregation.density else "bin value")


def place_nodes(graph: Graph) -> NDArray[np.float64]:
    """Places of the nodes: by distances where that is affordable and all are finite, else by springs."""
    import networkx

    structure = graph.to_networkx().to_undirected()
    tidy = graph.n_nodes <= 200 and networkx.is_connected(structure)
    if tidy:
        places = networkx.kamada_kawai_layout(structure, weight=None)
    else:
        places = networkx.spring_layout(structure, weight=None, seed=0)
    return np.array([places[node] for node in range(graph.n_nodes)], dtype=float)
