"""Temporary folders beside an output, and their removal after a process was killed."""

import errno
import os
import re
import secrets
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

try:
    import fcntl
except ImportError:  # a system without such locks
    fcntl = None  # type: ignore[assignment]

LOCK = "lock"
_LONGEST = 80  # bytes of the output's name in that of its workspace: file systems allow 255 in all


@contextmanager
def workspace(target: Path) -> Iterator[Path]:
    """A folder beside ``target`` to prepare its content in, removed at the end.

    It is locked while in use. Workspaces of the same target that nobody holds were left by killed processes and are removed first.
    """
    remove_stale(target)
    folder, lock = _make_locked(target)
    try:
        yield folder
    finally:
        _remove(folder, lock)


def workspaces(target: Path) -> list[Path]:
    """All workspaces of ``target``, in use or left over."""
    pattern = re.compile(re.escape(_prefix(target)) + "[0-9a-f]{8}")
    try:
        with os.scandir(target.parent) as entries:
            found = [entry.name for entry in entries if pattern.fullmatch(entry.name) and entry.is_dir(follow_symlinks=False)]
    except OSError:
        return []
    return [target.parent / name for name in sorted(found)]


def remove_stale(target: Path) -> None:
    """Remove the workspaces that killed processes left; those of running ones are locked and stay."""
    for folder in workspaces(target):
        with suppress(OSError):
            _remove(folder, acquire(folder))


def acquire(folder: Path, wait: bool = False) -> int:
    """Lock a workspace and return the descriptor that holds the lock; an `OSError` where another process has it.

    A process that dies, however it dies, gives its locks back. Process numbers would not do: containers that share a disk
    have different processes of the same number.
    """
    if fcntl is None:
        raise OSError(errno.ENOSYS, "no file locks")
    lock = os.open(folder / LOCK, os.O_RDWR | os.O_CREAT, 0o666)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except OSError:
        os.close(lock)
        raise
    return lock


def _make_locked(target: Path) -> tuple[Path, int | None]:
    while True:
        folder = target.parent / f"{_prefix(target)}{secrets.token_hex(4)}"
        folder.mkdir()  # its mode follows the umask, and what is prepared in it takes its mode
        try:
            lock = acquire(folder)
        except OSError as error:
            if error.errno in (errno.EWOULDBLOCK, errno.ENOENT):  # taken for a stale one before it was locked
                continue
            if error.errno in (errno.ENOLCK, errno.ENOSYS, errno.ENOTSUP, errno.EBADF, errno.EINVAL):
                return folder, None  # a file system without locks: nobody can lock it, so nobody will remove it
            _remove(folder, None)
            raise
        if (folder / LOCK).exists():
            return folder, lock
        os.close(lock)


def _remove(folder: Path, lock: int | None) -> None:
    shutil.rmtree(folder, ignore_errors=True)
    if lock is not None:
        os.close(lock)
        shutil.rmtree(folder, ignore_errors=True)  # on NFS an open file keeps its folder from being removed


def _prefix(target: Path) -> str:
    return f".{os.fsdecode(os.fsencode(target.name)[:_LONGEST])}.phist-"
