"""The figures of the report: one small panel a dataset, drawn as markup that follows the page's colours."""

from collections import defaultdict
from collections.abc import Sequence

import numpy as np

from phist.metrics import METRICS
from phist.report.study import Result
from phist.report.svg import Scale, linear_scale, log_scale, points, short, tag, words, x_axis, x_axis_above, y_axis
from phist.report.times import clock_of, warm_seconds

WIDTH, HEIGHT = 360.0, 250.0
LEFT, RIGHT, TOP, BOTTOM = 40.0, 350.0, 20.0, 212.0
HEAD = 34.0  # room for an axis above its rows
LETTER, LINE = 5.3, 10.0  # about the size of a letter in a label, for keeping labels apart
MARKS = {"phist": "circle", "kernel": "square", "gnn": "diamond", "descriptor": "triangle", "floor": "cross"}
_SHAPES = {
    "circle": "M-4.5,0a4.5,4.5 0 1,0 9,0a4.5,4.5 0 1,0 -9,0Z",
    "square": "M-4,-4H4V4H-4Z",
    "diamond": "M0,-5.4L5.4,0L0,5.4L-5.4,0Z",
    "triangle": "M0,-5L5,4H-5Z",
    "cross": "M-4,-1.3H-1.3V-4H1.3V-1.3H4V1.3H1.3V4H-1.3V1.3H-4Z",
}
Box = tuple[float, float, float, float]
Curve = list[tuple[float, float]]


def mark(family: str, x: float = 0.0, y: float = 0.0) -> str:
    """The sign of a family: a shape and a colour, so that neither alone must be told apart."""
    shape = _SHAPES[MARKS.get(family, "circle")]
    return tag("path", class_=f"mark family-{family}", d=shape, transform=f"translate({x:.1f},{y:.1f})")


def plot_accuracy_against_time(results: Sequence[Result]) -> str:
    """One dataset: mean test accuracy of every method, or the study's metric, against the median time of a fold."""
    clock = clock_of(results)
    times = {result.label: warm_seconds(result, clock) for result in results if result.records}
    known = [result for result in results if times.get(result.label)]
    if not known:
        return ""
    across = log_scale([times[result.label] for result in known], LEFT, RIGHT)
    up = linear_scale([result.mean for result in known], BOTTOM, TOP)
    parts = [x_axis(across, TOP, BOTTOM, f"median {clock} of a fold, s"), y_axis(up, LEFT, RIGHT, _axis(known[0]))]
    taken: list[Box] = [around(across(times[result.label]), up(result.mean)) for result in known]
    for result in sorted(known, key=lambda result: (result.family != "phist", _place(result))):
        x, y = across(times[result.label]), up(result.mean)
        parts += [link(result, mark(result.family, x, y)), place_label(result, x, y, taken)]
    return panel(results[0].dataset, f"{_name(known[0])} against time", parts, HEIGHT)


def plot_folds(results: Sequence[Result]) -> str:
    """One dataset: the test accuracies of all folds of every method, with median, quartiles and reach of the others."""
    known = sorted((result for result in results if result.values), key=_place)
    if not known:
        return ""
    left, row = 118.0, 17.0
    bottom = HEAD + row * len(known)
    across = linear_scale([value for result in known for value in result.values.values()], left, RIGHT, margin=0.03)
    parts = [x_axis_above(across, HEAD, bottom, f"test {_axis(known[0])} of a fold")]
    for number, result in enumerate(known):
        name = tag("text", words(result.label), class_="label", x=left - 8, y=row / 2 + 3.5, text_anchor="end")
        # A filter moves the rows that are left up, so that each stands where its translation says.
        parts.append(link(result, name + _box(result, across, row / 2), transform=f"translate(0,{HEAD + row * number:.1f})"))
    return panel(results[0].dataset, f"{_name(known[0])} of every fold", parts, bottom + 4, data_row=row, data_head=HEAD)


def plot_training(result: Result) -> str:
    """One method on one dataset: accuracy on training and validation graphs by epoch, thin for a fold, thick for the mean."""
    curves = {key: result.curves(key) for key in ("accuracy", "validation_accuracy")}
    everything = [pair for found in curves.values() for curve in found for pair in curve]
    longest = max((epoch for epoch, _ in everything), default=0)
    if longest < 2:
        return ""
    width, height, right, bottom = 230.0, 150.0, 222.0, 116.0
    across = Scale(1, longest, LEFT - 8, right)
    up = linear_scale([value for _, value in everything], bottom, TOP)
    parts = [x_axis(across, TOP, bottom, "epoch"), y_axis(up, LEFT - 8, right)]
    for key, found in curves.items():
        parts += [_curve(curve, across, up, f"fold {key}") for curve in found]
        if found:
            parts.append(_curve(_mean_curve(found), across, up, f"mean {key}"))
    drawing = _drawing(f"Training of {result.label} on {result.dataset}", "".join(parts), width, height, "img")
    names = {"data_label": result.label, "data_dataset": result.dataset}
    spoken = f"{result.label} on {result.dataset}; open its records"
    button = tag("button", words(result.label), type="button", class_="quiet", aria_label=spoken, **names)
    return tag("div", button, drawing, class_="opens", data_family=result.family, **names)


