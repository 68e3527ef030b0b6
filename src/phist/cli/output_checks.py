"""Can it be written there? Asked before anything long begins."""

import os
from pathlib import Path
from tempfile import TemporaryFile

from phist.cli.streams import check_standard_output
from phist.errors import OutputError
from phist.files import explaining, is_stream, resolve
from phist.progress import waiting

STANDARD_OUTPUT = "-"
_PROBE = 1 << 20  # bytes: the order of a model, and more than a disk that is called full still takes


def check_file_place(path: Path | None, *inputs: str | Path | None) -> None:
    """Raise an `OutputError` unless a file can be written at ``path``: ``None`` and ``-`` are standard output.

    Args:
        inputs: what is read, which the output must not replace; nothing is written into a folder of them either.
    """
    if path is None or str(path) == STANDARD_OUTPUT:
        check_standard_output()
        return
    if path.is_dir():
        raise OutputError(f"cannot write {path}: it is a folder; give the name of a file")
    for source in inputs:
        if source is not None and _same(path, Path(source)):
            raise OutputError(f"cannot write {path}: it is what is read; choose another name")
        if source is not None:
            check_outside(path, source)
    if not is_stream(path):
        _check_parent(path, resolve(path).parent)
    elif not os.access(path, os.W_OK):
        raise OutputError(f"cannot write {path}: it is write-protected; choose a place you may write to")


def check_outside(path: Path, source: str | Path) -> None:
    """Raise an `OutputError` if ``path`` is in the folder ``source``, which is read and would hold something else then."""
    try:
        within = Path(source).expanduser().is_dir() and resolve(path).is_relative_to(resolve(Path(source).expanduser()))
    except (OSError, RuntimeError, ValueError):  # a name that no folder has: whoever reads it says so
        return
    if within:
        raise OutputError(f"cannot write {path}: it is in {source}, which is read; choose a place outside of it")


def model_files(model: Path) -> list[Path]:
    """What is read of a model folder, which no output may replace."""
    return sorted(model.iterdir()) if model.is_dir() else []


def check_folder_place(path: Path) -> None:
    """Raise an `OutputError` unless files can be written in a folder ``path``, which need not exist yet."""
    _check_is_folder_name(path)
    _check_parent(path, resolve(path))


def check_model_place(path: Path) -> None:
    """Raise an `OutputError` unless a model folder can be written at ``path``: nothing, nothing in it, or a model to replace."""
    with waiting("loading NumPy"):
        from phist.estimators.model_folder import MODEL_FOLDER

    _check_is_folder_name(path)
    MODEL_FOLDER.check(path)
    _check_parent(path, resolve(path).parent)


def check_checkpoint_place(path: Path, model: Path) -> None:
    """Raise an `OutputError` unless a checkpoint can be written at ``path`` while ``model`` is trained."""
    from phist.training.checkpoint_files import check_checkpoint

    if resolve(path).is_relative_to(resolve(model)):
        raise OutputError(f"the checkpoint {path} is in the model folder {model}, which is replaced; give another --checkpoint")
    check_checkpoint(path)
    check_file_place(path)


def _check_is_folder_name(path: Path) -> None:
    if str(path) == STANDARD_OUTPUT:
        raise OutputError("--out - is standard output, which cannot hold a folder; give the name of one")


def _same(one: Path, other: Path) -> bool:
    try:
        return one.samefile(other)
    except OSError:
        return False


def _check_parent(path: Path, folder: Path) -> None:
    """Write a nameless file in the nearest folder that exists: permissions alone do not tell of read-only and full disks."""
    while not os.path.lexists(folder) and folder != folder.parent:
        folder = folder.parent
    with explaining(path), TemporaryFile(dir=folder) as probe:
        probe.write(os.urandom(_PROBE))
        probe.flush()
        os.fsync(probe.fileno())
