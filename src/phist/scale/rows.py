"""Rows of a source on their way to graphs: sliceable before they are parsed, so that a bad one can be told from its neighbours."""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Protocol, Self

import numpy as np

from phist.errors import GraphInputError
from phist.extras import require
from phist.graphs.arrays import IntArray
from phist.graphs.convert import resolve
from phist.graphs.formats.graph_rows import check_plain, pack_table
from phist.graphs.formats.jsonl import parse_line
from phist.graphs.graphset import GraphSet
from phist.graphs.loose import pack_loose
from phist.graphs.packing import Reading
from phist.scale.columns import plain_type

MOST_LETTERS = 1 << 16  # bytes of an id or label: every row of a batch may have the same long one, which the file has once
_BYTES_PER_ARC = 4  # of a line of JSON, at least, where most of it is edges: [0,1],


@dataclass(frozen=True)
class Parsed:
    """Graphs with the columns that go with them."""

    graphs: GraphSet
    positions: IntArray  # of the graphs among the rows: those without nodes may have been left out
    ids: Any  # an Arrow array
    labels: Any  # an Arrow array, or None where the source has no labels


class Rows(Protocol):
    """Consecutive rows of a source."""

    def __len__(self) -> int: ...

    def part(self, begin: int, end: int) -> Self:
        """Some of them."""
        ...

    def costs(self) -> IntArray:
        """About how many arcs each row has."""
        ...

    def parse(self, reading: Reading) -> Parsed:
        """Their graphs; what is wrong in any row is a `GraphInputError`."""
        ...


@dataclass(frozen=True)
class TableRows:
    """Rows of an Arrow table or record batch, as `phist.graphs.formats.graph_rows` has them."""

    table: Any
    first: int  # number of the first row in its file

    def __len__(self) -> int:
        return int(self.table.num_rows)

    def part(self, begin: int, end: int) -> "TableRows":
        return TableRows(self.table.slice(begin, end - begin), self.first + begin)

    def costs(self) -> IntArray:
        compute = require("pyarrow.compute", "tables", "reading Parquet")
        if "sources" not in self.table.schema.names:
            return np.ones(len(self), np.int64)
        try:
            lengths = compute.list_value_length(self.table.column("sources"))
        except NotImplementedError:  # no lists: parsing says so
            return np.ones(len(self), np.int64)
        return np.asarray(lengths.fill_null(0).to_numpy(zero_copy_only=False)).astype(np.int64)

    def parse(self, reading: Reading) -> Parsed:
        pa = require("pyarrow", "tables", "reading Parquet")
        graphs = pack_table(self.table, reading)
        positions = graphs.ids
        names, labels = (_plain_column(self.table, name) for name in ("id", "label"))
        if names is not None and names.null_count:
            raise GraphInputError(f"row {int(np.argmax(names.is_null()))} has no id; give every graph one, or leave out the column")
        ids = pa.array(np.arange(self.first, self.first + len(self))) if names is None else names
        return Parsed(graphs, positions, ids.take(positions), None if labels is None else labels.take(positions))


@dataclass(frozen=True)
class LineRows:
    """Lines of JSON. What they call ids and labels is text in results, since no schema says that all lines have one type."""

    lines: Sequence[bytes]
    first: int
    path: Path

    def __len__(self) -> int:
        return len(self.lines)

    def part(self, begin: int, end: int) -> "LineRows":
        return LineRows(self.lines[begin:end], self.first + begin, self.path)

    def costs(self) -> IntArray:
        return np.array([len(line) for line in self.lines], dtype=np.int64) // _BYTES_PER_ARC

    def parse(self, reading: Reading) -> Parsed:
        pa = require("pyarrow", "tables", "writing Parquet")
        filled = [number for number, line in enumerate(self.lines) if line.strip()]
        if not filled:
            return Parsed(_no_graphs(), np.empty(0, np.int64), pa.array([], pa.string()), pa.array([], pa.string()))
        loose = [parse_line(self.lines[number], f"line {self.first + number + 1}") for number in filled]
        graphs = pack_loose(loose, reading, np.arange(len(loose)))
        kept = graphs.ids.tolist()
        rows = [self.first + filled[number] for number in kept]
        ids = [row if loose[number].id is None else loose[number].id for number, row in zip(kept, rows, strict=True)]
        labels = [loose[number].label for number in kept]
        return Parsed(graphs, np.array(filled, np.int64)[graphs.ids], _as_text(ids), _as_text(labels))


