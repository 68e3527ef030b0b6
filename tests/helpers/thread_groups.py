"""Groups of threads that behave as processes do which torchrun has started: the same sums, without the seconds of a start."""

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np

from phist.training.group import Group


class ThreadGroup(Group):
    """One of several threads of a process."""

    def __init__(self, rank, size, barrier, board):
        super().__init__(rank, size)
        object.__setattr__(self, "barrier", barrier)
        object.__setattr__(self, "board", board)

    def _all(self, value):
        self.board[self.rank] = value
        self.barrier.wait()
        found = list(self.board)
        self.barrier.wait()
        return found

    def sum(self, values):
        return np.sum(self._all(values), axis=0)

    def agree(self, value):
        return self._all(value)[0]


def run_together(size, call):
    """``call(group)`` in as many threads; what each returns, by rank."""
    barrier, board = Barrier(size, timeout=120), [None] * size
    with ThreadPoolExecutor(size) as pool:
        return list(pool.map(call, [ThreadGroup(rank, size, barrier, board) for rank in range(size)]))
