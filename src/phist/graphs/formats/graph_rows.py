"""Tables with one graph a row: ``n_nodes``, ``sources``, ``targets``, and perhaps ``id``, ``weights`` and ``label``.

The layout that programs write which make many graphs, as Parquet or Arrow. A row's lists are its arcs, or its edges, each once.
"""

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phist.errors import GraphInputError, brief
from phist.extras import require
from phist.files import atomic_path
from phist.graphs.arrays import Array, IntArray, starts_of
from phist.graphs.formats.parquet import GRAPH_COLUMNS, check_names, column_values, text_columns
from phist.graphs.formats.parquet_footer import read_footer
from phist.graphs.graphset import GraphSet
from phist.graphs.labels import as_labels
from phist.graphs.limits import ARC, NODE, check_growth, most_bytes
from phist.graphs.loose import MOST_NODES, pack_rows
from phist.graphs.packing import Reading

NEEDED, OPTIONAL = GRAPH_COLUMNS, ("id", "weights", "label")
EXAMPLE = "n_nodes (whole number), sources and targets (lists of whole numbers), and perhaps id, weights (list) and label"


@dataclass(frozen=True)
class Lists:
    """A column of lists: all values in one array, and where those of each row begin and end."""

    ptr: IntArray  # (rows + 1), from 0
    values: Array


def read_graph_rows(path: Path, reading: Reading) -> GraphSet:
    """Read a whole Parquet file of graphs; ids are those of the column ``id``, else the numbers of the rows."""
    parquet = require("pyarrow.parquet", "tables", "reading Parquet")
    try:
        with parquet.ParquetFile(path, memory_map=True, read_dictionary=text_columns(path)) as file:
            check_names(path, file.schema_arrow.names, (*NEEDED, *OPTIONAL))
            columns = [name for name in (*NEEDED, *OPTIONAL) if name in file.schema_arrow.names]
            unpacked = sum(group.unpacked_bytes(set(columns)) for group in read_footer(path))
            check_growth(unpacked, most_bytes(path.stat().st_size, reading.max_bytes), f"{path} unpacks to {unpacked:,} bytes")
            table = file.read(columns=columns)
    except (GraphInputError, ImportError):
        raise
    except Exception as error:  # a damaged file makes pyarrow raise what its authors did not foresee
        why = brief(str(error) or type(error).__name__)
        raise GraphInputError(f"{path} cannot be read as Parquet ({why}); write it again") from error
    if not table.num_rows:
        raise GraphInputError(f"{path} has no rows; it should hold graphs, one a row: {EXAMPLE}")
    try:
        graphs = pack_table(table, reading)
    except GraphInputError as error:
        raise GraphInputError(f"{path}: {error}") from error
    kept, ids, labels = graphs.ids, _values(table, "id"), _values(table, "label")
    graphs = graphs if ids is None else replace(graphs, ids=as_labels(ids, "id")[kept])
    return graphs if labels is None or all(label is None for label in labels) else graphs.with_labels(as_labels(labels)[kept])


def pack_table(table: Any, reading: Reading) -> GraphSet:
    """The graphs of an Arrow table or record batch; their ids are the numbers of its rows, their labels are left alone.

    Lists of arcs that stand as a `GraphSet` has them - sources ascend, targets ascend within each, every edge in both
    directions - become the set as they are, and targets of 32 bits without a copy. All others are sorted and completed.
    """
    from phist.graphs.formats.arc_lists import fill_indptr

    node_counts, arc_ptr, source, target, weights = _arrays(table, reading)
    rows, n_nodes = np.arange(len(node_counts)), int(node_counts.sum())
    check_growth(NODE * n_nodes, most_bytes(ARC * len(source), reading.max_bytes), f"the graphs have {n_nodes:,} nodes")
    if (node_counts > 0).all() and (weights is None or reading.weights == "use"):
        node_ptr, mutual = starts_of(node_counts), reading.directed != "keep"
        indptr = np.empty(node_ptr[-1] + 1, np.int64)
        checked = np.empty(0) if weights is None else weights
        if fill_indptr(node_ptr, arc_ptr, source, target, checked, mutual, indptr):
            return GraphSet(node_ptr, indptr, target.astype(np.int32, copy=False), weights, ids=rows, directed=not mutual)
    _check_ends(node_counts, arc_ptr, source, target)
    first_node = np.repeat(starts_of(node_counts)[:-1], np.diff(arc_ptr))
    return pack_rows(
        node_counts, source + first_node, target + first_node, weights,
        is_edge_list=np.ones(len(node_counts), dtype=bool), reading=reading, ids=rows,
    )  # fmt: skip


def write_graph_rows(path: str | Path, graphs: GraphSet) -> None:
    """Write graphs as Parquet, one a row, in the form that is read without sorting or copying."""
    pa, parquet = (require(name, "tables", "writing Parquet") for name in ("pyarrow", "pyarrow.parquet"))
    arc_ptr = graphs.indptr[graphs.node_ptr]
    local = np.arange(graphs.n_nodes, dtype=np.int32) - np.repeat(graphs.node_ptr[:-1], graphs.node_counts()).astype(np.int32)
    columns = {
        "id": pa.array(graphs.ids.tolist()),
        "n_nodes": pa.array(graphs.node_counts().astype(np.int32)),
        "sources": pa.LargeListArray.from_arrays(arc_ptr, np.repeat(local, graphs.degrees())),
        "targets": pa.LargeListArray.from_arrays(arc_ptr, graphs.indices),
    }
    if graphs.weights is not None:
        columns["weights"] = pa.LargeListArray.from_arrays(arc_ptr, graphs.weights)
    if graphs.labels is not None:
        columns["label"] = pa.array(graphs.label_list())
    with atomic_path(path) as temporary:
        parquet.write_table(pa.table(columns), temporary, compression="zstd", row_group_size=1 << 16)


