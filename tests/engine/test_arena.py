"""Memory: handed out from the bottom up, in whole vectors, and counted by the phase."""

import numba
import numpy as np
import pytest

from phist.engine.arena import (
    LINEAR,
    PHASES,
    Arena,
    begin_phase,
    charge,
    counting_arena,
    make_arena,
    take_doubles,
    take_floats,
    take_integers,
    take_matrix,
)
from phist.engine.simd import LANES


@numba.njit
def take(arena, floats, integers):
    """Fill what is taken with its size."""
    own, other = take_floats(arena, floats), take_integers(arena, integers)
    for number in range(floats):
        own[number] = floats
    for number in range(integers):
        other[number] = integers


@numba.njit
def spend(arena, phase, rounds):
    since = begin_phase(arena)
    total = 0.0
    for number in range(rounds):
        total += np.sqrt(number)
    return charge(arena, phase, since) - since, total


def some_memory():
    return make_arena([100, 60, 7, 8], np.zeros(len(PHASES), np.int64))


def test_memory_has_the_sizes_asked_for():
    arena = some_memory()
    assert isinstance(arena, Arena)
    assert [len(part) for part in arena[:4]] == [100, 60, 7, 8]


def test_new_memory_is_free_and_knows_no_position():
    arena = some_memory()
    assert arena.tops.tolist() == [0, 0, 0]
    assert (arena.position == -1).all()


def test_kinds_are_those_of_compiled_code():
    assert [part.dtype for part in some_memory()[:4]] == [np.float32, np.int32, np.float64, np.int32]


@pytest.mark.parametrize(("count", "room"), [(0, 0), (1, LANES), (LANES, LANES), (LANES + 1, 2 * LANES)])
def test_floats_are_taken_in_whole_vectors(count, room):
    arena = some_memory()
    take(arena, count, 0)
    assert arena.tops.tolist() == [room, 0, 0]


def test_what_is_taken_next_begins_behind():
    arena = some_memory()
    take(arena, 5, 5)
    take(arena, 20, 1)
    assert (arena.floats[:5] == 5).all() and (arena.floats[LANES : LANES + 20] == 20).all()
    assert arena.integers[:6].tolist() == [5] * 5 + [1]


def test_lowered_tops_give_memory_back():
    arena = some_memory()
    take(arena, 40, 40)
    arena.tops[:] = LANES, 3, 0
    take(arena, 1, 1)
    assert arena.floats[LANES] == 1 and arena.integers[3] == 1


@numba.njit
def count(arena):
    take_matrix(arena, 3, 32)
    take_doubles(arena, 5)
    arena.tops[0] = 0
    take_floats(arena, 1)


def test_arena_without_memory_counts_the_most_that_was_taken():
    arena = counting_arena()
    count(arena)
    assert arena.tops.tolist() == [LANES, 0, LANES]
    assert arena.peaks.tolist() == [96, 0, LANES]


def test_cycles_are_charged_to_their_phase_and_add_up():
    arena = some_memory()
    spent = [spend(arena, LINEAR, rounds)[0] for rounds in (10, 10_000)]
    assert arena.clock[LINEAR] == sum(spent) == arena.clock.sum()


def test_nobody_looks_at_the_clock_where_nobody_asks():
    arena = make_arena([1, 1, 1, 1], np.zeros(0, np.int64))
    assert spend(arena, LINEAR, 10)[0] == 0
