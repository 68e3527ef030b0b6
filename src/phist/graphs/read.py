"""read_graphs: graphs on disk, in any of the formats below, as one `GraphSet`."""

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from phist.errors import GraphInputError, brief, shown
from phist.graphs.convert import Labels, as_graphset
from phist.graphs.formats import edgelist, folder, graph_rows, jsonl, markup, parquet, table, tu
from phist.graphs.formats.nodes import Nodes
from phist.graphs.graphset import GraphSet
from phist.graphs.limits import check_max_bytes, most_bytes
from phist.graphs.loose import pack_loose
from phist.graphs.packing import Directed, Empty, Reading, SelfLoops, Weights
from phist.graphs.storage import MARKER

LabelSource = Labels | str | Path
READABLE = (
    "a TU folder or .zip, a folder per class, a saved GraphSet, .jsonl, .graphml, .gml, "
    "a table .csv, .tsv or .parquet (graph, source, target[, weight]), a .parquet of graphs (n_nodes, sources, targets), "
    "or an edge list .edges, .edgelist or .txt"
)


def read_graphs(
    path: str | Path,
    labels: LabelSource | None = None,
    *,
    directed: Directed | None = None,
    self_loops: SelfLoops | None = None,
    weights: Weights = "use",
    empty: Empty = "error",
    nodes: Nodes | None = None,
    max_bytes: int | None = None,
) -> GraphSet:
    """Read graphs from a file or folder; what it is decides how it is read.

    Args:
        path: one of

            - a TU folder or zip: ``NAME_A.txt``, ``NAME_graph_indicator.txt``, ``NAME_graph_labels.txt``; rows that
              repeat count once, node and edge labels and attributes are left alone;
            - a folder per class, with a GraphML, GML or edge list file (``.edges``, ``.edgelist``, ``.txt``, ``.csv``,
              ``.tsv``) for each graph; ids are the files' paths within it;
            - a folder written by `GraphSet.save`;
            - ``.jsonl``: on each line ``{"edges": [[0, 1], [1, 2, 0.5]], "n_nodes": 3, "label": "a", "id": "g1"}``, where
              all but the edges may be left out, ``"nodes"`` may name the nodes instead, and ``"weights"`` list the weights;
            - ``.graphml`` or ``.gml``, or an edge list, with a graph of its own;
            - a table ``.csv``, ``.tsv`` or ``.parquet`` with the columns graph, source, target and perhaps weight; a row
              with an empty target declares a node. Nodes without edges that no row declares are not there, unless
              ``nodes`` names them;
            - ``.parquet`` with a graph on each row: ``n_nodes``, the lists ``sources`` and ``targets``, and perhaps ``id``,
              a list ``weights`` and ``label``.
        labels: labels that are not in the file: a table (graph, label), a mapping from id to label, or one for each graph
            that is kept.
        directed, self_loops, weights: as in `as_graphset`.
        empty: graphs without nodes, which some collections hold, are an ``"error"``, or left out (``"drop"``): the others
            keep their ids, and ``n_dropped`` of the result counts them.
        nodes: for a table of edges, what it does not say of nodes without edges: a table (graph, node), a table
            (graph, n_nodes), or a mapping from graph to number of nodes. Where there are numbers, nodes are 0 to n_nodes - 1.
        max_bytes: the most memory the graphs may take by what the file says of itself before it is read, such as its size
            unpacked; ``None`` allows 256 times the file's size, and 256 MB at least.
    """
    check_max_bytes(max_bytes)
    place = as_path(path)
    try:
        reader, most = _reader_for(place), _most_bytes(place, max_bytes)
        reading = Reading(directed, self_loops, weights, empty, most)
        graphs = reader(place, reading) if nodes is None else _read_with_nodes(place, reading, nodes)
        graphs, given = read_labels(labels, graphs, reading)
    except OSError as error:
        raise GraphInputError(f"{brief(error.filename or place)} cannot be read: {error.strerror or brief(error)}") from error
    return as_graphset(graphs, given, directed=directed, self_loops=self_loops, weights=weights)


