"""Integer tables as text, read in pieces of bounded size."""

from collections.abc import Iterator
from typing import IO

import numpy as np

from phist.errors import GraphInputError
from phist.graphs.arrays import IntArray

CHUNK = 1 << 23
_LONGEST_LINE = 1 << 16


def read_integers(stream: IO[bytes], columns: int, file: str) -> Iterator[IntArray]:
    """Yield the rows of a table of ``columns`` integers, a few hundred thousand at a time.

    Numbers are parted by commas or blanks. Anything else is a `GraphInputError` with the file and the line.
    """
    from phist.graphs.formats.compiled import parse_integers

    lines = 0
    for text in _whole_lines(stream, file):
        table = np.empty((text.count(b"\n") + 1, columns), dtype=np.int64)
        rows, read = parse_integers(np.frombuffer(text, dtype=np.uint8), table)
        if read < 0:
            found = text.split(b"\n", -read)[-read - 1].strip()[:60].decode(errors="replace")
            wanted = "one whole number" if columns == 1 else f"{columns} whole numbers"
            raise GraphInputError(f"{file}, line {lines - read}: {found!r} was found where {wanted} should be; correct the line")
        lines += read
        yield table[:rows]


def read_column(stream: IO[bytes], file: str) -> IntArray:
    """A table of one column, whole; an empty one is an error."""
    parts = [rows[:, 0] for rows in read_integers(stream, 1, file)]
    values = np.concatenate(parts) if parts else np.empty(0, np.int64)
    if not len(values):
        raise GraphInputError(f"{file} is empty; it should hold one number per line")
    return values


def _whole_lines(stream: IO[bytes], file: str) -> Iterator[bytes]:
    rest = b""
    while chunk := stream.read(CHUNK):
        cut = chunk.rfind(b"\n") + 1
        if cut:
            yield rest + chunk[:cut]
            rest = chunk[cut:]
        else:
            rest += chunk
        if len(rest) > _LONGEST_LINE:
            raise GraphInputError(f"{file} has a line of more than {_LONGEST_LINE:,} characters; is it a table of numbers?")
    if rest:
        yield rest
