"""One long table of edges (graph, source, target[, weight]) and the table of labels (graph, label) beside it."""

import csv
from collections.abc import Hashable
from io import StringIO
from pathlib import Path
from typing import Any

import numpy as np

from phist.errors import GraphInputError, brief, shown
from phist.graphs.arrays import Array
from phist.graphs.formats.nodes import Nodes, with_nodes
from phist.graphs.formats.parquet import Columns, check_names, read_parquet
from phist.graphs.formats.text import as_values, as_weight, number_names, read_text
from phist.graphs.graphset import GraphSet
from phist.graphs.labels import as_labels
from phist.graphs.loose import pack_rows
from phist.graphs.packing import DEFAULT_READING, Reading

SUFFIXES = (".csv", ".tsv", ".parquet")


def read_table(path: Path, reading: Reading, nodes: Nodes | None = None) -> GraphSet:
    """Read a table with one edge per row; a row with an empty target declares a node, which keeps nodes without edges.

    Graphs come in the order of their first rows, under the ids of the column ``graph``; those that only ``nodes`` names
    come last.
    """
    columns = read_columns(path, ("graph", "source", "target"), reading, ("weight",))
    if nodes is not None:
        columns = with_nodes(columns, nodes, reading)
    graphs = list(dict.fromkeys(columns["graph"]))
    number = {graph: position for position, graph in enumerate(graphs)}
    graph_of_row = np.array([number[graph] for graph in columns["graph"]], dtype=np.int64)
    is_edge = np.array([not _is_empty(target) for target in columns["target"]])
    targets = [source if _is_empty(target) else target for source, target in zip(columns["source"], columns["target"], strict=True)]

    names, ends = number_names([*columns["source"], *targets])
    node_of_end = np.concatenate([graph_of_row, graph_of_row]) * len(names) + ends
    distinct, position = np.unique(node_of_end, return_inverse=True)
    source, target = position.reshape(2, -1)[:, is_edge]
    return pack_rows(
        np.bincount(distinct // len(names), minlength=len(graphs)),
        source,
        target,
        _weights(columns, is_edge, path),
        is_edge_list=np.ones(len(graphs), dtype=bool),
        reading=reading,
        ids=as_labels(as_values(graphs), "id"),
    )


def read_label_table(path: Path, reading: Reading = DEFAULT_READING) -> dict[Any, Hashable]:
    """The label of each graph, from a table (graph, label)."""
    columns = read_columns(path, ("graph", "label"), reading)
    labels: dict[Any, Hashable] = {}
    for graph, label in zip(columns["graph"], as_values(columns["label"]), strict=True):
        if _is_empty(label):
            raise GraphInputError(f"{path} has no label for graph {brief(graph, 60)}; give it one")
        if labels.setdefault(graph, label) != label:
            both = f"{shown(labels[graph])} and {shown(label)}"
            raise GraphInputError(f"{path} gives graph {brief(graph, 60)} two labels, {both}; keep one")
    return labels


def read_columns(path: Path, needed: tuple[str, ...], reading: Reading, optional: tuple[str, ...] = ()) -> Columns:
    """The columns of a table by name, in lower case; the ``needed`` ones are there and, but for the target, filled."""
    wanted = (*needed, *optional)
    if path.suffix.lower() == ".parquet":
        columns, names = read_parquet(path, wanted, reading)
    else:
        columns, names = _text_columns(path, wanted)
    missing = [name for name in needed if name not in columns]
    if missing:
        raise GraphInputError(
            f"{path} has no column {' and no column '.join(missing)} (it has {brief(', '.join(names)) or 'none'}); "
            f"name its columns {', '.join(needed)}"
        )
    if not columns[needed[0]]:
        raise GraphInputError(f"{path} has no rows; it should hold graphs")
    for name in ("graph", "source", "node", "n_nodes"):
        row = next((row for row, value in enumerate(columns.get(name, [])) if _is_empty(value)), None)
        if row is not None:
            raise GraphInputError(f"{path}, row {row + 1} has no {name}; fill it in or remove the row")
    return columns


def _text_columns(path: Path, wanted: tuple[str, ...]) -> tuple[Columns, list[str]]:
    text = read_text(path).lstrip()
    delimiter = "\t" if path.suffix.lower() == ".tsv" else max(",;\t", key=text.partition("\n")[0].count)
    try:
        header, *rows = csv.reader(StringIO(text, newline=""), delimiter=delimiter, strict=True)
    except csv.Error as error:
        raise GraphInputError(
            f"{path} is not a table ({brief(error)}); parted by {delimiter!r}, with a line of column names"
        ) from error
    names = [name.strip().lower() for name in header]
    rows = [row for row in rows if row]
    odd = next((number for number, row in enumerate(rows, start=1) if len(row) != len(names)), None)
    if odd is not None:
        raise GraphInputError(f"{path}, row {odd} has {len(rows[odd - 1])} fields, the header has {len(names)}; correct the row")
    check_names(path, names, wanted)
    return {name: [row[position].strip() for row in rows] for position, name in enumerate(names) if name in wanted}, names


def _weights(columns: Columns, is_edge: Array, path: Path) -> Array | None:
    if "weight" not in columns:
        return None
    rows = np.flatnonzero(is_edge).tolist()
    return np.array([as_weight(columns["weight"][row], f"{path}, row {row + 1}") for row in rows], dtype=np.float64)


def _is_empty(value: Any) -> bool:
    return value is None or value == "" or value != value
