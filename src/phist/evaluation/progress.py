"""How far a study is: a bar on a terminal, else a line for each cell. No accuracies, so that nobody chooses by them."""

import sys
import time
from collections import Counter
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import Self

from phist.evaluation.cell import Cell
from phist.evaluation.estimate import Durations, spoken
from phist.evaluation.records import Record
from phist.progress import somebody_looks


class StudyProgress:
    """Hears of every record and tells of it on standard error.

    Args:
        cells: to run.
        known: earlier records, by which the time left is judged until there are new ones.
        at_a_time: cells that run side by side.
    """

    def __init__(self, cells: Sequence[Cell], known: Iterable[Record], at_a_time: int) -> None:
        self._waiting = {cell.hash: cell for cell in cells}
        self._total = len(cells)
        self._at_a_time = at_a_time
        self._durations = Durations(known)
        self._counts: Counter[str] = Counter()
        self._begin = time.monotonic()
        # Where cells run one by one in this process, methods show bars of their own, and lines do not disturb those.
        self._bar = _Bar(self._total) if somebody_looks(None) and at_a_time > 1 else None

    @property
    def finished(self) -> int:
        return self._counts.total()

    def __enter__(self) -> Self:
        if self._bar is not None:
            self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def tell(self, record: Record) -> None:
        """A cell has ended."""
        self._counts[record.status] += 1
        self._waiting.pop(record.hash, None)
        self._durations.add(record)
        if self._bar is not None:
            self._bar.show(self.finished, self._state(record))
        else:
            print(f"{self.finished}/{self._total}  {self._state(record)}", file=sys.stderr, flush=True)

    def _state(self, record: Record) -> str:
        left = self._durations.left(self._waiting.values(), self._at_a_time)
        ending = f"{spoken(record.seconds)}" if record.status == "ok" else record.status
        failures = f", {self._counts['failed']} failed" if self._counts["failed"] else ""
        return f"{record.cell}: {ending}; {spoken(time.monotonic() - self._begin)} gone, about {spoken(left or 0)} left{failures}"


class _Bar:
    """One line at the bottom of a terminal."""

    def __init__(self, total: int) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn

        self._progress = Progress(
            BarColumn(bar_width=24), MofNCompleteColumn(), TextColumn("{task.description}"), console=Console(stderr=True)
        )
        self._task = self._progress.add_task("starting", total=total)

    def start(self) -> None:
        self._progress.start()

    def stop(self) -> None:
        self._progress.stop()

    def show(self, finished: int, state: str) -> None:
        self._progress.update(self._task, completed=finished, description=state)
