"""Chebyshev recursions on rows of signals, in place.

A row holds ``order`` blocks of ``width`` numbers. The operator is sparse rows: ``indptr[first]``, ``indptr[first + 1]``, ...
count from ``entry`` in ``indices`` and from ``value`` in ``values``; column numbers count from the signal's first row.
"""

from typing import Any

from phist.engine.dense import fill
from phist.engine.jit import inner, never_inline
from phist.engine.simd import LANES, broadcast, fma, load, single, splat, store

QUAD = 4  # entries of a row between pairs come in fours: its end is no surprise to the processor then


@inner
def _apply(
    x: Any, source: int, stride: int, indptr: Any, at: int, indices: Any, entry: int, values: Any, value: int, in_fours: bool
) -> Any:
    """A row of the operator times the blocks that begin at ``x[source]``."""
    begin, end = indptr[at], indptr[at + 1]
    total, other = splat(single(0.0)), splat(single(0.0))
    if in_fours:
        for number in range(begin, end, QUAD):
            index, to = entry + number, value + number
            total = fma(broadcast(values, to), load(x, source + indices[index] * stride), total)
            other = fma(broadcast(values, to + 1), load(x, source + indices[index + 1] * stride), other)
            total = fma(broadcast(values, to + 2), load(x, source + indices[index + 2] * stride), total)
            other = fma(broadcast(values, to + 3), load(x, source + indices[index + 3] * stride), other)
        return total + other
    for number in range(begin, end):
        total = fma(broadcast(values, value + number), load(x, source + indices[entry + number] * stride), total)
    return total


@inner
def _next_term(
    x: Any, at: int, n: int, k: int, order: int, width: int, indptr: Any, first: int, indices: Any, entry: int, values: Any,
    value: int, in_fours: bool,
) -> None:  # fmt: skip
    """T_k of ``n`` rows from the terms before it."""
    stride = order * width
    for row in range(n):
        to = at + row * stride + k * width
        for block in range(0, width, LANES):
            total = _apply(x, at + (k - 1) * width + block, stride, indptr, first + row, indices, entry, values, value, in_fours)
            if k > 1:
                total = total + total - load(x, to - 2 * width + block)
            store(x, to + block, total)


@inner
def chebyshev_terms(
    x: Any, at: int, n: int, order: int, width: int, indptr: Any, first: int, indices: Any, entry: int, values: Any, value: int
) -> None:
    """From T_0 x in each row's first block to T_1 x, ..., T_(order-1) x in the others."""
    never_inline()
    for k in range(1, order):
        _next_term(x, at, n, k, order, width, indptr, first, indices, entry, values, value, False)


@inner
def ball_terms(
    x: Any, at: int, reached: int, order: int, width: int, integers: Any, first: int, entry: int, value: int, n: int
) -> None:
    """`chebyshev_terms` on a ball of ``n`` rows, where only the first ``integers[reached + k]`` can have a T_k that is not zero."""
    never_inline()
    for k in range(1, order):
        within = integers[reached + k]
        _next_term(x, at, within, k, order, width, integers, first, integers, entry, x, value, True)
        for row in range(within, n):
            fill(x, at + (row * order + k) * width, width, single(0.0))


@inner
def _next_term_backward(
    x: Any, at: int, n: int, k: int, order: int, width: int, indptr: Any, first: int, indices: Any, entry: int, values: Any,
    value: int, in_fours: bool,
) -> None:  # fmt: skip
    stride, double = order * width, splat(single(2.0) if k > 1 else single(1.0))
    for row in range(n):
        to = at + row * stride + (k - 1) * width
        for block in range(0, width, LANES):
            total = _apply(x, at + k * width + block, stride, indptr, first + row, indices, entry, values, value, in_fours)
            store(x, to + block, fma(double, total, load(x, to + block)))
            if k > 1:
                before = to - width + block
                store(x, before, load(x, before) - load(x, to + width + block))


@inner
def chebyshev_terms_backward(
    x: Any, at: int, n: int, order: int, width: int, indptr: Any, first: int, indices: Any, entry: int, values: Any, value: int
) -> None:
    """The adjoint of `chebyshev_terms`, and Clenshaw's sum: a row's first block becomes the sum of T_k of its k-th blocks."""
    never_inline()
    for k in range(order - 1, 0, -1):
        _next_term_backward(x, at, n, k, order, width, indptr, first, indices, entry, values, value, False)


@inner
def ball_terms_backward(
    x: Any, at: int, reached: int, order: int, width: int, integers: Any, first: int, entry: int, value: int
) -> None:
    """The adjoint of `ball_terms`; first blocks of rows past ``integers[reached]`` are left as they are."""
    never_inline()
    for k in range(order - 1, 0, -1):
        _next_term_backward(x, at, integers[reached + k - 1], k, order, width, integers, first, integers, entry, x, value, True)


@inner
def impulse_terms(x: Any, at: int, n: int, hops: int, order: int, integers: Any, first: int, entry: int, value: int) -> None:
    """T_k of an impulse in the first of a ball's ``n`` rows: numbers instead of blocks."""
    for index in range(at, at + n * order):
        x[index] = single(0.0)
    x[at] = single(1.0)
    for k in range(1, order):
        for row in range(integers[hops + k]):
            total = single(0.0)
            for number in range(integers[first + row], integers[first + row + 1]):
                total += x[value + number] * x[at + integers[entry + number] * order + k - 1]
            to = at + row * order + k
            x[to] = total if k == 1 else total + total - x[to - 2]


@inner
def scatter_impulses(terms: Any, at: int, n: int, order: int, lanes: int, u: Any, to: int) -> None:
    """From terms of several impulses side by side, (rows, order, LANES), to those of each, (lanes, rows, order)."""
    for lane in range(lanes):
        for number in range(n * order):
            u[to + lane * n * order + number] = terms[at + number * LANES + lane]
