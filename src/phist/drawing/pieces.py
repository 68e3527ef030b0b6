"""Pieces of a schematic: graphs, arrows, rows of dots and bars, vectors, and the panels behind them."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phist.drawing.responses import RESPONSE_COLORS
from phist.drawing.style import FAINT, INK, matplotlib_part

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Point = tuple[float, float]
RADIUS = 0.17  # of a node


def draw_panel(axes: "Axes", corner: Point, size: Point, color: str, name: str) -> None:
    """A tinted panel with rounded corners, named in its upper left."""
    patches = matplotlib_part("matplotlib.patches")
    look = {"boxstyle": "round,pad=0,rounding_size=0.25", "linewidth": 0, "zorder": 0}
    axes.add_patch(patches.FancyBboxPatch(corner, *size, facecolor=color, alpha=0.09, **look))
    axes.text(corner[0] + 0.3, corner[1] + size[1] - 0.42, name, fontsize=11, color=color, va="center", weight="bold")


def draw_graph(
    axes: "Axes", places: NDArray[np.float64], edges: Sequence[tuple[int, int]], values: ArrayLike, ringed: Sequence[int]
) -> None:
    """Nodes in the colours of their values, from -1 to 1; some of them ringed."""
    patches = matplotlib_part("matplotlib.patches")
    for a, b in edges:
        axes.plot(*places[[a, b]].T, color="#b0b0b0", linewidth=1.4, zorder=1)
    for place, color in zip(places, _colors(values), strict=True):
        axes.add_patch(patches.Circle(place, RADIUS, facecolor=color, edgecolor=INK, linewidth=0.8, zorder=2))
    for node in ringed:
        axes.add_patch(patches.Circle(places[node], 1.75 * RADIUS, facecolor="none", edgecolor=INK, linewidth=1.5, zorder=3))


def draw_arrow(axes: "Axes", start: float, end: float, y: float, text: str) -> None:
    """An arrow to the right, with what happens written above it."""
    look = {"arrowstyle": "-|>", "color": INK, "linewidth": 1.3, "shrinkA": 0, "shrinkB": 0}
    axes.annotate("", (end, y), (start, y), arrowprops=look)
    axes.text((start + end) / 2, y + 0.2, text, fontsize=9, color=INK, ha="center", va="bottom", linespacing=1.15)


def draw_dots(axes: "Axes", start: Point, length: float, values: NDArray[Any]) -> None:
    """Values from -1 to 1 as dots on a line."""
    x, y = start
    axes.plot([x, x + length], [y, y], color=FAINT, linewidth=1, zorder=1)
    places = x + length * (np.asarray(values) + 1) / 2
    axes.scatter(places, np.full(len(places), y), s=26, c=_colors(values), edgecolors=INK, linewidths=0.6, zorder=2)


def draw_bars(axes: "Axes", start: Point, size: Point, heights: NDArray[Any]) -> None:
    """A histogram about the line at ``start``, each bar in the colour of its bin."""
    (x, y), (width, height) = start, size
    count = len(heights)
    centers = (2 * np.arange(count) + 1) / count - 1
    base = y - height / 2
    places = x + width * (centers + 1) / 2
    look = {"color": _colors(centers), "edgecolor": INK, "linewidth": 0.5, "zorder": 2}
    axes.bar(places, height * heights / max(float(heights.max()), 1e-12), 0.74 * width / count, base, **look)
    axes.plot([x, x + width], [base, base], color=FAINT, linewidth=1, zorder=1)


def draw_vector(axes: "Axes", middle: Point, values: NDArray[Any], color: str, cell: Point = (0.3, 0.15)) -> None:
    """A column of cells about ``middle``, the larger the value the fuller the colour."""
    patches = matplotlib_part("matplotlib.patches")
    (width, height), (x, y) = cell, middle
    top = y + height * len(values) / 2
    shares = np.asarray(values, float) / max(float(np.max(values)), 1e-12)
    for number, share in enumerate(shares):
        corner = (x - width / 2, top - (number + 1) * height)
        axes.add_patch(patches.Rectangle(corner, width, height, facecolor="white", linewidth=0, zorder=4))
        axes.add_patch(
            patches.Rectangle(corner, width, height, facecolor=color, alpha=0.1 + 0.9 * float(share), linewidth=0, zorder=5)
        )
    axes.add_patch(
        patches.Rectangle(
            (x - width / 2, y - height * len(values) / 2), width, height * len(values), fill=False, edgecolor=INK, zorder=6
        )
    )


def write(axes: "Axes", x: float, y: float, text: str) -> None:
    """A caption about ``x``, ``y``."""
    axes.text(x, y, text, fontsize=9, color=INK, ha="center", va="center", linespacing=1.15)


def _colors(values: ArrayLike) -> Any:
    return matplotlib_part("matplotlib").colormaps[RESPONSE_COLORS]((np.asarray(values, float) + 1) / 2)