def check_plain(table: Any, name: str) -> None:
    """Raise where a column of ids or labels holds anything but numbers, truth values and text."""
    types, kind = require("pyarrow", "tables", "reading Parquet").types, table.column(name).type
    plain = kind.value_type if types.is_dictionary(kind) else kind
    known = (types.is_integer, types.is_floating, types.is_string, types.is_large_string, types.is_boolean, types.is_null)
    if not any(fits(plain) for fits in known):
        raise GraphInputError(f"the column {name} holds {brief(kind, 60)}; cast it to numbers or text")


def _values(table: Any, name: str) -> list[Any] | None:
    """A column of ids or labels, or ``None`` where there is none."""
    if name not in table.schema.names:
        return None
    check_plain(table, name)
    return column_values(table.column(name))


def _arrays(table: Any, reading: Reading) -> tuple[IntArray, IntArray, Array, Array, NDArray[np.float64] | None]:
    missing = [name for name in NEEDED if name not in table.schema.names]
    if missing:
        raise GraphInputError(f"there is no column {' and no column '.join(missing)}; graphs, one a row, need {EXAMPLE}")
    node_counts, sources, targets = _node_counts(table.column("n_nodes")), _lists(table, "sources"), _lists(table, "targets")
    _check_lengths(sources, targets, "targets")
    if "weights" not in table.schema.names or reading.weights == "ignore":
        return node_counts, sources.ptr, sources.values, targets.values, None
    return node_counts, sources.ptr, sources.values, targets.values, _weights(table, sources)


def _node_counts(column: Any) -> IntArray:
    types = require("pyarrow", "tables", "reading Parquet").types
    if not types.is_integer(column.type) and not types.is_null(column.type):
        raise GraphInputError(f"the column n_nodes holds {brief(column.type, 60)}; cast it to whole numbers")
    if column.null_count:
        raise GraphInputError(f"row {_first_null(column)} has no n_nodes; give every graph its number of nodes")
    counts: IntArray = column.to_numpy().astype(np.int64)
    odd = np.flatnonzero((counts < 0) | (counts > MOST_NODES))
    if len(odd):
        raise GraphInputError(f"row {odd[0]} has n_nodes={counts[odd[0]]}; give a number from 0 to {MOST_NODES:,}")
    return counts


def _lists(table: Any, name: str) -> Lists:
    pa = require("pyarrow", "tables", "reading Parquet")
    column = table.column(name)
    if isinstance(column, pa.ChunkedArray):
        column = column.chunk(0) if column.num_chunks == 1 else column.combine_chunks()
    if not (pa.types.is_list(column.type) or pa.types.is_large_list(column.type)):
        raise GraphInputError(f"the column {name} holds {brief(column.type, 60)}; make it lists of numbers")
    if column.null_count:
        raise GraphInputError(f"row {_first_null(column)} has no {name}; write an empty list for a graph without edges")
    ptr = column.offsets.to_numpy().astype(np.int64)
    values = column.values.slice(ptr[0], ptr[-1] - ptr[0])
    number = pa.types.is_integer(values.type) or (name == "weights" and pa.types.is_floating(values.type))
    if not number and len(values):
        raise GraphInputError(f"the column {name} holds lists of {brief(values.type, 60)}; make it lists of numbers")
    if values.null_count:
        row = int(np.searchsorted(ptr - ptr[0], _first_null(values), side="right")) - 1
        raise GraphInputError(f"row {row} has nothing in place of a number in {name}; fill it in or remove it")
    numbers = values.to_numpy(zero_copy_only=True) if number else np.empty(0, np.int32)
    return Lists(ptr - ptr[0], numbers.astype(np.int64) if numbers.dtype.kind == "u" else numbers)


def _weights(table: Any, sources: Lists) -> NDArray[np.float64]:
    """The weights of all arcs; those of a row without a list are ones."""
    column = table.column("weights")
    given = column.is_valid().to_numpy(zero_copy_only=False)
    lengths = np.diff(sources.ptr)
    if not given.any():
        return np.ones(len(sources.values))
    weights = _lists(table.filter(column.is_valid()) if column.null_count else table, "weights")
    _check_lengths(Lists(starts_of(lengths[given]), sources.values), weights, "weights")
    if given.all():
        return weights.values.astype(np.float64, copy=False)
    filled = np.ones(len(sources.values))
    filled[np.repeat(given, lengths)] = weights.values
    return filled


def _check_lengths(sources: Lists, others: Lists, name: str) -> None:
    odd = np.flatnonzero(np.diff(sources.ptr) != np.diff(others.ptr))
    if len(odd):
        lengths = np.diff(sources.ptr)[odd[0]], np.diff(others.ptr)[odd[0]]
        raise GraphInputError(f"row {odd[0]} has {lengths[0]:,} sources and {lengths[1]:,} {name}; give as many of each")


def _check_ends(node_counts: IntArray, arc_ptr: IntArray, source: Array, target: Array) -> None:
    most = np.repeat(node_counts, np.diff(arc_ptr))
    odd = np.flatnonzero((source < 0) | (source >= most) | (target < 0) | (target >= most))
    if len(odd):
        row = int(np.searchsorted(arc_ptr, odd[0], side="right")) - 1
        raise GraphInputError(
            f"row {row} has the edge {source[odd[0]]}-{target[odd[0]]}, but its nodes are 0 to {node_counts[row] - 1}; "
            "correct the edge or n_nodes"
        )


def _first_null(column: Any) -> int:
    return int(np.argmax(column.is_null().to_numpy(zero_copy_only=False)))
