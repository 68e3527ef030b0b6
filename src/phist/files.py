"""Writing files so that a kill at any moment leaves either the old content or the new, never half of either."""

import errno
import json
import os
import shutil
import socket
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from phist.errors import ModelFileError, OutputError
from phist.workspace import workspace

MOST_JSON = 1 << 29  # bytes of a file: the ids of ten million graphs take less
_NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
_OPEN_FILES = ("/dev/std", "/dev/fd/", "/proc/")  # names of files that are open already, whatever kind they are


@contextmanager
def atomic_path(target: str | Path) -> Iterator[Path]:
    """Yield a temporary path; on success its content is at ``target``, on failure ``target`` is as before.

    A regular file is replaced, that of a symbolic link too, and the link stays. Devices, pipes and sockets are written to.
    """
    target = Path(target)
    with explaining(target):
        if is_stream(target):
            with TemporaryDirectory(prefix="phist-") as folder:
                temporary = Path(folder) / "output"
                temporary.touch()
                yield temporary
                _send(temporary, target)
            return
        place = resolve(target)
        if place.is_dir():
            raise OutputError(f"cannot write {target}: it is a folder; give the name of a file")
        place.parent.mkdir(parents=True, exist_ok=True)
        with workspace(place) as folder_beside:
            temporary = folder_beside / "output"
            temporary.touch()
            yield temporary
            temporary.chmod(_mode_for(place, folder_beside))
            temporary.replace(place)


def is_stream(path: Path) -> bool:
    """Whether ``path`` is written to and not replaced: a device, a pipe, a socket, or a file that is open under a number."""
    if str(path.absolute()).startswith(_OPEN_FILES):
        return True
    try:
        mode = path.stat().st_mode
    except OSError:
        return False
    return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode))


def resolve(path: str | Path) -> Path:
    """The absolute path that is meant, with symbolic links followed, also where nothing is there yet."""
    return Path(os.path.realpath(path))


def write_json(path: str | Path, content: Any) -> None:
    """Write ``content`` as indented JSON, atomically."""
    text = json.dumps(content, indent=2, ensure_ascii=False) + "\n"
    with atomic_path(path) as temporary:
        temporary.write_bytes(text.encode(errors="backslashreplace"))  # half a character, as names may hold: JSON's own escape


def read_json_object(path: str | Path) -> dict[str, Any]:
    """Read a JSON object written by phist; anything else in the file is a `ModelFileError` that names the file."""
    if not os.path.isfile(path):  # noqa: PTH113  # a name that no file can have is no file; a pipe may have no end
        raise ModelFileError(f"{path} is not a file; is it a phist file that was moved?")
    if os.path.getsize(path) > MOST_JSON:  # noqa: PTH202
        raise ModelFileError(f"{path} has more than {MOST_JSON >> 20} MB, more than phist writes; restore it, or make it again")
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelFileError(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(content, dict):
        raise ModelFileError(f"{path} holds a JSON {type(content).__name__}, not an object; is it a phist file?")
    return content


@contextmanager
def explaining(target: Path) -> Iterator[None]:
    """Raise what goes wrong while ``target`` is written as an `OutputError` that names it."""
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        advice = "free some space or choose another place" if error.errno in _NO_SPACE else "choose a place you may write to"
        raise OutputError(f"cannot write {target}: {error.strerror or error}; {advice}") from error


def _mode_for(place: Path, folder: Path) -> int:
    """The permissions of the file that is replaced, or what the umask leaves, which ``folder`` was made with."""
    try:
        return stat.S_IMODE(place.stat().st_mode)
    except OSError:
        return stat.S_IMODE(folder.stat().st_mode) & 0o666


def _send(source: Path, target: Path) -> None:
    if target.is_socket():
        with socket.socket(socket.AF_UNIX) as connection, source.open("rb") as content:
            connection.connect(str(target))
            connection.sendfile(content)
        return
    # Appending: where this is an open file, what others have written to it stays.
    with source.open("rb") as content, os.fdopen(os.open(target, os.O_WRONLY | os.O_APPEND), "wb") as stream:
        shutil.copyfileobj(content, stream)
