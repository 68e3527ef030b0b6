"""Progress of a training run: a bar with losses, accuracies and the time left, or silence."""

from types import TracebackType
from typing import Self

from phist.progress import is_closed, somebody_looks
from phist.training.history import Epoch


class TrainingProgress:
    """Shows a bar on standard error. Silent unless ``show`` says otherwise; ``None`` shows it to a person, not to a file.

    Args:
        show: whether to show it.
        epochs: of all networks together.
        networks: how many there are.
    """

    def __init__(self, show: bool | None, epochs: int, networks: int = 1) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

        what = "training" if networks == 1 else f"training {networks} networks"
        self._bar = Progress(
            TextColumn(f"[bold]{what}"),
            BarColumn(bar_width=24),
            MofNCompleteColumn(),
            TextColumn("{task.fields[figures]}"),
            TimeElapsedColumn(),
            TextColumn("left"),
            TimeRemainingColumn(elapsed_when_finished=False),
            console=Console(stderr=True, quiet=is_closed()),
            disable=not somebody_looks(show),
        )
        self._task = self._bar.add_task("training", total=epochs, figures="")

    def __enter__(self) -> Self:
        self._bar.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None) -> None:
        self._bar.stop()

    def show(self, epoch: Epoch, epochs: int | None = None) -> None:
        """Another ``epoch`` is done, of so many as is known now."""
        figures = f"loss {epoch.loss:.3f}  train {epoch.accuracy:.1%}"
        if epoch.validation_accuracy is not None:
            figures += f"  validation {epoch.validation_accuracy:.1%}"
        self._bar.update(self._task, advance=1, total=epochs, figures=figures)
