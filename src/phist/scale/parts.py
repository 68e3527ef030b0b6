"""Parts: the files of a sharded output, each of which is there as a whole or not at all, and says what it holds."""

import hashlib
import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from phist.errors import ConfigError, OutputError
from phist.extras import require
from phist.files import atomic_path, explaining, read_json_object, write_json
from phist.scale.notes import METADATA, Fault, Note, Totals, read_note
from phist.scale.sources import Source

RUN, SKIPPED = "_run.json", "_skipped.jsonl"  # readers of sharded Parquet leave out what begins with _
FORMAT = "phist-bulk-1"


@dataclass(frozen=True)
class Shard:
    """Every n-th part, so that n processes share a stream without talking to each other."""

    number: int = 1
    count: int = 1

    @classmethod
    def parse(cls, text: str | None) -> "Shard":
        """``"i/n"`` with i from 1 to n.

        >>> Shard.parse("2/4")
        Shard(number=2, count=4)
        """
        if text is None:
            return cls()
        number, _, count = text.partition("/")
        if not (number.isdecimal() and count.isdecimal() and 1 <= int(number) <= int(count)):
            raise ConfigError(f"shard {text!r} was given; two numbers i/n with i from 1 to n are needed, such as 2/4")
        return cls(int(number), int(count))

    def owns(self, source: Source, part: int) -> bool:
        """Whether a part is one of this shard's; parts of a source are dealt out in turn, beginning anywhere."""
        return (int(_digest(source.name), 16) + part) % self.count == self.number - 1


class OutputFolder:
    """The folder of a bulk run.

    Args:
        path: where it is, or will be.
        run: what its results depend on; a folder of another run is refused.
    """

    def __init__(self, path: Path, run: dict[str, Any]) -> None:
        self.path = path
        file = path / RUN
        if not file.exists():
            filled = path.is_dir() and any(not entry.name.startswith(".") for entry in path.iterdir())
            if not filled:
                with explaining(path):
                    path.mkdir(parents=True, exist_ok=True)
                    write_json(file, {"format": FORMAT, **run})
                return
            if not file.exists():  # else another shard has begun meanwhile
                raise OutputError(f"{path} exists and holds something else (no {RUN} in it); choose another --out")
        found = read_json_object(file)
        if found != {"format": FORMAT, **run}:
            odd = [name for name, value in run.items() if found.get(name) != value]
            raise OutputError(f"{path} holds results of another run (another {', '.join(odd) or 'format'}); choose another --out")

    def place_of(self, source: Source, part: int) -> Path:
        """The file of a part: named after its source and its number there, whatever else is in the stream."""
        stem = re.sub(r"[^A-Za-z0-9.-]+", "-", Path(source.name).stem)[:60]
        return self.path / f"part-{stem}-{_digest(source.name)}-{part:06d}.parquet"

    def note_of(self, source: Source, part: int) -> Note | None:
        """What the part says of itself, or ``None`` where it has to be written, again or for the first time."""
        place = self.place_of(source, part)
        note = read_note(place)
        if note is None or note.stamp == list(source.stamp()):
            return note
        if any(fault["rows"] is None for fault in note.skipped):
            return None  # the file could not be read then; it has been replaced since
        raise OutputError(
            f"{source.name} has changed since its rows were written to {place}; remove its parts, or choose another --out"
        )

    def is_complete(self, source: Source) -> bool:
        """Whether all parts of a source are there, so that it need not be opened."""
        part = 0
        while (note := self.note_of(source, part)) is not None:
            if note.last:
                return True
            part += 1
        return False

    def notes(self) -> Iterator[Note]:
        """Those of all parts that are there."""
        for place in sorted(self.path.glob("part-*.parquet")):
            note = read_note(place)
            if note is not None:
                yield note

    def total(self) -> Totals:
        """What all parts hold together; writes the list of the rows that were set aside, a part at a time."""
        totals = Totals()
        with (
            atomic_path(self.path / SKIPPED) as temporary,
            temporary.open("w", encoding="utf-8", errors="backslashreplace") as file,
        ):
            for note in self.notes():
                totals.add(note)
                file.writelines(json.dumps(fault, ensure_ascii=False) + "\n" for fault in note.skipped)
        if not totals.skipped:
            (self.path / SKIPPED).unlink(missing_ok=True)  # another shard may have done so
        return totals


class PartWriter:
    """Writes tables of one part as they come; what is in memory is the table at hand."""

    def __init__(self, place: Path, note: Note, facts: dict[str, Any]) -> None:
        self._place, self.note, self._facts = place, note, facts
        self._writer: Any = None

    def write(self, table: Any) -> None:
        parquet = require("pyarrow.parquet", "tables", "writing Parquet")
        if self._writer is None:
            plain = [column.name for column in table.schema if not column.type.num_fields]  # numbers of vectors hardly repeat
            self._writer = parquet.ParquetWriter(self._place, table.schema, compression="zstd", use_dictionary=plain)
        self._writer.write_table(table.cast(self._writer.schema))
        self.note.rows += table.num_rows

    def count_right(self, labels: Any, predicted: Any) -> None:
        """Count the labels that were found; text and numbers that read alike are the same label."""
        if labels is None or predicted is None:
            return
        pairs = [(true, own) for true, own in zip(labels.to_pylist(), predicted.to_pylist(), strict=True) if true is not None]
        self.note.labelled += len(pairs)
        self.note.right += sum(str(true) == str(own) for true, own in pairs)

    def add_fault(self, fault: Fault) -> None:
        self.note.skipped.append(asdict(fault))

    @property
    def is_blank(self) -> bool:
        """Whether no table was written, so that nothing says yet what the columns are."""
        return self._writer is None

    def finish(self) -> None:
        """The metadata, which only a whole part has."""
        self._writer.add_key_value_metadata({METADATA: json.dumps({**self._facts, "part": asdict(self.note)}).encode()})
        self._writer.close()

    def abandon(self) -> None:
        if self._writer is not None:
            self._writer.close()


@contextmanager
def writing_part(place: Path, note: Note, facts: dict[str, Any]) -> Iterator[PartWriter]:
    """Write a part; it is at ``place`` when all of it is written, and before that nothing is."""
    with atomic_path(place) as temporary:
        writer = PartWriter(temporary, note, facts)
        try:
            yield writer
        except BaseException:
            writer.abandon()
            raise
        writer.finish()


def _digest(name: str) -> str:
    return hashlib.sha256(name.encode(errors="surrogateescape")).hexdigest()[:8]
