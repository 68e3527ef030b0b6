"""The format of the TU collection: a folder or zip with NAME_A.txt, NAME_graph_indicator.txt and NAME_graph_labels.txt.

Only structure is read. Node and edge labels and attributes are left where they are, on purpose.
"""

import lzma
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO
from zipfile import BadZipFile, ZipFile

import numpy as np
from numpy.typing import NDArray

from phist.errors import GraphInputError, brief
from phist.graphs.arrays import IntArray
from phist.graphs.formats.integers import read_column, read_integers
from phist.graphs.graphset import GraphSet
from phist.graphs.limits import NODE, check_growth, most_bytes
from phist.graphs.packing import DEFAULT_READING, Reading, pack
from phist.progress import SlowProgress

_ARCS = "_A.txt"


@dataclass(frozen=True)
class TUFiles:
    """The files of one set, in a folder or in an open archive."""

    place: Path  # what messages name
    prefix: str  # of every file, up to and including the set's name
    archive: ZipFile | None = None

    def has(self, ending: str) -> bool:
        name = self.prefix + ending
        return (self.place / name).is_file() if self.archive is None else name in self.archive.namelist()

    def open(self, ending: str) -> IO[bytes]:
        if not self.has(ending):
            raise GraphInputError(f"{self.place} has {self.prefix}{_ARCS} but no {self.prefix}{ending}; the set is incomplete")
        if self.archive is None:
            return (self.place / (self.prefix + ending)).open("rb")
        return self.archive.open(self.prefix + ending)

    def size(self, ending: str) -> int:
        """Bytes of a file, unpacked."""
        name = self.prefix + ending
        return (self.place / name).stat().st_size if self.archive is None else self.archive.getinfo(name).file_size

    def label(self, ending: str) -> str:
        return PurePosixPath(self.prefix).name + ending


def is_tu_folder(folder: Path) -> bool:
    """Whether the folder, or a folder of the same name in it, holds a file NAME_A.txt."""
    return bool(_arc_files(folder))


def read_tu(path: Path, reading: Reading = DEFAULT_READING) -> GraphSet:
    """Read a TU set. Rows that repeat count once, nodes without edges are kept, labels stay the integers they are."""
    with _open_files(path) as files:
        _check_unpacked(files, reading)
        labels = None
        if files.has("_graph_labels.txt"):
            with files.open("_graph_labels.txt") as stream:
                labels = read_column(stream, files.label("_graph_labels.txt"))
        with files.open("_graph_indicator.txt") as stream:
            graph_of_node = read_column(stream, files.label("_graph_indicator.txt")) - 1
        node_counts = _count_nodes(files, graph_of_node, labels, reading)
        source, target = _read_arcs(files, graph_of_node)

    position = _positions(graph_of_node)
    if position is not None:
        source, target = position[source], position[target]
    return pack(node_counts, source, target, reading=reading, labels=labels)


def read_tu_split(path: Path) -> list[str]:
    """The words of NAME_split.txt, which some sets have beside their graphs: the part that each graph belongs to."""
    with _open_files(path) as files, files.open("_split.txt") as stream:
        return stream.read().decode(errors="replace").split()


def has_labels(path: Path) -> bool:
    """Whether a TU set has labels of its graphs."""
    with _open_files(path) as files:
        return files.has("_graph_labels.txt")


@contextmanager
def _open_files(path: Path) -> Iterator[TUFiles]:
    if path.is_dir():
        yield TUFiles(path, _only_prefix(path, _arc_files(path)))
        return
    try:
        with ZipFile(path) as archive:
            names = [name for name in archive.namelist() if name.endswith(_ARCS) and not name.startswith("__MACOSX")]
            yield TUFiles(path, _only_prefix(path, names), archive)
    except (BadZipFile, zlib.error, lzma.LZMAError, EOFError, ValueError) as error:
        if isinstance(error, GraphInputError):
            raise
        raise GraphInputError(f"{path} is not a whole zip archive ({brief(error)}); download or copy it again") from error
    except (RuntimeError, NotImplementedError, MemoryError) as error:  # encrypted, or packed in a way zipfile does not know
        why = brief(str(error) or "it asks for too much memory")
        raise GraphInputError(f"{path} cannot be unpacked ({why}); unpack it and give the folder") from error


