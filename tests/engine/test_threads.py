"""Shards of work: complete, balanced, done once in every round; errors come through and the team works on."""

import contextlib
import gc
import os
import signal
import subprocess
import sys
import threading
import time
import weakref
from itertools import pairwise
from threading import Event, Thread, current_thread, get_ident

import numba
import numpy as np
import pytest

from phist.engine import barrier as own
from phist.engine import threads
from phist.engine.barrier import STRIDE
from phist.engine.threads import Team, make_shards, team_of, threads_worth

PARKED = 0.05  # seconds: workers spin for some milliseconds


@numba.njit(nogil=True)
def count(cells, number, this_round, counts):
    """A shard as compiled code does it: announced, worked on, told."""
    own.begin_round(cells, number, this_round)
    counts[number * STRIDE] += 1
    own.end_round(cells, number, this_round)


def run(team, work):
    """``work(number, cells, round)`` in each thread of a team."""
    team.run(lambda this_round, *own: work(*own, this_round), lambda *own: own)


def run_workers(work, threads):
    run(team_of(threads), work)


def run_rounds(counts, rounds, pause=0.0):
    threads = len(counts) // STRIDE
    for _ in range(rounds):
        run_workers(lambda number, cells, this_round: count(cells, number, this_round, counts), threads)
        if pause:
            time.sleep(pause)
    return counts[::STRIDE].tolist()


# Sharing out ----------------------------------------------------------------------------------------------------------


def in_one_step(cost, threads):
    return make_shards(cost, np.array([0, len(cost)]), threads, 0)


def positions(shards, step=0):
    return [shards.order[begin:end].tolist() for begin, end in pairwise(shards.ptr[step])]


@pytest.mark.parametrize("threads", [1, 2, 3, 10])
def test_every_position_is_in_one_shard(threads):
    shards = in_one_step(np.random.default_rng(0).integers(0, 100, 7), threads)
    assert len(positions(shards)) == min(threads, 7)
    assert sorted(shards.order.tolist()) == list(range(7))
    assert shards.ptr[0, 0] == 0 and shards.ptr[0, -1] == 7


def test_costs_are_balanced():
    cost = np.array([8, 1, 7, 2, 6, 3, 5, 4])
    assert [cost[shard].sum() for shard in positions(in_one_step(cost, 2))] == [18, 18]


def test_costly_positions_come_first():
    cost = np.array([1, 9, 4, 4, 7])
    assert positions(in_one_step(cost, 1)) == [[1, 4, 2, 3, 0]]
    assert positions(in_one_step(cost, 2)) == [[1, 3], [4, 2, 0]]


def test_shards_depend_on_costs_alone():
    cost = np.array([3, 3, 3, 1, 1])
    assert positions(in_one_step(cost, 2)) == positions(in_one_step(cost.copy(), 2))


@pytest.mark.parametrize("threads", [1, 3])
def test_nothing_to_do_is_one_empty_shard(threads):
    assert positions(in_one_step(np.empty(0, np.int64), threads)) == [[]]


def test_every_step_is_shared_out_by_itself():
    cost = np.array([8, 1, 7, 2, 6, 3, 5])
    shards = make_shards(cost, np.array([0, 4, 4, 7]), 2, 0)
    assert positions(shards, 0) == [[0, 1], [2, 3]]
    assert positions(shards, 1) == [[], []]
    assert positions(shards, 2) == [[4, 5], [6]] or positions(shards, 2) == [[4], [6, 5]]
    assert sorted(shards.order.tolist()) == list(range(7))


def test_a_short_last_step_leaves_threads_without_a_shard():
    assert positions(make_shards(np.ones(4, np.int64), np.array([0, 3, 4]), 3, 0), 1) == [[3], [], []]


