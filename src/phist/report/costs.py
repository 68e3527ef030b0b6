"""Accuracy against time: what every method reaches and takes, which of them no other beats in both, and times by dataset."""

from collections.abc import Collection
from dataclasses import dataclass, replace

import numpy as np

from phist.metrics import METRICS
from phist.report.order import sort_datasets
from phist.report.study import Result, Study
from phist.report.tables import NO_RECORDS, Entry, Row, Table
from phist.report.times import Clock, clock_of, cold_seconds, warm_seconds

OURS = "phist"


@dataclass(frozen=True)
class Cost:
    """A method over the datasets of the comparison.

    Attributes:
        score: mean over datasets of the mean over folds.
        seconds: the median over folds, as the geometric mean over datasets: each counts the same, however large it is.
        cold: the same of the slowest fold, which computed what all folds share.
        on_front: whether no other method has at least this score in less time.
    """

    label: str
    family: str
    score: float
    seconds: float
    cold: float
    on_front: bool


@dataclass(frozen=True)
class Comparison:
    """Methods that are complete on the same datasets, the fastest first, by one clock."""

    datasets: tuple[str, ...]
    costs: tuple[Cost, ...]
    clock: Clock


def compare_costs(study: Study, label: str = OURS) -> Comparison:
    """The datasets on which ``label`` is complete, and the methods that are complete on all of them."""
    complete = {(result.label, result.dataset) for result in study.results if result.values and result.complete}
    datasets = tuple(dataset for dataset in study.datasets if (label, dataset) in complete)
    labels = [other for other in study.labels if all((other, dataset) in complete for dataset in datasets)] if datasets else []
    sign = 1 if METRICS[study.metric].larger_is_better else -1
    clock = clock_of(study.need(other, dataset) for other in labels for dataset in datasets)
    found = []
    for other in labels:
        results = [study.need(other, dataset) for dataset in datasets]
        score = float(np.mean([result.mean for result in results]))
        warm, cold = (_typical([time(result, clock) for result in results]) for time in (warm_seconds, cold_seconds))
        found.append(Cost(other, study.family(other), score, warm, cold, on_front=False))
    costs, best = [], -np.inf
    for cost in sorted(found, key=lambda own: (own.seconds, -sign * own.score)):
        costs.append(replace(cost, on_front=sign * cost.score > best))
        best = max(best, sign * cost.score)
    return Comparison(datasets, tuple(costs), clock)


def costs_table(study: Study, label: str = OURS) -> Table:
    """Every method's mean accuracy and time per fold over the datasets on which ``label`` is complete, the fastest first."""
    metric = METRICS[study.metric]
    title = f"{metric.title} against time, the fastest first".capitalize()
    found = compare_costs(study, label)
    if not found.costs:
        reason = f"A comparison needs a dataset on which {label} is complete."
        return Table("costs", title, (), (), (), (reason if study.results else NO_RECORDS,), grouped=False)
    rows = [
        Row(
            cost.label,
            cost.family,
            (
                Entry(cost.score, digits=metric.digits, best=cost.on_front),
                Entry(cost.seconds, digits=2),
                Entry(cost.cold, digits=2),
            ),
        )
        for cost in found.costs
    ]
    legend = (
        f"Over {', '.join(found.datasets)}; methods that lack one are left out.",
        f"The mean over datasets, and seconds of {found.clock} for a fold as their geometric mean, as recorded on the machine of "
        "the study: processor time where it was recorded. Warm: the median over folds. Cold: the slowest fold, which computes what "
        "all folds share, such as Gram matrices and descriptions, unless it was on disk already.",
        "Marked: no other method reaches as much in less time.",
    )
    return Table("costs", title, (f"mean {metric.title}", "seconds, warm", "seconds, cold"), tuple(rows), (), legend, grouped=False)


def times_table(study: Study, labels: Collection[str] = ()) -> Table:
    """What a fold of every dataset takes, by all methods or those called ``labels``; in the order of the other tables."""
    shown = [label for label in study.labels if label in labels or not labels]
    timed = {(result.label, result.dataset): result for result in study.results if result.label in shown and result.records}
    columns = sort_datasets([dataset for dataset in study.datasets if any((label, dataset) in timed for label in shown)])
    clock = clock_of(timed.values())
    rows = [
        Row(label, study.family(label), tuple(_time_entry(timed.get((label, dataset)), clock) for dataset in columns))
        for label in shown
        if any((label, dataset) in timed for dataset in columns)
    ]
    about = f"The median over folds, in seconds of {clock}, as recorded on the machine of the study"
    legend = (f"{about}; what all folds share, such as a Gram matrix, is computed once and not in it.",) if rows else (NO_RECORDS,)
    return Table("times", "Seconds of a fold", tuple(columns), tuple(rows), legend=legend, larger_is_better=False)


def _time_entry(result: Result | None, clock: Clock) -> Entry:
    if result is None:
        return Entry()
    seconds = warm_seconds(result, clock)
    return Entry(seconds, digits=1 if seconds >= 1 else 2, folds=len(result.records), expected=result.expected)


def _typical(seconds: list[float]) -> float:
    """The geometric mean; a time too short to be measured counts as a millisecond."""
    return float(np.exp(np.mean(np.log(np.maximum(seconds, 1e-3)))))
