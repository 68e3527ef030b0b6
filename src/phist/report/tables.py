"""The tables of a study: test accuracies and generalisation errors, measured beside published."""

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace

from phist.metrics import METRICS
from phist.report.comparison import tied_with_best
from phist.report.order import family_of, method_place, sort_datasets
from phist.report.published import Figure, PublishedRow, load_published
from phist.report.study import Fold, Result, Study, describe, deviation, title_of

MARKED = (
    "Marked: the best complete measurement of a dataset, and with ≈ those whose difference to it has an interval that holds zero."
)
NO_RECORDS = "No records exist yet; 'phist bench run' makes them."


@dataclass(frozen=True)
class Entry:
    """One cell of a table. A mean without all its folds says how many of them it has."""

    mean: float | None = None
    deviation: float | None = None
    folds: int = 0
    expected: int = 0
    interval: tuple[float, float] | None = None  # of a difference, which is then shown with its sign
    published: Figure | None = None
    best: bool = False
    tied: bool = False  # cannot be told apart from the best
    absent: str | None = None  # why there is no mean: "skipped", "failed", or None if it was never run
    missing: str | None = None  # a word for what was never run, "waiting" or "left out", where a study's file tells
    why: str | None = None  # why there is no mean, in full
    note: int | None = None  # number of the note that says more, from 1
    digits: int = 1  # behind the point

    @property
    def complete(self) -> bool:
        return self.folds == self.expected


@dataclass(frozen=True)
class Row:
    """A method, with one entry for every column."""

    label: str
    family: str
    entries: tuple[Entry, ...]
    published: str | None = None  # what the row is called where its published figures come from


@dataclass(frozen=True)
class Table:
    """A table ready to be written in any format."""

    name: str
    title: str
    columns: tuple[str, ...]
    rows: tuple[Row, ...]
    notes: tuple[str, ...] = ()
    legend: tuple[str, ...] = ()
    grouped: bool = True  # whether rows stand by family
    larger_is_better: bool = True


def main_table(study: Study) -> Table:
    """Test accuracy of every method on every dataset, as in the paper's main table; or the metric of the study."""
    metric = METRICS[study.metric]
    published = load_published()
    printed = published.accuracy if _has_published(study) else {}
    columns = sort_datasets([*study.datasets, *(published.datasets if printed else ())])
    rows, notes = _rows(study, columns, printed, lambda result: result.values, metric.digits)
    ties = [tied_with_best(study.measured(dataset)) for dataset in columns]
    return Table(
        "main",
        title_of(study),
        tuple(columns),
        tuple(_with_marks(rows, max if metric.larger_is_better else min, ties)),
        notes,
        (*_legend(study, bool(printed)), MARKED),
        larger_is_better=metric.larger_is_better,
    )


def _has_published(study: Study) -> bool:
    """Whether published figures can stand beside a study's: accuracies on folds of the paper's datasets, all labels kept."""
    if study.setting is None:
        return study.metric == "accuracy"
    same_task = study.metric == "accuracy" and study.setting[0] != "size"
    return same_task and not set(study.datasets).isdisjoint(load_published().datasets)


def generalisation_table(study: Study) -> Table:
    """Training accuracy minus test accuracy, as in the paper's table of generalisation errors; floors are left out."""
    published = load_published()
    results = [result for result in study.results if result.family != "floor" and result.gaps]
    printed = [dataset for row in published.generalisation.values() for dataset in row.figures]
    measured = [result.dataset for result in results]
    columns = sort_datasets(measured + printed if set(measured) & set(printed) else measured)
    shown = replace(study, results=tuple(results))
    rows, notes = _rows(shown, columns, published.generalisation if set(columns) & set(printed) else {}, lambda result: result.gaps)
    title = "Generalisation error: training accuracy minus test accuracy in points, mean ± standard deviation over folds"
    return Table("generalisation", title, tuple(columns), tuple(rows), notes, _legend(study))


def leave_out_unmeasured(table: Table) -> Table:
    """The table without the datasets and the methods that have published figures only."""
    kept = [place for place, column in enumerate(_columns(list(table.rows))) if any(map(_was_run, column))]
    rows = (
        replace(row, entries=tuple(row.entries[place] for place in kept)) for row in table.rows if any(map(_was_run, row.entries))
    )
    return replace(table, columns=tuple(table.columns[place] for place in kept), rows=tuple(rows))


