"""What `fit` and `demo` do alike: fit, test on graphs kept apart, save with a card, and say what came out."""

from collections.abc import Hashable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from phist.cli.holdout import Accuracy

if TYPE_CHECKING:
    from rich.console import Console

    from phist.estimators import StructuralClassifier
    from phist.graphs.graphset import GraphSet

INTERRUPTED = 130  # what a shell expects of a program ended by Ctrl-C


@dataclass(frozen=True)
class Trained:
    """A model, and how it did on the graphs kept apart, if there were any."""

    model: "StructuralClassifier"
    test: Accuracy | None
    held_out: tuple[Hashable, ...] = ()  # ids of the graphs kept apart

    @property
    def interrupted(self) -> bool:
        return any(member.bag.ending == "interrupted" for member in self.model._members())

    def save(self, out: Path) -> None:
        """Write the model folder, with the figures that belong on its card."""
        figures: dict[str, Any] = {}
        if self.test is not None:
            values = self.test.to_dict()
            figures = {
                "held-out graphs": values["graphs"],
                "held-out accuracy in percent": values["accuracy"],
                "its 95 % interval": values["interval"],
            }
        self.model.save(out, metrics=figures, held_out=self.held_out)

    def metrics(self) -> dict[str, Any]:
        """Everything measured, ready for JSON: the report with shares from 0 to 1, the test in percent."""
        histories = self.model.histories_
        return {
            "test": None if self.test is None else self.test.to_dict(),
            "report": self.model.report_.to_dict() if hasattr(self.model, "report_") else None,
            "training": {
                "networks": len(histories),
                "epochs": [len(history.epochs) for history in histories],
                "seconds": round(sum(history.seconds for history in histories), 2),
                "seed": self.model.random_state,
            },
        }

    def show(self, screen: "Console") -> None:
        """The same for people."""
        if hasattr(self.model, "report_"):
            report = self.model.report_
            for candidate in sorted(report.candidates, key=lambda own: -own.weight):
                weight = f"weight {candidate.weight:.2f}" if candidate.weight else "left out"
                screen.print(f"  {candidate.name:<20} {100 * candidate.accuracy:5.1f} % out of fold, {weight}")
            for line in report.lines():
                screen.print(line, style="bold" if line == report.verdict else None)
        else:
            self._show_history(screen)
        if self.test is not None:
            screen.print(f"accuracy on held-out graphs {self.test}", style="bold")

    def _show_history(self, screen: "Console") -> None:
        for history in self.model.histories_:
            kept = history.epochs[history.best]
            screen.print(f"Kept epoch {kept.number + 1} of {len(history.epochs)} ({history.ending}, {history.seconds:.0f} s)")
            screen.print(f"  accuracy in training          {100 * kept.accuracy:.1f} %")
            if kept.validation_accuracy is not None:
                chosen = f"{100 * kept.validation_accuracy:.1f} % (it helped to choose the epoch)"
                screen.print(f"  accuracy in validation        {chosen}")

    def exit_if_interrupted(self, advice: str = "") -> None:
        """End as a shell expects after Ctrl-C; what there was to save is saved."""
        if self.interrupted:
            typer.echo(f"phist: training was interrupted; what was ready is saved{advice}", err=True)
            raise typer.Exit(INTERRUPTED)


def train(model: "StructuralClassifier", training: "GraphSet", test: "GraphSet | None") -> Trained:
    """Fit ``model`` and test it; where Ctrl-C ends the fit early, the model of what was ready."""
    try:
        model.fit(training)
    except KeyboardInterrupt:
        if not hasattr(model, "ensemble_"):  # nothing was ready
            raise
    if test is None:
        return Trained(model, None)
    right = sum(answer == label for answer, label in zip(model.predict(test).tolist(), test.label_list(), strict=True))
    return Trained(model, Accuracy(right, len(test)), tuple(test.ids.tolist()))
