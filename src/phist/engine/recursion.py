"""Chebyshev recursions on rows of signals, in place.

A row of a signal holds ``order`` blocks of one width, for the terms T_0 x, T_1 x, ...
"""

from typing import Any, NamedTuple

from phist.engine.dense import fill
from phist.engine.jit import NO, YES, inner, never_inline
from phist.engine.simd import LANES, broadcast, fma, load, single, splat, store
from phist.engine.views import stretch

QUAD = 4  # entries of a row between pairs come in fours: its end is no surprise to the processor then
BESIDE = 4  # signals side by side: memory gives four lines of a place in about the time of two


class Operator(NamedTuple):
    """A sparse matrix on the rows of a signal."""

    indptr: Any  # (rows + 1)
    indices: Any  # (entries)
    values: Any  # (entries)


@inner
def _apply(x: Any, column: int, operator: Operator, row: int, in_fours: bool) -> Any:
    """A row of the operator times the vectors that begin at ``column`` of each row of x."""
    indices, values = operator.indices, operator.values
    begin, end = operator.indptr[row], operator.indptr[row + 1]
    total, other = splat(single(0.0)), splat(single(0.0))
    if in_fours:
        for at in range(begin, end, QUAD):
            total = fma(broadcast(values, at), load(x, indices[at], column), total)
            other = fma(broadcast(values, at + 1), load(x, indices[at + 1], column), other)
            total = fma(broadcast(values, at + 2), load(x, indices[at + 2], column), total)
            other = fma(broadcast(values, at + 3), load(x, indices[at + 3], column), other)
        return total + other
    for at in range(begin, end):
        total = fma(broadcast(values, at), load(x, indices[at], column), total)
    return total


@inner
def _apply_beside(x: Any, column: int, operator: Operator, row: int) -> Any:
    """`_apply` on `BESIDE` signals: each neighbour's row is read once, and all that is wanted of it."""
    indices, values, apart = operator.indices, operator.values, x.width // BESIDE
    zero = splat(single(0.0))
    a, b, c, d = zero, zero, zero, zero
    for at in range(operator.indptr[row], operator.indptr[row + 1]):
        value, source = broadcast(values, at), indices[at]
        a = fma(value, load(x, source, column), a)
        b = fma(value, load(x, source, column + apart), b)
        c = fma(value, load(x, source, column + 2 * apart), c)
        d = fma(value, load(x, source, column + 3 * apart), d)
    return a, b, c, d


@inner
def _store_term(x: Any, row: int, block: int, k: int, width: int, total: Any) -> None:
    """T_k from the operator times T_(k-1)."""
    if k > 1:
        total = total + total - load(x, row, block - 2 * width)
    store(x, row, block, total)


@inner
def _next_term(x: Any, n: int, k: int, width: int, operator: Operator, in_fours: bool) -> None:
    """T_k of the first ``n`` rows from the terms before it."""
    for row in range(n):
        for block in range(k * width, (k + 1) * width, LANES):
            _store_term(x, row, block, k, width, _apply(x, block - width, operator, row, in_fours))


@inner
def _next_term_beside(x: Any, k: int, width: int, operator: Operator) -> None:
    apart = x.width // BESIDE
    for row in range(x.n):
        for block in range(k * width, (k + 1) * width, LANES):
            a, b, c, d = _apply_beside(x, block - width, operator, row)
            _store_term(x, row, block, k, width, a)
            _store_term(x, row, block + apart, k, width, b)
            _store_term(x, row, block + 2 * apart, k, width, c)
            _store_term(x, row, block + 3 * apart, k, width, d)


@inner
def chebyshev_terms(x: Any, order: int, operator: Operator) -> None:
    """From T_0 x in each row's first block to T_1 x, ..., T_(order-1) x in the others."""
    never_inline()
    width = x.width // order
    for k in range(1, order):
        _next_term(x, x.n, k, width, operator, NO)


