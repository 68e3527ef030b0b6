"""A GraphSet as a folder: raw arrays that can be appended to while writing and mapped while reading."""

from collections.abc import Iterable
from pathlib import Path
from typing import IO, Any, TypeVar

import numpy as np

from phist.errors import GraphInputError, ModelFileError
from phist.files import read_json_object, write_json
from phist.folders import FolderKind, atomic_directory, finish_replacement
from phist.graphs.arrays import Array, starts_of
from phist.graphs.graphset import GraphSet
from phist.graphs.labels import as_labels
from phist.graphs.storage_checks import check_arcs, check_pointers, check_shapes, map_array

FORMAT = "phist-graphset"
VERSION = 1
MARKER = "graphset.json"
ARRAYS = ("node_ptr", "indptr", "indices", "weights", "ids", "labels")
GRAPHSET_FOLDER = FolderKind("graph set", MARKER, FORMAT, (MARKER, *(f"{name}.bin" for name in ARRAYS)))
CHUNK = 1 << 20

Set = TypeVar("Set", bound=GraphSet)


def write_graphset(path: str | Path, parts: Iterable[GraphSet], extra: dict[str, Any] | None = None) -> None:
    """Write sets one after the other as one folder, so that a corpus larger than memory can be built part by part.

    ``extra`` is a JSON object kept beside the graphs.
    """
    with atomic_directory(path, GRAPHSET_FOLDER) as folder:
        writer = _Writer(folder)
        for part in parts:
            writer.append(part)
        writer.finish(extra or {})


def open_graphset(cls: type[Set], path: str | Path, check: bool = True) -> Set:
    """Map the folder at ``path``; see `GraphSet.open`."""
    folder = Path(path)
    header = read_header(folder)
    arrays: dict[str, Any] = {name: map_array(folder, name, *shape) for name, shape in header["arrays"].items()}
    check_pointers(folder, arrays)
    if check:
        check_arcs(folder, arrays, header["directed"])
    try:
        return cls(**arrays, directed=header["directed"])
    except GraphInputError as error:
        raise ModelFileError(f"{path} is damaged: {error}; save the graph set again") from error


def read_header(path: str | Path) -> dict[str, Any]:
    """The description of a saved set, checked to be one this version can read."""
    finish_replacement(path)
    file = Path(path) / MARKER
    if not file.exists():
        raise ModelFileError(f"{path} is not a saved graph set (no {MARKER} in it); write one with GraphSet.save")
    header = read_json_object(file)
    if header.get("format") != FORMAT or type(header.get("version")) is not int:
        raise ModelFileError(f"{file} does not describe a graph set; write one with GraphSet.save")
    if header["version"] > VERSION:
        raise ModelFileError(
            f"{path} was written by a later phist (format {header['version']}, this one reads {VERSION}); update phist"
        )
    if not isinstance(header.get("arrays"), dict) or not isinstance(header.get("directed"), bool):
        raise ModelFileError(f"{file} is incomplete; save the graph set again")
    check_shapes(file, header["arrays"])
    return header


class _Writer:
    """Appends parts to open files; what is one number per graph waits in memory, what grows with the arcs does not."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.node_counts: list[Array] = []
        self.labels: list[Any] = []
        self.ids: list[Any] = []
        self.nodes = self.arcs = self.graphs = 0
        self.directed: bool | None = None
        self.weighted = False
        (folder / "indptr.bin").write_bytes(np.zeros(1, np.int64).tobytes())

    def append(self, part: GraphSet) -> None:
        if self.directed not in (None, part.directed):
            raise GraphInputError('directed and undirected sets cannot be joined; convert with directed="symmetrise" first')
        self.directed = part.directed
        self._append_array("indptr", part.indptr[1:] + self.arcs)
        self._append_array("indices", part.indices)
        self._append_weights(part)
        self.node_counts.append(part.node_counts())
        self.labels += part.label_list()
        self.ids += part.ids.tolist()
        self.nodes += part.n_nodes
        self.arcs += len(part.indices)
        self.graphs += len(part)

    def finish(self, extra: dict[str, Any]) -> None:
        counts = np.concatenate(self.node_counts) if self.node_counts else np.empty(0, np.int64)
        self._append_array("node_ptr", starts_of(counts))
        arrays = {"node_ptr": ("<i8", self.graphs + 1), "indptr": ("<i8", self.nodes + 1), "indices": ("<i4", self.arcs)}
        if self.weighted:
            arrays["weights"] = ("<f8", self.arcs)
        for name, values in (("ids", self.ids), ("labels", self.labels)):
            if len(values) == self.graphs and self.graphs:
                arrays[name] = self._write_names(name, as_labels(values))
        header = {"format": FORMAT, "version": VERSION, "directed": bool(self.directed), "arrays": arrays, "extra": extra}
        write_json(self.folder / MARKER, header)

    def _append_weights(self, part: GraphSet) -> None:
        if part.weights is None and not self.weighted:
            return
        if not self.weighted:  # the first weighted part: every arc before it weighs one
            self.weighted = True
            for start in range(0, self.arcs, CHUNK):
                self._append_array("weights", np.ones(min(CHUNK, self.arcs - start)))
        self._append_array("weights", part.weights_or_ones())

    def _write_names(self, name: str, values: Array) -> tuple[str, int]:
        if values.dtype.kind == "O":
            kinds = ", ".join(sorted({type(value).__name__ for value in values}))
            raise GraphInputError(
                f"{name} of mixed or unusual types ({kinds}) cannot be saved; make them all numbers or all strings"
            )
        self._append_array(name, values)
        return values.dtype.str, len(values)

    def _append_array(self, name: str, values: Array) -> None:
        with (self.folder / f"{name}.bin").open("ab") as file:
            _write(file, values)


def _write(file: IO[bytes], values: Array) -> None:
    for start in range(0, len(values), CHUNK):
        file.write(values[start : start + CHUNK].tobytes())
