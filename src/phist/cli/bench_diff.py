"""phist bench diff"""

from itertools import groupby
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phist.cli.bench_records import NoDuplicates, Protocol, RecordOptions, read_study
from phist.cli.options import Json
from phist.cli.screen import console, print_json

if TYPE_CHECKING:
    from phist.report.differences import Change
    from phist.report.study import Result

A = Annotated[Path, typer.Argument(metavar="A", help="A folder of records.", show_default=False)]
B = Annotated[Path, typer.Argument(metavar="B", help="Another, which is compared with the first.", show_default=False)]


def diff(a: A, b: B, protocol: Protocol = None, no_duplicates: NoDuplicates = None, as_json: Json = False) -> None:
    """Compare two folders of records, method by method and dataset by dataset: means, differences, what only one of them has.

    Where both have the very same cells, as when a study is repeated, the
    last column counts the graphs that are classified otherwise.

    Examples:
      phist bench diff experiments/paper experiments/new
      phist bench diff old/paper experiments/paper --json
    """
    which = RecordOptions(protocol, no_duplicates, "accuracy")
    first, second = (read_study([folder], which) for folder in (a, b))

    from phist.report.differences import ABOUT, compare_studies, describe_settings

    changes = compare_studies(first, second)
    warning = describe_settings(first, second)
    if as_json:
        print_json({"a": str(a), "b": str(b), "warning": warning, "changes": [_plain(change) for change in changes]})
        return
    screen = console()
    if not changes:
        screen.print("neither folder has records that ended well")
        return
    _show(changes)
    screen.print(f"Differences are B minus A, in points. Intervals: {ABOUT}")
    if any(result and not result.complete for change in changes for result in (change.before, change.after)):
        screen.print("[n/m]: so many of the folds are there; differences are of those that both have")
    if any(change.difference and not change.paired for change in changes):
        screen.print("(unpaired): the splits differ, so that folds could not be compared one by one")
    if any(change.repeated for change in changes):
        screen.print("otherwise: of the graphs that both tested in the same cells, those classified otherwise in B")
    if warning:
        screen.print(warning)


def _show(changes: "list[Change]") -> None:
    from rich.table import Column, Table

    again = ["otherwise"] if any(change.repeated for change in changes) else []
    table = Table(Column("", no_wrap=True), "A", "B", "B minus A", *again, box=None, pad_edge=False)
    for dataset, own in groupby(changes, key=lambda change: change.dataset):
        table.add_row(dataset, style="bold")
        for change in own:
            means = _mean(change.before), _mean(change.after)
            table.add_row(f"  {change.label}", *means, _difference(change), *(_repeated(change) for _ in again))
    console().print(table, soft_wrap=False)


def _mean(result: "Result | None") -> str:
    from phist.report.published import Figure
    from phist.report.render import NOTHING, figure_text

    if result is None:
        return NOTHING
    part = "" if result.complete else f" [{len(result.records)}/{result.expected}]"
    return figure_text(Figure(result.mean, result.deviation)) + part


def _difference(change: "Change") -> str:
    if change.before is None or change.after is None:
        return "only in B" if change.before is None else "only in A"
    found = change.difference
    if found is None:
        return "too few folds"
    unpaired = "" if change.paired else " (unpaired)"
    return f"{found.mean:+.1f} [{found.low:.1f}, {found.high:.1f}]{unpaired}"


def _repeated(change: "Change") -> str:
    found = change.repeated
    return "" if found is None else f"{found.others} of {found.tested}"


def _plain(change: "Change") -> dict[str, Any]:
    found, repeated = change.difference, change.repeated
    return {
        "method": change.label,
        "dataset": change.dataset,
        "a": _plain_result(change.before),
        "b": _plain_result(change.after),
        "difference": None
        if found is None
        else {"mean": found.mean, "low": found.low, "high": found.high, "paired": change.paired},
        "repeated": None if repeated is None else {"otherwise": repeated.others, "tested": repeated.tested},
    }


def _plain_result(result: "Result | None") -> dict[str, Any] | None:
    if result is None:
        return None
    return {"mean": result.mean, "deviation": result.deviation, "records": len(result.records), "expected": result.expected}
