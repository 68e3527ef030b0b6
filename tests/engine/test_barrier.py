"""Barriers between threads: cells apart, seen by others, and nobody spins for ever."""

import time
from threading import Thread

import numba
import numpy as np
import pytest

from phist.engine import barrier as own
from phist.engine.barrier import LEADER_LOOKS, STRIDE, WORKER_LOOKS, abandon, make_cells, publish, reset_barriers, workers_done

LONG = 1 << 60  # looks: years


@numba.njit(nogil=True)
def spin(cells, number, value, looks):
    return own._spin(cells, number, value, looks)


@numba.njit(nogil=True)
def begin_round(cells, number, this_round):
    own.begin_round(cells, number, this_round)


@numba.njit(nogil=True)
def end_round(cells, number, this_round):
    own.end_round(cells, number, this_round)


def seconds_of(work, *given):
    begin = time.perf_counter()
    work(*given)
    return time.perf_counter() - begin


@pytest.fixture(scope="module", autouse=True)
def compile_first():
    """So that the time that is taken is not that of the compiler."""
    cells = make_cells(2)
    spin(cells, 0, 0, 0)
    begin_round(cells, 0, 1)
    end_round(cells, 1, 0)


@pytest.fixture(scope="module")
def a_look(compile_first):
    """Seconds, the least that it takes."""
    return min(seconds_of(spin, make_cells(2), 1, 1, 10_000) for _ in range(20)) / 10_000


def rounds_of(cells):
    return cells[: len(cells) // 2 : STRIDE].tolist()


def test_new_cells_know_of_no_round():
    assert rounds_of(make_cells(3)) == [0, 0, 0]


def test_no_two_cells_share_a_line_of_a_cache():
    assert make_cells(2).itemsize * STRIDE >= 128  # two lines of 64 bytes, which some processors fetch together


def test_leader_announces_the_round_in_its_own_cell():
    cells = make_cells(3)
    begin_round(cells, 0, 5)
    assert cells.tolist() == [5] + [0] * (6 * STRIDE - 1)


def test_workers_announce_no_round():
    cells = make_cells(3)
    begin_round(cells, 1, 5)
    assert not cells.any()


def test_worker_tells_that_it_is_done_in_its_own_cell():
    cells = make_cells(3)
    cells[0] = 6  # the next round has begun: nothing to spin for
    end_round(cells, 2, 5)
    assert rounds_of(cells) == [6, 0, 5]
    assert cells.sum() == 11


def test_leader_changes_nothing_at_its_end():
    cells = make_cells(2)
    cells[STRIDE] = 5
    end_round(cells, 0, 5)
    assert rounds_of(cells) == [0, 5]


def test_python_sets_single_cells():
    cells = make_cells(3)
    publish(cells, 2, 7)
    assert rounds_of(cells) == [0, 0, 7]
    assert cells.sum() == 7


@pytest.mark.parametrize("finished", [[3, 3], [4, 3]])
def test_workers_are_done_when_all_have_finished_the_round(finished):
    cells = make_cells(3)
    for late in (finished, [3, 2], [2, 3]):
        for number, value in enumerate(late, start=1):
            publish(cells, number, value)
        assert workers_done(cells, 3) == (late is finished)


def test_a_leader_without_workers_has_all_done():
    assert workers_done(make_cells(1), 1)


# Spinning -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("looks", [0, 1, 1000])
def test_spinning_ends_at_its_limit(looks):
    assert not spin(make_cells(2), 1, 1, looks)


def test_spinning_takes_the_longer_the_more_looks(a_look):
    assert seconds_of(spin, make_cells(2), 1, 1, 1_000_000) >= 0.5e6 * a_look


@pytest.mark.parametrize("looks", [0, 1, LONG])
@pytest.mark.parametrize("value", [3, 4])
def test_spinning_ends_at_once_where_the_round_has_come_or_gone(value, looks):
    cells = make_cells(2)
    cells[STRIDE] = value
    assert spin(cells, 1, 3, looks)


@pytest.mark.parametrize("number", [0, 1])
def test_spinning_ends_when_another_thread_sets_the_cell(number):
    cells = make_cells(2)
    spinner = Thread(target=spin, args=(cells, number, 1, LONG), daemon=True)
    spinner.start()
    assert spinner.is_alive()
    publish(cells, number, 1)
    spinner.join(10)
    assert not spinner.is_alive()


def test_what_was_written_before_a_cell_was_set_is_seen_behind_it():
    rounds, cells, letter = 100, make_cells(2), np.zeros(1, np.int64)
    answers = Thread(target=answer_letters, args=(cells, letter, rounds), daemon=True)
    answers.start()
    assert write_letters(cells, letter, rounds) == 0
    answers.join(10)
    assert not answers.is_alive()


@numba.njit(nogil=True)
def write_letters(cells, letter, rounds):
    """Write a letter, wait for the answer written over it, and count the wrong ones."""
    wrong = 0
    for number in range(1, rounds + 1):
        letter[0] = number
        own.store_release(cells, 0, number)
        own._spin(cells, 1, number, LONG)
        wrong += letter[0] != -number
    return wrong


@numba.njit(nogil=True)
def answer_letters(cells, letter, rounds):
    for number in range(1, rounds + 1):
        own._spin(cells, 0, number, LONG)
        letter[0] = -letter[0]
        own.store_release(cells, 1, number)


def test_worker_and_leader_give_up_spinning(a_look):
    assert seconds_of(end_round, make_cells(2), 1, 1) >= 0.5 * a_look * WORKER_LOOKS
    assert seconds_of(end_round, make_cells(2), 0, 1) >= 0.5 * a_look * LEADER_LOOKS


def test_leader_without_workers_spins_for_nobody(a_look):
    fastest = min(seconds_of(end_round, make_cells(1), 0, 1) for _ in range(20))
    assert fastest < a_look * LEADER_LOOKS


# Barriers -------------------------------------------------------------------------------------------------------------


@numba.njit(nogil=True)
def add_up(cells, number, rounds, numbers, sums):
    """In every round each thread writes a number, and after a barrier reads those of all; another one ends the round."""
    for this in range(rounds):
        numbers[number * STRIDE] = this * 10 + number
        own.wait_at_barrier(cells, number)
        for other in range(len(numbers) // STRIDE):
            sums[number * STRIDE] += numbers[other * STRIDE]
        own.wait_at_barrier(cells, number)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_after_a_barrier_everybody_sees_what_was_written_before(count):
    cells, rounds = make_cells(count), 50
    numbers, sums = np.zeros((2, count * STRIDE), np.int64)
    threads = [Thread(target=add_up, args=(cells, number, rounds, numbers, sums)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = sum(10 * this + number for this in range(rounds) for number in range(count))
    assert sums[::STRIDE].tolist() == [expected] * count
    assert cells[len(cells) // 2 :: STRIDE].tolist() == [2 * rounds] * count


def test_nobody_waits_for_a_thread_that_failed():
    cells, (numbers, sums) = make_cells(2), np.zeros((2, 2 * STRIDE), np.int64)
    abandon(cells, 1)
    add_up(cells, 0, 3, numbers, sums)
    assert rounds_of(cells) == [0, 0]


def test_a_thread_is_waited_for_again_in_the_next_round():
    cells = make_cells(2)
    cells[STRIDE] = 4
    abandon(cells, 1)
    reset_barriers(cells)
    assert rounds_of(cells) == [0, 4]
    assert not cells[len(cells) // 2 :].any()
