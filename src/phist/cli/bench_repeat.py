"""phist bench repeat"""

from typing import TYPE_CHECKING, Annotated, Any

import typer

from phist.cli.bench_options import NoDuplicates, Out, Study, read_study, records_folder
from phist.cli.options import Json
from phist.cli.screen import console, print_json
from phist.progress import waiting

if TYPE_CHECKING:
    from pathlib import Path

    from phist.evaluation.cell import Cell
    from phist.evaluation.records import Record

CellHash = Annotated[
    str, typer.Argument(metavar="CELL", help="The cell's hash, or the beginning of it, as records and reports have it.")
]
Threads = Annotated[int, typer.Option(min=1, help="Cores for the cell.")]


def repeat(
    study: Study,
    cell: CellHash,
    out: Out = None,
    threads: Threads = 1,
    no_duplicates: NoDuplicates = False,
    as_json: Json = False,
) -> None:
    """Run one recorded cell again and say whether it comes out the same; records are left as they are.

    The exit code is 1 if it fails, or if a test graph is classified
    otherwise than the record says. Equal versions on the same kind of
    processor give equal predictions.

    Examples:
      phist bench repeat experiments/paper.toml 38c75a56303e5de4
      phist bench repeat experiments/paper.toml 38c75a56 --json
    """
    with waiting("reading the study"):
        from phist.evaluation.execution import run_cell

        spec = read_study(study, no_duplicates)
        chosen = _find(cell, spec.cells())
        known = _recorded(chosen, records_folder(study, spec, out))
    console(to_program=as_json).print(f"{chosen}: running it again", style="bold")
    made = run_cell(chosen, threads)
    changed = _changed(known, made)
    if as_json:
        print_json({"cell": chosen.hash, "recorded": _figures(known), "repeated": _figures(made), "changed_predictions": changed})
    else:
        _tell(known, made, changed)
    if made.status == "failed" or changed:
        raise typer.Exit(1)


def _find(given: str, cells: "list[Cell]") -> "Cell":
    from phist.errors import ConfigError

    found = [cell for cell in cells if given and cell.hash.startswith(given)]
    if len(found) != 1:
        raise ConfigError(
            f"{len(found)} of the study's {len(cells)} cells have a hash that begins with {given!r}; give one that a record has, "
            "16 hexadecimal digits"
        )
    return found[0]


def _recorded(cell: "Cell", folder: "Path") -> "Record | None":
    from phist.evaluation.records import scan_records

    return next((record for record in scan_records(folder)[0] if record.hash == cell.hash), None)


def _changed(known: "Record | None", made: "Record") -> int | None:
    """Test graphs that are classified otherwise; none where there is nothing to compare."""
    if known is None or known.outcome is None or made.outcome is None:
        return None
    return sum(one != other for one, other in zip(known.outcome.predicted, made.outcome.predicted, strict=True))


def _figures(record: "Record | None") -> dict[str, Any] | None:
    if record is None:
        return None
    return {"status": record.status, "reason": record.reason, "accuracy": record.accuracy, "seconds": round(record.seconds, 3)}


def _tell(known: "Record | None", made: "Record", changed: int | None) -> None:
    screen = console()
    for name, record in (("recorded", known), ("repeated", made)):
        if record is None or record.accuracy is None:
            screen.print(f"  {name}: {'no record' if record is None else f'{record.status}: {record.reason}'}")
        else:
            screen.print(f"  {name}: accuracy {100 * record.accuracy:.1f} %, {record.seconds:,.1f} s, finished {record.finished}")
    if changed is not None and made.outcome is not None:
        screen.print(f"  {changed} of {len(made.outcome.predicted)} test graphs are classified otherwise")
