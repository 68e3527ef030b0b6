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
MOST_CLASSES = 3  # in one picture; of more the most frequent ones
MOST_GRAPHS = 60  # of each class, by which channel and examples are chosen
MOST_ROOTS = 64  # over which the joint statistics of a large graph are taken


@dataclass(frozen=True)
class RootResponse:
    """What f_node makes of the impulse at one root of one graph."""

    graph: Graph
    root: int
    elements: NDArray[np.float32]  # (nodes, channels): whitened and squashed into [-1, 1]
    histogram: NDArray[np.float32]  # (channels, bins)


@dataclass(frozen=True)
class ClassExamples:
    """The responses in many graphs of a class, and the two that are shown."""

    mean: NDArray[np.float32]  # (channels, bins): of the histograms of all of them
    typical: RootResponse
    atypical: RootResponse
    n_graphs: int


def plot_responses(estimator: StructuralClassifier | StructuralEmbedder, graphs: Any) -> "Figure":
    """The learned response to an impulse in a typical and in an atypical graph of each class, with their projective histograms.

    The root of a graph is its node of highest degree. Of all channels the one is shown that separates the classes best over all
    graphs: by the spread of the means of the classes against the spread within them. A typical graph is the nearest to the mean
    of its class there; an atypical one is nearer to another class than any other graph of its own. The colour of a node is its
    place on the histogram's axis.

    Args:
        estimator: fitted, with a network that aggregates by histograms.
        graphs: anything `as_graphset` takes, some dozen of each class; without labels they are taken as one class.
    """
    check_is_fitted(estimator, "reading_")
    network, classes = estimator.network_, by_class(as_graphset(graphs))
    responses = [[root_response(network, graph) for graph in own] for own in classes]
    channel = most_telling_channel([np.stack([one.histogram for one in own]) for own in responses])
    rows = choose_examples(responses, channel)
    figure = new_figure(9.0, 2.7 * len(rows) + 0.5)
    top = 1.15 * max(float(one.histogram[channel].max()) for row in rows for one in (row.typical, row.atypical))
    axes = figure.subplots(len(rows), 3, squeeze=False, width_ratios=(1.0, 1.0, 1.25))
    for (left, middle, right), row in zip(axes, rows, strict=True):
        _draw_graph(left, row.typical, channel, "typical")
        _draw_graph(middle, row.atypical, channel, "atypical")
        _draw_histogram(right, row, channel, network, top)
    axes[0, 2].legend(fontsize=8, frameon=False, labelcolor=INK, loc="upper center", ncols=3, bbox_to_anchor=(0.45, 1.24))
    axes[-1, 2].set_xlabel(f"response (channel {channel + 1} of {len(rows[0].mean)})", fontsize=10, color=INK)
    figure.suptitle("Response to an impulse at the ringed root, and its projective histogram", fontsize=12, color=INK)
    return figure


def by_class(graphs: GraphSet) -> list[GraphSet]:
    """The graphs of each of the most frequent classes, evenly thinned where they are many."""
    labels = graphs.label_list() or [None] * len(graphs)
    frequent = sorted(graphs.classes or [None], key=lambda label: -labels.count(label))[:MOST_CLASSES]
    chosen = []
    for label in [label for label in graphs.classes or [None] if label in frequent]:
        mine = np.flatnonzero([other == label for other in labels])
        chosen.append(graphs[mine[np.unique(np.linspace(0, len(mine) - 1, MOST_GRAPHS).astype(np.int64))]])
    return chosen


def most_telling_channel(histograms: list[NDArray[np.float32]]) -> int:
    """The channel that separates the classes best, of each of which there are histograms (graphs, channels, bins).

    Of one class it is the channel with the most even histogram.
    """
    means = np.stack([own.mean(0) for own in histograms])  # (classes, channels, bins)
    if len(histograms) == 1:
        return int(means[0].std(axis=1).argmin())
    between = means.var(axis=0).sum(1)
    within = np.mean([own.var(axis=0).sum(1) for own in histograms], axis=0)
    return int((between / np.maximum(within, 1e-12)).argmax())


def choose_examples(responses: list[list[RootResponse]], channel: int) -> list[ClassExamples]:
    """Of each class the graph nearest to its mean histogram, and the one nearest to another class's compared with its own."""
    means = [np.mean([one.histogram for one in own], axis=0) for own in responses]
    rows = []
    for number, own in enumerate(responses):
        away = np.array([[np.abs(one.histogram[channel] - mean[channel]).sum() for mean in means] for one in own])
        others = np.delete(away, number, axis=1).min(axis=1) if len(means) > 1 else np.zeros(len(own))
        typical, atypical = int(away[:, number].argmin()), int((away[:, number] - others).argmax())
        rows.append(ClassExamples(means[number], own[typical], own[atypical], len(own)))
    return rows


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


def _draw_graph(axes: "Axes", example: RootResponse, channel: int, kind: str) -> None:
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
    named = kind if graph.label is None else f"class {graph.label}, {kind}"
    axes.set_title(f"{named}: {graph.n_nodes} nodes", fontsize=10, color=INK)
    axes.set_aspect("equal", adjustable="datalim")
    axes.margins(0.12)
    axes.axis("off")


def _draw_histogram(axes: "Axes", row: ClassExamples, channel: int, network: StructuralNetwork, top: float) -> None:
    """The mean of a class as bars, and its two examples as points."""
    aggregation = _histogram_of(network)
    centers = aggregation.centers.detach().cpu().numpy()  # (bins)
    colors = matplotlib_part("matplotlib").colormaps[RESPONSE_COLORS]((centers + 1) / 2)
    width = 1.5 / len(centers)
    axes.bar(
        centers, row.mean[channel], width=width, color=colors, edgecolor=INK, linewidth=0.7, zorder=2, label="mean of the class"
    )
    axes.plot(centers, row.typical.histogram[channel], "o", color=INK, markersize=5, zorder=3, label="typical")
    axes.plot(centers, row.atypical.histogram[channel], "x", color=INK, markersize=6, mew=1.6, zorder=3, label="atypical")
    axes.set(xlim=(-1.05, 1.05), ylim=(0, top))
    axes.set_xticks([-1, -0.5, 0, 0.5, 1])
    axes.set_title(f"{row.n_graphs} graphs", fontsize=10, color=INK, loc="right")
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
