"""Reading sources in pieces: consecutive rows that are in memory together, none of which belongs to two parts of the output."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from phist.graphs.packing import Reading
from phist.scale.rows import Rows
from phist.scale.sources import Source
from phist.scale.stretches import Damage, Limits, Stretch, Wants, read_stretches

ARCS_PER_ROW = 512  # for which room is made: a piece of large graphs has fewer rows


@dataclass(frozen=True)
class Piece:
    """Rows of one part.

    Attributes:
        part: its number within the source.
        begin, share, done: as in `Stretch`.
        ends: whether the source has no row after it.
    """

    part: int
    begin: int
    rows: Rows | Damage
    share: float
    done: float
    ends: bool


def read_pieces(source: Source, reading: Reading, limits: Limits, wants: Wants) -> Iterator[Piece]:
    """The rows of the parts that are wanted, in order."""
    for stretch in read_stretches(source, reading, limits, wants):
        begin, rows, share, done = stretch
        if isinstance(rows, Damage):
            yield from _damaged_pieces(stretch, rows, limits, wants)
            continue
        for first, last in cuts(rows, begin, limits):
            part = (begin + first) // limits.part_rows
            if wants(part):
                own, ends = share * (last - first) / len(rows), done >= 1 and last == len(rows)
                yield Piece(part, begin + first, rows.part(first, last), own, done, ends)


def cuts(rows: Rows, begin: int, limits: Limits) -> Iterator[tuple[int, int]]:
    """Where to cut rows so that none crosses a part, and few arcs are in memory together; a single row may have many."""
    until = np.cumsum(rows.costs())
    first = 0
    while first < len(rows):
        before = until[first - 1] if first else 0
        fitting = int(np.searchsorted(until, before + ARCS_PER_ROW * limits.batch_rows, side="right"))
        in_part = limits.part_rows - (begin + first) % limits.part_rows
        last = min(max(fitting, first + 1), first + limits.batch_rows, first + in_part, len(rows))
        yield first, last
        first = last


def _damaged_pieces(stretch: Stretch, damage: Damage, limits: Limits, wants: Wants) -> Iterator[Piece]:
    first, end, done = stretch.begin, stretch.begin + (damage.count or 1), stretch.done
    while first < end:
        part = first // limits.part_rows
        last = min(end, (part + 1) * limits.part_rows)
        if wants(part):
            own, rows = stretch.share * (last - first) / (end - stretch.begin), damage.count and last - first
            yield Piece(part, first, Damage(rows, damage.reason), own, done, done >= 1 and last == end)
        first = last
