"""Accuracy against time: one mark for each method, and the front of those that no other beats in both."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from phist.drawing.style import COLORS, FAINT, INK, MARKERS, finish_axes, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAMILIES = ("phist", "kernel", "gnn", "descriptor", "floor")
MARK = 46  # area of a mark, in points
PLACES = ((5, 3), (5, -3), (-5, 3), (-5, -3))  # of a name, from its mark, in points


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
            s=MARK,
            color=COLORS[number],
            marker=MARKERS[number],
            label=family,
            zorder=2,
        )
    axes.set_xscale("log")
    axes.margins(x=0.12)
    finish_axes(axes, f"median {clock} of a fold, s", score)
    axes.legend(frameon=False, fontsize=9)
    taken = [_mark_box(axes, point) for point in points]
    for point in sorted(points, key=lambda point: not point.on_front):
        taken.append(_write_name(axes, point, taken))
    return figure


def _mark_box(axes: Any, point: Point) -> Any:
    from matplotlib.transforms import Bbox

    x, y = axes.transData.transform((point.seconds, point.score))
    radius = MARK**0.5 / 2 * axes.figure.dpi / 72
    return Bbox.from_bounds(x - radius, y - radius, 2 * radius, 2 * radius)


def _write_name(axes: Any, point: Point, taken: Sequence[Any]) -> Any:
    """Beside the mark where nothing else is, above it and to the right if there is no such place; returns what it covers."""
    weight = "bold" if point.on_front else "normal"
    for x, y in (*PLACES, PLACES[0]):
        text = axes.annotate(
            point.label,
            (point.seconds, point.score),
            xytext=(x, y),
            textcoords="offset points",
            ha="left" if x > 0 else "right",
            va="bottom" if y > 0 else "top",
            fontsize=8,
            color=INK,
            fontweight=weight,
        )
        box = text.get_window_extent()
        if not any(box.overlaps(other) for other in taken):
            return box
        text.remove()
    axes.add_artist(text)
    return box