def test_spare_shards_are_small_and_of_what_costs_least():
    cost = np.random.default_rng(0).integers(1, 100, 200)
    shards = make_shards(cost, np.array([0, 200]), 2, 4)
    loads = [cost[shard].sum() / cost.sum() for shard in positions(shards)]
    assert sorted(shards.order.tolist()) == list(range(200))
    np.testing.assert_allclose(loads, [0.42, 0.42, 0.04, 0.04, 0.04, 0.04], atol=0.004)


def test_a_costly_position_goes_to_no_spare_shard():
    assert positions(make_shards(np.array([9, 9, 9, 9, 1, 1, 1, 1]), np.array([0, 8]), 2, 2))[2:] == [[4], [5]]


def test_one_thread_has_nothing_to_spare():
    assert positions(make_shards(np.arange(5), np.array([0, 5]), 1, 4)) == [[4, 3, 2, 1, 0]]


def shared(cost, may_share, n_threads, ptr=None):
    """Positions that all workers share, step by step."""
    shards = make_shards(np.array(cost), np.array([0, len(cost)] if ptr is None else ptr), n_threads, 0, np.array(may_share, bool))
    return [shards.order[begin:end].tolist() for begin, end in zip(shards.ptr[:, -1], shards.ends, strict=True)]


def test_a_position_that_costs_more_than_its_share_of_a_step_is_shared():
    assert shared([10, 70, 10, 10], [True] * 4, 2) == [[1]]
    assert shared([10, 70, 10, 10], [True, False, True, True], 2) == [[]]
    assert shared([30, 50, 10, 10], [True] * 4, 2) == [[]]


def test_what_is_left_of_a_step_is_shared_by_the_same_rule():
    assert shared([60, 1, 1, 900], [True] * 4, 2) == [[3, 0]]


def test_every_step_shares_for_itself():
    assert shared([9, 1, 9, 8, 90], [True, False, True, True, True], 2, ptr=[0, 2, 4, 5]) == [[0], [], [4]]


def test_one_thread_shares_nothing():
    assert shared([10, 1], [False, False], 1) == [[]]


def test_positions_that_are_not_shared_are_in_one_shard():
    shards = make_shards(np.array([90, 2, 3, 4]), np.array([0, 4]), 2, 0, np.array([True] * 4))
    assert sorted(shards.order.tolist()) == [0, 1, 2, 3]
    assert shards.order[shards.ptr[0, -1] :].tolist() == [0] and shards.ptr[0, 0] == 0


@pytest.mark.parametrize(("graphs", "steps", "expected"), [(1, 1, 1), (3, 1, 3), (100, 1, 6), (16, 8, 2), (4, 8, 1), (0, 0, 1)])
def test_no_more_threads_than_a_step_is_worth(graphs, steps, expected, monkeypatch):
    monkeypatch.setattr(threads, "PAIRS_A_THREAD", 500)
    assert threads_worth(np.full(graphs, 500), steps, 6) == expected


# Rounds ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 4])
def test_every_worker_works_once(threads):
    done = []
    run_workers(lambda number, cells, this_round: done.append(number), threads)
    assert sorted(done) == list(range(threads))


def test_the_first_worker_is_the_caller_and_the_others_have_threads_of_their_own():
    threads = {}
    run_workers(lambda number, cells, this_round: threads.update({number: get_ident()}), 3)
    assert threads[0] == get_ident()
    assert len(set(threads.values())) == 3


def test_same_workers_come_again():
    seen = set()
    for _ in range(5):
        run_workers(lambda number, cells, this_round: seen.add(current_thread()), 2)
    assert len(seen) == 2


def test_rounds_are_counted_and_the_same_for_all():
    team, seen = Team(3), []
    for _ in range(4):
        run(team, lambda number, cells, this_round: seen.append(this_round))
    assert seen == sorted([1, 2, 3, 4] * 3)


@pytest.mark.parametrize("threads", [2, 3])
def test_many_rounds_in_quick_succession_are_all_worked_on(threads):
    assert run_rounds(np.zeros(threads * STRIDE, np.int64), 200) == [200] * threads


