"""What the report's page shows by one metric and computes nothing of: figures, differences of all pairs, and findings."""

from collections import defaultdict
from typing import Any

from phist.evaluation.statistics import Difference
from phist.metrics import METRICS
from phist.report.comparison import compare
from phist.report.findings import Finding, find
from phist.report.ranks import rank_methods
from phist.report.study import Result, Study

Pairs = dict[str, dict[str, dict[str, Difference]]]  # by method, other method and dataset


def make_view(study: Study) -> dict[str, Any]:
    """Plain values, ready for JSON; a difference is [mean, low, high]."""
    pairs, ranks = all_differences(study), rank_methods(study)
    digits = METRICS[study.metric].digits
    found = {label: find(label, pairs.get(label, {}), ranks) for label in study.labels}
    return {
        "figures": _figures(study),
        "differences": {
            label: {
                other: {dataset: _rounded(own, digits) for dataset, own in datasets.items()}
                for other, datasets in others.items()
                if other > label  # the other half is the same with the sign turned
            }
            for label, others in pairs.items()
        },
        "findings": {label: _finding(own, digits) for label, own in found.items()},
    }


def all_differences(study: Study) -> Pairs:
    """Of every two methods on every dataset that both have, in both directions."""
    pairs: Pairs = defaultdict(lambda: defaultdict(dict))
    for dataset in study.datasets:
        results = study.measured(dataset)
        for place, first in enumerate(results):
            for second in results[place + 1 :]:
                if (own := compare(first, second)) is not None:
                    pairs[first.label][second.label][dataset] = own
                    pairs[second.label][first.label][dataset] = Difference(-own.mean, -own.high, -own.low, own.p, own.pairs)
    return pairs


def _figures(study: Study) -> dict[str, dict[str, str]]:
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for result in study.results:
        if result.values:
            found[result.label][result.dataset] = _figure(result)
    return found


def _figure(result: Result) -> str:
    metric = METRICS[result.metric]
    spread = "" if result.deviation is None else f" ± {result.deviation:.{metric.digits}f}"
    part = "" if result.complete else f", {len(result.records)} of {result.expected} records"
    return f"{result.mean:.{metric.digits}f}{spread}{' %' if metric.percent else ''}{part}"


def _finding(finding: Finding, digits: int) -> dict[str, Any]:
    rows = [
        [own.label, list(own.wins), list(own.ties), list(own.losses), own.difference and _rounded(own.difference, digits)]
        for own in finding.versus
    ]
    mean_rank = None if finding.mean_rank is None else round(finding.mean_rank, 2)
    return {"rank": mean_rank, "ranked": [finding.ranked, finding.ranked_on], "versus": rows}


def _rounded(difference: Difference, digits: int) -> list[float]:
    """With more digits than are shown, so that the sign of an interval's end is not lost."""
    return [round(value, digits + 2) for value in (difference.mean, difference.low, difference.high)]
