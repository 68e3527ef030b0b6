"""Progress on a terminal: a line at once, and a bar for whatever turns out to take long."""

import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import TYPE_CHECKING, Self

if TYPE_CHECKING:
    from rich.progress import Progress


_silenced = False


@contextmanager
def silenced(quiet: bool = True) -> Iterator[None]:
    """Show no progress in this process within the block, whatever callees are told."""
    global _silenced
    before, _silenced = _silenced, quiet
    try:
        yield
    finally:
        _silenced = before


def is_silenced() -> bool:
    """Whether a caller wants no progress at all."""
    return _silenced


def somebody_looks(show: bool | None) -> bool:
    """Whether to draw: not where it is `silenced`, else as told, and where nothing was said, on a terminal."""
    if _silenced:
        return False
    if show is not None:
        return show
    return not is_closed() and sys.stderr.isatty()


def is_closed() -> bool:
    """Whether the program has no standard error to draw on, as programs with windows do."""
    return sys.stderr is None or bool(getattr(sys.stderr, "closed", False))


@contextmanager
def waiting(what: str, show: bool | None = None) -> Iterator[None]:
    """Something that moves on a terminal while the work of a few seconds goes on; nothing where standard error is a file.

    Args:
        what: what is going on, for people.
        show: ``False`` for nothing on a terminal either.
    """
    from rich.console import Console

    with Console(stderr=True, quiet=show is False or _silenced or is_closed()).status(what) as status:
        status.update(spinner="dots")  # drawn at once, not by its thread, which a long import may hold up
        yield


class SlowProgress:
    """A bar for work that may be over at once: shown on standard error after two seconds, and gone from a terminal at the end.

    Args:
        what: what is going on, for people.
        total: steps until it is done.
        show: ``None`` shows the bar to a person, not to a file.
    """

    patience = 2.0

    def __init__(self, what: str, total: int, show: bool | None) -> None:
        self._what, self._total, self._show = what, total, somebody_looks(show)
        self._done = 0
        self._begin = time.monotonic()
        self._bar: Progress | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        if self._bar is not None:
            self._bar.stop()

    def advance(self, steps: int) -> None:
        """Another ``steps`` are done."""
        self.advance_to(self._done + steps)

    def advance_to(self, steps: int) -> None:
        """``steps`` are done in all."""
        self._done = steps
        if self._show and self._bar is None and time.monotonic() - self._begin > self.patience:
            self._bar = self._started()
        if self._bar is not None:
            self._bar.update(self._bar.task_ids[0], completed=steps)

    def _started(self) -> "Progress":
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn, TimeRemainingColumn

        console = Console(stderr=True, quiet=is_closed())
        bar = Progress(
            TextColumn("[bold]{task.description}"),
            BarColumn(bar_width=24),
            TaskProgressColumn(),
            TextColumn("left"),
            TimeRemainingColumn(),
            console=console,
            transient=console.is_terminal,  # in a file its last state is all there is
        )
        bar.add_task(self._what, total=self._total)
        bar.start()
        return bar
