"""What `fit` and `demo` do alike: train, test on graphs set aside, save with a card, and say what came out."""

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from phist.cli.holdout import Accuracy

if TYPE_CHECKING:
    from rich.console import Console

    from phist.estimators import StructuralClassifier
    from phist.graphs.checkup import Checkup
    from phist.graphs.graphset import GraphSet

INTERRUPTED = 130  # what a shell expects of a program ended by Ctrl-C


@dataclass(frozen=True)
class Trained:
    """A model, the checkup of its data, and how it did on the graphs set aside, if there were any."""

    model: "StructuralClassifier"
    checkup: "Checkup"
    test: Accuracy | None

    @property
    def interrupted(self) -> bool:
        return self.model.history_.ending == "interrupted"

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
        self.model.save(out, checkup=self.checkup, metrics=figures)

    def metrics(self) -> dict[str, Any]:
        """Everything measured, in percent, ready for JSON."""
        history = self.model.history_
        kept = history.epochs[history.best]
        validation = kept.validation_accuracy
        return {
            "test": None if self.test is None else self.test.to_dict(),
            "training": {
                "epochs": len(history.epochs),
                "kept_epoch": kept.number + 1,
                "ending": history.ending,
                "seconds": round(history.seconds, 2),
                "accuracy": round(100 * kept.accuracy, 2),
                "validation_accuracy": None if validation is None else round(100 * validation, 2),
                "seed": self.model.random_state,
                "engine": self.model.engine_,
            },
            "checkup": self.checkup.to_dict(),
        }

    def show(self, screen: "Console") -> None:
        """The same for people."""
        history = self.model.history_
        kept = history.epochs[history.best]
        how = f"{history.ending}, {history.seconds:.0f} s, {self.model.engine_} engine"
        screen.print(f"Kept epoch {kept.number + 1} of {len(history.epochs)} ({how})")
        screen.print(f"  accuracy in training          {100 * kept.accuracy:.1f} %")
        if kept.validation_accuracy is not None:
            screen.print(f"  accuracy in validation        {100 * kept.validation_accuracy:.1f} % (it helped to choose the epoch)")
        if self.test is not None:
            screen.print(f"  accuracy on held-out graphs   {self.test}", style="bold")

    def exit_if_interrupted(self, advice: str = "") -> None:
        """End as a shell expects after Ctrl-C; what there was to save is saved."""
        if self.interrupted:
            typer.echo(f"phist: training was interrupted; the best model so far is saved{advice}", err=True)
            raise typer.Exit(INTERRUPTED)


def train(model: "StructuralClassifier", training: "GraphSet", test: "GraphSet | None", checkup: "Checkup") -> Trained:
    """Fit ``model`` and test it."""
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # an interruption is reported by exit_if_interrupted
        model.fit(training)
    if test is None:
        return Trained(model, checkup, None)
    right = sum(answer == label for answer, label in zip(model.predict(test).tolist(), test.label_list(), strict=True))
    return Trained(model, checkup, Accuracy(right, len(test)))
