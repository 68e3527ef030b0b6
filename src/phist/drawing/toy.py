"""The toy example of robustness: which edge moves which part of the spectrum, and which kernel minds."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from phist.drawing.style import COLORS, INK, finish_axes, matplotlib_part, new_figure
from phist.theory.toy import ToyExample, make_toy_example

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

EDGE_COLORS = {"green": COLORS[2], "blue": COLORS[0]}
EDGE_NAMES = {"green": "joins communities", "blue": "breaks two colours"}
KERNEL_COLORS = {"flat bottom": INK, "flat bottom, high": COLORS[3], "flat top": COLORS[1]}
KERNEL_LINES = {"flat bottom": "-", "flat bottom, high": ":", "flat top": "--"}


def plot_toy(toy: ToyExample | None = None) -> "Figure":
    """Three panels: the graph with its two edges, the kernels over the spectrum, and how far the node embeddings move."""
    toy = make_toy_example() if toy is None else toy
    figure = new_figure(10.0, 3.5)
    graph, kernels, changes = figure.subplots(1, 3, width_ratios=(1.05, 1, 1))
    _draw_graph(graph, toy)
    _draw_kernels(kernels, toy)
    _draw_changes(changes, toy)
    for axes, title in ((graph, "one edge more"), (kernels, "three kernels"), (changes, "node embeddings move")):
        axes.set_title(title, fontsize=12, color=INK)
    return figure


def _draw_graph(axes: "Axes", toy: ToyExample) -> None:
    collections = matplotlib_part("matplotlib.collections")
    axes.add_collection(collections.LineCollection(list(toy.positions[toy.edges]), colors="#b8b8b8", linewidths=1.2, zorder=1))
    for name, (a, b), bend in (("green", toy.green, 0.0), ("blue", toy.blue, -0.55)):
        middle = toy.positions[[a, b]].mean(axis=0) + np.array([bend, 0])
        axes.plot(*_arc(toy.positions[a], middle, toy.positions[b]).T, color=EDGE_COLORS[name], linewidth=3.2, zorder=2)
        axes.plot([], [], color=EDGE_COLORS[name], linewidth=3.2, label=EDGE_NAMES[name])
    x, y = toy.positions.T
    axes.scatter(x, y, s=85, c=np.where(toy.colors == 0, "white", INK), edgecolors=INK, linewidths=1.4, zorder=3)
    axes.update_datalim([(-0.7, -2.2), (3.7, 1.4)])  # room for the legend
    axes.autoscale_view()
    axes.set_aspect("equal", adjustable="datalim")
    axes.axis("off")
    axes.legend(fontsize=9, frameon=False, loc="lower center", labelcolor=INK)


def _arc(start: NDArray[np.float64], middle: NDArray[np.float64], end: NDArray[np.float64]) -> NDArray[np.float64]:
    """The parabola through three points."""
    t = np.linspace(0, 1, 40)[:, None]
    path: NDArray[np.float64] = (1 - t) * (1 - 2 * t) * start + 4 * t * (1 - t) * middle + t * (2 * t - 1) * end
    return path


def _draw_kernels(axes: "Axes", toy: ToyExample) -> None:
    second = float(toy.spectrum[1])
    regions = (("green", 0, 1.5 * second), ("blue", 2 - second / 2, 2))
    for name, low, high in regions:
        axes.axvspan(low, high, color=EDGE_COLORS[name], alpha=0.18, linewidth=0)
    for name, values in toy.kernels.items():
        axes.plot(toy.eigenvalues, values, color=KERNEL_COLORS[name], linestyle=KERNEL_LINES[name], linewidth=1.8, label=name)
    top = max(values.max() for values in toy.kernels.values())
    axes.plot(toy.spectrum, np.full(len(toy.spectrum), -0.07 * top), "|", color=INK, markersize=8)
    axes.set(xlim=(-0.03, 2.03), ylim=(-0.14 * top, 1.12 * top))
    axes.set_xticks([0, 0.5, 1, 1.5, 2])
    finish_axes(axes, "eigenvalue", "kernel")
    axes.legend(fontsize=9, frameon=False, loc="center", labelcolor=INK)


def _draw_changes(axes: "Axes", toy: ToyExample) -> None:
    """A colour for each edge, and the kernels' own lines."""
    for (kernel, edge), values in toy.changes.items():
        axes.plot(toy.weights, values, color=EDGE_COLORS[edge], linestyle=KERNEL_LINES[kernel], linewidth=2)
    for edge, color in EDGE_COLORS.items():
        axes.plot([], [], color=color, linewidth=2, label=EDGE_NAMES[edge])
    axes.set_ylim(bottom=0)
    axes.set_xlim(0, toy.weights.max())
    finish_axes(axes, "weight of the edge", "change of all embeddings")
    axes.legend(fontsize=9, frameon=False, labelcolor=INK, loc="lower right", bbox_to_anchor=(1.03, 0.24))