def _check_unpacked(files: TUFiles, reading: Reading) -> None:
    """An archive must not unpack to much more than its size; zipfile never reads beyond the sizes looked at here."""
    if files.archive is not None:
        endings = (_ARCS, "_graph_indicator.txt", "_graph_labels.txt")
        unpacked = sum(files.size(ending) for ending in endings if files.has(ending))
        most = most_bytes(files.place.stat().st_size, reading.max_bytes)
        check_growth(unpacked, most, f"{files.place} unpacks to {unpacked:,} bytes")


def _arc_files(folder: Path) -> list[str]:
    places = (folder, folder / folder.resolve().name)
    return [str(file.relative_to(folder)) for place in places for file in place.glob("*" + _ARCS)]


def _only_prefix(path: Path, names: list[str]) -> str:
    if not names:
        raise GraphInputError(f"{path} holds no TU set: no file ends in {_ARCS}; give a folder or zip with NAME{_ARCS}")
    if len(names) > 1:
        raise GraphInputError(f"{path} holds several TU sets ({brief(', '.join(sorted(names)))}); give them one by one")
    return names[0].removesuffix(_ARCS)


def _count_nodes(files: TUFiles, graph_of_node: IntArray, labels: IntArray | None, reading: Reading) -> IntArray:
    file = files.label("_graph_indicator.txt")
    if graph_of_node.min() < 0:
        node = int(np.argmin(graph_of_node))
        raise GraphInputError(
            f"{file} puts node {node + 1} into graph {graph_of_node[node] + 1}; graphs are numbered from 1: "
            "give every node a graph or remove it"
        )
    n_graphs = int(graph_of_node.max()) + 1
    if labels is not None and n_graphs < len(labels) and reading.empty == "drop":
        n_graphs = len(labels)  # the last graphs have no node
    if labels is not None and n_graphs != len(labels):
        remedy = ', or empty="drop" (--empty drop) where the last graphs have no node' if n_graphs < len(labels) else ""
        raise GraphInputError(
            f"{files.label('_graph_labels.txt')} has {len(labels)} labels, but {file} numbers the graphs up to {n_graphs}; "
            f"one label per graph is needed{remedy}"
        )
    if n_graphs > len(graph_of_node):
        most = most_bytes(8 * len(graph_of_node), reading.max_bytes)
        check_growth(NODE * n_graphs, most, f"{file} numbers graphs up to {n_graphs:,} with {len(graph_of_node):,} nodes")
    return np.bincount(graph_of_node, minlength=n_graphs)


def _read_arcs(files: TUFiles, graph_of_node: IntArray) -> tuple[NDArray[np.int32], NDArray[np.int32]]:
    file = files.label(_ARCS)
    sources, targets, rows_before = [], [], 0
    with files.open(_ARCS) as stream, SlowProgress(f"reading {file}", files.size(_ARCS), None) as bar:
        for table in read_integers(stream, 2, file):
            bar.advance_to(stream.tell())
            ends = table - 1
            _check_rows(file, ends, graph_of_node, rows_before)
            sources.append(ends[:, 0].astype(np.int32))
            targets.append(ends[:, 1].astype(np.int32))
            rows_before += len(ends)
    if not sources:
        return np.empty(0, np.int32), np.empty(0, np.int32)
    source = np.concatenate(sources)
    sources.clear()
    return source, np.concatenate(targets)


def _check_rows(file: str, ends: IntArray, graph_of_node: IntArray, rows_before: int) -> None:
    n_nodes = len(graph_of_node)
    outside = (ends < 0) | (ends >= n_nodes)
    if outside.any():
        row = int(np.argmax(outside.any(axis=1)))
        node = ends[row][outside[row]][0] + 1
        raise GraphInputError(
            f"{file}, row {rows_before + row + 1}: node {node} is not there (nodes are 1 to {n_nodes}, one per line of "
            "the graph indicator); correct the row or add the node"
        )
    across = graph_of_node[ends[:, 0]] != graph_of_node[ends[:, 1]]
    if across.any():
        row = int(np.argmax(across))
        graphs = graph_of_node[ends[row]] + 1
        raise GraphInputError(
            f"{file}, row {rows_before + row + 1}: the edge {ends[row, 0] + 1}-{ends[row, 1] + 1} joins graph {graphs[0]} "
            f"and graph {graphs[1]}; an edge must stay within one graph"
        )


def _positions(graph_of_node: IntArray) -> NDArray[np.int32] | None:
    """Where each node stands once the nodes of a graph stand together, or ``None`` where they already do."""
    if (graph_of_node[1:] >= graph_of_node[:-1]).all():
        return None
    position = np.empty(len(graph_of_node), np.int32)
    position[np.argsort(graph_of_node, kind="stable")] = np.arange(len(graph_of_node))
    return position
