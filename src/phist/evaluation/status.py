"""Where a study stands: what is done, failed, skipped and missing, and the time it took and will take."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phist.evaluation.cell import Cell
from phist.evaluation.estimate import Durations
from phist.evaluation.journal import Problem
from phist.evaluation.records import Record, scan_records

STATES = ("ok", "skipped", "failed", "missing")


@dataclass(frozen=True)
class StudyStatus:
    """Where a study stands.

    Attributes:
        counts: cells by state, for each label of a method and dataset, in the order of the study.
        spent: seconds that the recorded cells took.
        left: seconds that the missing ones will take one after the other; ``None`` where nothing is known yet.
        failures: the records of the cells that failed.
        skipped: why methods are not run, once for each method and dataset.
        commits: how many records were made at each commit of phist; "" for those that name none.
        others: records in the folder that are of no cell of the study as it now stands.
        problems: lines that cannot be used.
    """

    counts: dict[tuple[str, str], Counter[str]]
    spent: float
    left: float | None
    failures: list[Record]
    skipped: dict[tuple[str, str], str]
    commits: Counter[str]
    others: int
    problems: list[Problem]

    @property
    def totals(self) -> dict[str, int]:
        return {state: sum(counts[state] for counts in self.counts.values()) for state in STATES}

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        rows = [
            {"method": label, "dataset": dataset, **{state: counts[state] for state in STATES}}
            for (label, dataset), counts in self.counts.items()
        ]
        return {
            "totals": self.totals,
            "seconds_spent": round(self.spent, 1),
            "seconds_left": None if self.left is None else round(self.left, 1),
            "rows": rows,
            "failures": [{"cell": str(record.cell), "reason": record.reason} for record in self.failures],
            "skipped": [{"method": label, "dataset": name, "reason": why} for (label, name), why in self.skipped.items()],
            "commits": dict(self.commits),
            "records_of_other_cells": self.others,
            "problems": [str(problem) for problem in self.problems],
        }


def study_status(cells: Sequence[Cell], folder: str | Path) -> StudyStatus:
    """Compare the cells of a study with the records in its folder; nothing is changed."""
    records, problems = scan_records(folder)
    by_hash = {record.hash: record for record in records}
    counts: dict[tuple[str, str], Counter[str]] = {}
    for cell in cells:
        record = by_hash.get(cell.hash)
        counts.setdefault((cell.label, cell.column), Counter())["missing" if record is None else record.status] += 1

    known = [by_hash[cell.hash] for cell in cells if cell.hash in by_hash]
    return StudyStatus(
        counts=counts,
        spent=sum(record.seconds for record in known),
        left=Durations(known).left(cell for cell in cells if cell.hash not in by_hash),
        failures=[record for record in known if record.status == "failed"],
        skipped={(record.cell.label, record.cell.column): str(record.reason) for record in known if record.status == "skipped"},
        commits=Counter(record.versions.get("commit", "") for record in known),
        others=len(records) - len(known),
        problems=problems,
    )