def as_path(path: str | Path) -> Path:
    """A path with ``~`` spelt out."""
    try:
        return Path(path).expanduser()
    except RuntimeError as error:
        raise GraphInputError(f"{brief(path)} begins with a user who is not known here; write the path in full") from error
    except TypeError as error:
        raise GraphInputError(f"{shown(path)} is not a path; give {READABLE}") from error


def _most_bytes(place: Path, max_bytes: int | None) -> int | None:
    """A file's size bounds what it may claim; folders hold what they hold."""
    return most_bytes(place.stat().st_size, max_bytes) if place.is_file() else max_bytes


def _read_with_nodes(path: Path, reading: Reading, nodes: Nodes) -> GraphSet:
    if path.suffix.lower() not in table.SUFFIXES:
        raise GraphInputError(f"nodes= was given, but {path} is not a table of edges, which is what it is for; leave it out")
    return table.read_table(path, reading, nodes)


def _reader_for(path: Path) -> Callable[[Path, Reading], GraphSet]:
    if not path.exists():
        raise GraphInputError(f"there is no file or folder {brief(path)}; give {READABLE}")
    if path.is_dir():
        return _reader_for_folder(path)
    if not path.is_file():
        raise GraphInputError(f"{path} is neither a file nor a folder; give {READABLE}")
    if path.stat().st_size == 0:
        raise GraphInputError(f"{path} is empty; give {READABLE}")
    reader = _READERS.get(path.suffix.lower())
    if reader is None:
        raise GraphInputError(f"{path} ends in {path.suffix or 'nothing'}, which phist does not read; give {READABLE}")
    return reader


def _reader_for_folder(path: Path) -> Callable[[Path, Reading], GraphSet]:
    if (path / MARKER).exists():
        return _open_saved
    return tu.read_tu if tu.is_tu_folder(path) else folder.read_folder


def _open_saved(path: Path, reading: Reading) -> GraphSet:
    return GraphSet.open(path)


def _read_parquet(path: Path, reading: Reading) -> GraphSet:
    """One graph a row, or one edge a row: the columns tell."""
    return graph_rows.read_graph_rows(path, reading) if parquet.has_graph_rows(path) else table.read_table(path, reading)


def _read_single_file(path: Path, reading: Reading) -> GraphSet:
    return pack_loose(folder.read_graph_file(path, reading), reading)


def read_labels(labels: LabelSource | None, graphs: GraphSet, reading: Reading) -> tuple[GraphSet, Labels | None]:
    """The labels themselves, read from the table where a path is given; every one must be for a graph that is there.

    A graph that only the labels name has no node: it is an error or left out, as ``reading`` says.
    """
    if not isinstance(labels, str | Path):
        return graphs, labels
    path = as_path(labels)
    if path.suffix.lower() not in table.SUFFIXES:
        raise GraphInputError(
            f"labels={shown(str(path))} is not a table; give a .csv, .tsv or .parquet file (graph, label), or the labels"
        )
    if not path.is_file():
        raise GraphInputError(
            f"there is no table of labels {brief(path)}; give a .csv, .tsv or .parquet file (graph, label), or the labels"
        )
    found = table.read_label_table(path, reading)
    present = {str(identity) for identity in graphs.ids.tolist()}
    absent = [str(graph) for graph in found if str(graph) not in present]
    if absent and reading.empty != "drop":
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        raise GraphInputError(
            f"graph {brief(absent[0], 60)}{more} of {path} has no node; a graph needs at least one: remove the label, add a "
            'row with a source and an empty target, which declares a node, or pass empty="drop" (--empty drop)'
        )
    return replace(graphs, n_dropped=graphs.n_dropped + len(absent)) if absent else graphs, found


_READERS: dict[str, Callable[[Path, Reading], GraphSet]] = {
    ".zip": tu.read_tu,
    **dict.fromkeys(edgelist.SUFFIXES, _read_single_file),
    **dict.fromkeys(markup.SUFFIXES, _read_single_file),
    **dict.fromkeys(jsonl.SUFFIXES, jsonl.read_jsonl),
    **dict.fromkeys(table.SUFFIXES, table.read_table),
    ".parquet": _read_parquet,
}