@dataclass(frozen=True)
class SetRows:
    """Graphs that are packed already, in memory or mapped."""

    graphs: GraphSet

    def __len__(self) -> int:
        return len(self.graphs)

    def part(self, begin: int, end: int) -> "SetRows":
        return SetRows(self.graphs[begin:end])

    def costs(self) -> IntArray:
        return np.diff(self.graphs.indptr[self.graphs.node_ptr])

    def parse(self, reading: Reading) -> Parsed:
        graphs, labels = resolve(self.graphs, reading), self.graphs.labels
        positions = np.arange(len(graphs))
        own = None if labels is None else _of_numpy(labels)
        return Parsed(replace(graphs, labels=None, ids=positions), positions, _of_numpy(graphs.ids), own)


def _plain_column(table: Any, name: str) -> Any:
    """A column as an Arrow array of 64-bit numbers, truth values or text, as its type says; ``None`` where there is none.

    One that no row has anything in, so that nothing says what its type would be, is none.
    """
    pa = require("pyarrow", "tables", "reading Parquet")
    if name not in table.schema.names or table.column(name).type == pa.null():
        return None
    check_plain(table, name)
    column = table.column(name)
    column = column.combine_chunks() if isinstance(column, pa.ChunkedArray) else column
    if pa.types.is_dictionary(column.type):
        _check_short(column, name)
        column = column.dictionary_decode()
    return column.cast(plain_type(column.type))


def _check_short(column: Any, name: str) -> None:
    """Of the texts that rows refer to: others of their dictionary are other rows' own."""
    pa, compute = (require(module, "tables", "reading Parquet") for module in ("pyarrow", "pyarrow.compute"))
    if pa.types.is_string(column.dictionary.type) or pa.types.is_large_string(column.dictionary.type):
        longest = compute.max(compute.binary_length(column.dictionary).take(column.indices)).as_py() or 0
        if longest > MOST_LETTERS:
            raise GraphInputError(f"the column {name} holds a text of {longest:,} bytes; {MOST_LETTERS:,} are the most: shorten it")


def _of_numpy(values: np.ndarray[Any, Any]) -> Any:
    """Text where any slice might hold another kind of values than the next."""
    return _as_text(values.tolist()) if values.dtype.kind == "O" else plain_array(values.tolist())


def plain_array(values: list[Any]) -> Any:
    """An Arrow array of whole numbers, numbers, truth values or text; values of several kinds become text."""
    pa = require("pyarrow", "tables", "writing Parquet")
    kinds = {type(value) for value in values} - {type(None)}
    types = {int: pa.int64(), float: pa.float64(), bool: pa.bool_(), str: pa.string()}
    if len(kinds) == 1 and (kind := kinds.pop()) in types:
        try:
            return pa.array(values, types[kind])
        except (OverflowError, UnicodeEncodeError, pa.ArrowInvalid):  # a whole number of more than 64 bits, half a character
            return _as_text(values)
    return _as_text(values)


def _as_text(values: Sequence[Any]) -> Any:
    pa = require("pyarrow", "tables", "writing Parquet")
    return pa.array([None if value is None else _utf8(str(value)) for value in values], pa.string())


def _utf8(text: str) -> str:
    """Text that a file can hold: halves of characters are spelled out."""
    return text.encode(errors="backslashreplace").decode()


def _no_graphs() -> GraphSet:
    return GraphSet(np.zeros(1, np.int64), np.zeros(1, np.int64), np.empty(0, np.int32))
