"""The engine's two reductions as pictures: twins become rows with multiplicities, and balls lie on a background."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from phist.drawing.pieces import RADIUS, draw_arrow, draw_panel, write
from phist.drawing.reductions import Balls, Twins, example_of_balls, example_of_twins
from phist.drawing.style import COLORS, FAINT, INK, matplotlib_part, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

WIDTH = 20.0  # of the page, in units of the drawing
CLASS_COLORS = (COLORS[1], COLORS[0], COLORS[2], COLORS[4])  # of twins, in the order of their first nodes
NEAR_COLORS = ("#08306b", "#2171b5", "#6baed6", "#9ecae1", "#cfe1f2")  # from the root to the end of its reach
BEYOND = "#d9d9d9"
NODE = 0.2  # radius of a node
Layer = tuple[NDArray[np.float32], str]


def plot_twins() -> "Figure":
    """An ego network by twin class, its rows with their multiplicities, and how often each counts in the histogram."""
    example = example_of_twins()
    figure, axes = _page(7.1)
    titles = (f"{len(example.places)} nodes", f"{len(example.multiplicity)} rows", "one histogram")
    captions = ("a colour is a class of twins", "the first of a class, and the others", "a row counts for all its nodes")
    middles = (3.15, 10.0, 16.85)
    for middle, title, caption, color in zip(middles, titles, captions, (COLORS[0], COLORS[0], COLORS[1]), strict=True):
        draw_panel(axes, (middle - 3.05, 0.1), (6.1, 6.9), color, title)
        write(axes, middle, 0.55, caption)
    draw_arrow(axes, 6.27, 6.88, 3.55, "")
    draw_arrow(axes, 13.12, 13.73, 3.55, "")
    _draw_nodes(axes, example, middles[0])
    _draw_rows(axes, example, middles[1])
    _draw_counts(axes, example, middles[2])
    return figure


def plot_balls() -> "Figure":
    """A graph by hops from the root, and the root's histogram as the background less the ball's share plus the ball's rows."""
    example = example_of_balls()
    figure, axes = _page(10.9)
    near = int((example.hops <= example.reach).sum())
    draw_panel(axes, (0.1, 4.35), (19.8, 6.45), COLORS[0], f"an impulse reaches {near} of {len(example.hops)} nodes")
    _draw_reach(axes, example)
    draw_panel(axes, (0.1, 0.1), (19.8, 3.9), COLORS[1], "")
    parts = {
        "background of the graph": [(example.background, BEYOND)],
        "background of the ball": [(example.share, BEYOND)],
        "true rows of the ball": [(example.rows, NEAR_COLORS[1])],
        "what the root sees": [(example.background - example.share, BEYOND), (example.rows, NEAR_COLORS[1])],
    }
    top = float(max(example.background.max(), example.histogram.max()))
    for number, (name, layers) in enumerate(parts.items()):
        left = 0.9 + 4.95 * number
        _draw_bars(axes, (left, 1.1), (3.4, 2.5), [(heights / top, color) for heights, color in layers])
        write(axes, left + 1.7, 0.6, name)
        if number:
            axes.text(left - 0.78, 2.0, "\N{MINUS SIGN}+="[number - 1], fontsize=20, color=INK, ha="center", va="center")
    return figure


def _page(height: float) -> "tuple[Figure, Axes]":
    figure = new_figure(10.0, 10.0 * height / WIDTH)
    axes = figure.subplots()
    axes.set(xlim=(0, WIDTH), ylim=(0, height), aspect="equal")
    axes.axis("off")
    return figure, axes


def _draw_lines(axes: "Axes", places: NDArray[np.float64], edges: NDArray[np.int64], widths: float | NDArray[np.float64]) -> None:
    lines = matplotlib_part("matplotlib.collections").LineCollection
    axes.add_collection(lines(list(places[edges]), colors="#bdbdbd", linewidths=widths, zorder=1))


