"""Accuracy against time: one mark for each method, and the front of those that no other beats in both."""

from collections.abc import Sequence
from itertools import pairwise
from typing import TYPE_CHECKING, Any, NamedTuple

from phist.drawing.style import COLORS, FAINT, INK, MARKERS, finish_axes, new_figure

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FAMILIES = ("phist", "kernel", "gnn", "descriptor", "floor")
MARK = 46  # area of a mark, in points
NEAR = ((5, 3), (5, -3), (-5, 3), (-5, -3))  # of a name, from its mark, in points
PLACES = (*NEAR, (6, 16), (6, -16), (-6, 16), (-6, -16))


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
    axes.margins(x=0.2)
    finish_axes(axes, f"median {clock} of a fold, s", score)
    axes.legend(frameon=False, fontsize=9)
    drawn = [_mark_box(axes, point) for point in points] + _front_boxes(axes, front)
    names: list[Any] = []
    for point in sorted(points, key=lambda point: not point.on_front):
        names.append(_write_name(axes, point, drawn, names))
    return figure


def _mark_box(axes: Any, point: Point) -> Any:
    from matplotlib.transforms import Bbox

    x, y = axes.transData.transform((point.seconds, point.score))
    radius = MARK**0.5 / 2 * axes.figure.dpi / 72
    return Bbox.from_bounds(x - radius, y - radius, 2 * radius, 2 * radius)


def _front_boxes(axes: Any, front: Sequence[Point]) -> list[Any]:
    """What the line of the front covers: a step to the right and one up from each point to the next."""
    from matplotlib.transforms import Bbox

    corners = [axes.transData.transform((point.seconds, point.score)) for point in front]
    boxes = []
    for (left, low), (right, high) in pairwise(corners):
        boxes += [Bbox([[left, low - 1], [right, low + 1]]), Bbox([[right - 1, low], [right + 1, high]])]
    return boxes


def _write_name(axes: Any, point: Point, drawn: Sequence[Any], names: Sequence[Any]) -> Any:
    """Beside the mark where it covers the fewest names, then the least of all else; returns what it covers."""
    weight = "bold" if point.on_front else "normal"
    place = (point.seconds, point.score)
    text = axes.annotate(point.label, place, PLACES[0], textcoords="offset points", fontsize=8, color=INK, fontweight=weight)

    def put(place: tuple[float, float]) -> Any:
        text.xyann = place
        text.set(ha="left" if place[0] > 0 else "right", va="bottom" if place[1] > 0 else "top")
        return text.get_window_extent()

    def trouble(place: tuple[float, float]) -> tuple[int, int]:
        box = put(place)
        return sum(map(box.overlaps, names)), sum([box.x0 < axes.bbox.x0, *map(box.overlaps, drawn)])

    return put(min(PLACES, key=trouble))
