"""A model as a folder: arrays in safetensors, everything else in JSON, a card to read. Nothing is ever unpickled."""

import json
import os
from collections.abc import Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from safetensors import SafetensorError
from safetensors.numpy import load_file, save

from phist import __version__
from phist.errors import ModelFileError
from phist.files import read_json_object, write_json
from phist.folders import FolderKind, atomic_directory, finish_replacement
from phist.training.history import History

FORMAT = "phist-model"
VERSION = 2
CONFIG, CARD, HISTORY, REPORT = "config.json", "card.md", "history.jsonl", "report.json"
ARRAYS = ".safetensors"
MODEL_FOLDER = FolderKind("model", CONFIG, FORMAT, (CONFIG, CARD, HISTORY, REPORT, f"*{ARRAYS}"))

Arrays = dict[str, NDArray[Any]]


@dataclass(frozen=True)
class SavedModel:
    """What a model folder holds: plain settings, arrays by the name of their file, and the report of a fit that made one."""

    settings: dict[str, Any]
    arrays: dict[str, Arrays]
    report: dict[str, Any] | None = None

    def check_kind(self, path: str | Path, known: tuple[str, ...]) -> str:
        """The kind of model that was read from ``path``; another than those ``known`` is a `ModelFileError`."""
        kind = self.settings.get("estimator")
        if not isinstance(kind, str) or kind not in known:
            raise ModelFileError(f"{path} holds a {kind!s:.50}; give the folder of a model of the kind {' or '.join(known)}")
        return kind


def save_model(
    path: str | Path,
    settings: Mapping[str, Any],
    arrays: Mapping[str, Arrays],
    *,
    histories: list[History],
    card: str,
    report: Mapping[str, Any] | None,
) -> None:
    """Write a model folder; a folder of another kind in its place is left alone and reported."""
    config = {"format": FORMAT, "version": VERSION, "phist": __version__, "files": sorted(arrays), "settings": settings}
    with atomic_directory(path, MODEL_FOLDER) as folder:
        for name, own in arrays.items():
            content = save({key: np.require(array, requirements="C") for key, array in own.items()})
            (folder / f"{name}{ARRAYS}").write_bytes(content)  # save_file would not raise an OSError where the disk is full
        write_json(folder / CONFIG, config)
        if report is not None:
            write_json(folder / REPORT, report)
        rows = [{"network": number, **asdict(epoch)} for number, history in enumerate(histories) for epoch in history.epochs]
        (folder / HISTORY).write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
        (folder / CARD).write_text(card, encoding="utf-8")


def load_model(path: str | Path) -> SavedModel:
    """Read a model folder; what is missing, damaged, foreign or of another version is a `ModelFileError` that says so."""
    folder = Path(path)
    config = _read_config(folder)
    files, settings = config.get("files"), config.get("settings")
    if not isinstance(settings, dict) or not isinstance(files, list) or not all(_is_name(name) for name in files):
        raise ModelFileError(f"{folder / CONFIG} does not describe a model; save the model again")
    arrays = {name: _read_arrays(folder, f"{name}{ARRAYS}") for name in files}
    return SavedModel(settings, arrays, read_json_object(folder / REPORT) if (folder / REPORT).exists() else None)


def _is_name(name: Any) -> bool:
    return isinstance(name, str) and name.replace("-", "").isidentifier()


def _read_config(folder: Path) -> dict[str, Any]:
    finish_replacement(folder)
    if not folder.exists():
        raise ModelFileError(f"there is no folder {folder}; give a model folder, made by 'phist fit' or save()")
    if not (folder / CONFIG).is_file():
        raise ModelFileError(f"{folder} is not a model folder (no {CONFIG} in it); make one with 'phist fit' or save()")
    config = read_json_object(folder / CONFIG)
    if config.get("format") != FORMAT or not isinstance(config.get("version"), int):
        raise ModelFileError(f"{folder / CONFIG} does not describe a phist model; make one with 'phist fit' or save()")
    if config["version"] > VERSION:
        raise ModelFileError(
            f"{folder} was written by a later phist (format {config['version']}, this one reads {VERSION}); update phist"
        )
    if config["version"] < VERSION:
        raise ModelFileError(
            f"{folder} was written by phist {config.get('phist', '0.1')!s:.20} in a format that is no longer read; "
            "fit it again, or use it with that version"
        )
    return config


def _read_arrays(folder: Path, file: str) -> Arrays:
    if not os.path.isfile(folder / file):  # noqa: PTH113  # a name too long for a file is no file, and no error
        raise ModelFileError(f"{folder} has no {file:.60}; this model needs it: save the model again")
    try:
        return dict(load_file(folder / file))
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, MemoryError) as error:
        raise ModelFileError(f"{folder / file} cannot be read ({error!s:.200}); it is damaged: save the model again") from error
