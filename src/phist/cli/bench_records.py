"""What the verbs of phist bench share that read records."""

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from phist.cli.option_groups import OptionGroup
from phist.cli.screen import console
from phist.errors import GraphInputError
from phist.progress import waiting

if TYPE_CHECKING:
    from phist.report.study import Study

DEFAULT_FOLDER = Path("experiments/paper")
Folders = Annotated[
    list[Path] | None,
    typer.Argument(
        metavar="FOLDER",
        help=f"Records as 'phist bench run' wrote them, those of several studies in one; {DEFAULT_FOLDER}, unless given.",
        show_default=False,
    ),
]
Against = Annotated[str, typer.Option(metavar="METHOD", help="The method whose differences to the others are shown.")]
Protocol = Annotated[
    str | None,
    typer.Option(
        metavar="paper|fair|repeated|size|official", help="Records of this protocol only; needed where a folder has several."
    ),
]
NoDuplicates = Annotated[
    bool | None,
    typer.Option("--no-duplicates/--duplicates", help="Records with, or without, graphs that look alike kept on one side."),
]

Metric = Annotated[
    str | None,
    typer.Option(
        metavar="accuracy|balanced-accuracy|roc-auc|log-loss",
        help="What to show of the test graphs; what the study's file names, unless given, else accuracy.",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class RecordOptions(OptionGroup):
    """Which records of some folders are shown, and what of them."""

    protocol: Protocol = None
    no_duplicates: NoDuplicates = None
    metric: Metric = None


RECORD_DEFAULTS = RecordOptions()


def read_study(folders: list[Path] | None, which: RecordOptions) -> "Study":
    """The study in some folders; lines that cannot be read are named on standard error."""
    folders = folders or [DEFAULT_FOLDER]
    for folder in folders:
        check_folder(folder)
    with waiting("reading records"), warnings.catch_warnings(record=True) as caught:
        from phist.report.study import load_study

        warnings.simplefilter("always", UserWarning)
        study = load_study(*folders, protocol=which.protocol, no_duplicates=which.no_duplicates, metric=which.metric)
    for warning in caught:
        console(to_program=True).print(str(warning.message))
    if not study.results:
        raise GraphInputError(f"{_names(folders)} has no records{_asked(which)}; 'phist bench run' makes them")
    return study


def record_files(folders: list[Path] | None) -> list[Path]:
    """The files of records in some folders, which no output may replace."""
    return [path for folder in folders or [DEFAULT_FOLDER] for path in sorted(folder.glob("*/*.jsonl"))]


def check_folder(folder: Path) -> None:
    """Raise a `GraphInputError` unless there is such a folder."""
    if folder.is_file():
        raise GraphInputError(
            f"{folder} is a file; give the folder of records that 'phist bench run' wrote, such as {DEFAULT_FOLDER}"
        )
    if not folder.is_dir():
        raise GraphInputError(f"there is no folder {folder}; give one that 'phist bench run' wrote, such as {DEFAULT_FOLDER}")


def _names(folders: list[Path]) -> str:
    return " + ".join(map(str, folders))


def _asked(which: RecordOptions) -> str:
    """What was asked for, in words."""
    kind = {None: "", True: " with --no-duplicates", False: " with --duplicates"}[which.no_duplicates]
    return ("" if which.protocol is None else f" of the protocol {which.protocol!r}") + kind