def _box(result: Result, across: Scale, y: float) -> str:
    low, first, middle, third, high = (
        across(float(value)) for value in np.percentile(list(result.values.values()), [0, 25, 50, 75, 100])
    )
    parts = [
        tag("line", class_="reach", x1=low, x2=high, y1=y, y2=y),
        tag("rect", class_=f"box family-{result.family}", x=first, y=y - 5, width=max(third - first, 1.0), height=10, rx=2),
        tag("line", class_="median", x1=middle, x2=middle, y1=y - 5, y2=y + 5),
    ]
    parts += [tag("circle", class_="fold", cx=across(value), cy=y, r=1.7) for value in result.values.values()]
    return "".join(parts)


def _curve(curve: Curve, across: Scale, up: Scale, kind: str) -> str:
    return tag("polyline", class_=f"curve {kind}", points=points([(across(epoch), up(value)) for epoch, value in thinned(curve)]))


def thinned(curve: Curve, most: int = 80) -> Curve:
    """At most so many points of a curve, evenly chosen with its end: more than that cannot be seen."""
    if len(curve) <= most:
        return curve
    return [curve[int(place)] for place in np.linspace(0, len(curve) - 1, most)]


def _mean_curve(curves: Sequence[Curve]) -> Curve:
    """The mean over folds, as long as at least half of them still train: a few long ones alone would make it jump."""
    values = defaultdict(list)
    for curve in curves:
        for epoch, value in curve:
            values[epoch].append(value)
    return [(epoch, float(np.mean(found))) for epoch, found in sorted(values.items()) if 2 * len(found) >= len(curves)]


def link(result: Result, content: str, **attributes: object) -> str:
    """What opens the cell's records when it is clicked, or chosen by the keyboard."""
    summary = _summary(result)
    names = {"data_label": result.label, "data_dataset": result.dataset, "data_family": result.family}
    title = tag("title", words(summary))
    return tag("g", title, content, class_="opens", role="button", tabindex=0, aria_label=summary, **names, **attributes)


def _summary(result: Result) -> str:
    metric = METRICS[result.metric]
    spread = "" if result.deviation is None else f" ± {result.deviation:.{metric.digits}f}"
    figure = f"{result.mean:.{metric.digits}f}{spread}{' %' if metric.percent else ''}"
    clock = clock_of([result])
    return f"{result.label} on {result.dataset}: {figure}, median {clock} of a fold {short(warm_seconds(result, clock))} s"


def _name(result: Result) -> str:
    title = METRICS[result.metric].title
    return title[0].upper() + title[1:]


def _axis(result: Result) -> str:
    return METRICS[result.metric].title + (" [%]" if METRICS[result.metric].percent else "")


def _place(result: Result) -> float:
    """What the best has least of."""
    return -result.mean if METRICS[result.metric].larger_is_better else result.mean


def place_label(result: Result, x: float, y: float, taken: list[Box]) -> str:
    """The method's name beside its mark where there is room; none where there is not, as the mark itself tells on demand."""
    text, family = result.label, result.family
    width = LETTER * len(text)
    for left, base, anchor in ((x + 7, y + 3, "start"), (x - 7 - width, y + 3, "end"), (x - width / 2, y - 8, "middle")):
        box = (left, base - LINE + 2, left + width, base + 2)
        if left >= LEFT and left + width <= RIGHT + 6 and box[1] >= 12 and not any(_overlap(box, other) for other in taken):
            taken.append(box)
            at = {"start": left, "end": left + width, "middle": x}[anchor]
            return tag(
                "text", words(text), class_="label", x=at, y=base, text_anchor=anchor, aria_hidden="true", data_family=family
            )
    return ""


def around(x: float, y: float) -> Box:
    return (x - 5, y - 5, x + 5, y + 5)


def _overlap(one: Box, other: Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]


def panel(dataset: str, what: str, parts: list[str], height: float, **attributes: object) -> str:
    drawing = _drawing(f"{what} on {dataset}", "".join(parts), WIDTH, height, "group", **attributes)
    return tag("figure", tag("figcaption", words(dataset)), drawing, class_="panel", data_column=dataset)


def _drawing(title: str, content: str, width: float, height: float, role: str, **attributes: object) -> str:
    """A drawing of the role ``img``, or ``group`` where parts of it can be chosen."""
    box = f"0 0 {width:.0f} {height:.0f}"
    return tag("svg", content, viewBox=box, role=role, aria_label=title, preserveAspectRatio="xMidYMid meet", **attributes)