def _was_run(entry: Entry) -> bool:
    return entry.mean is not None or entry.absent is not None


def _rows(
    study: Study,
    columns: list[str],
    published: Mapping[str, PublishedRow],
    values: Callable[[Result], dict[Fold, float]],
    digits: int = 1,
) -> tuple[list[Row], tuple[str, ...]]:
    """All methods that were measured or published; and the notes that their entries refer to."""
    methods = {method: method for method in published} | {result.label: result.method for result in study.results}
    notes: list[str] = []
    rows = []
    for label in sorted(methods, key=lambda label: method_place(label, methods[label])):
        printed = published.get(label)
        entries = []
        for dataset in columns:
            result = study.result(label, dataset)
            figure = printed.figures.get(dataset) if printed else None
            entry = _entry(result, values(result) if result else {}, figure, notes)
            if entry.mean is None and entry.absent is None:
                word, why = study.plan.why_absent(label, dataset)
                entry = replace(entry, missing=word or None, why=why)
            entries.append(replace(entry, digits=digits))
        rows.append(Row(label, family_of(methods[label]), tuple(entries), printed.label if printed else None))
    return rows, tuple(notes)


def _entry(result: Result | None, values: dict[Fold, float], figure: Figure | None, notes: list[str]) -> Entry:
    if result is None:
        return Entry(published=figure)
    remark = _remark(result)
    note = _number(remark, notes) if remark else None
    if not values:
        absent = "skipped" if result.skipped else "failed" if result.failed else None
        return Entry(published=figure, absent=absent, why=remark, note=note, expected=result.expected)
    numbers = list(values.values())
    mean = sum(numbers) / len(numbers)
    known = len(result.records) * len(values) // len(result.splits)  # fewer where folds have no such value
    return Entry(mean, deviation(numbers), known, result.expected, published=figure, note=note)


def _remark(result: Result) -> str | None:
    """What a reader must know of a result beyond its figures."""
    remarks = []
    if result.skipped:
        remarks.append(f"skipped: {result.skipped}")
    if result.failed:
        reasons = dict.fromkeys(record.reason or "no reason given" for record in result.failed)
        remarks.append(f"{len(result.failed)} failed: {'; '.join(reasons)}")
    if result.left_out:
        remarks.append(f"{result.left_out} records left out that were made with other options")
    return "; ".join(" ".join(remark.split()) for remark in [*remarks, *_shared_notes(result)]) or None


def _shared_notes(result: Result) -> list[str]:
    """What the method says of every record; what it says of single ones can be read in them."""
    notes = [record.account.notes for record in result.records]
    return [note for note in dict.fromkeys(notes[0]) if all(note in others for others in notes)] if notes else []


def _number(remark: str, notes: list[str]) -> int:
    if remark not in notes:
        notes.append(remark)
    return notes.index(remark) + 1


def _with_marks(rows: Iterable[Row], best_of: Callable[..., float | None], ties: list[set[str]]) -> list[Row]:
    """Mark the best complete mean of every column, and those that cannot be told apart from it."""
    rows = list(rows)
    best = [best_of((entry.mean or 0.0 for entry in column if _counts(entry)), default=None) for column in _columns(rows)]
    return [
        replace(
            row,
            entries=tuple(
                replace(entry, best=_counts(entry) and entry.mean == top, tied=row.label in tied and entry.mean != top)
                for entry, top, tied in zip(row.entries, best, ties, strict=True)
            ),
        )
        for row in rows
    ]


def _counts(entry: Entry) -> bool:
    return entry.mean is not None and entry.complete


def _columns(rows: list[Row]) -> list[tuple[Entry, ...]]:
    return list(zip(*(row.entries for row in rows), strict=True))


def _legend(study: Study, with_published: bool = True) -> tuple[str, ...]:
    if study.setting is None:
        return (NO_RECORDS, f"Published: {load_published().source}.")
    measured = (
        f"Measured: {describe(study.setting)}, {len(study.records):,} records; 4/10 beside a figure says that four of its ten "
        "records exist."
    )
    source = f"Published: {load_published().source}. Beside phist and phist-paper stands the paper's own network."
    return (measured, source) if with_published else (measured,)
