"""Work on several threads at once, within the one budget that torch's operations have too."""

import os
import time
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread, local
from typing import Any, NamedTuple

import numpy as np

from phist.engine.signals import APART, make_signals
from phist.engine.vectors import compiled

NAP = 5e-5  # seconds between looks at a helper that takes longer


class Shares(NamedTuple):
    """What each thread does."""

    order: Any  # positions, those of each thread together
    ptr: Any  # (threads + 1)


_own = local()  # the teams of each thread that leads some


def _forget_teams() -> None:
    """A forked process has the teams of its parent but none of their helpers."""
    _own.__dict__.clear()


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
        for helper in self._helpers:
            helper.start(self.round, work)
        try:
            work(0)
        finally:
            self.signals[0] = self.round  # unless compiled code has announced it
            for helper in self._helpers:
                helper.wait()
        for helper in self._helpers:
            if helper.error is not None:
                raise helper.error


def _rest(number: int) -> None:
    """What a helper is given while there is nothing to do."""


class _Helper:
    """A thread that does its share of every round; between rounds it watches for the next, and soon goes to sleep."""

    def __init__(self, team: Team, number: int) -> None:
        self.error: BaseException | None = None
        self._signals, self._number = team.signals, number
        self._given: tuple[int, Callable[[int], None]] = 0, _rest  # round and work in one, so that nobody sees half of it
        self._done, self._is_asleep = 0, False
        self._wake: SimpleQueue[None] = SimpleQueue()
        Thread(target=self._serve, daemon=True, name="phist").start()

    def start(self, this_round: int, work: Callable[[int], None]) -> None:
        self.error = None
        self._given = this_round, work  # before a look at whether it sleeps: it looks at this after lying down
        if self._is_asleep:
            self._wake.put(None)

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
def share_out(cost: Any, threads: int) -> Shares:
    """The costly first, always to the thread with the least so far."""
    count = max(1, min(threads, len(cost)))
    loads, thread, ptr = np.zeros(count, np.int64), np.empty(len(cost), np.int64), np.zeros(count + 1, np.int64)
    by_cost = np.argsort(-cost, kind="mergesort")
    for position in by_cost:
        lightest = 0
        for other in range(1, count):
            if loads[other] < loads[lightest]:
                lightest = other
        thread[position] = lightest
        loads[lightest] += cost[position]
        ptr[lightest + 1] += 1
    for number in range(count):
        ptr[number + 1] += ptr[number]
    order, filled = np.empty(len(cost), np.int64), ptr.copy()
    for position in by_cost:
        order[filled[thread[position]]] = position
        filled[thread[position]] += 1
    return Shares(order, ptr)
