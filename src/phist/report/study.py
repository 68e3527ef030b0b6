"""Study: the records of a folder, gathered into one result for each method and dataset."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from phist.errors import ConfigError, check_choice
from phist.evaluation.records import Record, load_records
from phist.evaluation.splits import FOLDS, count_folds
from phist.evaluation.statistics import mean_and_deviation
from phist.metrics import METRICS
from phist.report.order import family_of, method_place, sort_datasets
from phist.report.plan import PlannedPairs, named_metric, read_plan, spec_path

Fold = tuple[int, int]  # number of the shuffle, number of the fold
Setting = tuple[str, bool]  # protocol, and whether graphs that look alike are kept together


@dataclass(frozen=True)
class Result:
    """What is known of one method on one dataset.

    Attributes:
        label: what tables call the method.
        records: those that ended well, in the order of shuffles, folds and seeds.
        failed: those that ended with an error.
        skipped: why the method does not run on this dataset, if so.
        repeats: shuffles of the whole study, which says how many records there should be.
        left_out: records that ended well, of the same label, but with other options or other content of the dataset.
        metric: what ``values``, their mean and their deviation are of; a name in `METRICS`.
        folds: test parts of the protocol, which also says how many records there should be.
    """

    label: str
    method: str
    dataset: str
    records: tuple[Record, ...] = ()
    failed: tuple[Record, ...] = ()
    skipped: str | None = None
    repeats: int = 1
    left_out: int = 0
    metric: str = "accuracy"
    folds: int = FOLDS

    @property
    def family(self) -> str:
        return family_of(self.method)

    @property
    def expected(self) -> int:
        """How many records a complete result has: one for every fold, shuffle and seed."""
        return self.folds * self.repeats * max(1, len({record.cell.seed for record in self.records}))

    @property
    def complete(self) -> bool:
        return len(self.records) == self.expected and len(self.values) == self.folds * self.repeats

    @cached_property
    def values(self) -> dict[Fold, float]:
        """The metric on every test fold, in percent if that is how it is shown: the mean over seeds.

        A fold for which it is not defined, as ROC-AUC where all test graphs are of one class, is missing.
        """
        return self._by_fold(lambda record: record.score(self.metric), METRICS[self.metric].scale)

    @cached_property
    def gaps(self) -> dict[Fold, float]:
        """Training accuracy minus test accuracy of every fold, in points."""
        return self._by_fold(_gap, 100.0)

    @cached_property
    def splits(self) -> dict[Fold, frozenset[str]]:
        """The hashes of the splits of every fold, one for each seed where seeds have splits of their own."""
        found: dict[Fold, set[str]] = defaultdict(set)
        for record in self.records:
            found[record.cell.repeat, record.cell.fold].add(record.split)
        return {fold: frozenset(splits) for fold, splits in found.items()}

    @property
    def mean(self) -> float:
        return float(np.mean(list(self.values.values())))

    @property
    def deviation(self) -> float | None:
        return deviation(self.values.values())

    def curves(self, measure: str) -> list[list[tuple[float, float]]]:
        """For every record that has such a history: epochs from 1, and the measure in percent."""
        found = (history_curve(record.account.history, measure) for record in self.records)
        return [[(epoch, 100 * value) for epoch, value in curve] for curve in found if curve]

    def _by_fold(self, measure: Callable[[Record], float | None], scale: float) -> dict[Fold, float]:
        values = defaultdict(list)
        for record in self.records:
            if (value := measure(record)) is not None:
                values[record.cell.repeat, record.cell.fold].append(scale * value)
        return {fold: float(np.mean(found)) for fold, found in sorted(values.items())}


@dataclass(frozen=True)
class Study:
    """All results of one protocol.

    Attributes:
        setting: none where there are no records.
        plan: why a method has no result on a dataset.
        specs: for the hash of a record, the file of the study that asks for it, where that is known.
    """

    setting: Setting | None = None
    results: tuple[Result, ...] = ()
    name: str = "study"
    metric: str = "accuracy"
    plan: PlannedPairs = field(default_factory=PlannedPairs)
    specs: Mapping[str, str] = field(default_factory=dict)
    _index: dict[tuple[str, str], Result] = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "_index", {(result.label, result.dataset): result for result in self.results})

    @cached_property
    def datasets(self) -> list[str]:
        return sort_datasets(result.dataset for result in self.results)

    @cached_property
    def labels(self) -> list[str]:
        """The rows of a table, family by family."""
        methods = {result.label: result.method for result in self.results}
        return sorted(methods, key=lambda label: method_place(label, methods[label]))

    def with_metric(self, metric: str) -> "Study":
        """The same records, shown by another metric."""
        return replace(self, metric=metric, results=tuple(replace(result, metric=metric) for result in self.results))

    def result(self, label: str, dataset: str) -> Result | None:
        """What is known of a method on a dataset; nothing, if it was never asked for."""
        return self._index.get((label, dataset))

    def need(self, label: str, dataset: str) -> Result:
        """A result that is known to be there."""
        return self._index[label, dataset]

    def measured(self, dataset: str) -> list[Result]:
        """The results on a dataset for which the metric is known, of one fold at least, in the order of rows."""
        found = (self.result(label, dataset) for label in self.labels)
        return [result for result in found if result is not None and result.values]

    def family(self, label: str) -> str:
        return next(result.family for result in self.results if result.label == label)

    @property
    def records(self) -> list[Record]:
        return [record for result in self.results for record in result.records]


def load_study(
    *folders: str | Path, protocol: str | None = None, no_duplicates: bool | None = None, metric: str | None = None
) -> Study:
    """The study whose records are in one or more folders; one that is not there is a `GraphInputError`.

    Args:
        metric: what to show; the one that the study's file beside the folder names, unless given.
    """
    by_folder = {Path(folder): load_records(folder) for folder in folders}
    records = {record.hash: record for found in by_folder.values() for record in found}
    name = " + ".join(folder.name for folder in by_folder)
    study = make_study(records.values(), protocol, no_duplicates, name, metric or named_metric(*folders))
    paths = {folder: spec_path(folder) for folder in by_folder}
    specs = {record.hash: str(path) for folder, path in paths.items() if path.is_file() for record in by_folder[folder]}
    plan = read_plan(folders)
    results = tuple(replace(own, folds=plan.folds.get((own.label, own.dataset), own.folds)) for own in study.results)
    return replace(study, results=results, plan=plan, specs=specs)


def make_study(
    records: Iterable[Record],
    protocol: str | None = None,
    no_duplicates: bool | None = None,
    name: str = "study",
    metric: str = "accuracy",
) -> Study:
    """Gather records; those of different protocols are never mixed, so that one must be chosen where there are several."""
    check_choice("metric", metric, METRICS)
    settings = defaultdict(list)
    for record in records:
        setting = (record.cell.protocol, record.cell.no_duplicates)
        if protocol in (None, setting[0]) and no_duplicates in (None, setting[1]):
            settings[setting].append(record)
    if not settings:
        return Study(name=name, metric=metric)
    if len(settings) > 1:
        raise ConfigError(
            f"the study {name!r} has records of {' and '.join(map(describe, sorted(settings)))}, which cannot share a table; "
            "choose one with --protocol, and with --no-duplicates or --duplicates"
        )
    setting, found = settings.popitem()
    return Study(setting, tuple(_results(found, metric)), name, metric)


def describe(setting: Setting) -> str:
    """A protocol in words."""
    protocol, no_duplicates = setting
    return f"protocol {protocol}" + (" without duplicates across splits" if no_duplicates else "")


def title_of(study: Study) -> str:
    """What the figures of a study are, in words."""
    metric = METRICS[study.metric]
    spread = (
        "on the official test graphs"
        if study.setting and study.setting[0] == "official"
        else "mean ± standard deviation over folds"
    )
    return f"Test {metric.title}{' in percent' if metric.percent else ', the smaller the better'}, {spread}"


def deviation(values: Iterable[float]) -> float | None:
    """The sample standard deviation, where there is one."""
    numbers = list(values)
    return mean_and_deviation(numbers)[1] if len(numbers) > 1 else None


def history_curve(history: Sequence[Mapping[str, Any]], measure: str) -> list[tuple[float, float]]:
    """Epochs from 1 and the values of a measure, where a history has them."""
    start = 1 if not history or history[0].get("epoch", 0) == 0 else 0
    places = (float(row.get("epoch", place)) + start for place, row in enumerate(history))
    pairs = zip(places, (row.get(measure) for row in history), strict=True)
    return [(epoch, float(value)) for epoch, value in pairs if value is not None]


def _results(records: Sequence[Record], metric: str) -> Iterable[Result]:
    repeats = len({record.cell.repeat for record in records})
    groups = defaultdict(list)
    for record in records:
        groups[record.cell.label, record.cell.column].append(record)
    for (label, dataset), group in groups.items():
        current = _current(group)
        finished = [record for record in current if record.status == "ok"]
        yield Result(
            label,
            current[0].cell.method,
            dataset,
            tuple(sorted(finished, key=lambda record: (record.cell.repeat, record.cell.fold, record.cell.seed))),
            tuple(record for record in current if record.status == "failed"),
            next((record.reason or "no reason given" for record in current if record.status == "skipped"), None),
            repeats,
            sum(record.status == "ok" for record in group) - len(finished),
            metric,
            count_folds(current[0].cell.protocol),
        )


def _current(records: Sequence[Record]) -> list[Record]:
    """Those records that were made with the options of the one that finished last."""
    last = max(records, key=lambda record: record.finished)
    return [record for record in records if _configuration(record) == _configuration(last)]


def _configuration(record: Record) -> tuple[object, ...]:
    cell = record.cell
    return (cell.method, repr(sorted(cell.options.items())), cell.fingerprint)


def _gap(record: Record) -> float | None:
    training, test = record.account.training_accuracy, record.accuracy
    return None if training is None or test is None else training - test
