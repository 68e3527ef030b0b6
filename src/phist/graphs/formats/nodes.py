"""Nodes that an edge table does not name, since they have no edge: a table of nodes, or the number of nodes of each graph."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from phist.errors import GraphInputError, brief, shown
from phist.graphs.formats.parquet import Columns
from phist.graphs.formats.text import as_values
from phist.graphs.limits import NODE, check_growth, most_bytes
from phist.graphs.packing import Reading

Nodes = str | Path | Mapping[Any, int]
Pair = tuple[Any, Any]  # a graph and one of its nodes
MOST_NODES = 1 << 31  # of a graph: a node's number has 32 bits


def with_nodes(columns: Columns, nodes: Nodes, reading: Reading) -> Columns:
    """The rows of an edge table, and one for every node that ``nodes`` declares.

    ``nodes`` is a table (graph, node), a table (graph, n_nodes), or a mapping from graph to its number of nodes; where
    there are numbers, the nodes of a graph are 0 to n_nodes - 1 and edges end at these.
    """
    counts = nodes if isinstance(nodes, Mapping) else None
    given = "nodes" if counts is not None else str(nodes)
    declared = None if counts is not None else _read_nodes(Path(str(nodes)).expanduser(), reading)
    if declared is not None and "n_nodes" in declared:
        counts = dict(zip(declared["graph"], as_values(declared["n_nodes"]), strict=True))
        if len(counts) < len(declared["graph"]):
            raise GraphInputError(f"{given} gives a graph two numbers of nodes; keep one")

    if counts is None and declared is not None:
        pairs = list(zip(declared["graph"], declared["node"], strict=True))
    else:
        _check_counts(counts or {}, given, len(columns["graph"]), reading)
        _check_ends(columns, counts or {}, given)
        pairs = list(_counted(counts or {}))
    return _joined(columns, pairs)


def _read_nodes(path: Path, reading: Reading) -> Columns:
    from phist.graphs.formats.table import SUFFIXES, read_columns

    if path.suffix.lower() not in SUFFIXES or not path.is_file():
        raise GraphInputError(f"nodes={shown(str(path))} is no table; give a .csv, .tsv or .parquet file (graph, node or n_nodes)")
    columns = read_columns(path, ("graph",), reading, ("node", "n_nodes"))
    if ("node" in columns) == ("n_nodes" in columns):
        raise GraphInputError(f"{path} needs a column node, or else a column n_nodes, beside the column graph")
    return columns


def _check_counts(counts: Mapping[Any, Any], given: str, rows: int, reading: Reading) -> None:
    for graph, count in counts.items():
        if type(count) is not int or not 0 <= count < MOST_NODES:
            raise GraphInputError(
                f"{given}: graph {brief(graph, 60)} has {shown(count)} nodes; give a whole number below {MOST_NODES:,}"
            )
        if count == 0 and reading.empty != "drop":
            raise GraphInputError(
                f"{given}: graph {brief(graph, 60)} has no node; a graph needs at least one: "
                'pass empty="drop" (--empty drop) to leave such graphs out'
            )
    total = sum(counts.values())
    check_growth(NODE * total, most_bytes(16 * (rows + len(counts)), reading.max_bytes), f"{given} declares {total:,} nodes")


def _check_ends(columns: Columns, counts: Mapping[Any, int], given: str) -> None:
    count_of = {_as_text(graph): count for graph, count in counts.items()}
    for graph, *ends in zip(columns["graph"], columns["source"], columns["target"], strict=True):
        count = count_of.get(_as_text(graph), 0)
        odd = next((end for end in map(_as_text, ends) if end and not _is_below(end, count)), None)
        if odd is not None:
            raise GraphInputError(
                f"graph {brief(graph, 60)} has an edge that ends at {brief(odd, 60)}, but {given} gives it {count:,} nodes, "
                "which are numbered from 0; correct the edge or the number"
            )


def _is_below(text: str, count: int) -> bool:
    return len(text) <= 10 and text.isascii() and text.isdecimal() and int(text) < count and str(int(text)) == text


def _counted(counts: Mapping[Any, int]) -> Iterator[Pair]:
    return ((graph, node) for graph, count in counts.items() for node in range(count))


def _joined(columns: Columns, pairs: list[Pair]) -> Columns:
    """Both tables in one; where one of them comes from text and the other does not, names are compared as text."""
    ends = ("graph", "source", "target")
    names = [value for name in ends for value in columns[name]] + [value for pair in pairs for value in pair]
    mixed = any(isinstance(value, str) for value in names)
    extra = {"graph": [pair[0] for pair in pairs], "source": [pair[1] for pair in pairs]}
    joined = {name: values + extra.get(name, [None] * len(pairs)) for name, values in columns.items()}
    return {name: [_as_text(v) for v in values] if mixed and name in ends else values for name, values in joined.items()}


def _as_text(value: Any) -> str | None:
    """A name as a text file would have it; a column of whole numbers with gaps comes as fractions."""
    if value is None or value != value:
        return None
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)
