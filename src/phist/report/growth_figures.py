"""The report's figures of growth: time and score of every method against the number of labelled graphs."""

from collections.abc import Callable

from phist.metrics import METRICS
from phist.report.figures import BOTTOM, HEIGHT, LEFT, RIGHT, TOP, Box, around, link, mark, panel, place_label
from phist.report.growth import Growth, Point
from phist.report.svg import Scale, linear_scale, log_scale, points, tag, x_axis, y_axis

NUMBERS = "labelled graphs"


def plot_growth(growth: Growth, metric: str) -> str:
    """Time, on two logarithmic axes, beside the score."""
    shown = METRICS[metric]
    score_name = shown.title + (" [%]" if shown.percent else "")
    known = [point for curve in growth.curves.values() for point in curve]
    times = [max(point.seconds, 1e-3) for point in known]
    scores = [point.result.mean for point in known]
    across = log_scale([float(point.labelled) for point in known], LEFT, RIGHT)
    return _drawn(growth, across, log_scale(times, BOTTOM, TOP), _seconds, f"median {growth.clock}, s", "Time") + _drawn(
        growth, across, linear_scale(scores, BOTTOM, TOP), _score, score_name, score_name
    )


def _drawn(growth: Growth, across: Scale, up: Scale, value: Callable[[Point], float], name: str, what: str) -> str:
    parts = [x_axis(across, TOP, BOTTOM, NUMBERS), y_axis(up, LEFT, RIGHT, name)]
    places = {label: [(across(point.labelled), up(value(point))) for point in curve] for label, curve in growth.curves.items()}
    taken: list[Box] = [around(x, y) for curve in places.values() for x, y in curve]
    for label, curve in growth.curves.items():
        family = curve[0].result.family
        parts.append(tag("polyline", class_=f"line family-{family}", points=points(places[label]), data_family=family))
        for point, (x, y) in zip(curve, places[label], strict=True):
            parts.append(link(point.result, mark(family, x, y)))
        parts.append(place_label(curve[-1].result, *places[label][-1], taken))
    return panel(growth.dataset, f"{what} by the number of labelled graphs", parts, HEIGHT)


def _seconds(point: Point) -> float:
    return max(point.seconds, 1e-3)


def _score(point: Point) -> float:
    return point.result.mean
