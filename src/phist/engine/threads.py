"""Work on several threads at once, within the one budget that torch's operations have too."""

import atexit
import os
import time
import weakref
from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread, local
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phist.engine.barrier import ABANDONED, abandon, make_cells, publish, reset_barriers, workers_done
from phist.engine.jit import compiled

PAUSE = 5e-5  # seconds between looks at workers that take longer
SPARE_SIZE = 0.04  # part of a step's cost in a spare shard: workers end about so much apart
PAIRS_A_THREAD = 500  # in a step, some tenths of a millisecond: for less, waiting for each other takes what a thread gains
SHARED_FROM = 1.2  # times what a thread should have of a step: a graph that costs more is shared, root by root
PATIENCE = 1.0  # seconds that the end of the program waits for workers to park

Function = Callable[..., None]
ArgumentsOf = Callable[[int, Any], tuple[Any, ...]]  # of a worker by its number, and of the cells of the barriers
Given = tuple[int, Function, ArgumentsOf]  # a round, and what is called in it


class Shards(NamedTuple):
    """What is to be done, step by step: a shard for each worker, and small ones behind them for whoever is done first."""

    order: Any  # positions: step after step, and in a step those of each shard together
    ptr: Any  # (steps, shards + 1)
    ends: Any  # (steps): behind its shards, up to here, a step has graphs that all workers share


_workers: weakref.WeakSet["_Worker"] = weakref.WeakSet()  # of this process
_own = local()  # the teams of each thread that leads some; they end with it


def _forget_teams() -> None:
    """A forked process has the teams of its parent but none of their workers."""
    _own.__dict__.clear()
    _workers.clear()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_forget_teams)


class Team:
    """A thread and its workers, who compute together round after round; the workers end when nobody has the team any more."""

    def __init__(self, threads: int) -> None:
        self.cells = make_cells(threads)
        self.round = 0
        self._workers = [_Worker(self, number) for number in range(1, threads)]
        weakref.finalize(self, _dismiss, self._workers, os.getpid()).atexit = False  # at the end of the program they park

    def run(self, function: Function, arguments_of: ArgumentsOf) -> None:
        """``function(round, *arguments_of(number, cells))`` here, for number 0, and in each worker.

        Compiled code in it begins with `begin_round` and ends with `end_round`.
        """
        self.round += 1
        reset_barriers(self.cells)
        for worker in self._workers:
            worker.start((self.round, function, arguments_of))
        try:
            function(self.round, *arguments_of(0, self.cells))
        except BaseException:
            abandon(self.cells, 0)
            raise
        finally:
            publish(self.cells, 0, self.round)  # unless compiled code has announced it
            errors = self._wait()
        for error in errors:
            raise error

    def _wait(self) -> list[BaseException]:
        """Until all workers have done their work; what went wrong in them."""
        while not workers_done(self.cells, self.round):
            time.sleep(PAUSE)
        return [error for worker in self._workers if (error := worker.let_go()) is not None]


def _dismiss(workers: list["_Worker"], process: int) -> None:
    """The team is gone: nothing can come for its workers any more."""
    if os.getpid() == process:  # a forked one has none of these threads
        for worker in workers:
            worker.end()


def _rest(this_round: int) -> None:
    """What a worker is given while there is nothing to do."""


def _nothing(number: int, cells: Any) -> tuple[()]:
    return ()


@atexit.register
def _park_workers() -> None:
    """A thread that comes back from compiled code when the interpreter is gone would take the program down with it."""
    until = time.perf_counter() + PATIENCE
    for worker in list(_workers):
        while not worker.park() and time.perf_counter() < until:
            time.sleep(PAUSE)


class _Worker:
    """A thread that does its part of every round; between rounds it spins for the next, and soon parks."""

    def __init__(self, team: Team, number: int) -> None:
        self.error: BaseException | None = None
        self._cells, self._number = team.cells, number
        self._given: Given = 0, _rest, _nothing  # round and work in one, so that nobody sees half of it
        self._done, self._is_parked, self._has_ended = 0, False, False
        self._wake: SimpleQueue[None] = SimpleQueue()
        _workers.add(self)
        Thread(target=self._serve, daemon=True, name="phist").start()

    def start(self, given: Given) -> None:
        self.error = None
        self._given = given  # before a look at whether it is parked: it looks at this after it has parked
        if self._is_parked:
            self._wake.put(None)

    def let_go(self) -> BaseException | None:
        """Of the work, and of an error in it, which is returned: either would hold the team, so that it would never end."""
        self._given = self._given[0], _rest, _nothing
        error, self.error = self.error, None
        return error

    def park(self) -> bool:
        """Have it wait for nothing more; whether it is parked."""
        publish(self._cells, 0, ABANDONED)
        return self._is_parked

    def end(self) -> None:
        """Have its thread end, now or when it has done its work."""
        self._has_ended = True
        self._wake.put(None)

    def _serve(self) -> None:
        while not self._has_ended:
            self._is_parked = True
            while self._given[0] == self._done and not self._has_ended:
                self._wake.get()
            self._is_parked = False
            if self._given[0] != self._done:
                self._work()
        self._is_parked = True

    def _work(self) -> None:
        this_round, function, arguments_of = self._given
        try:
            function(this_round, *arguments_of(self._number, self._cells))
        except BaseException as error:
            self.error = error
            abandon(self._cells, self._number)
        del function, arguments_of
        self._done = this_round
        publish(self._cells, self._number, self._done)


