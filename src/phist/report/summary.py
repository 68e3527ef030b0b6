"""The study on a few lines: ours, the paper's, and the best of the others, dataset by dataset."""

from collections.abc import Iterable
from dataclasses import dataclass

from phist.metrics import METRICS
from phist.report.order import sort_datasets
from phist.report.published import Figure, load_published
from phist.report.render import NOTHING, figure_text
from phist.report.study import Result, Study, describe, title_of
from phist.report.tables import NO_RECORDS

OURS, AS_PRINTED = "phist", "phist-paper"


@dataclass(frozen=True)
class SummaryRow:
    """One dataset; what was not measured is none."""

    dataset: str
    ours: Result | None
    as_printed: Result | None  # the paper's network as printed, measured here
    published: Figure | None  # what the paper says of it
    other: Result | None  # the best of all methods of other families but the floors
    floor: Result | None  # the best of the floors


def summarise(study: Study) -> list[SummaryRow]:
    """The datasets of the paper and of the study, in the order of the paper's columns."""
    published = load_published()
    printed = published.accuracy[AS_PRINTED].figures if study.metric == "accuracy" else {}
    rows = []
    for dataset in sort_datasets([*study.datasets, *printed]):
        measured = study.measured(dataset)
        complete = [result for result in measured if result.complete]
        rows.append(
            SummaryRow(
                dataset,
                next((result for result in measured if result.label == OURS), None),
                next((result for result in measured if result.label == AS_PRINTED), None),
                printed.get(dataset),
                _best(result for result in complete if result.family not in ("phist", "floor")),
                _best(result for result in complete if result.family == "floor"),
            )
        )
    return rows


def summary_markdown(study: Study, rows: int | None = None) -> str:
    """The summary as a table of Markdown: the first ``rows`` datasets, in the order of the study, or all."""
    if study.setting is None:
        return NO_RECORDS + "\n"
    lines = [
        "| | phist | the paper, published | the paper's network, measured | best other method | best floor |",
        "|---" * 6 + "|",
    ]
    for row in summarise(study)[:rows]:
        cells = [_written(row.ours), figure_text(row.published), _written(row.as_printed), _named(row.other), _named(row.floor)]
        lines.append(f"| {row.dataset} | {' | '.join(cells)} |")
    about = (
        f"{title_of(study)}, {describe(study.setting)}; in brackets, how many of the records of an incomplete figure exist. "
        f"The best of many methods is picked by test {METRICS[study.metric].title} and so flatters them."
    )
    return "\n".join([*lines, "", about]) + "\n"


def _best(results: Iterable[Result]) -> Result | None:
    return max(results, key=lambda result: result.mean if METRICS[result.metric].larger_is_better else -result.mean, default=None)


def _written(result: Result | None) -> str:
    if result is None:
        return NOTHING
    part = "" if result.complete else f" [{len(result.records)}/{result.expected}]"
    return figure_text(Figure(result.mean, result.deviation), METRICS[result.metric].digits) + part


def _named(result: Result | None) -> str:
    return NOTHING if result is None else f"{_written(result)} ({result.label})"
