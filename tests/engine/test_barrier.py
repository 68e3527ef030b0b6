"""Signals between threads: cells apart, seen by others, and nobody watches for ever."""

from threading import Thread

import numba
import numpy as np
import pytest

from phist.engine import signals as own
from phist.engine.signals import APART, HELPER_WATCHES, LEADER_WATCHES, excuse, make_signals, open_meetings
from phist.engine.vectors import cycles

LONG = 1 << 60  # cycles: years
A_SECOND = 1 << 31  # cycles, about


@numba.njit(nogil=True)
def watch(signals, number, value, limit):
    begin = cycles()
    own._watch(signals, number, value, limit)
    return cycles() - begin


@numba.njit(nogil=True)
def begin_share(signals, number, this_round):
    own.begin_share(signals, number, this_round)


@numba.njit(nogil=True)
def end_share(signals, number, this_round):
    begin = cycles()
    own.end_share(signals, number, this_round)
    return cycles() - begin


@pytest.fixture(scope="module", autouse=True)
def compile_first():
    """So that the cycles that are counted are not those of the compiler."""
    signals = make_signals(2)
    watch(signals, 0, 0, 0)
    begin_share(signals, 0, 1)
    end_share(signals, 1, 0)


def cells(signals):
    return signals[: len(signals) // 2 : APART].tolist()


def test_new_signals_know_of_no_round():
    assert cells(make_signals(3)) == [0, 0, 0]


def test_no_two_cells_share_a_line_of_a_cache():
    assert make_signals(2).itemsize * APART >= 128  # two lines of 64 bytes, which some processors fetch together


def test_leader_announces_the_round_in_its_own_cell():
    signals = make_signals(3)
    begin_share(signals, 0, 5)
    assert signals.tolist() == [5] + [0] * (6 * APART - 1)


def test_helpers_announce_no_round():
    signals = make_signals(3)
    begin_share(signals, 1, 5)
    assert not signals.any()


def test_helper_tells_that_it_is_done_in_its_own_cell():
    signals = make_signals(3)
    signals[0] = 6  # the next round has begun: nothing to watch for
    end_share(signals, 2, 5)
    assert cells(signals) == [6, 0, 5]
    assert signals.sum() == 11


def test_leader_changes_nothing_at_its_end():
    signals = make_signals(2)
    signals[APART] = 5
    end_share(signals, 0, 5)
    assert cells(signals) == [0, 5]


@pytest.mark.parametrize("limit", [0, 1000, 1_000_000])
def test_watching_ends_at_its_limit(limit):
    assert watch(make_signals(2), 1, 1, limit) >= limit


@pytest.mark.parametrize("value", [3, 4])
def test_watching_ends_at_once_where_the_round_has_come_or_gone(value):
    signals = make_signals(2)
    signals[APART] = value
    assert watch(signals, 1, 3, A_SECOND) < A_SECOND


@pytest.mark.parametrize("number", [0, 1])
def test_watching_ends_when_another_thread_sets_the_cell(number):
    signals = make_signals(2)
    watcher = Thread(target=watch, args=(signals, number, 1, LONG), daemon=True)
    watcher.start()
    assert watcher.is_alive()
    signals[number * APART] = 1
    watcher.join(10)
    assert not watcher.is_alive()


def test_what_was_written_before_a_signal_is_seen_behind_it():
    rounds, signals, letter = 100, make_signals(2), np.zeros(1, np.int64)
    answers = Thread(target=answer_letters, args=(signals, letter, rounds), daemon=True)
    answers.start()
    assert write_letters(signals, letter, rounds) == 0
    answers.join(10)
    assert not answers.is_alive()


@numba.njit(nogil=True)
def write_letters(signals, letter, rounds):
    """Write a letter, wait for the answer written over it, and count the wrong ones."""
    wrong = 0
    for number in range(1, rounds + 1):
        letter[0] = number
        own._set(signals, 0, number)
        own._watch(signals, 1, number, LONG)
        wrong += letter[0] != -number
    return wrong


@numba.njit(nogil=True)
def answer_letters(signals, letter, rounds):
    for number in range(1, rounds + 1):
        own._watch(signals, 0, number, LONG)
        letter[0] = -letter[0]
        own._set(signals, 1, number)


def test_helper_and_leader_give_up_watching():
    signals = make_signals(2)
    assert end_share(signals, 1, 1) >= HELPER_WATCHES
    signals = make_signals(2)
    assert end_share(signals, 0, 1) >= LEADER_WATCHES


def test_leader_without_helpers_watches_for_nobody():
    assert end_share(make_signals(1), 0, 1) < LEADER_WATCHES


# Meetings -------------------------------------------------------------------------------------------------------------


@numba.njit(nogil=True)
def add_up(signals, number, rounds, numbers, sums):
    """In every round each thread writes a number, and after the meeting reads those of all; then they meet before the next."""
    for this in range(rounds):
        numbers[number * APART] = this * 10 + number
        own.meet(signals, number, 2 * this + 1)
        for other in range(len(numbers) // APART):
            sums[number * APART] += numbers[other * APART]
        own.meet(signals, number, 2 * this + 2)


@pytest.mark.parametrize("count", [1, 2, 5])
def test_after_a_meeting_everybody_sees_what_was_written_before(count):
    signals, rounds = make_signals(count), 50
    numbers, sums = np.zeros((2, count * APART), np.int64)
    threads = [Thread(target=add_up, args=(signals, number, rounds, numbers, sums)) for number in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    expected = sum(10 * this + number for this in range(rounds) for number in range(count))
    assert sums[::APART].tolist() == [expected] * count
    assert signals[len(signals) // 2 :: APART].tolist() == [2 * rounds] * count


def test_nobody_waits_for_a_thread_that_failed():
    signals, (numbers, sums) = make_signals(2), np.zeros((2, 2 * APART), np.int64)
    excuse(signals, 1)
    add_up(signals, 0, 3, numbers, sums)
    assert cells(signals) == [0, 0]


def test_excuses_hold_for_one_round():
    signals = make_signals(2)
    signals[APART] = 4
    excuse(signals, 1)
    open_meetings(signals)
    assert cells(signals) == [0, 4]
    assert not signals[len(signals) // 2 :].any()
