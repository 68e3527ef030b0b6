"""BulkProgress: how far a bulk run is, how many graphs it answers in a second, and how long the rest takes."""

import sys
import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from phist.progress import is_closed, is_silenced, somebody_looks

if TYPE_CHECKING:
    from rich.progress import Progress

LINE_EVERY = 60.0  # seconds between lines in a file, such as the log of a job


class BulkProgress:
    """A bar over the bytes of all sources; what was done before this run counts as done, not as speed.

    Where standard error is a file, a line a minute takes the place of the bar.

    Args:
        what: the verb.
        sizes: bytes of each source.
        shards: processes that share them evenly, this one among them.
        show: ``None`` shows the bar to a person, and lines to a file.
    """

    def __init__(self, what: str, sizes: list[int], show: bool | None, shards: int = 1) -> None:
        self.graphs = 0
        self._what, self._sizes, self._shards, self._total = what, sizes, shards, max(1, sum(sizes))
        self._before = self._at = 0.0  # bytes of the sources that are over, and of the one at hand
        self._worked = 0.0  # bytes whose graphs were answered in this run
        self._show = somebody_looks(show)
        self._lines = show is None and not self._show and not is_silenced() and not is_closed()
        self._begin = self._last_line = time.monotonic()
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    @property
    def seconds(self) -> float:
        """Since the run began."""
        return time.monotonic() - self._begin

    @property
    def rate(self) -> float:
        """Graphs in a second."""
        return self.graphs / max(self.seconds, 1e-9)

    @property
    def seconds_left(self) -> float | None:
        """For what is not read yet, at the pace of this run; ``None`` before anything is known of it."""
        left = (self._total - self._before - self._at) / self._shards
        return left / self._worked * self.seconds if self._worked else None

    def show(self, done: float, share: float, graphs: int) -> None:
        """Another ``graphs`` rows, ``share`` of the source at hand, were answered, and this fraction of it is done."""
        self._worked += share * self._sizes[0]
        self._at = done * self._sizes[0]
        self.graphs += graphs
        self._draw()

    def next_source(self) -> None:
        """The source at hand is over."""
        self._before, self._at = self._before + self._sizes.pop(0), 0.0
        self._draw()

    def _draw(self) -> None:
        if self._show:
            self._bar = self._bar or self._started()
            self._bar.update(self._bar.task_ids[0], completed=self._before + self._at, text=self._text())
        elif self._lines and time.monotonic() - self._last_line >= LINE_EVERY:
            self._last_line = time.monotonic()
            done = (self._before + self._at) / self._total
            print(f"{self._what}: {done:.1%}, {self._text()}", file=sys.stderr, flush=True)

    def _text(self) -> str:
        left = self.seconds_left
        return f"{self.graphs:,} graphs, {self.rate:,.0f} a second" + ("" if left is None else f", {_clock(left)} left")

    def _started(self) -> "Progress":
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        columns = (
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=24),
            TaskProgressColumn(),
            TextColumn("{task.fields[text]}"),
        )
        console = Console(stderr=True, quiet=is_closed())
        bar = Progress(*columns, console=console, transient=console.is_terminal)
        bar.add_task(self._what, total=self._total, text="")
        bar.start()
        return bar


def _clock(seconds: float) -> str:
    """Hours, minutes and seconds.

    >>> _clock(3725)
    '1:02:05'
    """
    whole = int(seconds)
    return f"{whole // 3600}:{whole // 60 % 60:02d}:{whole % 60:02d}"
