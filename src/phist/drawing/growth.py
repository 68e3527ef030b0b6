"""How time and score grow with the number of labelled graphs, one line for each method."""

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, NamedTuple

from phist.drawing.style import COLORS, FAINT, INK, MARKERS, finish_axes, new_figure

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

FEWEST_FOR_SLOPE = 2


class GrowthPoint(NamedTuple):
    """A method with so many labelled graphs."""

    labelled: int
    seconds: float
    score: float


def plot_growth(curves: Mapping[str, Sequence[GrowthPoint]], dataset: str, score: str, clock: str) -> "Figure":
    """Time against graphs, both logarithmic, beside the score against graphs; a dotted line grows in proportion.

    Args:
        curves: points of every method, the fewest graphs first.
        dataset: what the figure is of.
        score: what the score is called.
        clock: of which time the seconds are.
    """
    figure = new_figure(10.0, 4.2)
    times, scores = figure.subplots(1, 2)
    for place, (label, points) in enumerate(curves.items()):
        style = {"color": COLORS[place % len(COLORS)], "marker": MARKERS[place % len(MARKERS)], "label": label, "lw": 1.6, "ms": 5}
        numbers = [point.labelled for point in points]
        times.plot(numbers, [point.seconds for point in points], **style)
        scores.plot(numbers, [point.score for point in points], **style)
    _proportional(times, curves)
    times.set_yscale("log")
    for axes in (times, scores):
        axes.set_xscale("log")
        axes.grid(color=FAINT, alpha=0.25, lw=0.6)
    finish_axes(times, "labelled graphs", f"{clock} of fit and prediction, s")
    finish_axes(scores, "labelled graphs", score)
    scores.legend(frameon=False, fontsize=9)
    figure.suptitle(dataset, fontsize=11, color=INK)
    return figure


def _proportional(axes: "Axes", curves: Mapping[str, Sequence[GrowthPoint]]) -> None:
    """Twice the graphs, twice the time: through the slowest of the longest curves."""
    longest = max(curves.values(), key=lambda points: (len(points), points[-1].seconds), default=())
    if len(longest) < FEWEST_FOR_SLOPE:
        return
    first, last = longest[0], longest[-1]
    start = last.seconds * first.labelled / last.labelled
    line = axes.plot([first.labelled, last.labelled], [start, last.seconds], ":", color=FAINT, lw=1.2, label="in proportion")
    axes.legend(handles=line, frameon=False, fontsize=9)  # the methods are named beside the scores
