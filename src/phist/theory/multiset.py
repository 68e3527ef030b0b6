"""Multiset: vectors with multiplicities, the input of every aggregation function (definition 2.1)."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from phist.errors import GraphInputError
from phist.theory.geometry import Floats, Ints

COUNT_COLUMN = "count"
MOST_OF_ONE = 2**53  # whole numbers up to here are exact in a table of floating-point numbers
MOST_IN_ALL = 2**62  # counts add up in 64 bits


@dataclass(frozen=True, eq=False)
class Multiset:
    """𝒳 = (X, c): distinct vectors and how often each occurs.

    It is kept in one form, rows sorted and each distinct vector once, so that equal multisets are equal arrays in whatever
    order their elements came.

    Args:
        vectors: elements, (elements, dimension); rows may repeat.
        counts: how often each row counts, once where left out.

    >>> Multiset([[0, 1], [2, 3], [0, 1]])
    Multiset(3 elements, 2 distinct, dimension 2)
    >>> Multiset([[0, 1], [2, 3]], counts=[2, 1]) == Multiset([[2, 3], [0, 1], [0, 1]])
    True
    """

    vectors: Floats  # (distinct, dimension)
    counts: Ints  # (distinct)

    def __init__(self, vectors: ArrayLike, counts: ArrayLike | None = None) -> None:
        rows = _as_rows(vectors)
        weights = np.ones(len(rows), np.int64) if counts is None else _as_counts(counts, len(rows))
        distinct, place = np.unique(rows, axis=0, return_inverse=True)
        totals = np.zeros(len(distinct), np.int64)
        np.add.at(totals, place.ravel(), weights)
        for name, values in (("vectors", distinct), ("counts", totals)):
            values.flags.writeable = False
            object.__setattr__(self, name, values)  # a frozen dataclass has no other door

    @property
    def size(self) -> int:
        """Elements, repetitions counted."""
        return int(self.counts.sum())

    @property
    def dimension(self) -> int:
        return int(self.vectors.shape[1])

    def rows(self) -> Floats:
        """Every element as a row of its own."""
        return np.repeat(self.vectors, self.counts, axis=0)  # (elements, dimension)

    def map(self, function: Callable[[Floats], ArrayLike]) -> "Multiset":
        """{function(x) : x in 𝒳}; the function takes and returns rows.

        Args:
            function: from rows to rows.
        """
        return Multiset(function(self.vectors), self.counts)

    def __add__(self, other: "Multiset") -> "Multiset":
        """The union in which multiplicities add up."""
        check_same_dimension([self, other])
        return Multiset(np.concatenate([self.vectors, other.vectors]), np.concatenate([self.counts, other.counts]))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Multiset):
            return NotImplemented
        return np.array_equal(self.vectors, other.vectors) and np.array_equal(self.counts, other.counts)

    def __hash__(self) -> int:
        return hash((self.vectors.shape, self.vectors.tobytes(), self.counts.tobytes()))

    def __repr__(self) -> str:
        elements = "1 element" if self.size == 1 else f"{self.size} elements"
        return f"Multiset({elements}, {len(self.counts)} distinct, dimension {self.dimension})"


def read_multiset(path: str | Path) -> Multiset:
    """Read vectors from ``.npy`` (rows) or ``.csv`` (a row each; a header may name one column ``count``, the multiplicities)."""
    place = Path(path).expanduser()
    if not place.is_file():
        raise GraphInputError(f"there is no file {place}; give vectors as .csv or .npy")
    if place.suffix.lower() == ".npy":
        return Multiset(_load_npy(place))
    if place.suffix.lower() == ".csv":
        return _read_csv(place)
    raise GraphInputError(f"{place} ends in {place.suffix or 'nothing'}; vectors are read from .csv or .npy")


def check_same_dimension(multisets: Sequence[Multiset]) -> int:
    """The dimension all multisets share; an error where they do not."""
    if not multisets:
        raise GraphInputError("no multiset was given; give at least one")
    found = sorted({multiset.dimension for multiset in multisets})
    if len(found) > 1:
        raise GraphInputError(f"the multisets have vectors of dimensions {found}; all must have the same")
    return found[0]


def _as_rows(vectors: ArrayLike) -> Floats:
    try:
        if np.iscomplexobj(vectors):
            raise TypeError("complex numbers")
        rows = np.array(vectors, dtype=np.float64)
    except (TypeError, ValueError) as error:
        raise GraphInputError(f"the vectors are not numbers of one dimension ({error}); give rows of equal length") from error
    if rows.size == 0:
        raise GraphInputError("an empty multiset was given; give at least one vector of at least one entry")
    if rows.ndim != 2:
        raise GraphInputError(f"an array of shape {rows.shape} was given; give (elements, dimension), numbers as one column")
    if not np.isfinite(rows).all():
        row, column = np.argwhere(~np.isfinite(rows))[0]
        raise GraphInputError(f"vector {row} has {rows[row, column]} in entry {column}; entries must be finite: drop the vector")
    return rows + 0.0  # turns -0.0 into 0.0, which is the same vector


def _as_counts(counts: ArrayLike, length: int) -> Ints:
    given = np.asarray(counts)
    if given.shape != (length,):
        raise GraphInputError(f"multiplicities of shape {given.shape} were given for {length} vectors; give one for each")
    if not (np.issubdtype(given.dtype, np.number) and np.isfinite(given).all() and (given == np.floor(given)).all()):
        raise GraphInputError("the multiplicities are not whole numbers; give 1, 2, 3, ...")
    if given.min() < 1 or given.max() > MOST_OF_ONE:
        wrong = given.min() if given.min() < 1 else given.max()
        raise GraphInputError(f"multiplicity {wrong:g} was given; it must be at least 1 and at most 2^53")
    if (total := sum(given.tolist())) > MOST_IN_ALL:
        raise GraphInputError(f"multiplicities of {total:.3g} elements in all were given; a multiset has at most 2^62")
    return given.astype(np.int64)


def _load_npy(path: Path) -> Any:
    try:
        return np.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise GraphInputError(f"{path} cannot be read as a NumPy array ({error}); save it with numpy.save") from error


def _read_csv(path: Path) -> Multiset:
    import csv

    try:
        with path.open(encoding="utf-8-sig", newline="", errors="replace") as text:
            lines = [(number, row) for number, row in enumerate(csv.reader(text), 1) if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise GraphInputError(
            f"{path} cannot be read as CSV ({error}); give one vector a line, its entries between commas"
        ) from error
    header = [cell.strip().lower() for cell in lines[0][1]] if lines and not _is_numeric(lines[0][1]) else []
    table = [_numbers(path, number, row, len(lines[0][1])) for number, row in lines[bool(header) :]]
    if not table:
        raise GraphInputError(f"{path} holds no vector; an empty multiset cannot be used: give at least one row")
    values = np.array(table)
    if COUNT_COLUMN not in header:
        return Multiset(values)
    column = header.index(COUNT_COLUMN)
    return Multiset(np.delete(values, column, axis=1), values[:, column])


def _is_numeric(row: list[str]) -> bool:
    try:
        [float(cell) for cell in row]
    except ValueError:
        return False
    return True


def _numbers(path: Path, number: int, row: list[str], width: int) -> list[float]:
    if len(row) != width:
        raise GraphInputError(f"line {number} of {path} has {len(row)} entries, the first has {width}; all vectors need as many")
    if not _is_numeric(row):
        raise GraphInputError(f"line {number} of {path} has an entry that is not a number; give numbers only")
    return [float(cell) for cell in row]
