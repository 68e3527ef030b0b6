"""Work on several threads at once, within the one budget that torch's operations have too."""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread, local
from typing import Any, NamedTuple

import numpy as np

from phist.engine.vectors import compiled


class Shares(NamedTuple):
    """What each thread does."""

    order: Any  # positions, those of each thread together
    ptr: Any  # (threads + 1)


_own = local()  # the helpers of each thread that asks for some


class _Helper:
    """A thread that does what it is given; cheaper to wake than a pool's, which matters to steps of a millisecond."""

    def __init__(self) -> None:
        self._tasks: SimpleQueue[Callable[[], None]] = SimpleQueue()
        self._ends: SimpleQueue[BaseException | None] = SimpleQueue()
        Thread(target=self._serve, daemon=True, name="phist").start()

    def _serve(self) -> None:
        while True:
            task = self._tasks.get()
            try:
                task()
                self._ends.put(None)
            except BaseException as error:
                self._ends.put(error)

    def start(self, task: Callable[[], None]) -> None:
        self._tasks.put(task)

    def wait(self) -> BaseException | None:
        """Until the task is done; the error it ended with, if any."""
        return self._ends.get()


def run_shares(work: Callable[[int], None], count: int) -> None:
    """``work(0)`` on this thread and the others beside it; compiled code leaves the interpreter free meanwhile."""
    if count == 1:
        work(0)
        return
    helpers = _helpers(count - 1)
    for number, helper in enumerate(helpers, start=1):
        helper.start(lambda number=number: work(number))  # type: ignore[misc]
    try:
        work(0)
    finally:
        errors = [helper.wait() for helper in helpers]
    for error in errors:
        if error is not None:
            raise error


def _helpers(count: int) -> list[_Helper]:
    found: list[_Helper] = getattr(_own, "helpers", [])
    found += [_Helper() for _ in range(count - len(found))]
    _own.helpers = found
    return found[:count]


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
