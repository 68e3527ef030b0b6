"""Work on several threads at once, within the one budget that torch's operations have too."""

from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import cache

import numpy as np
from numpy.typing import NDArray


def run_shares(work: Callable[[int], None], count: int) -> None:
    """``work(0)`` on this thread and the others beside it; compiled code leaves the interpreter free meanwhile."""
    others = [_pool().submit(work, number) for number in range(1, count)]
    work(0)
    for other in others:
        other.result()


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


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(64, thread_name_prefix="phist")
