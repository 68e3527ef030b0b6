"""Standard input, output and error as they are found: closed, or of an encoding that cannot show every label."""

import os
import sys

from phist.errors import OutputError


def prepare_streams() -> None:
    """Open what is closed as the null device, and let no character be an error.

    A descriptor that stays closed would be given to the next file that is opened, and what is printed would go into it.
    """
    for number, (name, mode) in enumerate((("stdin", "r"), ("stdout", "w"), ("stderr", "w"))):
        if getattr(sys, name) is None:
            _open_null(number)
            setattr(sys, name, open(os.devnull, mode, encoding="utf-8"))  # noqa: PTH123, SIM115  # it stays open to the end
    for stream in (sys.stdout, sys.stderr):
        if hasattr(stream, "reconfigure"):
            stream.reconfigure(errors="backslashreplace")


def check_standard_output() -> None:
    """Raise an `OutputError` where results are to go to a standard output that is closed."""
    if sys.stdout is None or getattr(sys.stdout, "name", None) == os.devnull:
        raise OutputError("standard output is closed, so that nobody would see the result; redirect it to a file")


def _open_null(number: int) -> None:
    try:
        os.fstat(number)
    except OSError:
        null = os.open(os.devnull, os.O_RDWR)
        if null != number:
            os.dup2(null, number)
            os.close(null)
