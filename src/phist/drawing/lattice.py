"""What the matrix A of theorem 2.3 sums up, the star on which nothing is lost, and the printed set on which something is."""

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from phist.drawing.isometric import draw_box, draw_cells, draw_names, draw_walls
from phist.drawing.style import COLORS, FAINT, INK, matplotlib_part, new_figure
from phist.theory.projective import make_counterexample, printed_cells, star_cells

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

BINS = 6
SLABS = (COLORS[2], COLORS[3], COLORS[0])  # green, purple and blue, as in the paper
ENDS = ((str(BINS), "1"), ("1", str(BINS)), (str(BINS), "1"))  # turned so that no cell of a set hides another
CHOSEN = 3  # the slab that is drawn solid
GAP = 0.1  # on either side of a faint slab
PLAIN, PLUS, MINUS = "#b9b9b9", COLORS[1], COLORS[5]


def plot_matrix() -> "Figure":
    """Six panels for d = 3 and b = 6: the rows of A along each coordinate, the star, the printed set, and why that fails."""
    figure = new_figure(8.6, 6.3)
    upper, lower = figure.subplots(2, 3)
    for coordinate, axes in enumerate(upper):
        _draw_slab(axes, coordinate)
    star = star_cells(3, BINS)
    arms = [PLAIN, *np.repeat(SLABS, BINS - 1).tolist()]
    _draw_set(lower[0], star, arms, f"the star: {len(star)} cells,\nindependent")
    printed = printed_cells(3, BINS)
    _draw_set(lower[1], printed, _sides(printed), f"printed S*: {len(printed)} cells,\ndependent")
    _draw_face(lower[2])
    return figure


def _draw_slab(axes: "Axes", coordinate: int) -> None:
    """One row of A as a slab of cells, the other rows of the same coordinate as faint slabs."""
    draw_walls(axes, BINS)
    for place in range(BINS):
        if place == CHOSEN:
            others = np.stack(np.meshgrid(range(BINS), range(BINS), indexing="ij"), axis=-1).reshape(-1, 2)
            cells = np.insert(others, coordinate, place, axis=1)
            draw_cells(axes, cells, [SLABS[coordinate]] * len(cells))
        else:
            low, high = np.zeros(3), np.full(3, float(BINS))
            low[coordinate], high[coordinate] = place + GAP, place + 1 - GAP
            draw_box(axes, low, high, SLABS[coordinate], opacity=0.1)
    _name(axes)
    axes.set_title(f"coordinate {coordinate + 1}: a row of A\nsums a slab of {BINS**2} cells", fontsize=10, color=INK)


def _draw_set(axes: "Axes", cells: NDArray[np.int64], colors: list[str], title: str) -> None:
    draw_walls(axes, BINS)
    draw_cells(axes, np.where([True, False, True], BINS - 1 - cells, cells), colors)
    _name(axes)
    axes.set_title(title, fontsize=10, color=INK)


def _name(axes: "Axes") -> None:
    draw_names(axes, BINS, [f"i = {number}" for number in (1, 2, 3)], ENDS, SLABS)


def _sides(cells: NDArray[np.int64]) -> list[str]:
    """The colour of each cell: its sign in the counterexample's null vector."""
    example = make_counterexample(3, BINS)
    sign = {tuple(cell): value for cell, value in zip(example.cells.tolist(), example.null_vector.tolist(), strict=True)}
    return [{1: PLUS, -1: MINUS, 0: PLAIN}[sign.get(tuple(cell), 0)] for cell in cells.tolist()]


def _draw_face(axes: "Axes") -> None:
    """The floor of the printed set, seen from above, with its row and column sums."""
    patches = matplotlib_part("matplotlib.patches")
    example = make_counterexample(3, BINS)
    for place in range(BINS + 1):
        axes.plot([0, BINS], [place, place], color="#dcdcdc", linewidth=0.8)
        axes.plot([place, place], [0, BINS], color="#dcdcdc", linewidth=0.8)
    for (x, y, _), sign in zip(example.cells.tolist(), example.null_vector.tolist(), strict=True):
        axes.add_patch(patches.Rectangle((x, y), 1, 1, facecolor=PLUS if sign > 0 else MINUS, edgecolor="white"))
        axes.text(x + 0.5, y + 0.46, "+1" if sign > 0 else "-1", ha="center", va="center", fontsize=10, color="white")
    for place in range(BINS):
        axes.text(place + 0.5, -0.5, str(place + 1), ha="center", va="center", fontsize=9, color=SLABS[0])
        axes.text(-0.5, place + 0.5, str(place + 1), ha="center", va="center", fontsize=9, color=SLABS[1])
        axes.text(place + 0.5, BINS + 0.5, "0", ha="center", va="center", fontsize=9, color=INK)
        axes.text(BINS + 0.5, place + 0.5, "0", ha="center", va="center", fontsize=9, color=INK)
    middle = BINS / 2
    axes.text(middle, -1.3, "bin of coordinate i = 1", ha="center", va="center", fontsize=9, color=SLABS[0])
    axes.text(-1.3, middle, "bin of coordinate i = 2", ha="center", va="center", fontsize=9, color=SLABS[1], rotation=90)
    axes.text(middle, BINS + 1.15, "sums over i = 2", ha="center", va="center", fontsize=9, color=INK)
    axes.text(BINS + 1.15, middle, "sums over i = 1", ha="center", va="center", fontsize=9, color=INK, rotation=270)
    axes.set(xlim=(-1.8, BINS + 1.6), ylim=(-1.8, BINS + 1.6), aspect="equal")
    axes.axis("off")
    axes.set_title("its floor: every bin's sum is 0,\nso A cannot see these four", fontsize=10, color=INK)
    axes.plot([0, BINS, BINS, 0, 0], [0, 0, BINS, BINS, 0], color=FAINT, linewidth=1)