@inner
def chebyshev_terms_beside(x: Any, order: int, operator: Operator) -> None:
    """`chebyshev_terms` of `BESIDE` signals, whose blocks follow one another in a row."""
    never_inline()
    for k in range(1, order):
        _next_term_beside(x, k, x.width // (BESIDE * order), operator)


@inner
def ball_terms(x: Any, order: int, reached: Any, operator: Operator) -> None:
    """`chebyshev_terms` on a ball, where only the first ``reached[k]`` rows can have a T_k that is not zero."""
    never_inline()
    width = x.width // order
    for k in range(1, order):
        _next_term(x, reached[k], k, width, operator, YES)
        for row in range(reached[k], x.n):
            fill(stretch(x, row * x.width + k * width, width), single(0.0))


@inner
def _store_sum(x: Any, row: int, block: int, k: int, width: int, total: Any) -> None:
    """The operator times a k-th block belongs, twice but for the first, to the block before; less that block, to the one ahead."""
    double = splat(single(2.0) if k > 1 else single(1.0))
    store(x, row, block, fma(double, total, load(x, row, block)))
    if k > 1:
        store(x, row, block - width, load(x, row, block - width) - load(x, row, block + width))


@inner
def _clenshaw_term(x: Any, n: int, k: int, width: int, operator: Operator, in_fours: bool) -> None:
    """Add what the k-th blocks of the first ``n`` rows mean to the blocks before them."""
    for row in range(n):
        for block in range((k - 1) * width, k * width, LANES):
            _store_sum(x, row, block, k, width, _apply(x, block + width, operator, row, in_fours))


@inner
def _clenshaw_term_beside(x: Any, k: int, width: int, operator: Operator) -> None:
    apart = x.width // BESIDE
    for row in range(x.n):
        for block in range((k - 1) * width, k * width, LANES):
            a, b, c, d = _apply_beside(x, block + width, operator, row)
            _store_sum(x, row, block, k, width, a)
            _store_sum(x, row, block + apart, k, width, b)
            _store_sum(x, row, block + 2 * apart, k, width, c)
            _store_sum(x, row, block + 3 * apart, k, width, d)


@inner
def chebyshev_sum_beside(x: Any, order: int, operator: Operator) -> None:
    """`chebyshev_sum` of `BESIDE` signals; the backward form of `chebyshev_terms_beside`."""
    never_inline()
    for k in range(order - 1, 0, -1):
        _clenshaw_term_beside(x, k, x.width // (BESIDE * order), operator)


@inner
def chebyshev_sum(x: Any, order: int, operator: Operator) -> None:
    """Clenshaw's sum: a row's first block becomes the sum of T_k of the k-th blocks; the backward form of `chebyshev_terms`."""
    never_inline()
    width = x.width // order
    for k in range(order - 1, 0, -1):
        _clenshaw_term(x, x.n, k, width, operator, NO)


@inner
def ball_sum(x: Any, order: int, reached: Any, operator: Operator) -> None:
    """The backward form of `ball_terms`; first blocks of rows past ``reached[0]`` are left as they are."""
    never_inline()
    width = x.width // order
    for k in range(order - 1, 0, -1):
        _clenshaw_term(x, reached[k - 1], k, width, operator, YES)


@inner
def impulse_terms(u: Any, reached: Any, operator: Operator) -> None:
    """T_k of an impulse in the first row of a ball: numbers instead of blocks, (rows, order)."""
    indptr, indices, values, order = operator.indptr, operator.indices, operator.values, u.width
    for at in range(u.n * order):
        u[at] = single(0.0)
    u[0] = single(1.0)
    for k in range(1, order):
        for row in range(reached[k]):
            total = single(0.0)
            for at in range(indptr[row], indptr[row + 1]):
                total += values[at] * u[indices[at] * order + k - 1]
            to = row * order + k
            u[to] = total if k == 1 else total + total - u[to - 2]


@inner
def scatter_impulses(terms: Any, lanes: int, beside: int, u: Any) -> None:
    """From terms of several impulses side by side, (rows, order · LANES), to those of each, (lanes · rows, order).

    Args:
        beside: as many of the results are side by side; those that are too few come one after the other.
    """
    n, order, n_beside = terms.n, u.width, lanes // beside * beside
    for lane in range(lanes):
        step = beside if lane < n_beside else 1
        first = lane // step * step
        for row in range(n):
            to, source = (first * n + row * step + lane - first) * order, row * terms.width + lane
            for k in range(order):
                u[to + k] = terms[source + k * LANES]
