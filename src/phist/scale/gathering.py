"""Gathering: the graphs of a stream as one set on disk, mapped, so that a fit can come back to them epoch after epoch."""

import json
from collections.abc import Iterator
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any

from phist.errors import GraphInputError, ModelFileError, OutputError
from phist.graphs.graphset import GraphSet
from phist.graphs.labels import as_labels
from phist.graphs.packing import Reading
from phist.graphs.storage import read_header, write_graphset
from phist.scale.columns import Columns, common_columns
from phist.scale.progress import BulkProgress
from phist.scale.reading import Piece, read_pieces
from phist.scale.rows import Parsed, Rows
from phist.scale.salvage import salvage
from phist.scale.sources import Source, find_sources
from phist.scale.stretches import Damage, Limits

_LIMITS = Limits(part_rows=1 << 31)
_KNOWN = {"data", "sources", "reading"}  # what a gathered set says of itself


def gather_graphs(data: str, place: Path, reading: Reading, progress: bool | None = None) -> GraphSet:
    """The graphs of a folder or pattern, written to ``place`` and mapped; a set that is there from the same files is opened.

    What is in memory meanwhile are the graphs of a batch, and the ids and labels of all. The first row that cannot be read is an
    error that names its file and row.
    """
    origin, sources = find_sources(data)
    stamps = {source.name: list(source.stamp()) for source in sources}
    known: dict[str, Any] = {"data": origin, "sources": stamps, "reading": asdict(reading)}
    found = _known(place) == json.loads(json.dumps(known))
    if not found:
        if place.exists() and not is_gathered(place):
            raise OutputError(f"{place} exists and was not gathered for a fit; give another --checkpoint, or move what is there")
        with BulkProgress("reading", [source.stamp()[0] for source in sources], progress) as bar:
            write_graphset(place, _parts(sources, reading, bar), known)
    return GraphSet.open(place, check=found)  # what was written just now need not be looked at


def is_gathered(place: Path) -> bool:
    """Whether the set at ``place`` was gathered from others, and is nobody's only copy."""
    return (_known(place) or {}).keys() == _KNOWN


def _known(place: Path) -> dict[str, Any] | None:
    """What the set at ``place`` was gathered from, if there is one."""
    try:
        found = read_header(place).get("extra")
    except ModelFileError:
        return None
    return found if isinstance(found, dict) else None


def _parts(sources: list[Source], reading: Reading, bar: BulkProgress) -> Iterator[GraphSet]:
    seen, columns = 0, common_columns(sources)
    for source in sources:
        for piece in read_pieces(source, reading, _LIMITS, lambda part: True):
            for graphs in _graphs_of(source, piece, reading, columns):
                seen += len(graphs)
                yield graphs if len(sources) == 1 else replace(graphs, ids=_through(source, graphs))
            bar.show(piece.done, piece.share, 0 if isinstance(piece.rows, Damage) else len(piece.rows))
        bar.next_source()
    if not seen:
        raise GraphInputError("the files hold no graphs; give some that do")


def _graphs_of(source: Source, piece: Piece, reading: Reading, columns: Columns) -> Iterator[GraphSet]:
    if isinstance(piece.rows, Damage):
        raise GraphInputError(f"{source.path}: {piece.rows.reason}")

    def refuse(row: int, rows: int | None, reason: str) -> None:
        raise GraphInputError(f"{source.path}, row {piece.begin + row}: {reason}")

    for _, parsed, graphs in salvage(piece.rows, lambda rows: _labelled(rows, reading, columns), refuse):
        if len(parsed.graphs):
            yield graphs


def _labelled(rows: Rows, reading: Reading, columns: Columns) -> tuple[Parsed, GraphSet]:
    """The graphs of some rows, with their ids and labels."""
    parsed = rows.parse(reading)
    own = {name: column.to_pylist() for name, column in columns.cast(parsed.ids, parsed.labels).items()}
    if not len(parsed.graphs):
        return parsed, parsed.graphs
    if None in own.get("label", ()):
        raise GraphInputError("it has no label; a fit needs one for every graph: fill it in or remove the row")
    labels = as_labels(own["label"]) if "label" in own else None
    return parsed, replace(parsed.graphs, ids=as_labels(own["id"], "id"), labels=labels)


def _through(source: Source, graphs: GraphSet) -> Any:
    """Ids that are told apart across files: each begins with the name of its own."""
    return as_labels([f"{source.name}:{identity}" for identity in graphs.ids.tolist()], "id")
