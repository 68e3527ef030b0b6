"""A cube of cells seen from above and in front, drawn as plain polygons: crisp in SVG, with no window into 3-D needed."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from phist.drawing.style import FAINT, INK, matplotlib_part

if TYPE_CHECKING:
    from matplotlib.axes import Axes

Corner = NDArray[np.float64]  # (3)
SCREEN = np.array([(-0.80, -0.40), (0.90, -0.30), (0.0, 0.96)])  # where one step along each coordinate leads on the page
SHADES = (0.80, 0.62, 1.0)  # of the faces that look along each coordinate; the top is the brightest


def on_page(points: NDArray[np.float64]) -> NDArray[np.float64]:
    """Points (points, 3) of space as points of the page."""
    flat: NDArray[np.float64] = points @ SCREEN
    return flat  # (points, 2)


def draw_box(axes: "Axes", low: Corner, high: Corner, color: str, opacity: float = 1.0, edge: str = "white") -> None:
    """A solid box: its three faces that can be seen."""
    patches = matplotlib_part("matplotlib.patches")
    for coordinate in range(3):
        shape = patches.Polygon(
            on_page(_face(low, high, coordinate)),
            facecolor=_shaded(color, SHADES[coordinate]),
            edgecolor=edge,
            linewidth=0.7,
            alpha=opacity,
            joinstyle="round",
            zorder=2,
        )
        axes.add_patch(shape)


def draw_cells(axes: "Axes", cells: NDArray[np.int64], colors: Sequence[str]) -> None:
    """Unit cubes at whole places, the hindmost first."""
    for number in np.argsort(cells.sum(axis=1), kind="stable"):
        low = cells[number].astype(np.float64)
        draw_box(axes, low, low + 1, colors[number])


def draw_walls(axes: "Axes", size: int) -> None:
    """The three sides behind, each with the grid of its cells; nothing else of the page is shown."""
    for coordinate in range(3):
        first, second = (number for number in range(3) if number != coordinate)
        for along, across in ((first, second), (second, first)):
            for place in range(size + 1):
                ends = np.zeros((2, 3))
                ends[:, across], ends[1, along] = place, size
                behind = place == 0
                _line(axes, ends, FAINT if behind else "#e2e2e2", 1.0 if behind else 0.7)
    axes.set_aspect("equal")
    axes.axis("off")


def draw_names(axes: "Axes", size: int, names: Sequence[str], ends: Sequence[tuple[str, str]], colors: Sequence[str]) -> None:
    """The name of each coordinate beside an edge along which it runs, and what its two ends are called."""
    spots = ((0.0, size + 0.75, -0.2), (size + 0.75, 0.0, -0.2), (0.0, size + 1.15, 0.0))
    for coordinate, spot in enumerate(spots):
        near, far = ends[coordinate]
        labels = ((near, 0.5, 8, INK), (names[coordinate], size / 2, 10, colors[coordinate]), (far, size - 0.5, 8, INK))
        for text, place, font_size, color in labels:
            at = np.array(spot)
            at[coordinate] = place
            x, y = on_page(at[None])[0]
            axes.text(x, y, text, fontsize=font_size, color=color, ha="center", va="center")


def _line(axes: "Axes", ends: NDArray[np.float64], color: str, width: float) -> None:
    axes.plot(*on_page(ends).T, color=color, linewidth=width, solid_capstyle="round", zorder=1)


def _face(low: Corner, high: Corner, coordinate: int) -> NDArray[np.float64]:
    """Corners of the face on which a coordinate is highest, going round."""
    first, second = (number for number in range(3) if number != coordinate)
    corners = np.full((4, 3), high[coordinate], np.float64)
    corners[:, first] = [low[first], high[first], high[first], low[first]]
    corners[:, second] = [low[second], low[second], high[second], high[second]]
    return corners


def _shaded(color: str, shade: float) -> tuple[float, ...]:
    """Darker below 0.8, lighter above."""
    plain = np.array(matplotlib_part("matplotlib.colors").to_rgb(color))
    mixed = plain * shade / 0.8 if shade <= 0.8 else plain + (1 - plain) * (shade - 0.8) * 1.6
    return tuple(float(part) for part in mixed.clip(0, 1))
