"""Arguments that the verbs of phist bench share."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from phist.evaluation.spec import Spec

Study = Annotated[Path, typer.Argument(metavar="SPEC", help="The study, a TOML file.", show_default=False)]
Out = Annotated[
    Path | None,
    typer.Option(metavar="DIR", help="The folder of its records; a folder of the study's name beside SPEC, unless given."),
]
OnlyMethod = Annotated[list[str] | None, typer.Option(metavar="NAME", help="These methods only; may be given several times.")]
OnlyDataset = Annotated[list[str] | None, typer.Option(metavar="NAME", help="These datasets only; may be given several times.")]


def records_folder(study: Path, spec: "Spec", out: Path | None) -> Path:
    """Where the records of a study are."""
    return out or study.parent / spec.name
