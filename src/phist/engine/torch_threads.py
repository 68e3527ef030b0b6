"""Torch's own threads: how many the engine may use, fewer while the engine works, and one in forked processes.

Torch's number of threads belongs to a thread, but whoever sets it sets it for all threads that begin later too. So nothing here
sets it in a process that may have several.
"""

import os
from contextlib import AbstractContextManager
from functools import cache
from typing import Any

import torch
from threadpoolctl import ThreadpoolController  # type: ignore[import-untyped]

from phist.cores import usable_cores

MAX_THREADS = 64


def thread_budget() -> int:
    """The number that torch has in this thread is the engine's too."""
    return min(torch.get_num_threads(), MAX_THREADS)


def workers_for(threads: int) -> int:
    """Threads that work at once where they wait for each other: one without a core would keep all others waiting.

    The work is shared out as for ``threads`` all the same, so that the result is that of a machine with as many cores.
    """
    return min(threads, usable_cores()) if threads > 1 else 1


def openmp_limit() -> AbstractContextManager[Any]:
    """One thread for OpenMP, which torch computes with, in this Python thread and until the end of the context."""
    limit: AbstractContextManager[Any] = _controller().limit(limits=1, user_api="openmp")
    return limit


@cache
def _controller() -> Any:
    return ThreadpoolController()


def _stay_alone() -> None:
    """A forked process has torch's pool of threads without the threads: waiting for them it would wait for ever."""
    torch.set_num_threads(1)


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_stay_alone)
