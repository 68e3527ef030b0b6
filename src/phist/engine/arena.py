"""The scratch arena of a thread: taken from the bottom up, and given back by lowering the tops.

Compiled code names a matrix by the number where it begins: no views are made, counted or freed in the inner loops.
"""

from typing import Any, NamedTuple

import numpy as np

from phist.engine.jit import inner
from phist.engine.processor import cycles
from phist.engine.simd import LANES

PHASES = ("balls", "recursion", "linear maps", "histograms")
BALLS, RECURSION, LINEAR, HISTOGRAMS = range(len(PHASES))


class Arena(NamedTuple):
    """The scratch memory of one thread."""

    floats: Any
    integers: Any
    doubles: Any  # sums that must not lose digits
    position: Any  # (rows of the largest graph), all -1 between uses
    tops: Any  # (2): the first free float and integer
    clock: Any  # processor cycles spent in each phase; empty where nobody asks


def make_arena(sizes: list[int], clock: Any) -> Arena:
    """Space for so many floats, integers, doubles and positions; pages that are never touched cost nothing."""
    floats, integers, doubles, positions = sizes
    return Arena(
        np.empty(floats, np.float32), np.empty(integers, np.int32), np.empty(doubles, np.float64),
        np.full(positions, -1, np.int32), np.zeros(2, np.int64), clock,
    )  # fmt: skip


@inner
def take_floats(arena: Arena, count: int) -> int:
    """Where ``count`` floats begin, with space for the end of a vector."""
    begin: int = arena.tops[0]
    arena.tops[0] = begin + (count + LANES - 1) // LANES * LANES
    return begin


@inner
def take_integers(arena: Arena, count: int) -> int:
    """Where ``count`` integers begin."""
    begin: int = arena.tops[1]
    arena.tops[1] = begin + count
    return begin


@inner
def begin_phase(arena: Arena) -> int:
    """The processor's clock, where somebody asks for it: a look at it takes as long as twenty products of vectors."""
    now: int = cycles() if len(arena.clock) else 0
    return now


@inner
def charge(arena: Arena, phase: int, since: int) -> int:
    """Count the cycles since ``since`` for a phase; returns the time."""
    now = begin_phase(arena)
    if len(arena.clock):
        arena.clock[phase] += now - since
    return now
