"""The options of `phist fit` and `phist validate` that say how a classifier is fitted."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phist.cli.help import COMPUTING, TRAINING
from phist.cli.option_groups import OptionGroup
from phist.cli.options import EFFORTS, ENGINES, Seed, Threads
from phist.errors import check_choice

if TYPE_CHECKING:
    from phist.estimators import StructuralClassifier

Effort = Annotated[
    str,
    typer.Option(
        metavar="|".join(EFFORTS),
        help="How much is tried: one short network; five networks and all members; longer training and networks of a second kind.",
    ),
]
Budget = Annotated[float | None, typer.Option(metavar="SECONDS", help="How long the fit may take, about.")]
Preset = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="'auto' finds everything from the graphs. A dataset's name trains one network with the paper's sizes and our recipe, "
        "'paper:NAME' one with everything as printed.",
        rich_help_panel=TRAINING,
    ),
]
Members = Annotated[
    str,
    typer.Option(
        metavar="NAMES",
        help="What to try, separated by commas: network, colours, profiles; or auto, by effort.",
        rich_help_panel=TRAINING,
    ),
]
Heads = Annotated[
    str,
    typer.Option(
        metavar="NAMES",
        help="Heads of the networks, separated by commas: linear, forest, kernel; or auto.",
        rich_help_panel=TRAINING,
    ),
]
Epochs = Annotated[
    int | None,
    typer.Option(
        min=1, help="Epochs of each network; found by validation, or the preset's, unless given.", rich_help_panel=TRAINING
    ),
]
Engine = Annotated[
    str,
    typer.Option(
        metavar="|".join(ENGINES),
        help="The fused engine wherever it can, the fused engine or an error, or the plain PyTorch network (see 'phist info').",
        rich_help_panel=COMPUTING,
    ),
]


@dataclass(frozen=True)
class TrainingOptions(OptionGroup):
    """How much is tried, and of what."""

    effort: Effort = "medium"
    time_budget: Budget = None
    seed: Seed = 0
    preset: Preset = "auto"
    members: Members = "auto"
    heads: Heads = "auto"
    epochs: Epochs = None
    engine: Engine = "auto"
    threads: Threads = None

    def check(self) -> None:
        """Refuse words that are none of the choices, before anything is loaded."""
        check_choice("effort", self.effort, EFFORTS)
        check_choice("engine", self.engine, ENGINES)

    def estimator(self, *, batch_size: int | None = None, **others: Any) -> "StructuralClassifier":
        """A classifier that will be fitted so; its parameters are checked."""
        from phist.estimators import StructuralClassifier

        training = {name: value for name, value in (("epochs", self.epochs), ("batch_size", batch_size)) if value is not None}
        settings = {"members": _names(self.members), "heads": _names(self.heads), "training": training or None, **others}
        model = StructuralClassifier(
            self.effort,  # type: ignore[arg-type]  # it checks the word itself
            self.time_budget,
            random_state=self.seed,
            preset=self.preset,
            engine=self.engine,
            **settings,
        )
        model.check_parameters()
        return model


TRAINING_DEFAULTS = TrainingOptions()


def _names(given: str) -> str | tuple[str, ...]:
    """Names separated by commas, as the estimator takes them."""
    return tuple(given.split(",")) if "," in given else given
