"""Where a dataset lies: on this machine first, the network last."""

import os
import sys
from dataclasses import dataclass
from importlib.util import find_spec
from pathlib import Path
from tempfile import gettempdir
from typing import Literal

from phist.errors import DatasetError
from phist.graphs.catalog import DatasetFacts, dataset_facts
from phist.graphs.formats.tu import is_tu_folder
from phist.graphs.storage import MARKER

COLLECTION = "https://www.chrsmrrs.com/graphkerneldatasets"  # the TU collection's own address
Kind = Literal["PHIST_DATA", "cache", "parsed", "grakel", "download", "missing"]


@dataclass(frozen=True)
class DatasetPlace:
    """Where a dataset would be taken from: the folder in ``PHIST_DATA``, the user's cache, its parsed copy there, the
    installed ``grakel``, or a download; ``missing`` is a set that cannot be downloaded and is not on this machine.
    """

    kind: Kind
    path: Path | None = None  # None where it is not on this machine
    url: str | None = None  # of a download

    @property
    def source(self) -> str:
        """The place in words.

        >>> DatasetPlace("parsed").source
        'the cache'
        """
        words = {
            "cache": "the cache",
            "parsed": "the cache",
            "grakel": "the copy in the installed grakel",
            "download": "the TU collection",
        }
        return words.get(self.kind, self.kind)

    def __str__(self) -> str:
        return str(self.path or self.url or "not in the TU collection: put its archive into PHIST_DATA")


def find_dataset(name: str) -> DatasetPlace:
    """Where `load_dataset` would take a dataset from, without reading it."""
    return next(iter(places_of(dataset_facts(name))), DatasetPlace("missing"))


def places_of(facts: DatasetFacts) -> list[DatasetPlace]:
    """Every place a dataset can be taken from, the nearest first; the last is the download, if the collection has it."""
    data, parsed = data_folder(), parsed_folder(facts)
    local: list[tuple[Kind, Path | None]] = [
        ("PHIST_DATA", None if data is None else _archive_in(data, facts)),
        ("cache", _archive_in(cache_folder(), facts)),
        ("parsed", parsed if _holds(parsed, MARKER) else None),
        ("grakel", _in_grakel(facts)),
    ]
    found = [DatasetPlace(kind, path) for kind, path in local if path is not None]
    if facts.collection_name is None:
        return found
    address = os.environ.get("PHIST_DATASETS_URL") or COLLECTION
    return [*found, DatasetPlace("download", url=f"{address.rstrip('/')}/{facts.collection_name}.zip")]


def data_folder() -> Path | None:
    """The folder in ``PHIST_DATA``, if that is set; one that cannot be read is an error rather than ignored."""
    value = os.environ.get("PHIST_DATA")
    if not value:
        return None
    folder = _expanded(value)
    if not folder.is_dir() or not os.access(folder, os.R_OK | os.X_OK):
        raise DatasetError(f"PHIST_DATA is {value!r}, which is not a folder that can be read; correct it or unset it")
    return folder


def cache_folder() -> Path:
    """The folder for downloads and parsed copies: ``PHIST_CACHE``, else the platform's own for caches."""
    if value := os.environ.get("PHIST_CACHE"):
        return _expanded(value)
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or _home() / "AppData" / "Local") / "phist" / "cache"
    if sys.platform == "darwin":
        return _home() / "Library" / "Caches" / "phist"
    return Path(os.environ.get("XDG_CACHE_HOME") or _home() / ".cache") / "phist"


def parsed_folder(facts: DatasetFacts) -> Path:
    """Where the parsed copy of a dataset is kept."""
    return cache_folder() / "parsed" / facts.name


def _archive_in(folder: Path, facts: DatasetFacts) -> Path | None:
    archive, unpacked = folder / f"{facts.name}.zip", folder / facts.name
    if _holds(folder, archive.name):
        return archive
    return unpacked if _holds(folder, unpacked.name) and is_tu_folder(unpacked) else None


def _holds(folder: Path, name: str) -> bool:
    """Whether a folder holds a file or folder of that name; one we may not look into holds nothing for us."""
    try:
        return (folder / name).exists()
    except OSError:
        return False


def _expanded(value: str) -> Path:
    try:
        return Path(value).expanduser()
    except RuntimeError as error:
        raise DatasetError(f"{value!r} begins with a user who is not known here; write the path in full") from error


def _home() -> Path:
    """The user's home, or the folder for temporary files where the user has none."""
    try:
        return Path.home()
    except RuntimeError:
        return Path(gettempdir())


def _in_grakel(facts: DatasetFacts) -> Path | None:
    """The copy that comes with the grakel wheel, found without importing grakel."""
    spec = find_spec("grakel")
    if spec is None or spec.origin is None or facts.name != "MUTAG":
        return None
    folder = Path(spec.origin).parent / "tests" / "data" / facts.name
    return folder if folder.is_dir() and is_tu_folder(folder) else None
