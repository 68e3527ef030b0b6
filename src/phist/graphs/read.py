"""read_graphs: graphs on disk, in any of the formats below, as one `GraphSet`."""

from collections.abc import Callable
from pathlib import Path

from phist.errors import GraphInputError
from phist.graphs.convert import Labels, as_graphset
from phist.graphs.formats import edgelist, folder, jsonl, markup, table, tu
from phist.graphs.graphset import GraphSet
from phist.graphs.loose import pack_loose
from phist.graphs.packing import Directed, Reading, SelfLoops, Weights
from phist.graphs.storage import MARKER

LabelSource = Labels | str | Path
READABLE = (
    "a TU folder or .zip, a folder per class, a saved GraphSet, .jsonl, .graphml, .gml, "
    "a table .csv, .tsv or .parquet (graph, source, target[, weight]), or an edge list .edges, .edgelist or .txt"
)


def read_graphs(
    path: str | Path,
    labels: LabelSource | None = None,
    *,
    directed: Directed | None = None,
    self_loops: SelfLoops | None = None,
    weights: Weights = "use",
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
              all but the edges may be left out, and ``"nodes"`` may name the nodes instead;
            - ``.graphml`` or ``.gml``, or an edge list, with a graph of its own;
            - a table ``.csv``, ``.tsv`` or ``.parquet`` with the columns graph, source, target and perhaps weight; a row
              with an empty target declares a node.
        labels: labels that are not in the file: a table (graph, label), a mapping from id to label, or one for each graph.
        directed, self_loops, weights: as in `as_graphset`.
    """
    place = Path(path).expanduser()
    reading = Reading(directed, self_loops, weights)
    try:
        graphs = _reader_for(place)(place, reading)
        given = read_labels(labels, graphs)
    except OSError as error:
        raise GraphInputError(f"{error.filename or place} cannot be read: {error.strerror or error}") from error
    return as_graphset(graphs, given, directed=directed, self_loops=self_loops, weights=weights)


def _reader_for(path: Path) -> Callable[[Path, Reading], GraphSet]:
    if not path.exists():
        raise GraphInputError(f"there is no file or folder {path}; give {READABLE}")
    if path.is_dir():
        return _reader_for_folder(path)
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


def _read_single_file(path: Path, reading: Reading) -> GraphSet:
    return pack_loose(folder.read_graph_file(path), reading)


def read_labels(labels: LabelSource | None, graphs: GraphSet) -> Labels | None:
    """The labels themselves, read from the table where a path is given; every one must be for a graph that is there."""
    if not isinstance(labels, str | Path):
        return labels
    path = Path(labels).expanduser()
    if path.suffix.lower() not in table.SUFFIXES:
        raise GraphInputError(
            f"labels={str(path)!r} is not a table; give a .csv, .tsv or .parquet file (graph, label), or the labels"
        )
    if not path.is_file():
        raise GraphInputError(
            f"there is no table of labels {path}; give a .csv, .tsv or .parquet file (graph, label), or the labels"
        )
    found = table.read_label_table(path)
    present = {str(identity) for identity in graphs.ids.tolist()}
    absent = [str(graph) for graph in found if str(graph) not in present]
    if absent:
        more = f" and {len(absent) - 1} more" if len(absent) > 1 else ""
        raise GraphInputError(
            f"graph {absent[0]}{more} of {path} has no node; a graph needs at least one: remove the label, or add a row "
            "with a source and an empty target, which declares a node"
        )
    return found


_READERS: dict[str, Callable[[Path, Reading], GraphSet]] = {
    ".zip": tu.read_tu,
    **dict.fromkeys(edgelist.SUFFIXES, _read_single_file),
    **dict.fromkeys(markup.SUFFIXES, _read_single_file),
    **dict.fromkeys(jsonl.SUFFIXES, jsonl.read_jsonl),
    **dict.fromkeys(table.SUFFIXES, table.read_table),
}
