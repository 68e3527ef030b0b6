"""Theorem 2.1 as a picture: how many outputs tell all multisets apart, against dimension and precision."""

from typing import TYPE_CHECKING

import numpy as np

from phist.drawing.style import COLORS, FAINT, INK, finish_axes, new_figure
from phist.theory.bounds import outputs_lower_bound
from phist.theory.geometry import Box

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

DIMENSIONS = (2, 4, 8, 16, 32)
PRECISIONS = (0.4, 0.2, 0.1, 0.05)
HIGHEST = 54  # decimal orders that are shown


def plot_curse() -> "Figure":
    """The outputs a counting function needs on [-1, 1]^d, and beside them the few of a projective histogram."""
    figure = new_figure(8.6, 4.3)
    left, right = figure.subplots(1, 2)
    _draw_against_dimension(left)
    _draw_against_precision(right)
    for axes in (left, right):
        axes.set_ylim(0, HIGHEST)
        axes.set_yticks(range(0, HIGHEST + 1, 9), ["1", *(f"$10^{{{power}}}$" for power in range(9, HIGHEST + 1, 9))])
        axes.axhline(6, color=FAINT, linewidth=0.9, linestyle=":", zorder=0)
    right.text(0.0058, 6.5, "a million", fontsize=9, color=FAINT, ha="right")
    figure.suptitle("Outputs that tell all multisets in [-1, 1]$^d$ apart which differ by more than δ", fontsize=12, color=INK)
    return figure


def log10_outputs(dimension: int, precision: float) -> float:
    """Decimal logarithm of the outputs a counting function needs: as many as points more than delta apart, ⌈2/δ⌉^d."""
    return outputs_lower_bound(Box.cube(dimension), precision).sharper_log10


def histogram_log10_outputs(dimension: int, precision: float) -> float:
    """The same of a projective histogram with bins of width delta, which tells a bounded number of multisets apart."""
    return float(np.log10(dimension * (2 / precision + 1)))


def _draw_against_dimension(axes: "Axes") -> None:
    """Solid lines, each named at its end, and one band for the histograms of all these precisions."""
    dimensions = np.arange(1, 33)
    for number, precision in enumerate(PRECISIONS):
        heights = [log10_outputs(int(dimension), precision) for dimension in dimensions]
        axes.plot(dimensions, heights, color=COLORS[number], linewidth=2)
        axes.text(32.5, heights[-1], f"δ = {precision:g}", fontsize=9.5, color=COLORS[number], va="center")
    least, most = ([histogram_log10_outputs(int(d), of(PRECISIONS)) for d in dimensions] for of in (max, min))
    axes.fill_between(dimensions, least, most, color=INK, alpha=0.75, linewidth=1)
    axes.text(32, 3.6, "projective histogram, any of these δ", fontsize=9.5, color=INK, ha="right")
    axes.text(10, 30, "any function\nthat counts", fontsize=9.5, color=INK, ha="center")
    axes.set_xlim(0, 39)
    axes.set_xticks(range(0, 33, 8))
    finish_axes(axes, "dimension d", "outputs")


def _draw_against_precision(axes: "Axes") -> None:
    precisions = np.geomspace(0.01, 0.5, 401)  # fine enough for the steps of ⌈2/δ⌉
    for number, dimension in enumerate(DIMENSIONS):
        heights = [log10_outputs(dimension, float(precision)) for precision in precisions]
        axes.plot(precisions, heights, color=COLORS[number], linewidth=2)
        shown = next(place for place, height in enumerate(heights) if height <= HIGHEST - 2)
        x, y = (0.0093, heights[0]) if shown == 0 else (precisions[shown] * 0.9, heights[shown] - 1)
        axes.text(x, y, f"d = {dimension}", fontsize=9.5, color=COLORS[number], va="center")
    axes.text(0.45, 47, "any function\nthat counts", fontsize=9.5, color=INK)
    axes.set_xscale("log")
    axes.set_xlim(0.5, 0.0055)
    axes.set_xticks([0.5, 0.1, 0.05, 0.01], ["0.5", "0.1", "0.05", "0.01"])
    axes.minorticks_off()
    finish_axes(axes, "precision δ, finer to the right", "")
