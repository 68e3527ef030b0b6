"""Bulk runs: a model asked about every graph of a stream, into a folder of Parquet files, killed and resumed at will."""

from dataclasses import asdict, dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np

from phist.errors import GraphInputError, OutputError, brief, check_choice
from phist.extras import require
from phist.files import resolve
from phist.graphs.packing import DEFAULT_READING, Reading
from phist.scale.answers import Answers
from phist.scale.columns import Columns, common_columns
from phist.scale.notes import Fault, Note
from phist.scale.parts import OutputFolder, PartWriter, Shard, writing_part
from phist.scale.progress import BulkProgress
from phist.scale.reading import Piece, read_pieces
from phist.scale.rows import Parsed, Rows
from phist.scale.salvage import OnError, salvage
from phist.scale.sources import Source, find_sources
from phist.scale.stretches import Damage, Limits


@dataclass(frozen=True)
class Summary:
    """What a bulk run did, and what its folder holds by now."""

    graphs: int  # answered in this run
    seconds: float
    rows: int  # in the folder, those of other shards and earlier runs included
    labelled: int
    right: int
    skipped: int  # entries of the list


def run_bulk(
    answers: Answers,
    data: str,
    out: str | Path,
    *,
    reading: Reading = DEFAULT_READING,
    shard: Shard = Shard(),  # noqa: B008  # frozen
    on_error: OnError = "stop",
    limits: Limits = Limits(),  # noqa: B008  # frozen
    progress: bool | None = None,
) -> Summary:
    """Ask about every graph of a stream.

    A part of the output holds the answers about a fixed stretch of rows of one source, and is put in place when it is
    complete. Called again after a kill, a run does the parts that are not there.

    Args:
        answers: the model and the question.
        data: a folder or a pattern, a file, or a dataset's name; see `find_sources`.
        out: the folder to write.
        on_error: what becomes of rows that cannot be read or computed: the first one is an error that names file and row, or
            all are set aside, and listed in ``_skipped.jsonl``.
        progress: whether to show a bar; ``None`` shows it on a terminal.
    """
    check_choice("on_error", on_error, ("stop", "skip"))
    origin, sources = find_sources(data)
    _check_apart(Path(out), origin, sources)
    run = {**answers.facts(), "data": origin, "part_rows": limits.part_rows}
    run |= {"engine": answers.model.engine, "inference": answers.model.inference}  # by another one the last digits are others
    run |= {"directed": reading.directed, "self_loops": reading.self_loops, "weights": reading.weights, "empty": reading.empty}
    columns = common_columns(sources)
    folder = OutputFolder(Path(out), run | {"id_type": columns.id, "label_type": columns.label})
    with BulkProgress(answers.verb, [source.stamp()[0] for source in sources], progress, shard.count) as bar:
        work = _BulkRun(answers, folder, columns, reading, shard, on_error, limits, bar)
        for source in sources:
            if not folder.is_complete(source):
                work.answer(source)
            bar.next_source()
    return Summary(graphs=bar.graphs, seconds=bar.seconds, **asdict(folder.total()))


def _check_apart(out: Path, origin: str, sources: list[Source]) -> None:
    """Raise an `OutputError` where a later run would read what this one writes."""
    place = resolve(out)
    within = Path(origin).is_dir() and place.is_relative_to(origin)
    if within or any(resolve(source.path).is_relative_to(place) for source in sources):
        raise OutputError(f"cannot write {out}: it is in {brief(origin)}, which is read; choose a place outside of it")


@dataclass(frozen=True)
class _BulkRun:
    answers: Answers
    folder: OutputFolder
    columns: Columns
    reading: Reading
    shard: Shard
    on_error: OnError
    limits: Limits
    bar: BulkProgress

    def answer(self, source: Source) -> None:
        """Write the parts of a source that are this shard's and not there yet."""
        wants = cache(lambda part: self.shard.owns(source, part) and self.folder.note_of(source, part) is None)
        for part, pieces in groupby(read_pieces(source, self.reading, self.limits, wants), key=lambda piece: piece.part):
            note = Note(source.name, list(source.stamp()))
            with writing_part(self.folder.place_of(source, part), note, self.answers.facts()) as writer:
                for piece in pieces:
                    self._answer_piece(source, piece, writer)
                if writer.is_blank:
                    writer.write(self._table(source.name, 0, None))

    def _answer_piece(self, source: Source, piece: Piece, writer: PartWriter) -> None:
        def refuse(row: int, rows: int | None, reason: str) -> None:
            fault = Fault(source.name, piece.begin + row, reason, rows)
            if self.on_error == "stop":
                place = f"{source.path}: " if rows is None else f"{source.path}, row {fault.row}: "
                place = "" if reason.startswith(str(source.path)) else place
                raise GraphInputError(f"{place}{reason.removesuffix('.')}; or set such rows aside with --on-error skip")
            writer.add_fault(fault)

        answered = 0
        if isinstance(piece.rows, Damage):
            refuse(0, piece.rows.count, piece.rows.reason)
        else:
            for begin, parsed, columns in salvage(piece.rows, self._ask, refuse):
                writer.write(self._table(source.name, piece.begin + begin, parsed, columns))
                writer.count_right(parsed.labels, columns.get("predicted"))
                answered += len(parsed.graphs)
        writer.note.last = piece.ends
        self.bar.show(piece.done, piece.share, answered)

    def _ask(self, rows: Rows) -> tuple[Parsed, dict[str, Any]]:
        parsed = rows.parse(self.reading)
        return parsed, self.answers.columns(parsed.graphs) if len(parsed.graphs) else self.answers.no_columns()

    def _table(self, name: str, begin: int, parsed: Parsed | None, columns: dict[str, Any] | None = None) -> Any:
        pa = require("pyarrow", "tables", "writing Parquet")
        rows = np.empty(0, np.int64) if parsed is None else begin + parsed.positions
        table = {"file": pa.array([name] * len(rows), pa.string()), "row": pa.array(rows)}
        ids, labels = (pa.array([], pa.string()), None) if parsed is None else (parsed.ids, parsed.labels)
        return pa.table(table | self.columns.cast(ids, labels) | (self.answers.no_columns() if columns is None else columns))
