"""Sources: the files and folders that a stream of graphs is read from."""

import glob
import os
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from phist.errors import GraphInputError, brief
from phist.extras import require
from phist.graphs.catalog import known_dataset
from phist.graphs.formats import jsonl, tu
from phist.graphs.formats.parquet import GRAPH_COLUMNS
from phist.graphs.storage import MARKER

Kind = Literal["graph rows", "lines", "graph set", "whole"]
SUFFIXES = (".parquet", ".zip", *jsonl.SUFFIXES)
STREAMED = "a folder or pattern of .parquet, .jsonl and TU .zip files, and folders of saved GraphSets and TU sets"


@dataclass(frozen=True)
class Source:
    """One file or folder.

    Attributes:
        path: where it is; the name of a dataset that is looked up.
        name: how results call it: its path within what was given.
        kind: how it is read: by rows, by lines, by slices of mapped arrays, or whole, one at a time.
    """

    path: Path
    name: str
    kind: Kind

    def stamp(self) -> tuple[int, int]:
        """Size and time of the last change, by which a source that was replaced is told from itself."""
        files = [self.path] if not self.path.is_dir() else [file for file in self.path.rglob("*") if file.is_file()]
        try:
            states = [file.stat() for file in files if file.exists()]
        except OSError as error:
            raise GraphInputError(f"{brief(self.path)} cannot be read: {error.strerror or error}") from error
        return sum(state.st_size for state in states), max((state.st_mtime_ns for state in states), default=0)


def is_stream(data: str) -> bool:
    """Whether ``data`` names many sources: a pattern, or a folder that holds files or folders of graph sets."""
    if glob.has_magic(data) and not Path(data).exists():
        return True
    folder = Path(data).expanduser()
    return folder.is_dir() and not _is_set(folder) and any(True for _ in _walk(folder))


def find_sources(data: str) -> tuple[str, list[Source]]:
    """All sources of ``data`` in the order of their names, and the absolute path or pattern that they come from."""
    path = Path(data).expanduser()
    if path.exists():
        place = path.resolve()
        paths = [place] if not place.is_dir() or _is_set(place) else sorted(_walk(place))
        root = place if place.is_dir() and not _is_set(place) else place.parent
        origin = str(place)
    elif glob.has_magic(data):
        origin = os.path.abspath(path)  # noqa: PTH100  # a pattern is no path to resolve
        found = sorted(Path(name) for name in glob.glob(origin, recursive=True))  # noqa: PTH207  # patterns may be absolute
        paths = [one for name in found for one in ([name] if not name.is_dir() or _is_set(name) else sorted(_walk(name)))]
        root = _root_of(origin)
    elif known_dataset(data) is not None:
        return data, [Source(Path(data), data, "whole")]
    else:
        raise GraphInputError(f"there is no file or folder {brief(data)}; give {STREAMED}")
    if not paths:
        raise GraphInputError(f"{brief(data)} holds nothing that can be streamed; give {STREAMED}")
    return origin, [Source(one, one.relative_to(root).as_posix(), _kind_of(one)) for one in paths]


def _root_of(pattern: str) -> Path:
    """The folder before the first part of a pattern that is one."""
    parts = Path(pattern).parts
    fixed = next(number for number, part in enumerate(parts) if glob.has_magic(part))
    return Path(*parts[:fixed])


def _walk(folder: Path) -> list[Path]:
    """Files of graphs below a folder; what begins with ``_`` or ``.`` is other programs' own.

    A folder to which several links lead, its own among them, is walked once.
    """
    found: list[Path] = []
    seen: set[Path] = set()
    waiting = [folder]
    while waiting:
        at = waiting.pop()
        if at.resolve() in seen:
            continue
        seen.add(at.resolve())
        for entry in _visible(at):
            if entry.is_dir() and not _is_set(entry):
                waiting.append(entry)
            elif entry.is_dir() or entry.suffix.lower() in SUFFIXES:
                found.append(entry)
    return found


def _visible(folder: Path) -> list[Path]:
    try:
        return sorted((entry for entry in folder.iterdir() if not entry.name.startswith(("_", "."))), reverse=True)
    except OSError as error:
        raise GraphInputError(f"{brief(folder)} cannot be read: {error.strerror or error}") from error


def _is_set(folder: Path) -> bool:
    return (folder / MARKER).exists() or tu.is_tu_folder(folder)


def _kind_of(path: Path) -> Kind:
    if not path.is_dir() and not path.is_file():
        return "whole"  # a pipe, a device or a link to nothing: reading it whole says so
    if path.suffix.lower() in jsonl.SUFFIXES:
        return "lines"
    if (path / MARKER).exists():
        return "graph set"
    return "graph rows" if path.suffix.lower() == ".parquet" and not _is_edge_table(path) else "whole"


def _is_edge_table(path: Path) -> bool:
    """Whether a Parquet file has one edge a row; a file that cannot be opened is taken for one of graphs, and reported as such."""
    parquet = require("pyarrow.parquet", "tables", "reading Parquet")
    try:
        names = set(parquet.read_schema(path).names)
    except Exception:  # a damaged file makes pyarrow raise what its authors did not foresee
        return False
    return not names >= set(GRAPH_COLUMNS) and {name.strip().lower() for name in names} >= {"graph", "source", "target"}
