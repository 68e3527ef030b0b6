"""Accuracy against time: what every method reaches and what it takes, and which of them no other beats in both."""

from dataclasses import dataclass

import numpy as np

from phist.metrics import METRICS
from phist.report.study import Study
from phist.report.tables import NO_RECORDS, Entry, Row, Table

OURS = "phist"


@dataclass(frozen=True)
class Cost:
    """A method over the datasets of the comparison.

    Attributes:
        score: mean over datasets of the mean over folds.
        seconds: of a fold, the geometric mean over datasets: each counts the same, however large it is.
        on_front: whether no other method has at least this score in less time.
    """

    label: str
    family: str
    score: float
    seconds: float
    on_front: bool


def compare_costs(study: Study, label: str = OURS) -> tuple[tuple[str, ...], list[Cost]]:
    """The datasets on which ``label`` is complete, and the methods that are complete on all of them, the fastest first."""
    complete = {(result.label, result.dataset) for result in study.results if result.values and result.complete and result.seconds}
    datasets = tuple(dataset for dataset in study.datasets if (label, dataset) in complete)
    labels = [other for other in study.labels if all((other, dataset) in complete for dataset in datasets)] if datasets else []
    sign = 1 if METRICS[study.metric].larger_is_better else -1
    found = []
    for other in labels:
        results = [study.need(other, dataset) for dataset in datasets]
        seconds = float(np.exp(np.mean([np.log(result.seconds) for result in results])))
        found.append((other, float(np.mean([result.mean for result in results])), seconds))
    costs, best = [], -np.inf
    for other, score, seconds in sorted(found, key=lambda own: (own[2], -sign * own[1])):
        costs.append(Cost(other, study.family(other), score, seconds, on_front=sign * score > best))
        best = max(best, sign * score)
    return datasets, costs


def costs_table(study: Study) -> Table:
    """Every method's mean accuracy and seconds a fold, the fastest first; those on the front are marked."""
    metric = METRICS[study.metric]
    title = f"{metric.title} against time, the fastest first".capitalize()
    datasets, costs = compare_costs(study)
    if not costs:
        reason = f"A comparison needs a dataset on which {OURS} is complete."
        return Table("costs", title, (), (), (), (reason if study.results else NO_RECORDS,), grouped=False)
    rows = [
        Row(cost.label, cost.family, (Entry(cost.score, digits=metric.digits, best=cost.on_front), Entry(cost.seconds, digits=2)))
        for cost in costs
    ]
    legend = (
        f"Over {', '.join(datasets)}; methods that lack one are left out.",
        "The mean over datasets, and seconds of a fold as their geometric mean, as recorded on the machine of the study; a "
        "kernel's do not count the Gram matrix, which all folds share.",
        "Marked: no other method reaches as much in less time.",
    )
    return Table("costs", title, (f"mean {metric.title}", "seconds a fold"), tuple(rows), (), legend, grouped=False)