def team_of(count: int) -> Team:
    """This thread's own team of ``count`` threads, itself among them."""
    teams: dict[int, Team] = _own.__dict__.setdefault("teams", {})
    if count not in teams:
        teams[count] = Team(count)
    return teams[count]


def threads_worth(cost: NDArray[np.int64], n_steps: int, threads: int) -> int:
    """How many of so many threads the work of a step is worth, given the cost of each graph."""
    return max(1, min(threads, int(cost.sum()) // (max(1, n_steps) * PAIRS_A_THREAD)))


def make_shards(
    cost: NDArray[np.int64], ptr: NDArray[np.int64], threads: int, spare: int, may_share: NDArray[np.bool_] | None = None
) -> Shards:
    """In every step the costly first, always to the shard that is the least full then; ``ptr`` says where steps begin and end.

    Args:
        spare: shards besides those of the workers, where there are several.
        may_share: positions that all workers may share, which they do where one alone would have too much of a step.
    """
    lengths, may_share = np.diff(ptr), np.zeros(len(cost), np.bool_) if may_share is None else may_share
    count = threads if may_share.any() else min(threads, int(lengths.max(initial=1)))
    spare = spare if count > 1 else 0
    sizes = np.full(count + spare, SPARE_SIZE)
    sizes[:count] = (1 - spare * SPARE_SIZE) / count
    by_cost = np.lexsort((-cost, np.repeat(np.arange(len(lengths)), lengths)))
    shards = Shards(np.empty(len(cost), np.int64), np.empty((len(lengths), len(sizes) + 1), np.int64), ptr[1:])
    n_shared = np.zeros(len(lengths), np.int64)
    _find_shared(ptr, by_cost, cost, may_share, SHARED_FROM / count, n_shared)
    loads = np.empty((2, len(sizes)), np.int64)
    _fill_shards((ptr, n_shared), by_cost, cost, sizes, shards, loads, np.empty(len(cost), np.int64))
    return shards


@compiled
def _find_shared(ptr: Any, by_cost: Any, cost: Any, may_share: Any, fraction: float, n_shared: Any) -> None:
    """How many of the costly of each step are shared: while one has more than a fraction of what is left."""
    for step in range(len(ptr) - 1):
        left = 0
        for rank in range(ptr[step], ptr[step + 1]):
            left += cost[by_cost[rank]]
        for rank in range(ptr[step], ptr[step + 1]):
            graph = by_cost[rank]
            if not may_share[graph] or cost[graph] <= fraction * left:
                break
            left -= cost[graph]
            n_shared[step] += 1


@compiled
def _fill_shards(steps: Any, by_cost: Any, cost: Any, sizes: Any, shards: Any, loads: Any, shard: Any) -> None:
    """``loads`` and ``shard`` are scratch: what each shard has got and how often, and the shard of each graph."""
    ptr, n_shared = steps
    for step in range(len(ptr) - 1):
        begin, end = ptr[step] + n_shared[step], ptr[step + 1]
        for number in range(len(sizes)):
            loads[0, number] = loads[1, number] = 0
        for rank in range(begin, end):
            graph, lightest = by_cost[rank], 0
            for other in range(1, len(sizes)):
                if (loads[0, other] + cost[graph]) * sizes[lightest] < (loads[0, lightest] + cost[graph]) * sizes[other]:
                    lightest = other
            shard[graph] = lightest
            loads[0, lightest] += cost[graph]
            loads[1, lightest] += 1
        shards.ptr[step, 0] = ptr[step]
        for number in range(len(sizes)):
            shards.ptr[step, number + 1] = shards.ptr[step, number] + loads[1, number]
            loads[1, number] = shards.ptr[step, number]
        for rank in range(begin, end):
            graph = by_cost[rank]
            shards.order[loads[1, shard[graph]]] = graph
            loads[1, shard[graph]] += 1
        for rank in range(n_shared[step]):
            shards.order[shards.ptr[step, len(sizes)] + rank] = by_cost[ptr[step] + rank]
