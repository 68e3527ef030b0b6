"""Stretches: rows of a source that are read together, by a reader for each kind of source."""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

from phist.checks import whole_number
from phist.errors import GraphInputError, PhistError, brief
from phist.extras import require
from phist.graphs.datasets import load_graphs
from phist.graphs.formats.graph_rows import NEEDED, OPTIONAL
from phist.graphs.formats.parquet import check_names, text_columns
from phist.graphs.formats.parquet_footer import RowGroup, read_footer
from phist.graphs.graphset import GraphSet
from phist.graphs.limits import check_growth, most_bytes
from phist.graphs.packing import Reading
from phist.scale.rows import LineRows, Rows, SetRows, TableRows
from phist.scale.sources import Source

_BYTES_PER_ROW = 8192  # for which room is made, of a file
Wants = Callable[[int], bool]


@dataclass(frozen=True)
class Limits:
    """How much is in memory at a time.

    Args:
        part_rows: rows of the input whose results make one file of the output.
        batch_rows: rows that are read and computed together, fewer where graphs are large.
    """

    part_rows: int = 1 << 15  # seconds to minutes of work, which is what a kill costs
    batch_rows: int = 1 << 12  # less is slower: every batch is planned by itself

    def __post_init__(self) -> None:
        for name in ("part_rows", "batch_rows"):
            whole_number(name, getattr(self, name), least=1, most=1 << 31)


@dataclass(frozen=True)
class Damage:
    """Rows that cannot be read, and why; ``count`` is ``None`` where nobody knows how many there are."""

    count: int | None
    reason: str


class Stretch(NamedTuple):
    """Rows that are read together.

    Attributes:
        begin: number of the first row in the source.
        share: the fraction of the source that they are.
        done: the fraction of the source that is over with them.
    """

    begin: int
    rows: Rows | Damage
    share: float
    done: float


def read_stretches(source: Source, reading: Reading, limits: Limits, wants: Wants) -> Iterator[Stretch]:
    """The rows of a source, at least those of the parts that are wanted, in order."""
    readers = {"graph rows": _table_rows, "lines": _line_rows, "graph set": _saved_set, "whole": _whole_set}
    return readers[source.kind](source, reading, limits, wants)


def _wanted(begin: int, end: int, limits: Limits, wants: Wants) -> bool:
    return any(wants(part) for part in range(begin // limits.part_rows, (max(begin, end - 1)) // limits.part_rows + 1))


def _table_rows(source: Source, reading: Reading, limits: Limits, wants: Wants) -> Iterator[Stretch]:
    """Parquet, a row group at a time: one that is torn does not cost the others."""
    parquet = require("pyarrow.parquet", "tables", "reading Parquet")
    try:
        text = text_columns(source.path)
        file = parquet.ParquetFile(source.path, memory_map=True, buffer_size=1 << 20, read_dictionary=text)
        check_names(source.path, file.schema_arrow.names, (*NEEDED, *OPTIONAL))
        groups = read_footer(source.path)
    except GraphInputError as error:
        yield Stretch(0, Damage(None, str(error)), 1.0, 1.0)
        return
    except Exception as error:  # a damaged file makes pyarrow raise what its authors did not foresee
        yield Stretch(0, Damage(None, f"it cannot be read as Parquet ({_why(error)}); write it again"), 1.0, 1.0)
        return
    with file:
        total, begin = max(1, sum(group.rows for group in groups)), 0
        for number, group in enumerate(groups):
            end = begin + group.rows
            if _wanted(begin, end, limits, wants):
                most = most_bytes(source.path.stat().st_size, reading.max_bytes)
                yield from _row_group(file, number, group, begin, most, limits, total)
            begin = end


def _row_group(file: Any, number: int, group: RowGroup, begin: int, most: int, limits: Limits, total: int) -> Iterator[Stretch]:
    columns = [name for name in (*NEEDED, *OPTIONAL) if name in file.schema_arrow.names]
    row, end = begin, begin + group.rows
    try:
        unpacked = group.unpacked_bytes(set(columns))
        check_growth(unpacked, most, f"rows {begin} to {end - 1} unpack to {unpacked:,} bytes")
        row_bytes = max(1, unpacked // max(1, group.rows))
        at_once = max(1, min(limits.batch_rows, _BYTES_PER_ROW * limits.batch_rows // row_bytes))
        for batch in file.iter_batches(at_once, row_groups=[number], columns=columns):
            yield Stretch(row, TableRows(batch, row), batch.num_rows / total, (row + batch.num_rows) / total)
            row += batch.num_rows
    except GraphInputError as error:
        rows = group.rows if 8 * group.rows <= most else None  # as it says, unless that is the trouble
        yield Stretch(row, Damage(rows, str(error)), (end - row) / total, end / total)
    except PhistError:
        raise
    except Exception as error:  # as above
        reason = f"rows {row} to {end - 1} cannot be read ({_why(error)}); write the file again"
        yield Stretch(row, Damage(end - row, reason), (end - row) / total, end / total)


def _line_rows(source: Source, reading: Reading, limits: Limits, wants: Wants) -> Iterator[Stretch]:
    lines: list[bytes] = []
    begin = read = size = 0
    try:
        total = max(1, source.path.stat().st_size)
        file = source.path.open("rb")
    except OSError as error:
        yield Stretch(0, Damage(None, f"it cannot be read ({error.strerror or error})"), 1.0, 1.0)
        return
    with file:
        for row, line in enumerate(file):
            read += len(line)
            if wants(row // limits.part_rows):
                begin = row if not lines else begin
                lines.append(line)
                size += len(line)
            ends_part = (row + 1) % limits.part_rows == 0
            if lines and (ends_part or len(lines) == limits.batch_rows or size > _BYTES_PER_ROW * limits.batch_rows):
                yield Stretch(begin, LineRows(lines, begin, source.path), size / total, read / total)
                lines, size = [], 0
    if lines:
        yield Stretch(begin, LineRows(lines, begin, source.path), size / total, 1.0)


def _saved_set(source: Source, reading: Reading, limits: Limits, wants: Wants) -> Iterator[Stretch]:
    try:
        graphs = GraphSet.open(source.path)
    except PhistError as error:
        yield Stretch(0, Damage(None, str(error)), 1.0, 1.0)
        return
    yield from _slices(graphs, limits, wants)


def _whole_set(source: Source, reading: Reading, limits: Limits, wants: Wants) -> Iterator[Stretch]:
    try:
        graphs = load_graphs(
            str(source.path), directed=reading.directed, self_loops=reading.self_loops, weights=reading.weights,
            empty=reading.empty or "error", max_bytes=reading.max_bytes,
        )  # fmt: skip
    except GraphInputError as error:
        yield Stretch(0, Damage(None, str(error)), 1.0, 1.0)
        return
    yield from _slices(graphs, limits, wants)


def _slices(graphs: GraphSet, limits: Limits, wants: Wants) -> Iterator[Stretch]:
    for begin in range(0, len(graphs), limits.batch_rows):
        end = min(begin + limits.batch_rows, len(graphs))
        if _wanted(begin, end, limits, wants):
            yield Stretch(begin, SetRows(graphs[begin:end]), (end - begin) / len(graphs), end / len(graphs))


def _why(error: Exception) -> str:
    return brief(str(error) or type(error).__name__)
