"""BulkProgress: how far a bulk run is, how many graphs it answers in a second, and how long the rest takes."""

import time
from types import TracebackType
from typing import TYPE_CHECKING, Self

from phist.progress import is_closed, somebody_looks

if TYPE_CHECKING:
    from rich.progress import Progress


class BulkProgress:
    """A bar over the bytes of all sources; what was done before this run counts as done, not as speed.

    Args:
        what: the verb.
        sizes: bytes of each source.
        show: ``None`` shows the bar to a person, not to a file.
    """

    def __init__(self, what: str, sizes: list[int], show: bool | None) -> None:
        self.graphs = 0
        self._what, self._sizes, self._total = what, sizes, max(1, sum(sizes))
        self._before = self._at = 0.0  # bytes of the sources that are over, and of the one at hand
        self._worked = 0.0  # bytes whose graphs were answered in this run
        self._show = somebody_looks(show)
        self._begin = time.monotonic()
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
        return (self._total - self._before - self._at) / self._worked * self.seconds if self._worked else None

    def show(self, done: float, graphs: int) -> None:
        """Another ``graphs`` rows were answered, and this fraction of the source at hand is done."""
        at = done * self._sizes[0]
        self._worked += max(0.0, at - self._at)
        self._at = at
        self.graphs += graphs
        self._draw()

    def next_source(self) -> None:
        """The source at hand is over."""
        self._before, self._at = self._before + self._sizes.pop(0), 0.0
        self._draw()

    def _draw(self) -> None:
        if not self._show:
            return
        if self._bar is None:
            self._bar = self._started()
        left = self.seconds_left
        text = f"{self.graphs:,} graphs, {self.rate:,.0f} a second, " + ("" if left is None else f"{_clock(left)} left")
        self._bar.update(self._bar.task_ids[0], completed=self._before + self._at, text=text)

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
