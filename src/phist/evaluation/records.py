"""Record: what came out of a cell, complete enough to check every number that is made of it."""

import warnings
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path
from typing import Literal, Self

import numpy as np
from numpy.typing import NDArray

from phist.baselines.method import Account
from phist.errors import GraphInputError
from phist.evaluation.cell import Cell
from phist.evaluation.compact import columns_of, pack_probabilities, plain, rows_of, unpack_probabilities
from phist.evaluation.journal import Line, Problem, append_line, read_journal, repair_journal
from phist.evaluation.record_schema import check_line
from phist.metrics import compute_metric

Status = Literal["ok", "failed", "skipped"]
SUFFIX = ".jsonl"


@dataclass(frozen=True)
class Outcome:
    """The predictions of the test part. A label is a number, the position of its class in ``classes``."""

    classes: list[str]
    positions: list[int]  # of the test graphs in their dataset
    truth: list[int]
    predicted: list[int]  # the most probable class before probabilities were rounded
    probabilities: NDArray[np.float64]  # (graphs, classes), with five digits or more

    @property
    def accuracy(self) -> float:
        """Share of right predictions, from 0 to 1."""
        return float(np.mean(np.array(self.truth) == np.array(self.predicted)))


@dataclass(frozen=True)
class Record:
    """One line of a study.

    Attributes:
        cell: what was run; ``cell.label`` is what tables call the method.
        status: ``ok``, ``failed`` with ``reason``, or ``skipped`` by the method with ``reason``.
        split: the hash of the split; empty where it came to none.
        outcome: the predictions, for ``ok`` only.
        account: what the method tells of its choices; accuracies from 0 to 1.
        engine: what computed the network, for methods that have a choice of engines.
        seconds: wall time of fit and predict.
        processor_seconds: processor time of the same, which programs beside it change less; ``None`` where the cell was
            resumed, and in records made before it was measured.
        prediction_seconds: the part of ``seconds`` that prediction took; ``None`` in earlier records.
        peak_memory: of the process while the cell ran, in megabytes.
        threads: cores the method was allowed.
        versions: of phist, Python and the libraries that compute; commit and processor beside them.
        finished: when, in UTC.
    """

    cell: Cell
    status: Status
    split: str = ""
    reason: str | None = None
    outcome: Outcome | None = None
    account: Account = field(default_factory=Account)
    engine: str | None = None
    seconds: float = 0.0
    processor_seconds: float | None = None
    prediction_seconds: float | None = None
    peak_memory: float = 0.0
    threads: int = 1
    versions: Mapping[str, str] = field(default_factory=dict)
    finished: str = ""

    @cached_property
    def hash(self) -> str:
        """The hash of the cell."""
        return self.cell.hash

    @property
    def accuracy(self) -> float | None:
        """Share of test graphs that were classified rightly, from 0 to 1."""
        return None if self.outcome is None else self.outcome.accuracy

    def score(self, metric: str) -> float | None:
        """A metric of the test graphs by its name; ``None`` where there are none, or where it is not defined for them."""
        if self.outcome is None:
            return None
        if metric not in self._scores:
            outcome = self.outcome
            self._scores[metric] = compute_metric(metric, outcome.probabilities, outcome.truth, outcome.predicted)
        return self._scores[metric]

    @cached_property
    def _scores(self) -> dict[str, float | None]:
        """What was computed once; tables and reports ask several times."""
        return {}

    def to_line(self) -> Line:
        """The record as one JSON object, in few characters."""
        return {
            "hash": self.hash,
            "status": self.status,
            "label": self.cell.label,
            "cell": self.cell.to_dict(),
            "split": self.split,
            "reason": self.reason,
            "seconds": plain(self.seconds),
            "processor_seconds": plain(self.processor_seconds),
            "prediction_seconds": plain(self.prediction_seconds),
            "peak_memory": plain(self.peak_memory),
            "threads": self.threads,
            "engine": self.engine,
            "finished": self.finished,
            "versions": dict(self.versions),
            "account": _pack_account(self.account),
            "outcome": None if self.outcome is None else _pack_outcome(self.outcome),
        }

    @classmethod
    def from_line(cls, line: Line) -> Self:
        """The inverse of `to_line`; a line of another form is a `ConfigError` or another `ValueError`."""
        check_line(line)
        content = {name: value for name, value in line.items() if name not in ("hash", "label")}
        content["cell"] = Cell.from_dict(line["cell"], line["label"])
        if content["cell"].hash != line["hash"]:
            raise ValueError(f"its hash is not that of its cell, which is {content['cell'].hash}")
        content["account"] = _unpack_account(line["account"])
        content["outcome"] = None if line["outcome"] is None else _unpack_outcome(line["outcome"])
        return cls(**content)


