"""Memory: what a thread works in, handed out from the bottom up and given back by lowering the tops.

Compiled code names a matrix by the number where it begins: no views are made, counted or freed in the inner loops.
"""

from typing import Any, NamedTuple

import numpy as np

from phist.engine.processor import cycles
from phist.engine.vectors import LANES, inner

PHASES = ("places", "recursion", "linear maps", "histograms")
PLACES, RECURSION, LINEAR, HISTOGRAMS = range(len(PHASES))


class Memory(NamedTuple):
    """Arrays of one thread."""

    floats: Any
    integers: Any
    doubles: Any  # sums that must not lose digits
    position: Any  # (rows of the largest graph), all -1 between uses
    tops: Any  # (2): the first free float and integer
    clock: Any  # processor cycles spent in each phase; empty where nobody asks


def make_memory(sizes: list[int], clock: Any) -> Memory:
    """Room for so many floats, integers, doubles and positions; pages that are never touched cost nothing."""
    floats, integers, doubles, positions = sizes
    return Memory(
        np.empty(floats, np.float32), np.empty(integers, np.int32), np.empty(doubles, np.float64),
        np.full(positions, -1, np.int32), np.zeros(2, np.int64), clock,
    )  # fmt: skip


@inner
def take_floats(memory: Memory, count: int) -> int:
    """Where ``count`` floats begin, with room for the end of a vector."""
    begin: int = memory.tops[0]
    memory.tops[0] = begin + (count + LANES - 1) // LANES * LANES
    return begin


@inner
def take_integers(memory: Memory, count: int) -> int:
    """Where ``count`` integers begin."""
    begin: int = memory.tops[1]
    memory.tops[1] = begin + count
    return begin


@inner
def begin_phase(memory: Memory) -> int:
    """The processor's clock, where somebody asks for it: a look at it takes as long as twenty products of vectors."""
    now: int = cycles() if len(memory.clock) else 0
    return now


@inner
def charge(memory: Memory, phase: int, since: int) -> int:
    """Count the cycles since ``since`` for a phase; returns the time."""
    now = begin_phase(memory)
    if len(memory.clock):
        memory.clock[phase] += now - since
    return now
