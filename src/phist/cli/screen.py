"""What people see: lines and tables on standard output, or on standard error where a program reads the output."""

import json
import sys
from typing import TYPE_CHECKING, Any

from phist.cli.streams import check_standard_output
from phist.cli.verbosity import is_quiet

if TYPE_CHECKING:
    from rich.console import Console

    from phist.graphs.checkup import Checkup, Floors


WIDTH = 80  # columns of text, which every terminal has


def console(to_program: bool = False) -> "Console":
    """Where people read: standard error when a program reads standard output, which ``--quiet`` silences."""
    return _console(to_program, to_program and is_quiet())


def notes(to_program: bool = False) -> "Console":
    """Where people read what is not a result: what is being done, and what can be done next."""
    return _console(to_program, is_quiet())


def _console(to_program: bool, quiet: bool) -> "Console":
    from phist.cli.safe_console import SafeConsole

    return SafeConsole(stderr=to_program, quiet=quiet, highlight=False, soft_wrap=True, emoji=False, markup=False)


def print_json(content: Any) -> None:
    """Write one JSON document to standard output."""
    check_standard_output()
    sys.stdout.write(json.dumps(content, indent=2, allow_nan=False) + "\n")


def show_bounds(screen: "Console", checkup: "Checkup") -> None:
    """Floors and ceiling, before any result that they put into proportion."""
    if checkup.floors is None or checkup.ceiling is None:
        return
    screen.print("What any result must be held against:", style="bold")
    for name, value in [*floor_rows(checkup.floors), ("ceiling: the best that 1-WL can tell apart", checkup.ceiling)]:
        screen.print(f"  {name:<52}{value:5.1f} %")


def floor_rows(floors: "Floors") -> list[tuple[str, float]]:
    """The floors that are known, each with what it means."""
    rows = [
        ("floor: always the largest class", floors.majority),
        (f"floor: numbers of nodes and edges only ({floors.folds} folds)", floors.size),
        (f"floor: degree histogram only ({floors.folds} folds)", floors.degrees),
    ]
    return [(name, value) for name, value in rows if value is not None]
