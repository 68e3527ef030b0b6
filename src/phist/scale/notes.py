"""Notes: what the parts of an output say of themselves in their metadata, and what they hold together."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from phist.checks import text_value, truth_value, whole_number
from phist.errors import ConfigError
from phist.extras import require

METADATA = b"phist"


@dataclass(frozen=True)
class Fault:
    """A row that was set aside; ``row`` is that of the first of ``rows``, which is ``None`` for a whole file."""

    file: str
    row: int
    reason: str
    rows: int | None = 1


@dataclass
class Note:
    """What a part says of itself in its metadata."""

    source: str
    stamp: list[int]
    rows: int = 0
    labelled: int = 0
    right: int = 0
    last: bool = False  # no part of this source comes after it
    skipped: list[dict[str, Any]] = field(default_factory=list)

    @classmethod
    def from_dict(cls, values: Any) -> "Note":
        """The inverse of `asdict`; anything else is a `ValueError` or a `TypeError`."""
        note = cls(**values)
        text_value("source", note.source)
        truth_value("last", note.last)
        for name in ("rows", "labelled", "right"):
            whole_number(name, getattr(note, name), least=0)
        if not isinstance(note.stamp, list) or not isinstance(note.skipped, list):
            raise ConfigError("a part says in no proper way what it holds")
        for fault in note.skipped:
            Fault(**fault)
        return note


@dataclass
class Totals:
    """What all parts of a folder hold together."""

    rows: int = 0
    labelled: int = 0
    right: int = 0
    skipped: int = 0  # entries of the list

    def add(self, note: Note) -> None:
        """Count another part."""
        self.rows += note.rows
        self.labelled += note.labelled
        self.right += note.right
        self.skipped += len(note.skipped)


def read_note(place: Path) -> Note | None:
    """What a part says of itself, or ``None`` where it is not one, or torn."""
    parquet = require("pyarrow.parquet", "tables", "reading Parquet")
    if not place.is_file():
        return None
    try:
        metadata = parquet.read_metadata(place).metadata or {}
        return Note.from_dict(json.loads(metadata[METADATA])["part"])
    except Exception:  # a damaged file makes pyarrow raise what its authors did not foresee
        return None
