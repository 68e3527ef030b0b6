"""Work on several threads at once, within the one budget that torch's operations have too."""

import atexit
import os
import time
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread, local
from typing import Any, NamedTuple
from weakref import WeakSet

import numpy as np

from phist.engine.signals import APART, NEVER_WAIT, excuse, make_signals, open_meetings
from phist.engine.vectors import compiled, inner

NAP = 5e-5  # seconds between looks at a helper that takes longer
SPARE_SIZE = 0.04  # part of a step's cost in a spare share: threads end about so much apart
PATIENCE = 1.0  # seconds that the end of the program waits for helpers to lie down


class Shares(NamedTuple):
    """What is to be done, step by step: a share for each thread, and small ones behind them for whoever is done first."""

    order: Any  # positions: step after step, and in a step those of each share together
    ptr: Any  # (steps, shares + 1)


_helpers: WeakSet["_Helper"] = WeakSet()  # of this process
_own = local()  # the teams of each thread that leads some


def _forget_teams() -> None:
    """A forked process has the teams of its parent but none of their helpers."""
    _own.__dict__.clear()
    _helpers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_teams)


class Team:
    """A thread and its helpers, who compute together round after round."""

    def __init__(self, threads: int) -> None:
        self.signals = make_signals(threads)
        self.round = 0
        self._helpers = [_Helper(self, number) for number in range(1, threads)]

    def run(self, work: Callable[[int], None]) -> None:
        """``work(0)`` here, and for each helper beside it; ``work`` ends with `begin_share` and `end_share` in compiled code."""
        self.round += 1
        open_meetings(self.signals)
        for helper in self._helpers:
            helper.start(self.round, work)
        try:
            work(0)
        except BaseException:
            excuse(self.signals, 0)
            raise
        finally:
            self.signals[0] = self.round  # unless compiled code has announced it
            for helper in self._helpers:
                helper.wait()
        for helper in self._helpers:
            if helper.error is not None:
                raise helper.error


def _rest(number: int) -> None:
    """What a helper is given while there is nothing to do."""


@atexit.register
def _lay_down_helpers() -> None:
    """A thread that comes back from compiled code when the interpreter is gone would take the program down with it."""
    until = time.perf_counter() + PATIENCE
    for helper in list(_helpers):
        while not helper.lie_down() and time.perf_counter() < until:
            time.sleep(NAP)


class _Helper:
    """A thread that does its share of every round; between rounds it watches for the next, and soon goes to sleep."""

    def __init__(self, team: Team, number: int) -> None:
        self.error: BaseException | None = None
        self._signals, self._number = team.signals, number
        self._given: tuple[int, Callable[[int], None]] = 0, _rest  # round and work in one, so that nobody sees half of it
        self._done, self._is_asleep = 0, False
        self._wake: SimpleQueue[None] = SimpleQueue()
        _helpers.add(self)
        Thread(target=self._serve, daemon=True, name="phist").start()

    def start(self, this_round: int, work: Callable[[int], None]) -> None:
        self.error = None
        self._given = this_round, work  # before a look at whether it sleeps: it looks at this after lying down
        if self._is_asleep:
            self._wake.put(None)

    def lie_down(self) -> bool:
        """Have it watch for nothing more; whether it sleeps."""
        self._signals[0] = NEVER_WAIT
        return self._is_asleep

    def wait(self) -> None:
        """Until it has done its share."""
        this_round, _ = self._given
        while self._signals[self._number * APART] < this_round:
            time.sleep(NAP)
        self._given = this_round, _rest  # lets go of the work and all that it holds

    def _serve(self) -> None:
        while True:
            self._is_asleep = True
            while self._given[0] == self._done:
                self._wake.get()
            self._is_asleep = False
            this_round, work = self._given
            try:
                work(self._number)
            except BaseException as error:
                self.error = error
                excuse(self._signals, self._number)
            del work
            self._done = this_round
            self._signals[self._number * APART] = self._done


def run_shares(work: Callable[[int, Any, int], None], count: int) -> None:
    """``work(number, signals, round)`` for each of ``count`` threads, this one among them."""
    teams: dict[int, Team] = _own.__dict__.setdefault("teams", {})
    if count not in teams:
        teams[count] = Team(count)
    team = teams[count]
    team.run(lambda number: work(number, team.signals, team.round))


@compiled
def share_out(cost: Any, steps: Any, threads: int, spare: int) -> Shares:
    """In every step the costly first, always to the share that is the least full then; ``steps`` are where steps begin and end.

    Args:
        spare: shares besides those of the threads, where there are several.
    """
    n_steps, most = len(steps) - 1, 1
    for step in range(n_steps):
        most = max(most, steps[step + 1] - steps[step])
    count = min(threads, most)
    spare = spare if count > 1 else 0
    sizes = np.full(count + spare, SPARE_SIZE)
    sizes[:count] = (1 - spare * SPARE_SIZE) / count
    order, ptr = np.empty(len(cost), np.int64), np.empty((n_steps, len(sizes) + 1), np.int64)
    for step in range(n_steps):
        _share_out_step(cost, steps[step], steps[step + 1], sizes, order, ptr[step])
    return Shares(order, ptr)


@inner
def _share_out_step(cost: Any, begin: int, end: int, sizes: Any, order: Any, ptr: Any) -> None:
    count = len(sizes)
    loads, share, filled = np.zeros(count, np.int64), np.empty(end - begin, np.int64), np.zeros(count, np.int64)
    by_cost = np.argsort(-cost[begin:end], kind="mergesort")
    for position in by_cost:
        lightest, own = 0, cost[begin + position]
        for other in range(1, count):
            if (loads[other] + own) * sizes[lightest] < (loads[lightest] + own) * sizes[other]:
                lightest = other
        share[position] = lightest
        loads[lightest] += cost[begin + position]
        filled[lightest] += 1
    ptr[0] = begin
    for number in range(count):
        ptr[number + 1] = ptr[number] + filled[number]
        filled[number] = ptr[number]
    for position in by_cost:
        order[filled[share[position]]] = begin + position
        filled[share[position]] += 1
