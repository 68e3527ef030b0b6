"""Sizes in the footer of a Parquet file, read without pyarrow.

pyarrow tells the same of its objects for chunks of columns, but where statistics in the footer are damaged, making such an object
ends the process: the error of its C++ is not passed on to Python. The footer is a structure of Thrift in its compact form, of which
only counts are taken here.
"""

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from phist.errors import GraphInputError

_MAGIC = b"PAR1"
_DEEPEST = 12  # structures within structures; the format has five
_TRUE, _FALSE, _BYTE, _DOUBLE, _TEXT, _STRUCT = 1, 2, 3, 7, 8, 12
_WHOLE, _LISTS, _MAP = (4, 5, 6), (9, 10), 11
_GROUPS, _CHUNKS, _ROWS = 4, 1, 3  # fields of a file, and of a row group
_META, _PATH, _VALUES, _UNPACKED = 3, 3, 5, 6  # of a chunk, and of its description


@dataclass(frozen=True)
class RowGroup:
    """What a row group says of itself: its rows, and for each chunk its column, values and bytes once unpacked."""

    rows: int
    chunks: list[tuple[str, int, int]]

    def unpacked_bytes(self, columns: set[str]) -> int:
        """What some columns take in memory: runs of equal values have next to no bytes in the file."""
        values = [max(8 * abs(count), abs(size)) for column, count, size in self.chunks if column in columns]
        return max(8 * abs(self.rows), sum(values))


def read_footer(path: Path) -> list[RowGroup]:
    """The row groups of a file; one that has no sound footer is a `GraphInputError`."""
    try:
        with path.open("rb") as file:
            file.seek(-8, 2)
            length, magic = int.from_bytes(file.read(4), "little"), file.read(4)
            file.seek(-8 - length, 2)
            content = _Compact(file.read(length)).structure() if magic == _MAGIC else {}
        return [_row_group(group) for group in content[_GROUPS]]
    except (OSError, LookupError, TypeError, ValueError, AttributeError, RecursionError) as error:
        raise GraphInputError(f"{path} cannot be read as Parquet (its footer is damaged); write it again") from error


def _row_group(group: dict[int, Any]) -> RowGroup:
    described = [chunk[_META] for chunk in group[_CHUNKS]]
    chunks = [(one[_PATH][0].decode(), int(one[_VALUES]), int(one[_UNPACKED])) for one in described]
    return RowGroup(int(group[_ROWS]), chunks)


class _Compact:
    """Thrift's compact form: values by the numbers of their fields; what ends too early is an `IndexError`."""

    def __init__(self, content: bytes) -> None:
        self.content, self.at = content, 0

    def structure(self, depth: int = 0) -> dict[int, Any]:
        if depth > _DEEPEST:
            raise ValueError("too deep")
        found: dict[int, Any] = {}
        number = 0
        while kind := self._byte():
            number = number + (kind >> 4) if kind >> 4 else self._whole()
            found[number] = self._value(kind & 15, depth)
        return found

    def _value(self, kind: int, depth: int, listed: bool = False) -> Any:
        if kind in (_TRUE, _FALSE):  # of a field, the kind is the value
            return self._byte() == _TRUE if listed else kind == _TRUE
        if kind in _WHOLE:
            return self._whole()
        if kind == _TEXT:
            return self._take(self._varint())
        if kind == _STRUCT:
            return self.structure(depth + 1)
        if kind in _LISTS:
            return self._list(depth + 1)
        if kind == _MAP:
            return self._map(depth + 1)
        return self._take({_BYTE: 1, _DOUBLE: 8}[kind])

    def _list(self, depth: int) -> list[Any]:
        head = self._byte()
        count = self._varint() if head >> 4 == 15 else head >> 4
        self._check(count)
        return [self._value(head & 15, depth, listed=True) for _ in range(count)]

    def _map(self, depth: int) -> list[Any]:
        count = self._varint()
        self._check(count)
        kinds = self._byte() if count else 0
        return [(self._value(kinds >> 4, depth, True), self._value(kinds & 15, depth, True)) for _ in range(count)]

    def _check(self, count: int) -> None:
        """No more of anything than there are bytes, of which each takes one at least."""
        if count > len(self.content) - self.at or self.at > len(self.content):
            raise ValueError("more is announced than there is")

    def _take(self, length: int) -> bytes:
        self._check(length)
        self.at += length
        return self.content[self.at - length : self.at]

    def _byte(self) -> int:
        self.at += 1
        return self.content[self.at - 1]

    def _varint(self) -> int:
        value = shift = 0
        while True:
            byte = self._byte()
            value |= (byte & 127) << shift
            if byte < 128:
                return value
            shift += 7
            if shift > 63:
                raise ValueError("too long a number")

    def _whole(self) -> int:
        number = self._varint()
        return (number >> 1) ^ -(number & 1)
