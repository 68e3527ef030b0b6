"""The scratch arena of a worker: taken from the bottom up, and given back by lowering the tops.

Whatever compiled code needs beside its arguments it takes from here, by functions called ``take_...``. How large an arena must be
is found by calling the same functions on one that only counts (`budget`).
"""

import os
from typing import Any, NamedTuple

import numpy as np

from phist.engine.jit import inner
from phist.engine.processor import cycles
from phist.engine.simd import LANES
from phist.engine.views import view_anywhere
from phist.jit.checks import CHECKS_BOUNDS

PHASES = ("balls", "recursion", "linear maps", "histograms")
BALLS, RECURSION, LINEAR, HISTOGRAMS = range(len(PHASES))
FLOATS, INTEGERS, DOUBLES = range(3)
CACHE_LINE = 64  # bytes


class Arena(NamedTuple):
    """The scratch memory of one worker."""

    floats: Any
    integers: Any
    doubles: Any  # sums that must not lose digits
    position: Any  # (rows of the largest graph), all -1 between uses
    tops: Any  # (3): the first free float, integer and double
    peaks: Any  # (3): the highest that the tops have been
    clock: Any  # processor cycles spent in each phase; empty where nobody asks


def make_arena(sizes: list[int], clock: Any) -> Arena:
    """Space for so many floats, integers, doubles and positions; pages that are never touched cost nothing."""
    floats, integers, doubles, positions = sizes
    return Arena(
        _aligned(floats, np.float32), _aligned(integers, np.int32), _aligned(doubles, np.float64),
        np.full(positions, -1, np.int32), np.zeros(3, np.int64), np.zeros(3, np.int64), clock,
    )  # fmt: skip


def _aligned(count: int, dtype: type) -> Any:
    """Memory that begins with a cache line, as all vectors in it do then: a vector across two lines takes two reads."""
    size = np.dtype(dtype).itemsize
    memory: Any = np.empty(count + CACHE_LINE // size, dtype)
    begin = -memory.ctypes.data % CACHE_LINE // size
    return memory[begin : begin + count]


def most_held(floats: int) -> int:
    """So many floats, or as many as a quarter of the machine's memory holds, where that is less and the system tells."""
    if "SC_PHYS_PAGES" not in getattr(os, "sysconf_names", {}):
        return floats
    return min(floats, os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") // 4 // np.dtype(np.float32).itemsize)


def counting_arena() -> Arena:
    """Without memory: what is taken from it is counted, and must not be read or written."""
    return make_arena([0, 0, 0, 0], np.zeros(0, np.int64))


@inner
def tops_of(arena: Any) -> tuple[int, int, int]:
    """The tops now, for `lower_tops` to come back to."""
    tops = arena.tops
    return tops[FLOATS], tops[INTEGERS], tops[DOUBLES]


@inner
def lower_tops(arena: Any, to: tuple[int, int, int]) -> None:
    """Give back all that was taken since, or take again what was given back in the same order."""
    tops = arena.tops
    tops[FLOATS], tops[INTEGERS], tops[DOUBLES] = to


@inner
def clear(arena: Any) -> None:
    """Give everything back."""
    tops = arena.tops
    for kind in range(len(tops)):
        tops[kind] = 0


@inner
def _take(arena: Any, kind: int, count: int, size: int) -> int:
    begin: int = arena.tops[kind]
    end = begin + count
    arena.tops[kind] = end
    arena.peaks[kind] = max(arena.peaks[kind], end)
    if CHECKS_BOUNDS and size and end > size:
        raise IndexError("more is taken from an arena than it has")
    return begin


@inner
def _whole_vectors(count: int) -> int:
    return (count + LANES - 1) // LANES * LANES


@inner
def take_matrix(arena: Any, n: int, width: int) -> Any:
    """``n`` rows of ``width`` floats, with space for the end of a vector."""
    floats = arena.floats
    return view_anywhere(floats, _take(arena, FLOATS, _whole_vectors(n * width), len(floats)), n, width)


@inner
def take_floats(arena: Any, count: int) -> Any:
    """``count`` floats, with space for the end of a vector."""
    return take_matrix(arena, count, 1)


@inner
def take_integers(arena: Any, count: int) -> Any:
    """``count`` integers."""
    integers = arena.integers
    return view_anywhere(integers, _take(arena, INTEGERS, count, len(integers)), count, 1)


@inner
def take_doubles(arena: Any, count: int) -> Any:
    """``count`` doubles, with space for the end of a vector."""
    doubles = arena.doubles
    return view_anywhere(doubles, _take(arena, DOUBLES, _whole_vectors(count), len(doubles)), count, 1)


@inner
def begin_phase(arena: Any) -> int:
    """The processor's clock, where somebody asks for it: a look at it takes as long as twenty products of vectors."""
    now: int = cycles() if len(arena.clock) else 0
    return now


@inner
def charge(arena: Any, phase: int, since: int) -> int:
    """Count the cycles since ``since`` for a phase; returns the time."""
    now = begin_phase(arena)
    if len(arena.clock):
        arena.clock[phase] += now - since
    return now
