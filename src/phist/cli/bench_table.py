"""phist bench table"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phist.cli.bench_records import RECORD_DEFAULTS, Against, Folders, RecordOptions, read_study
from phist.cli.options import Json
from phist.cli.output import write_text
from phist.cli.screen import WIDTH, console, print_json
from phist.cli.text import printable
from phist.progress import waiting

if TYPE_CHECKING:
    from phist.report.study import Study

TABLE_NAMES = "main|generalisation|differences|ranks|estimates|times"
DEFAULT = ("main", "generalisation")

Tables = Annotated[
    list[str] | None,
    typer.Option("--table", metavar=TABLE_NAMES, help="Show this one; may be given several times. The first two, unless given."),
]
Format = Annotated[str, typer.Option("--format", metavar="text|markdown|latex|json", help="How it is written.")]
Update = Annotated[
    list[Path] | None,
    typer.Option(metavar="FILE", help="Write the marked blocks of this Markdown file afresh from their records; repeatable."),
]
Measured = Annotated[bool, typer.Option("--measured", help="Leave out datasets and methods that have published figures only.")]
Wide = Annotated[bool, typer.Option("--wide", help="All columns side by side, however wide the screen is.")]
Check = Annotated[
    bool, typer.Option("--check", help="With --update: change nothing, and end with code 1 if a block is not current.")
]


def table(
    folders: Folders = None,
    tables: Tables = None,
    form: Format = "text",
    against: Against = "phist",
    which: RecordOptions = RECORD_DEFAULTS,
    measured: Measured = False,
    wide: Wide = False,
    update: Update = None,
    check: Check = False,
    as_json: Json = False,
) -> None:
    """The tables of a study: accuracies and generalisation errors, measured beside published; differences; ranks; times.

    Examples:
      phist bench table experiments/paper experiments/gnns
      phist bench table experiments/paper --table differences --against phist-forest
      phist bench table experiments/paper --table main --format latex
      phist bench table my-study --measured --json
      phist bench table my-study --metric balanced-accuracy
      phist bench table --update README.md --update docs/results.md
    """
    from phist.errors import ConfigError, check_choice

    with waiting("loading NumPy and SciPy"):
        from phist.report.render import FORMATS

    check_choice("--format", form, FORMATS)
    form = "json" if as_json else form
    for name in tables or ():
        check_choice("--table", name, TABLE_NAMES.split("|"))
    if update:
        _update(update, check)
        return
    if check:
        raise ConfigError("--check was given without --update; name the Markdown files to check with --update FILE")
    study = read_study(folders, which)
    if "differences" in (tables or ()) and against not in study.labels:
        raise ConfigError(f"there are no records of --against {against!r}; choose one of {', '.join(study.labels) or 'none'}")
    written = {name: _written(name, study, form, against, measured, wide) for name in tables or _default(study)}
    if form == "json":
        print_json(written)
    else:
        write_text(None, printable("\n".join(written.values())))


def _default(study: "Study") -> tuple[str, ...]:
    """Generalisation errors are differences of accuracies, whatever else is shown."""
    return DEFAULT if study.metric == "accuracy" else DEFAULT[:1]


def _written(name: str, study: "Study", form: str, against: str, measured: bool, wide: bool) -> Any:
    from phist.report.costs import times_table
    from phist.report.differences import difference_table
    from phist.report.estimates import estimates_table
    from phist.report.ranks import ranks_table
    from phist.report.render import render, to_text
    from phist.report.tables import generalisation_table, leave_out_unmeasured, main_table

    make = {
        "main": lambda: main_table(study),
        "generalisation": lambda: generalisation_table(study),
        "differences": lambda: difference_table(study, against),
        "ranks": lambda: ranks_table(study),
        "estimates": lambda: estimates_table(study),
        "times": lambda: times_table(study),
    }
    found = make[name]()
    found = leave_out_unmeasured(found) if measured and name in DEFAULT else found
    return to_text(found, WIDTH) if form == "text" and not wide else render(found, form)


def _update(documents: list[Path], check: bool) -> None:
    from phist.report.blocks import is_current, update_document

    stale = []
    for document in documents:
        if check:
            fresh = is_current(document)
            stale += [] if fresh else [document]
            console().print(f"{document}: {'current' if fresh else 'not current'}")
        else:
            console().print(f"{document}: {'updated' if update_document(document) else 'was current'}")
    if stale:
        raise typer.Exit(1)
