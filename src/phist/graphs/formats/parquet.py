"""Parquet tables: a few kilobytes may stand for thousands of millions of rows, so sizes are looked at before rows are read."""

from pathlib import Path
from typing import Any

import numpy as np

from phist.errors import GraphInputError, brief
from phist.extras import require
from phist.graphs.formats.parquet_footer import read_footer
from phist.graphs.limits import CELL, check_growth, most_bytes
from phist.graphs.packing import Reading

Columns = dict[str, list[Any]]
GRAPH_COLUMNS = ("n_nodes", "sources", "targets")  # of a table with one graph a row


def check_names(path: Path, names: list[str], wanted: tuple[str, ...]) -> None:
    """Raise where two columns have the same name, which leaves open which of them is meant."""
    twice = next((name for name in wanted if names.count(name) > 1), None)
    if twice is not None:
        raise GraphInputError(f"{path} has several columns {twice}; keep one of them")


def read_parquet(path: Path, wanted: tuple[str, ...], reading: Reading) -> tuple[Columns, list[str]]:
    """Those of the ``wanted`` columns that are there, and the names of all, in lower case."""
    parquet = require("pyarrow.parquet", "tables", "reading Parquet")
    try:
        with parquet.ParquetFile(path, read_dictionary=text_columns(path)) as file:
            schema = file.schema_arrow
            names = [name.strip().lower() for name in schema.names]
            check_names(path, names, wanted)
            found = {name: own for name, own in zip(names, schema.names, strict=True) if name in wanted}
            for name, own in found.items():
                _check_kind(path, name, schema.field(own).type)
            _check_size(path, file.metadata, set(found.values()), reading)
            table = file.read(columns=list(found.values()))
        return {name: column_values(table.column(own)) for name, own in found.items()}, names
    except (GraphInputError, ImportError):
        raise
    except Exception as error:  # a damaged file makes pyarrow raise what its authors did not foresee, MemoryError included
        why = brief(str(error) or type(error).__name__)
        raise GraphInputError(f"{path} cannot be read as Parquet ({why}); write it again") from error


def has_graph_rows(path: Path) -> bool:
    """Whether a file has one graph a row; one that cannot be read has not, and whoever reads it says why."""
    pa, parquet = (require(name, "tables", "reading Parquet") for name in ("pyarrow", "pyarrow.parquet"))
    try:
        return set(GRAPH_COLUMNS) <= set(parquet.read_schema(path).names)
    except (pa.ArrowException, OSError, ValueError):
        return False


def text_columns(path: Path) -> list[str]:
    """Columns of text, which are kept as numbers into a dictionary: a name of a megabyte may stand in every row."""
    schema = require("pyarrow.parquet", "tables", "reading Parquet").read_schema(path)
    return [name for name, kind in zip(schema.names, schema.types, strict=True) if str(kind) in ("string", "large_string")]


def _check_size(path: Path, metadata: Any, columns: set[str], reading: Reading) -> None:
    most = most_bytes(path.stat().st_size, reading.max_bytes)
    rows = metadata.num_rows
    check_growth(CELL * rows * max(1, len(columns)), most, f"{path} has {rows:,} rows")
    unpacked = sum(group.unpacked_bytes(columns) for group in read_footer(path))
    check_growth(unpacked, most, f"{path} unpacks to {unpacked:,} bytes")


def _check_kind(path: Path, name: str, kind: Any) -> None:
    types = require("pyarrow", "tables", "reading Parquet").types
    plain = kind.value_type if types.is_dictionary(kind) else kind
    known = (types.is_integer, types.is_floating, types.is_string, types.is_large_string, types.is_boolean, types.is_null)
    if not any(fits(plain) for fits in known) and not (name == "weight" and types.is_decimal(plain)):
        raise GraphInputError(f"{path}: the column {name} holds {brief(kind, 60)}; cast it to numbers or text")


def column_values(column: Any) -> list[Any]:
    """A column as Python values; equal texts are one object, so that a long one is held once."""
    column = column.combine_chunks() if column.num_chunks != 1 else column.chunk(0)
    if not hasattr(column, "dictionary"):
        return list(column.to_pylist())
    names = [*column.dictionary.to_pylist(), None]
    numbers = column.indices.fill_null(len(names) - 1).to_numpy(zero_copy_only=False).astype(np.int64)
    return [names[number] for number in numbers]
