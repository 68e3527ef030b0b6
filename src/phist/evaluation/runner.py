"""make_plan and run_plan: whatever of a study is still to do, as fast as the workers allow, one record for each cell that ends."""

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from phist.errors import ConfigError
from phist.evaluation.backends import Work, Workers, compute
from phist.evaluation.cell import Cell
from phist.evaluation.execution import run_cell
from phist.evaluation.journal import Problem
from phist.evaluation.records import Record, repair_records, scan_records, write_record
from phist.evaluation.spec_file import name_of_dataset


@dataclass(frozen=True)
class StudyPlan:
    """What is to do.

    Attributes:
        cells: to run, in order.
        known: the records that are there of the cells asked for.
        repaired: lines that could not be used and were set aside; their cells are run again.
    """

    cells: list[Cell]
    known: list[Record]
    repaired: list[Problem] = field(default_factory=list)


def make_plan(cells: Sequence[Cell], folder: str | Path, *, retry_failed: bool = False) -> StudyPlan:
    """Repair the records in ``folder`` and find the cells without one.

    A cell that was skipped or failed is done as well, for its record says why; failed ones are tried again on request.
    """
    repaired = repair_records(folder)
    wanted = {cell.hash for cell in cells}
    known = [record for record in scan_records(folder)[0] if record.hash in wanted]
    done = {record.hash for record in known if not (retry_failed and record.status == "failed")}
    return StudyPlan([cell for cell in cells if cell.hash not in done], known, repaired)


def run_plan(
    plan: StudyPlan,
    folder: str | Path,
    workers: Workers,
    *,
    tell: Callable[[Record], None] = lambda record: None,
    work: Work = run_cell,
) -> list[Record]:
    """Run the cells of a plan and write their records; each is on the disk before ``tell`` hears of it.

    Workers send their records here and only this process writes, so that a cluster needs no common disk, and a cell
    that a cluster computes twice because a worker died is recorded once.
    """
    records = []
    for record in compute(work, plan.cells, workers):
        write_record(folder, record)
        records.append(record)
        tell(record)
    return records


def choose_shard(cells: Sequence[Cell], shard: str | None) -> list[Cell]:
    """Every n-th cell, for ``"i/n"``: the shards of a study share its work evenly, and no cell.

    >>> choose_shard(["a", "b", "c"], "2/2")
    ['b']
    """
    if shard is None:
        return list(cells)
    number, _, count = shard.partition("/")
    if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
        raise ConfigError(f"shard {shard!r} was given; two numbers i/n with i from 1 to n are needed, such as 2/4")
    return list(cells)[int(number) - 1 :: int(count)]


def choose_cells(cells: Sequence[Cell], methods: Collection[str] = (), datasets: Collection[str] = ()) -> list[Cell]:
    """The cells of the given methods, by label, and datasets; none given means all."""
    datasets = [name_of_dataset(name) for name in datasets]
    _check_known("method", methods, {cell.label for cell in cells})
    _check_known("dataset", datasets, {cell.dataset for cell in cells})
    return [cell for cell in cells if (not methods or cell.label in methods) and (not datasets or cell.dataset in datasets)]


def _check_known(what: str, given: Collection[str], known: Collection[str]) -> None:
    for name in given:
        if name not in known:
            raise ConfigError(f"the {what} {name!r} is not in this study; it has {', '.join(sorted(known))}")