def _draw_node(axes: "Axes", place: NDArray[np.float64], color: str, radius: float = RADIUS, ringed: bool = False) -> None:
    circle = matplotlib_part("matplotlib.patches").Circle
    axes.add_patch(circle(place, radius, facecolor=color, edgecolor=INK, linewidth=0.8, zorder=2))
    if ringed:
        axes.add_patch(circle(place, radius + 0.13, facecolor="none", edgecolor=INK, linewidth=1.6, zorder=3))


def _draw_nodes(axes: "Axes", example: Twins, middle: float) -> None:
    places = example.places + np.array([middle, 3.65])
    _draw_lines(axes, places, example.edges, 1.0)
    for node, place in enumerate(places):
        _draw_node(axes, place, CLASS_COLORS[example.node_class[node]], NODE, node == example.root)


def _draw_rows(axes: "Axes", example: Twins, middle: float) -> None:
    """Rows where their nodes are, on average."""
    places = example.row_places() + np.array([middle, 3.65])
    _draw_lines(axes, places, example.row_edges, 1.4)
    for row, place in enumerate(places):
        _draw_row(axes, example, row, place)


def _draw_row(axes: "Axes", example: Twins, row: int, place: NDArray[np.float64]) -> None:
    """The larger the more nodes it stands for."""
    count = int(example.multiplicity[row])
    _draw_node(axes, place, CLASS_COLORS[example.row_class[row]], NODE * count**0.5, row == example.root_row)
    if count > 1:
        name = f"\N{MULTIPLICATION SIGN}{count}"
        axes.text(
            float(place[0]), float(place[1]), name, fontsize=8.5, color="white", ha="center", va="center", weight="bold", zorder=4
        )


def _draw_counts(axes: "Axes", example: Twins, middle: float) -> None:
    """Responses of the rows on their axis, heaped where they are equal, above the histogram they make."""
    left, width, line = middle - 2.6, 5.2, 4.45
    axes.plot([left, left + width], [line, line], color=FAINT, linewidth=1, zorder=1)
    taken: list[tuple[float, float, float]] = []
    for row in np.argsort(example.responses, kind="stable").tolist():
        x, radius = left + width * (float(example.responses[row]) + 1) / 2, NODE * float(example.multiplicity[row]) ** 0.5
        y = line + radius
        while any(np.hypot(x - a, y - b) < radius + other + 0.04 for a, b, other in taken):
            y += 0.02
        taken.append((x, y, radius))
        _draw_row(axes, example, row, np.array([x, y]))
    heights = example.counts / example.counts.sum(axis=0).max()
    _draw_bars(
        axes, (left, 1.1), (width, 2.8), [(part, CLASS_COLORS[own]) for part, own in zip(heights, example.row_class, strict=True)]
    )


def _draw_reach(axes: "Axes", example: Balls) -> None:
    places = example.places + np.array([10.0, 7.75])
    _draw_lines(axes, places, example.edges, 1.0)
    for place, hops in zip(places, example.hops.tolist(), strict=True):
        _draw_node(axes, place, NEAR_COLORS[hops] if hops <= example.reach else BEYOND, NODE, hops == 0)
    names = ["root", "1 hop", *(f"{hops} hops" for hops in range(2, example.reach + 1)), "beyond: the background"]
    for number, (name, color) in enumerate(zip(names, (*NEAR_COLORS, BEYOND), strict=True)):
        x = 2.3 + 2.5 * number
        _draw_node(axes, np.array([x, 4.85]), color)
        axes.text(x + 0.35, 4.85, name, fontsize=9, color=INK, va="center")


def _draw_bars(axes: "Axes", corner: tuple[float, float], size: tuple[float, float], layers: "list[Layer]") -> None:
    """Bars from 0 to 1, layer upon layer."""
    (x, y), (width, height) = corner, size
    bins = len(layers[0][0])
    places, base = x + width * (np.arange(bins) + 0.5) / bins, np.full(bins, y)
    for heights, color in layers:
        axes.bar(places, height * heights, 0.76 * width / bins, base, color=color, edgecolor=INK, linewidth=0.5, zorder=2)
        base = base + height * heights
    axes.plot([x, x + width], [y, y], color=FAINT, linewidth=1, zorder=3)
