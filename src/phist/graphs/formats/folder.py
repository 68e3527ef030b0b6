"""A folder of graph files: one folder per class, or no classes at all."""

from dataclasses import replace
from pathlib import Path

from phist.errors import GraphInputError
from phist.graphs.formats import edgelist, markup
from phist.graphs.graphset import GraphSet
from phist.graphs.libraries import from_networkx
from phist.graphs.loose import LooseGraph, pack_loose
from phist.graphs.packing import Reading

SUFFIXES = (*markup.SUFFIXES, *edgelist.SUFFIXES)


def read_folder(folder: Path, reading: Reading) -> GraphSet:
    """Read the graph files of every subfolder, whose name is their class; a folder without subfolders has no classes.

    Ids are the files' paths within the folder, and graphs come in the order of these.
    """
    classes = sorted(entry for entry in folder.iterdir() if entry.is_dir() and not entry.name.startswith("."))
    files = [file for place in classes or [folder] for file in _graph_files(place)]
    if not files:
        raise GraphInputError(
            f"{folder} holds no graphs; give a TU folder, a saved GraphSet, or a folder per class with files "
            f"({', '.join(SUFFIXES)})"
        )
    graphs: list[LooseGraph] = []
    labels: list[str] = []
    for file in files:
        found = read_graph_file(file, reading)
        names = _names(file.relative_to(folder).as_posix(), len(found))
        graphs += [_with_id(graph, name) for graph, name in zip(found, names, strict=True)]
        labels += [file.parent.name] * len(found)
    return pack_loose(graphs, reading, labels=labels if classes else None)


def read_graph_file(file: Path, reading: Reading) -> list[LooseGraph]:
    """The graphs of one GraphML, GML or edge list file."""
    if not file.is_file():
        raise GraphInputError(f"{file} is not a file; remove it or write a graph into it")
    if file.stat().st_size == 0:
        raise GraphInputError(f"{file} is empty; remove it or write a graph into it")
    if file.suffix.lower() in markup.SUFFIXES:
        return [from_networkx(graph, file.name, reading) for graph in markup.read_markup(file)]
    return [edgelist.read_edge_list(file)]


def _graph_files(place: Path) -> list[Path]:
    return sorted(file for file in place.iterdir() if file.suffix.lower() in SUFFIXES and not file.name.startswith("."))


def _names(name: str, count: int) -> list[str]:
    return [name] if count == 1 else [f"{name}#{number}" for number in range(count)]


def _with_id(graph: LooseGraph, name: str) -> LooseGraph:
    return replace(graph, id=name)