def test_rounds_of_work_that_sets_no_cells_are_all_worked_on():
    counts = [0, 0, 0]

    def work(number, cells, this_round):
        counts[number] += 1

    for _ in range(200):
        run_workers(work, 3)
    assert counts == [200] * 3


def test_rounds_after_a_pause_wake_the_workers():
    assert run_rounds(np.zeros(2 * STRIDE, np.int64), 4, pause=PARKED) == [4, 4]


def test_rounds_about_when_workers_park_are_all_worked_on():
    counts = np.zeros(2 * STRIDE, np.int64)
    for pause in np.linspace(0.2e-3, 4e-3, 40):
        run_rounds(counts, 1, pause)
    assert counts[::STRIDE].tolist() == [40, 40]


def test_leader_waits_for_a_worker_that_takes_long():
    done = []

    def work(number, cells, this_round):
        if number:
            time.sleep(0.02)
            done.append(number)

    run_workers(work, 2)
    assert done == [1]


def test_worker_waits_for_a_leader_that_takes_long():
    counts = np.zeros(2 * STRIDE, np.int64)

    def work(number, cells, this_round):
        if number == 0:
            time.sleep(0.02)
        count(cells, number, this_round, counts)

    for _ in range(3):
        run_workers(work, 2)
    assert counts[::STRIDE].tolist() == [3, 3]


def test_teams_of_several_sizes_take_turns():
    counts = {threads: np.zeros(threads * STRIDE, np.int64) for threads in (1, 2, 3)}
    for _ in range(20):
        for own_counts in counts.values():
            run_rounds(own_counts, 1)
    assert [own_counts[::STRIDE].tolist() for own_counts in counts.values()] == [[20], [20] * 2, [20] * 3]


def test_several_threads_lead_teams_of_their_own():
    counts = [np.zeros(2 * STRIDE, np.int64) for _ in range(3)]
    leaders = [Thread(target=run_rounds, args=(own_counts, 50), daemon=True) for own_counts in counts]
    for leader in leaders:
        leader.start()
    for leader in leaders:
        leader.join(60)
    assert [own_counts[::STRIDE].tolist() for own_counts in counts] == [[50, 50]] * 3


# Errors ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("bad", [0, 1, 3])
def test_error_in_any_thread_comes_through(bad):
    def work(number, cells, this_round):
        if number == bad:
            raise ValueError(f"shard {number}")

    with pytest.raises(ValueError, match=f"shard {bad}"):
        run_workers(work, 4)


@pytest.mark.parametrize("bad", [0, 1])
@pytest.mark.parametrize("pause", [0, PARKED])
def test_threads_work_on_after_an_error(bad, pause):
    def fail(number, cells, this_round):
        if number == bad:
            raise ZeroDivisionError
        count(cells, number, this_round, np.zeros(2 * STRIDE, np.int64))

    for _ in range(3):
        with pytest.raises(ZeroDivisionError):
            run_workers(fail, 2)
        time.sleep(pause)
        assert run_rounds(np.zeros(2 * STRIDE, np.int64), 5) == [5, 5]


def test_workers_are_done_before_an_error_of_the_leader_comes_through():
    begun, done = Event(), []

    def work(number, cells, this_round):
        if number == 0:
            begun.wait(10)
            raise ZeroDivisionError
        begun.set()
        time.sleep(0.02)
        done.append(number)

    with pytest.raises(ZeroDivisionError):
        run_workers(work, 2)
    assert done == [1]


def test_error_of_the_leader_comes_first():
    def work(number, cells, this_round):
        raise ValueError(f"shard {number}")

    with pytest.raises(ValueError, match="shard 0"):
        run_workers(work, 2)


