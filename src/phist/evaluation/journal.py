"""A journal: an append-only file of JSON lines that several processes write, and that survives being killed anywhere."""

import json
import os
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager, nullcontext
from dataclasses import dataclass
from io import FileIO
from pathlib import Path
from typing import Any, Generic, TypeVar

from filelock import FileLock

from phist.errors import OutputError, brief
from phist.files import atomic_path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]

Line = dict[str, Any]
Entry = TypeVar("Entry")


@dataclass(frozen=True)
class Problem:
    """A line that cannot be used."""

    path: Path
    line: int  # from 1
    what: str

    def __str__(self) -> str:
        return f"{self.path}, line {self.line}: {self.what}"


@dataclass(frozen=True)
class Contents(Generic[Entry]):
    """The entries of a journal, and what is wrong with the lines that hold none."""

    entries: list[Entry]
    problems: list[Problem]


def read_journal(path: Path, parse: Callable[[Line], Entry]) -> Contents[Entry]:
    """What the lines hold, each made an entry by ``parse``; a file that is not there has none. Nothing is changed."""
    try:
        content = path.read_bytes()
    except FileNotFoundError:
        content = b""
    return _parse(path, content, parse)


def append_line(path: Path, line: Line, parse: Callable[[Line], Entry], unless: Callable[[list[Entry]], bool]) -> bool:
    """Write one line at the end, unless the entries that are there say otherwise; whether it was written.

    The line is on the disk when this returns. A line that an earlier kill has torn is cut off first.
    """
    text = json.dumps(line, separators=(",", ":"), ensure_ascii=False, allow_nan=False).encode() + b"\n"
    with _locked(path) as file:
        content = _whole_lines(file)
        if unless(_parse(path, content, parse).entries):
            return False
        file.write(text)  # in one piece: a kill or a full disk leaves a torn last line, nothing worse
        os.fsync(file.fileno())
    return True


def repair_journal(path: Path, parse: Callable[[Line], Entry]) -> list[Problem]:
    """Move the lines that hold no entry to a file beside, ``.corrupt``; what was found."""
    if not read_journal(path, parse).problems:
        return []
    with _locked(path) as file:
        content = file.read()
        problems = _parse(path, content, parse).problems
        bad = {problem.line - 1 for problem in problems}
        lines = content.splitlines()
        with path.with_suffix(".corrupt").open("ab") as aside:
            aside.writelines(lines[number] + b"\n" for number in sorted(bad))
        with atomic_path(path) as temporary:
            temporary.write_bytes(b"".join(line + b"\n" for number, line in enumerate(lines) if number not in bad))
    return problems


@contextmanager
def _locked(path: Path) -> Iterator[FileIO]:
    """The file, open for reading and appending, while no other process has it."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        while True:
            with _lock_beside(path), path.open("a+b", buffering=0) as file:
                if fcntl is not None:
                    fcntl.flock(file, fcntl.LOCK_EX)
                if _is_still(path, file):
                    file.seek(0)
                    yield file
                    return
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write {path}: {error.strerror or error}; choose a place you may write to") from error


def _lock_beside(path: Path) -> AbstractContextManager[object]:
    """A lock file, where a file itself cannot be locked and still be read by others."""
    return nullcontext() if fcntl is not None else FileLock(f"{path}.lock")


def _is_still(path: Path, file: FileIO) -> bool:
    """Whether the file we hold is the one at ``path``: a repair that we waited for puts another in its place."""
    try:
        return os.path.samestat(os.fstat(file.fileno()), path.stat())
    except FileNotFoundError:
        return False


def _whole_lines(file: FileIO) -> bytes:
    """The content once every line of it ends in a line break."""
    content = file.read()
    end = content.rfind(b"\n") + 1
    if end == len(content):
        return content
    try:
        json.loads(content[end:])
    except ValueError:
        file.truncate(end)
        return content[:end]
    file.write(b"\n")  # the line is whole: somebody's editor took its end
    return content + b"\n"


def _parse(path: Path, content: bytes, parse: Callable[[Line], Entry]) -> Contents[Entry]:
    entries: list[Entry] = []
    problems: list[Problem] = []
    for number, text in enumerate(content.splitlines(), start=1):
        try:
            entries.append(parse(_loads(text)))
        except (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, MemoryError) as error:
            problems.append(Problem(path, number, f"cannot be used: {_fault(error)}"))
    return Contents(entries, problems)


def _loads(text: bytes) -> Any:
    """Strict JSON: what Python reads besides, NaN and halves of characters, cannot be written again."""
    content = json.loads(text, parse_constant=_refuse)
    if b"\\u" in text:
        json.dumps(content, ensure_ascii=False).encode()
    return content


def _refuse(constant: str) -> None:
    raise ValueError(f"it has {constant} for a number")


def _fault(error: Exception) -> str:
    return "it is torn or damaged" if isinstance(error, json.JSONDecodeError) else brief(f"{type(error).__name__} {error}")
