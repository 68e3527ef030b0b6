"""Can it be written there? Asked before anything long begins."""

from pathlib import Path
from tempfile import TemporaryFile

from phist.errors import OutputError
from phist.files import is_replaceable


def check_file_place(path: Path) -> None:
    """Raise an `OutputError` unless a file can be written at ``path``."""
    if path.is_dir():
        raise OutputError(f"cannot write {path}: it is a folder; give the name of a file")
    _check_parent(path, path.absolute().parent)


def check_folder_place(path: Path) -> None:
    """Raise an `OutputError` unless files can be written in a folder ``path``, which need not exist yet."""
    _check_parent(path, path.absolute())


def check_model_place(path: Path) -> None:
    """Raise an `OutputError` unless a model folder can be written at ``path``: nothing, nothing in it, or a model to replace."""
    from phist.training.model_folder import CONFIG

    if path.exists() and not is_replaceable(path, CONFIG):
        raise OutputError(f"{path} exists and is not a model folder (no {CONFIG} in it); choose another name or remove it")
    _check_parent(path, path.absolute().parent)


def _check_parent(path: Path, folder: Path) -> None:
    """Try to make a nameless file in the nearest folder that exists: permissions alone do not tell of read-only disks."""
    while not folder.exists() and folder != folder.parent:
        folder = folder.parent
    try:
        with TemporaryFile(dir=folder):
            pass
    except OSError as error:
        reason = error.strerror or str(error)
        raise OutputError(f"cannot write {path}: {folder}: {reason}; choose a place you may write to") from error
