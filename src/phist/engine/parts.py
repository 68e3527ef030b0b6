"""Parts: the roots of a large graph shared out among all workers, and what they tell each other of them.

Roots are independent of each other but for the whitening, which is one for all: its mean and variance are sums over the roots, and
so are their gradients. Every worker adds up those of its own parts; after a barrier each adds those of all, in the same order.
There are as many parts as threads, also where fewer workers do the work of all.
"""

from typing import Any, NamedTuple

from phist.engine.barrier import n_threads_of
from phist.engine.jit import inner
from phist.engine.views import stretch
from phist.engine.whitening import merge_moments
from phist.engine.work import meet


class Parts(NamedTuple):
    """The parts that a worker computes of a graph's roots."""

    first: int
    end: int
    step: int
    n: int  # parts of all workers; with one only, a worker has the graph for itself
    beside: int  # roots that stay together


@inner
def one_part(number: int) -> Parts:
    """All roots; their gradient is that of shard ``number``."""
    return Parts(number, number + 1, 1, 1, 1)


@inner
def own_parts(job: Any, graph: int) -> Parts:
    """Those of this worker of a graph that all share."""
    n = len(job.work.exchange.moments)
    return Parts(job.number, n, n_threads_of(job.cells), n, job.plan.beside[graph])


@inner
def _roots_of(parts: Parts, number: int, n_roots: int) -> tuple[int, int]:
    """Where the roots of a part begin and end."""
    if parts.n == 1:
        return 0, n_roots
    groups = (n_roots + parts.beside - 1) // parts.beside
    begin, end = groups * number // parts.n * parts.beside, groups * (number + 1) // parts.n * parts.beside
    return min(begin, n_roots), min(end, n_roots)


@inner
def count_roots(parts: Parts, n_roots: int) -> int:
    """How many of the roots are in these parts."""
    count = 0
    for number in range(parts.first, parts.end, parts.step):
        begin, end = _roots_of(parts, number, n_roots)
        count += end - begin
    return count


@inner
def next_roots(parts: Parts, n_roots: int, done: int) -> tuple[int, int, int]:
    """The part that comes after ``done`` roots of these parts, and which of its roots come then: from the first to the end."""
    number = parts.first
    begin, end = _roots_of(parts, number, n_roots)
    while done >= end - begin and number + parts.step < parts.end:
        done -= end - begin
        number += parts.step
        begin, end = _roots_of(parts, number, n_roots)
    return number, begin + done, end


@inner
def moments_of(job: Any, parts: Parts, number: int, moments: Any) -> Any:
    """Where those of a part are added up: ``moments`` themselves where there is one only."""
    shared = job.work.exchange.moments
    size = shared.shape[1]
    return moments if parts.n == 1 else stretch(shared, number * size, size)


@inner
def sums_of(job: Any, parts: Parts, number: int, sums: Any) -> Any:
    """Likewise for gradients of mean and variance."""
    shared = job.work.exchange.sums
    size = shared.shape[1]
    return sums if parts.n == 1 else stretch(shared, number * size, size)


@inner
def clear_moments(job: Any, parts: Parts) -> None:
    """Those of these parts begin with zero."""
    moments = job.work.exchange.moments
    for number in range(parts.first, parts.end if parts.n > 1 else 0, parts.step):
        for c in range(moments.shape[1]):
            moments[number, c] = 0.0


@inner
def clear_sums(job: Any, parts: Parts) -> None:
    """Likewise; in the backward pass, since only then all workers have read those of the graph before."""
    sums = job.work.exchange.sums
    for number in range(parts.first, parts.end if parts.n > 1 else 0, parts.step):
        for c in range(sums.shape[1]):
            sums[number, c] = 0.0


@inner
def join_moments(job: Any, parts: Parts, moments: Any) -> None:
    """Those of all parts."""
    if parts.n > 1:
        meet(job)
        for number in range(parts.n):
            merge_moments(moments, moments_of(job, parts, number, moments))


@inner
def join_sums(job: Any, parts: Parts, sums: Any) -> None:
    """Those of all parts."""
    if parts.n > 1:
        meet(job)
        for number in range(parts.n):
            own = sums_of(job, parts, number, sums)
            for c in range(own.n):
                sums[c] += own[c]
