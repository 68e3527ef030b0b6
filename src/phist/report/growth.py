"""How results grow with the number of labelled graphs: scores and times of every method, one table for each dataset."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from statistics import median

from phist.metrics import METRICS
from phist.report.order import split_column
from phist.report.render import to_markdown
from phist.report.study import Result, Study, title_of
from phist.report.tables import Entry, Row, Table
from phist.report.times import clock_of, warm_seconds

NO_NUMBERS = "No record is of a part of the labelled graphs; 'labelled' in the runs of a study makes 'phist bench run' keep some."


@dataclass(frozen=True)
class Point:
    """A method with so many labelled graphs; times are medians over folds, by the clock of its curves."""

    labelled: int
    result: Result
    seconds: float  # of fit and prediction
    prediction_seconds: float | None


@dataclass(frozen=True)
class Growth:
    """All methods on one dataset, each with its points in the order of numbers."""

    dataset: str
    clock: str
    curves: dict[str, tuple[Point, ...]]

    @property
    def numbers(self) -> list[int]:
        return sorted({point.labelled for curve in self.curves.values() for point in curve})


def growth_of(study: Study) -> list[Growth]:
    """Every dataset of which some records keep a number of labelled graphs."""
    columns = {column: split_column(column) for column in study.datasets}
    found = []
    for dataset in dict.fromkeys(base for base, number in columns.values() if number is not None):
        own = [(column, number) for column, (base, number) in columns.items() if base == dataset and number is not None]
        results = [result for column, _ in own for result in study.measured(column)]
        clock = clock_of(results)
        numbers = dict(own)
        curves: dict[str, list[Point]] = {label: [] for label in study.labels}
        for result in results:
            curves[result.label].append(
                Point(numbers[result.dataset], result, warm_seconds(result, clock), _prediction_seconds(result))
            )
        ordered = {label: tuple(sorted(curve, key=lambda point: point.labelled)) for label, curve in curves.items() if curve}
        found.append(Growth(dataset, clock, ordered))
    return found


def score_table(study: Study, growth: Growth) -> Table:
    """The score of every method against the number of labelled graphs."""
    digits = METRICS[study.metric].digits

    def entry(point: Point) -> Entry:
        own = point.result
        return Entry(own.mean, own.deviation, len(own.records), own.expected, digits=digits)

    title = f"{growth.dataset}. {title_of(study)}, by the number of labelled graphs"
    return _table("growth-scores", title, study, growth, entry, ())


def time_table(study: Study, growth: Growth) -> Table:
    """The time of every method against the number of labelled graphs."""
    title = f"{growth.dataset}. Median {growth.clock} of fit and prediction in seconds, by the number of labelled graphs"
    legend = ("From nothing: descriptions, Gram matrices and networks are computed for the cell alone; compiling is not counted.",)
    return _table("growth-times", title, study, growth, lambda point: Entry(point.seconds, digits=_digits(point.seconds)), legend)


def growth_tables(study: Study, times: bool = True) -> list[Table]:
    """Scores, and ``times`` too, dataset by dataset."""
    makers = (score_table, time_table) if times else (score_table,)
    return [make(study, growth) for growth in growth_of(study) for make in makers]


def growth_markdown(study: Study, times: bool = True) -> str:
    """The same for a document; a sentence where there is nothing to tell."""
    return "\n".join(to_markdown(table) for table in growth_tables(study, times)) or NO_NUMBERS + "\n"


def _table(name: str, title: str, study: Study, growth: Growth, entry: Callable[[Point], Entry], legend: Sequence[str]) -> Table:
    rows = []
    for label, curve in growth.curves.items():
        points = {point.labelled: point for point in curve}
        entries = [
            entry(points[number]) if number in points else _absent(study, label, growth, number) for number in growth.numbers
        ]
        rows.append(Row(label, study.family(label), tuple(entries)))
    return Table(name, title, tuple(f"{number:,}" for number in growth.numbers), tuple(rows), (), tuple(legend))


def _absent(study: Study, label: str, growth: Growth, number: int) -> Entry:
    """Why a method has no score with so many graphs."""
    result = study.result(label, f"{growth.dataset}:{number}")
    return Entry(absent="skipped" if result and result.skipped else "failed" if result and result.failed else None)


def _prediction_seconds(result: Result) -> float | None:
    known = [record.prediction_seconds for record in result.records if record.prediction_seconds is not None]
    return median(known) if known else None


def _digits(seconds: float) -> int:
    return 0 if seconds >= 100 else 1 if seconds >= 1 else 2