def load_records(folder: str | Path, hashes: Collection[str] | None = None) -> list[Record]:
    """All records of a study, one per cell, in the order of their files; lines that cannot be used are warned of.

    Args:
        folder: where ``phist bench run`` wrote, such as ``experiments/paper``.
        hashes: keep these cells only, for instance those of the study as its file now stands; ``None`` keeps all.
    """
    if not Path(folder).is_dir():
        raise GraphInputError(f"there is no folder {folder}; give one that 'phist bench run' wrote")
    records, problems = scan_records(folder)
    for problem in problems:
        warnings.warn(f"{problem}; 'phist bench run' will run its cell again", stacklevel=2)
    return records if hashes is None else [record for record in records if record.hash in hashes]


def scan_records(folder: str | Path) -> tuple[list[Record], list[Problem]]:
    """The records of a study, one per cell, and the lines that cannot be used."""
    records: list[Record] = []
    problems: list[Problem] = []
    for path in _journals(Path(folder)):
        contents = read_journal(path, Record.from_line)
        records += _latest(contents.entries)
        problems += contents.problems
    return records, problems


def journal_of(folder: str | Path, cell: Cell) -> Path:
    """The file for a cell: one for each method and dataset, so that studies run in parts are merged without conflict."""
    return Path(folder) / cell.dataset / f"{cell.label}{SUFFIX}"


def write_record(folder: str | Path, record: Record) -> bool:
    """Add a record to its study, unless its cell has one that is ok; whether it was added."""

    def is_done(known: list[Record]) -> bool:
        return any(other.hash == record.hash and other.status == "ok" for other in known)

    return append_line(journal_of(folder, record.cell), record.to_line(), Record.from_line, unless=is_done)


def repair_records(folder: str | Path) -> list[Problem]:
    """Set aside every line of a study that cannot be used; what was found."""
    return [problem for path in _journals(Path(folder)) for problem in repair_journal(path, Record.from_line)]


def _journals(folder: Path) -> list[Path]:
    return sorted(path for path in folder.glob(f"*/*{SUFFIX}") if path.is_file())


def _latest(records: Iterable[Record]) -> list[Record]:
    """One record per cell: the one that is ok, else the last."""
    kept: dict[str, Record] = {}
    for record in records:
        if record.hash not in kept or kept[record.hash].status != "ok":
            kept[record.hash] = record
    return list(kept.values())


def _pack_outcome(outcome: Outcome) -> Line:
    return {
        "classes": outcome.classes,
        "positions": outcome.positions,
        "truth": outcome.truth,
        "predicted": outcome.predicted,
        "probabilities": pack_probabilities(outcome.probabilities),
    }


def _unpack_outcome(line: Line) -> Outcome:
    return Outcome(**{**line, "probabilities": unpack_probabilities(line["probabilities"], len(line["positions"]))})


def _pack_account(account: Account) -> Line:
    return {**plain(vars(account)), "history": columns_of(account.history)}


def _unpack_account(line: Line) -> Account:
    return Account(**{**line, "history": rows_of(line["history"])})
