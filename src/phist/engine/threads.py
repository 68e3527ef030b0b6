"""Work on several threads at once, within the one budget that torch's operations have too."""

from collections.abc import Callable
from queue import SimpleQueue
from threading import Thread, local

import numpy as np
from numpy.typing import NDArray

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


def share_out(cost: NDArray[np.int64], threads: int) -> list[NDArray[np.int64]]:
    """Positions for each thread: the costly first, always to the thread with the least so far."""
    if threads == 1 or len(cost) == 1:
        return [np.arange(len(cost))]
    loads = [0] * min(threads, len(cost))
    shares: list[list[int]] = [[] for _ in loads]
    costs = cost.tolist()
    for position in np.argsort(-cost, kind="stable").tolist():
        lightest = loads.index(min(loads))
        shares[lightest].append(position)
        loads[lightest] += costs[position]
    return [np.array(share, np.int64) for share in shares]
