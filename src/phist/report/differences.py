"""How much better or worse: differences of methods and of studies, with intervals, paired over folds."""

from collections.abc import Collection
from dataclasses import dataclass

import numpy as np

from phist.evaluation.statistics import Difference, mean_and_deviation
from phist.metrics import METRICS
from phist.report.comparison import TEST_TO_TRAINING, compare
from phist.report.study import Result, Study, describe
from phist.report.tables import Entry, Row, Table

ABOUT = (
    "95 percent, paired over folds, widened by Nadeau and Bengio's correction because folds share most of their training graphs; "
    "not corrected for the number of comparisons."
)


def difference_table(study: Study, against: str, others: Collection[str] | None = None) -> Table:
    """How much better the chosen method is than every other, or than ``others`` only: positive where it is better."""
    metric = METRICS[study.metric]
    sides = f"{against} minus others" if metric.larger_is_better else f"others minus {against}"
    title = f"{sides}: difference of test {metric.title}{' in points' if metric.percent else ''}, with intervals"
    if against not in study.labels:
        known = f"; there are some of {', '.join(study.labels)}" if study.labels else ""
        return Table("differences", title, (), (), (), (f"There are no records of {against}{known}.",))
    columns = [result.dataset for dataset in study.datasets for result in study.measured(dataset) if result.label == against]
    rows = []
    for label in study.labels:
        found = [compare(study.result(against, dataset), study.result(label, dataset)) for dataset in columns]
        if label != against and (others is None or label in others) and any(found):
            rows.append(Row(label, study.family(label), tuple(_entry(difference, metric.digits) for difference in found)))
    legend = (f"Positive where {against} is better. Intervals: {ABOUT}",)
    return Table("differences", title, tuple(columns), tuple(rows), (), legend)


@dataclass(frozen=True)
class Repeated:
    """How far two runs of the same cells agree: graphs that are classified otherwise, of all that were tested."""

    others: int
    tested: int


@dataclass(frozen=True)
class Change:
    """One method on one dataset in two studies; a side that has no records of it is none."""

    label: str
    dataset: str
    before: Result | None
    after: Result | None

    @property
    def difference(self) -> Difference | None:
        """After minus before: fold by fold where splits are equal, else between two samples."""
        paired = compare(self.after, self.before)
        return paired if paired or self.before is None or self.after is None else _unpaired(self.after, self.before)

    @property
    def paired(self) -> bool:
        return compare(self.after, self.before) is not None

    @property
    def repeated(self) -> Repeated | None:
        """What came out the same of the cells that both have."""
        if self.before is None or self.after is None:
            return None
        known = {record.hash: record.outcome for record in self.before.records}
        pairs = [(known[record.hash], record.outcome) for record in self.after.records if record.hash in known]
        outcomes = [(first.predicted, second.predicted) for first, second in pairs if first and second]
        if not outcomes:
            return None
        others = sum(one != other for first, second in outcomes for one, other in zip(first, second, strict=True))
        return Repeated(others, sum(len(first) for first, _ in outcomes))


def compare_studies(before: Study, after: Study) -> list[Change]:
    """Every method and dataset that either study has records of, dataset by dataset."""
    both = Study(after.setting or before.setting, (*before.results, *after.results))
    changes = []
    for dataset in both.datasets:
        for label in both.labels:
            sides = [_measured(study.result(label, dataset)) for study in (before, after)]
            if any(sides):
                changes.append(Change(label, dataset, *sides))
    return changes


def describe_settings(before: Study, after: Study) -> str | None:
    """What to know of two studies whose protocols differ."""
    if before.setting is None or after.setting is None or before.setting == after.setting:
        return None
    return f"A is {describe(before.setting)}, B is {describe(after.setting)}: their splits differ, and so may their difficulty"


def _unpaired(first: Result, second: Result) -> Difference | None:
    """Welch's interval; each side's variance is widened as that of pairs is."""
    from scipy import stats

    samples = [list(result.values.values()) for result in (first, second)]
    if min(map(len, samples)) < 2:
        return None
    means, spreads = zip(*map(mean_and_deviation, samples), strict=True)
    errors = [spread**2 * (1 / len(sample) + TEST_TO_TRAINING) for spread, sample in zip(spreads, samples, strict=True)]
    mean, error = means[0] - means[1], float(np.sqrt(sum(errors)))
    if error == 0:
        return Difference(mean, mean, mean, 1.0 if mean == 0 else 0.0, 0)
    freedom = sum(errors) ** 2 / sum(part**2 / (len(sample) - 1) for part, sample in zip(errors, samples, strict=True))
    half = float(stats.t.ppf(0.975, freedom)) * error
    return Difference(mean, mean - half, mean + half, float(2 * stats.t.sf(abs(mean) / error, freedom)), 0)


def _measured(result: Result | None) -> Result | None:
    return result if result is not None and result.records else None


def _entry(difference: Difference | None, digits: int) -> Entry:
    if difference is None:
        return Entry()
    return Entry(difference.mean, interval=(difference.low, difference.high), digits=digits)
