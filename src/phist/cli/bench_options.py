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

NoDuplicates = Annotated[
    bool,
    typer.Option("--no-duplicates", help="Keep graphs that 1-WL cannot tell apart on one side of every split, whatever SPEC says."),
]


def read_study(study: Path, no_duplicates: bool) -> "Spec":
    """The study in a file, with what the command line adds."""
    from dataclasses import replace

    from phist.errors import ConfigError
    from phist.evaluation.spec_file import read_spec

    spec = read_spec(study)
    if no_duplicates and spec.protocol == "official":
        raise ConfigError("--no-duplicates was given for a study of the protocol 'official', whose splits are as they are")
    return replace(spec, no_duplicates=True) if no_duplicates else spec


def records_folder(study: Path, spec: "Spec", out: Path | None) -> Path:
    """Where the records of a study are."""
    return out or study.parent / spec.name
