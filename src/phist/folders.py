"""Folders that phist writes as a whole: which may be replaced, and how, so that a kill at any moment leaves one of the two."""

import ctypes
import errno
import os
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path

from phist.errors import ModelFileError, OutputError
from phist.files import explaining, read_json_object, resolve
from phist.workspace import acquire, workspace, workspaces

NEW, OLD = "new", "old"
ON_WINDOWS = os.name == "nt"
_AT_FDCWD, _RENAME_EXCHANGE = -100, 2  # linux/fcntl.h, linux/fs.h
_NOT_SUPPORTED = (errno.ENOSYS, errno.EINVAL, errno.ENOTSUP, errno.EPERM)


@dataclass(frozen=True)
class FolderKind:
    """A kind of folder: how one is recognised and what may be in it.

    Args:
        name: what messages call it.
        marker: the JSON file that describes the folder.
        format: what the marker holds as ``"format"``.
        files: names, or patterns of names, of everything that such a folder may hold.
    """

    name: str
    marker: str
    format: str
    files: tuple[str, ...]

    def obstacle(self, folder: Path) -> str | None:
        """Why ``folder`` must not be replaced, or ``None``: it is absent, empty, or of this kind with nothing else in it."""
        if not folder.exists():
            return None
        if not folder.is_dir():
            return "is not a folder"
        if any(folder.iterdir()) and not self._is_described(folder):
            return f"exists and holds something else (no {self.marker} of a phist {self.name})"
        unknown = self._unknown(folder)
        return f"also holds {unknown[0][:80]!r}, which is no part of a phist {self.name}" if unknown else None

    def check(self, folder: Path) -> None:
        """Raise an `OutputError` where ``folder`` must not be replaced, or cannot be since it is in use."""
        with explaining(folder):
            place = resolve(folder)
            if is_mount_point(place):
                raise OutputError(f"{folder} is a mount point, which cannot be replaced; choose a folder inside it")
            if resolve(Path.cwd()).is_relative_to(place):
                raise OutputError(f"{folder} is the current folder or above it, which cannot be replaced; choose another name")
            self.refuse(folder, self.obstacle(place))

    def refuse(self, folder: Path, problem: str | None) -> None:
        """Raise an `OutputError` for ``folder`` if there is a ``problem``."""
        if problem is not None:
            raise OutputError(f"{folder} {problem}; choose another name, or move what is there")

    def discard_damaged(self, folder: Path) -> None:
        """Delete a folder of a cache whose marker is unreadable, unless it holds what is no part of this kind."""
        if folder.is_dir() and not self._is_described(folder) and not self._unknown(folder):
            shutil.rmtree(folder, ignore_errors=True)

    def _is_described(self, folder: Path) -> bool:
        marker = folder / self.marker
        try:
            return marker.is_file() and read_json_object(marker).get("format") == self.format
        except ModelFileError:
            return False

    def _unknown(self, folder: Path) -> list[str]:
        return sorted(path.name for path in folder.iterdir() if not (self._is_known(path.name) and path.is_file()))

    def _is_known(self, name: str) -> bool:
        return any(fnmatchcase(name, pattern) for pattern in self.files)


@contextmanager
def atomic_directory(target: str | Path, kind: FolderKind) -> Iterator[Path]:
    """Yield a temporary folder that takes the place of ``target`` on success; nothing but a folder of ``kind`` is replaced."""
    given = Path(target)
    kind.check(given)
    with explaining(given):
        place = resolve(given)
        place.parent.mkdir(parents=True, exist_ok=True)
        finish_replacement(place)
        with workspace(place) as folder:
            new = folder / NEW
            new.mkdir()
            yield new
            _make_durable(new)
            _put_in_place(folder, place, kind)


def finish_replacement(target: str | Path) -> None:
    """Put the new folder in place where a kill left neither; called before a folder is opened or saved.

    Only needed where folders cannot be exchanged. The workspace is the journal: it holds the old folder from the moment it
    is moved aside, and the new one until it is in place.
    """
    try:
        place = resolve(target)
        if place.exists():
            return
    except (OSError, ValueError):
        return  # no possible name; whoever opens it will say so
    for folder in workspaces(place):
        if (folder / OLD).is_dir() and (folder / NEW).is_dir():
            _finish(folder, place)


def is_mount_point(place: Path) -> bool:
    """Whether a file system is mounted at ``place``, a part of the same one included."""
    if os.path.ismount(place):
        return True
    try:
        mounts = Path("/proc/self/mountinfo").read_bytes().splitlines()
    except OSError:
        return False
    shown = os.fsencode(place).replace(b"\\", b"\\134").replace(b" ", b"\\040").replace(b"\t", b"\\011").replace(b"\n", b"\\012")
    return any(mount.split(b" ")[4] == shown for mount in mounts)


def _put_in_place(folder: Path, place: Path, kind: FolderKind) -> None:
    new, old = folder / NEW, folder / OLD
    if not place.exists() and _rename_to_nothing(new, place):
        return
    displaced = new if exchange(new, place) else _replace_in_turn(new, place, old)
    problem = kind.obstacle(displaced)  # something may have been put there while the new one was written
    if problem is not None and not exchange(displaced, place):
        _replace_in_turn(displaced, place, folder / "unwanted")
    kind.refuse(place, problem)


def _rename_to_nothing(new: Path, place: Path) -> bool:
    """Rename, unless another process was faster; whether it was done."""
    try:
        new.rename(place)
    except OSError as error:
        if error.errno not in (errno.ENOTEMPTY, errno.EEXIST):
            raise
        return False
    return True


def exchange(one: Path, other: Path) -> bool:
    """Exchange two folders in one step; false where the system or the file system cannot."""
    rename = None if ON_WINDOWS else getattr(ctypes.CDLL(None, use_errno=True), "renameat2", None)
    if rename is None:
        return False
    if rename(_AT_FDCWD, os.fsencode(one), _AT_FDCWD, os.fsencode(other), ctypes.c_uint(_RENAME_EXCHANGE)) == 0:
        return True
    number = ctypes.get_errno()
    if number in _NOT_SUPPORTED:
        return False
    raise OSError(number, os.strerror(number), str(other))


def _replace_in_turn(new: Path, place: Path, old: Path) -> Path:
    place.rename(old)
    try:
        new.rename(place)
    except BaseException:
        old.rename(place)
        raise
    return old


def _finish(folder: Path, place: Path) -> None:
    try:
        lock = acquire(folder, wait=True)  # a process that lives is between its two renames and will be done at once
    except OSError:
        return
    try:
        if not place.exists() and (folder / NEW).is_dir():
            (folder / NEW).rename(place)
    except OSError:
        return  # a place that may only be read; opening it will say that nothing is there
    finally:
        os.close(lock)


def _make_durable(folder: Path) -> None:
    """Files on the disk before the old ones go, with the permissions that the umask leaves, whoever wrote them."""
    mode = stat.S_IMODE(folder.stat().st_mode) & 0o666
    for path in folder.iterdir():
        path.chmod(mode)
        _sync(path, os.O_RDWR if ON_WINDOWS else os.O_RDONLY)  # Windows syncs what may be written to only
    if not ON_WINDOWS:  # where folders cannot be opened
        _sync(folder, os.O_RDONLY)


def _sync(path: Path, flags: int) -> None:
    descriptor = os.open(path, flags)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
