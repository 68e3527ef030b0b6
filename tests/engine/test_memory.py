"""Memory: handed out from the bottom up, in whole vectors, and counted by the phase."""

import numba
import numpy as np
import pytest

from phist.engine.memory import LINEAR, PHASES, Memory, begin_phase, charge, make_memory, take_floats, take_integers
from phist.engine.vectors import LANES


@numba.njit
def take(memory, floats, integers):
    return take_floats(memory, floats), take_integers(memory, integers)


@numba.njit
def spend(memory, phase, rounds):
    since = begin_phase(memory)
    total = 0.0
    for number in range(rounds):
        total += np.sqrt(number)
    return charge(memory, phase, since) - since, total


def some_memory():
    return make_memory([100, 60, 7, 8], np.zeros(len(PHASES), np.int64))


def test_memory_has_the_sizes_asked_for():
    memory = some_memory()
    assert isinstance(memory, Memory)
    assert [len(part) for part in memory[:4]] == [100, 60, 7, 8]


def test_new_memory_is_free_and_knows_no_position():
    memory = some_memory()
    assert memory.tops.tolist() == [0, 0]
    assert (memory.position == -1).all()


def test_kinds_are_those_of_compiled_code():
    assert [part.dtype for part in some_memory()[:4]] == [np.float32, np.int32, np.float64, np.int32]


@pytest.mark.parametrize(("count", "room"), [(0, 0), (1, LANES), (LANES, LANES), (LANES + 1, 2 * LANES)])
def test_floats_are_taken_in_whole_vectors(count, room):
    memory = some_memory()
    assert take(memory, count, 0) == (0, 0)
    assert memory.tops.tolist() == [room, 0]


def test_what_is_taken_next_begins_behind():
    memory = some_memory()
    assert [take(memory, 5, 5), take(memory, 20, 1), take(memory, 1, 1)] == [(0, 0), (LANES, 5), (3 * LANES, 6)]


def test_lowered_tops_give_memory_back():
    memory = some_memory()
    take(memory, 40, 40)
    memory.tops[:] = LANES, 3
    assert take(memory, 1, 1) == (LANES, 3)


def test_cycles_are_charged_to_their_phase_and_add_up():
    memory = some_memory()
    spent = [spend(memory, LINEAR, rounds)[0] for rounds in (10, 10_000)]
    assert memory.clock[LINEAR] == sum(spent) == memory.clock.sum()


def test_nobody_looks_at_the_clock_where_nobody_asks():
    memory = make_memory([1, 1, 1, 1], np.zeros(0, np.int64))
    assert spend(memory, LINEAR, 10)[0] == 0
