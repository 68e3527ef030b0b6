"""Accuracy against time: one mark for each method, and the front of those that no other beats in both."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

from phist.drawing.style import COLORS, FAINT, INK, MARKERS, finish_axes, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAMILIES = ("phist", "kernel", "gnn", "descriptor", "floor")


class Point(NamedTuple):
    """A method in the picture."""

    label: str
    family: str
    seconds: float
    score: float
    on_front: bool


def plot_costs(points: Sequence[Point], score: str, clock: str = "wall time") -> "Figure":
    """Seconds of a fold across, on a logarithmic scale, and the score up; a line joins the front.

    Args:
        points: the fastest first.
        score: what the score is called.
        clock: of which time the seconds are.
    """
    figure = new_figure(8.0, 5.0)
    axes = figure.add_subplot()
    front = [point for point in points if point.on_front]
    axes.step([point.seconds for point in front], [point.score for point in front], where="post", color=FAINT, lw=1.2, zorder=1)
    for family in dict.fromkeys(point.family for point in points):
        own = [point for point in points if point.family == family]
        number = FAMILIES.index(family) if family in FAMILIES else len(FAMILIES)
        axes.scatter(
            [point.seconds for point in own],
            [point.score for point in own],
            s=46,
            color=COLORS[number],
            marker=MARKERS[number],
            label=family,
            zorder=2,
        )
    for point in points:
        axes.annotate(
            point.label,
            (point.seconds, point.score),
            xytext=(5, 4),
            textcoords="offset points",
            fontsize=8,
            color=INK,
            fontweight="bold" if point.on_front else "normal",
        )
    axes.set_xscale("log")
    axes.margins(x=0.12)
    finish_axes(axes, f"median {clock} of a fold, s", score)
    axes.legend(frameon=False, fontsize=9)
    return figure
