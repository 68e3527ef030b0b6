"""Small tools for packed arrays: stretches of them, loops in them, what they hold."""

from collections.abc import Iterator
from typing import Any

import numpy as np
from numpy.typing import NDArray

IntArray = NDArray[np.int64]
Array = NDArray[Any]
_BLOCK = 1 << 20  # arcs looked at in one go where a whole set is checked


def ranges(starts: Array, lengths: Array) -> IntArray:
    """The numbers ``starts[i] ... starts[i] + lengths[i] - 1`` for every i, one after the other."""
    offsets = starts_of(lengths)
    return np.arange(offsets[-1]) + np.repeat(starts - offsets[:-1], lengths)


def starts_of(lengths: Array) -> IntArray:
    """Where each of several consecutive stretches begins, and where the last one ends."""
    return np.concatenate([np.zeros(1, np.int64), np.cumsum(lengths, dtype=np.int64)])


def blocks(starts: IntArray, size: int | None = None) -> Iterator[slice]:
    """Stretches of rows, or of graphs, that are looked through one after the other, so that a large set needs little memory.

    Args:
        starts: (rows + 1): how many arcs, or whatever is counted, stand before each row, and in all.
        size: about how many each stretch has, unless a single row has more; a million unless given.
    """
    size = _BLOCK if size is None else size
    cuts = np.searchsorted(starts, np.arange(size, starts[-1], size))
    ends = np.unique(np.concatenate([cuts, [len(starts) - 1]])).tolist()
    start = 0
    for end in ends:
        if end > start:
            yield slice(start, end)
        start = end


def loops_of_rows(indptr: IntArray, indices: NDArray[np.int32], row_names: IntArray) -> IntArray:
    loops = np.zeros(len(row_names), np.int64)
    for rows in blocks(indptr):
        names = np.repeat(row_names[rows], np.diff(indptr[rows.start : rows.stop + 1]))
        at = np.flatnonzero(indices[indptr[rows.start] : indptr[rows.stop]] == names) + indptr[rows.start]
        loops += np.bincount(np.searchsorted(indptr, at, side="right") - 1, minlength=len(row_names))
    return loops


def plain_weights(weights: NDArray[np.float64] | None) -> NDArray[np.float64] | None:
    """``None`` where every edge weighs one, so that equal sets look equal however they came about."""
    return None if weights is None or (weights == 1).all() else weights


def as_positions(key: Any, length: int) -> IntArray:
    key = np.asarray(key)
    if key.ndim != 1 or (key.dtype.kind not in "biu" and len(key)):
        raise IndexError("graphs are selected by a number, a slice, a mask or a list of numbers")
    if key.dtype.kind == "b":
        if len(key) != length:
            raise IndexError(f"the mask has {len(key)} entries, the set has {length} graphs")
        return np.flatnonzero(key)
    positions: IntArray = key.astype(np.int64)
    outside = positions[(positions < -length) | (positions >= length)]
    if len(outside):
        raise IndexError(f"graph {outside[0]} was asked for, the set has {length}")
    return np.where(positions < 0, positions + length, positions)


def read_only(values: Array | None) -> Array | None:
    if values is None:
        return None
    view = np.asarray(values).view()
    view.flags.writeable = False
    return view


def same(left: Array | None, right: Array | None) -> bool:
    if left is None or right is None:
        return left is right
    return bool(np.array_equal(left, right))
