"""Which files are checkpoints of a run: found, checked and removed by their names and headers, without torch."""

import glob
import json
import re
from pathlib import Path

from phist.errors import OutputError
from phist.files import resolve

FORMAT = "phist-checkpoint-1"
_LONGEST_HEADER = 100 << 20  # bytes; that of safetensors itself


def checkpoint_files(path: str | Path) -> list[Path]:
    """The files of a run: one named ``path``, or several whose names go on with the numbers of network and epoch."""
    path = resolve(path)
    pattern = re.compile(re.escape(path.name) + r"(\.\d{1,6}){0,2}")
    return sorted(file for file in path.parent.glob(f"{glob.escape(path.name)}*") if pattern.fullmatch(file.name))


def check_checkpoint(path: str | Path) -> None:
    """Raise an `OutputError` if there is something at ``path`` that is no checkpoint, so that it stays."""
    for file in checkpoint_files(path):
        if not is_checkpoint(file):
            raise OutputError(f"{file} exists and is no phist checkpoint; give another --checkpoint, or move what is there")


def remove_checkpoint(path: str | Path) -> None:
    """Delete the files of a run if there are any; anything else of such a name is an `OutputError`, and all of it stays."""
    check_checkpoint(path)
    for file in checkpoint_files(path):
        file.unlink(missing_ok=True)


def is_checkpoint(path: str | Path) -> bool:
    """Whether a file says it is a checkpoint of phist, of any version, whole or cut off: only its header is read."""
    if not Path(path).is_file():
        return False
    try:
        with Path(path).open("rb") as file:
            length = int.from_bytes(file.read(8), "little")
            header = json.loads(file.read(length)) if length <= _LONGEST_HEADER else {}
        note = json.loads(header["__metadata__"]["phist"])
        return str(note["format"]).startswith(FORMAT.rstrip("0123456789"))
    except (OSError, ValueError, LookupError, TypeError, RecursionError):
        return False
