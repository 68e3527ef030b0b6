"""Columns: one type of id and one of label in all parts of an output, whatever kinds of files the graphs come from."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from phist.errors import PhistError
from phist.extras import require
from phist.graphs.formats import tu
from phist.graphs.storage import read_header
from phist.scale.sources import Source

TEXT, WHOLE_NUMBER = "string", "int64"


@dataclass(frozen=True)
class Columns:
    """Arrow's names of the types of ids and labels; ``None`` leaves them as they come, if they do."""

    id: str | None = None
    label: str | None = None

    def cast(self, ids: Any, labels: Any | None) -> dict[str, Any]:
        """Both columns as Arrow arrays; rows of a source without labels have nothing in theirs."""
        pa = require("pyarrow", "tables", "writing Parquet")
        columns = {"id": ids.cast(self.id or ids.type)}
        if labels is not None:
            columns["label"] = labels.cast(self.label or labels.type)
        elif self.label is not None:
            columns["label"] = pa.nulls(len(ids), pa.type_for_alias(self.label))
        return columns


def common_columns(sources: Sequence[Source]) -> Columns:
    """What the files of a stream agree on; where they differ, text. A file that cannot be opened has no say."""
    found = [own for source in sources if (own := _columns_of(source, len(sources) == 1)) is not None]
    return Columns(_common({own.id for own in found}), _common({own.label for own in found}))


def plain_type(kind: Any) -> str:
    """Arrow's name of the type that a column of ids or labels becomes: 64-bit numbers, truth values, or else text."""
    pa = require("pyarrow", "tables", "reading Parquet")
    if pa.types.is_integer(kind) and kind != pa.uint64():
        return WHOLE_NUMBER
    if pa.types.is_floating(kind):
        return "double"
    return "bool" if pa.types.is_boolean(kind) else TEXT


def _common(types: set[str | None]) -> str | None:
    known = types - {None}
    return TEXT if len(known) > 1 else next(iter(known), None)


def _columns_of(source: Source, alone: bool) -> Columns | None:
    """The types in a source, by what it says of itself; ``None`` where it cannot be opened: whoever reads it says why."""
    suffix = source.path.suffix.lower()
    try:
        if source.kind == "lines":
            return Columns(TEXT, TEXT)  # no schema says that all lines have one type
        if source.kind == "graph set":
            return _of_arrays(read_header(source.path)["arrays"])
        if source.path.exists() and not (source.path.is_file() or source.path.is_dir()):
            return None  # a pipe may have no end
        if suffix == ".parquet":
            return _of_table(source)
        if suffix == ".zip" or source.path.is_dir():
            return Columns(WHOLE_NUMBER, WHOLE_NUMBER if tu.has_labels(source.path) else None)
    except (PhistError, OSError):
        return None
    return Columns() if alone else Columns(TEXT, TEXT)


def _of_arrays(arrays: dict[str, Any]) -> Columns:
    pa = require("pyarrow", "tables", "writing Parquet")
    kinds = {name: np.dtype(arrays[name][0]) for name in ("ids", "labels") if name in arrays}
    types = {name: TEXT if kind.kind == "U" else plain_type(pa.from_numpy_dtype(kind)) for name, kind in kinds.items()}
    return Columns(types.get("ids", WHOLE_NUMBER), types.get("labels"))


def _of_table(source: Source) -> Columns | None:
    """Of Parquet with one graph a row, or one edge."""
    pa, parquet = (require(name, "tables", "reading Parquet") for name in ("pyarrow", "pyarrow.parquet"))
    try:
        schema = parquet.read_schema(source.path)
    except Exception:  # a damaged file makes pyarrow raise what its authors did not foresee
        return None
    types = {name: plain_type(_values_of(kind)) for name, kind in zip(schema.names, schema.types, strict=True) if kind != pa.null()}
    if source.kind == "whole":
        graph = next((kind for name, kind in types.items() if name.strip().lower() == "graph"), TEXT)
        return Columns(WHOLE_NUMBER if graph == WHOLE_NUMBER else TEXT)
    return Columns(types.get("id", WHOLE_NUMBER), types.get("label"))


def _values_of(kind: Any) -> Any:
    return kind.value_type if require("pyarrow", "tables", "reading Parquet").types.is_dictionary(kind) else kind
