"""Writing files so that a kill at any moment leaves either the old content or the new, never half of either."""

import json
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from tempfile import mkdtemp, mkstemp
from typing import Any

from phist.errors import ModelFileError, OutputError


@contextmanager
def atomic_path(target: str | Path) -> Iterator[Path]:
    """Yield a temporary path beside ``target``; on success it takes the target's place, on failure it is removed."""
    target = Path(target)
    with _explaining(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        handle, name = mkstemp(prefix=f".{target.name}-", dir=target.parent)
        os.close(handle)
    temporary = Path(name)
    try:
        with _explaining(target):
            yield temporary
            temporary.chmod(0o666 & ~_umask())
            temporary.replace(target)
    finally:
        temporary.unlink(missing_ok=True)


@contextmanager
def atomic_directory(target: str | Path, marker: str) -> Iterator[Path]:
    """Yield a temporary folder beside ``target`` that takes its place on success.

    An existing folder is replaced only when it is empty or holds the file ``marker``, that is, when it is a folder of
    the same kind: saving over somebody's home directory by mistake must not delete it.
    """
    target = Path(target)
    if target.exists() and not is_replaceable(target, marker):
        raise OutputError(f"{target} exists and holds something else (no {marker} in it); choose another name or remove it")
    with _explaining(target):
        target.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(mkdtemp(prefix=f".{target.name}-", dir=target.parent))
    try:
        with _explaining(target):
            yield temporary
            temporary.chmod(0o777 & ~_umask())
            _swap_directories(temporary, target)
    finally:
        shutil.rmtree(temporary, ignore_errors=True)


def is_replaceable(target: Path, marker: str) -> bool:
    """Whether ``target`` may be replaced: an empty folder, or one of the kind that holds ``marker``."""
    return target.is_dir() and ((target / marker).exists() or not any(target.iterdir()))


def write_json(path: str | Path, content: Any) -> None:
    """Write ``content`` as indented JSON, atomically."""
    with atomic_path(path) as temporary:
        temporary.write_text(json.dumps(content, indent=2, ensure_ascii=False) + "\n", encoding="utf-8")


def read_json_object(path: str | Path) -> dict[str, Any]:
    """Read a JSON object written by phist; anything else in the file is a `ModelFileError` that names the file."""
    try:
        content = json.loads(Path(path).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        raise ModelFileError(f"{path} cannot be read as JSON: {error}") from error
    if not isinstance(content, dict):
        raise ModelFileError(f"{path} holds a JSON {type(content).__name__}, not an object; is it a phist file?")
    return content


def _swap_directories(new: Path, target: Path) -> None:
    """Rename ``new`` to ``target``; a folder in the way is renamed aside first and deleted last."""
    if not target.exists():
        new.rename(target)
        return
    old = Path(mkdtemp(prefix=f".{target.name}-old-", dir=target.parent))
    target.rename(old / target.name)
    new.rename(target)
    shutil.rmtree(old, ignore_errors=True)


@contextmanager
def _explaining(target: Path) -> Iterator[None]:
    try:
        yield
    except OutputError:
        raise
    except OSError as error:
        raise OutputError(f"cannot write {target}: {error.strerror or error}; choose a place you may write to") from error


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