@pytest.mark.parametrize("pause", [0, PARKED])
def test_round_that_was_interrupted_before_all_had_begun_does_not_upset_the_next_ones(pause, monkeypatch):
    team, counts = Team(3), np.zeros(3 * STRIDE, np.int64)
    run(team, Work())
    with monkeypatch.context() as patch:
        patch.setattr(team._workers[1], "start", interrupt)
        with pytest.raises(KeyboardInterrupt):
            run(team, Work())
    time.sleep(pause)
    for number in range(1, 101):
        run(team, lambda number, cells, this_round: count(cells, number, this_round, counts))
        assert counts[::STRIDE].tolist() == [number] * 3


def interrupt(given):
    raise KeyboardInterrupt


# What stays behind ----------------------------------------------------------------------------------------------------


class Work:
    """Work that holds memory."""

    def __call__(self, number, cells, this_round):
        pass


def test_work_that_is_done_is_let_go():
    work = Work()
    run_workers(work, 2)
    held = weakref.ref(work)
    del work
    time.sleep(PARKED)
    gc.collect()
    assert held() is None


def living_workers():
    return [thread for thread in threading.enumerate() if thread.name == "phist"]


def wait_until(condition):
    for _ in range(400):
        if condition():
            return True
        time.sleep(0.05)
    return condition()


def fail(number, cells, this_round):
    raise ZeroDivisionError


@pytest.mark.parametrize("work", [Work(), fail], ids=["done", "failed"])
def test_workers_end_with_the_thread_that_led_them(work):
    def lead():
        for _ in range(2):
            with contextlib.suppress(ZeroDivisionError):
                run_workers(work, 3)

    before = len(living_workers())
    leaders = [Thread(target=lead) for _ in range(5)]
    for leader in leaders:
        leader.start()
    for leader in leaders:
        leader.join()
    del leader, leaders
    gc.collect()  # a traceback and its frame hold each other
    assert wait_until(lambda: len(living_workers()) == before)


def test_workers_end_with_a_team_that_nobody_has_any_more():
    before, team = len(living_workers()), Team(4)
    run(team, Work())
    assert len(living_workers()) == before + 3
    del team
    assert wait_until(lambda: len(living_workers()) == before)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system has no fork")
def test_a_forked_process_finds_workers_of_its_own():
    run_workers(Work(), 2)
    child = os.fork()
    if child == 0:
        done = []
        run_workers(lambda number, cells, this_round: done.append(number), 2)
        os._exit(0 if sorted(done) == [0, 1] else 1)
    for _ in range(200):
        ended, status = os.waitpid(child, os.WNOHANG)
        if ended:
            break
        time.sleep(0.05)
    else:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)
        pytest.fail("the child waits for workers that it does not have")
    assert os.waitstatus_to_exitcode(status) == 0


# The end of a program -------------------------------------------------------------------------------------------------

PROGRAM = """
import atexit

atexit.register(lambda: print(all(worker._is_parked for worker in threads._workers)))  # the first to come is the last to go

import numba
from phist.engine import barrier, threads

barrier.WORKER_LOOKS = 10_000_000  # some tenths of a second


@numba.njit(nogil=True)
def work(this_round, number, cells):
    barrier.begin_round(cells, number, this_round)
    barrier.end_round(cells, number, this_round)


for _ in range(3):
    threads.team_of(3).run(work, lambda *own: own)
"""


def test_program_ends_when_its_workers_are_parked():
    """One that came back from compiled code to an interpreter which is gone would bring the program down."""
    ended = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=False)
    assert (ended.returncode, ended.stdout.strip()) == (0, "True"), ended.stderr


def test_workers_are_parked_when_they_were_asked_to():
    run_rounds(np.zeros(3 * STRIDE, np.int64), 2)
    begin = time.perf_counter()
    threads._park_workers()
    assert all(worker._is_parked for worker in threads._workers)
    assert time.perf_counter() - begin < threads.PATIENCE
    assert run_rounds(np.zeros(3 * STRIDE, np.int64), 2) == [2, 2, 2]  # and they can be woken
