"""Chebyshev recursions on rows of signals, in place.

A row holds ``order`` blocks of ``width`` numbers. The operator is sparse rows: ``indptr[first]``, ``indptr[first + 1]``, ...
count from ``entry`` in ``indices`` and from ``value`` in ``values``; column numbers count from the signal's first row.
"""

from typing import Any

from phist.engine.vectors import LANES, apart, fma, inner, load, single, splat, spread, store


@inner
def grow_terms(
    x: Any, at: int, n: int, order: int, width: int, indptr: Any, first: int, indices: Any, entry: int, values: Any, value: int
) -> None:
    """From T_0 x in each row's first block to T_1 x, ..., T_(order-1) x in the others."""
    apart()
    stride = order * width
    for k in range(1, order):
        for row in range(n):
            begin, end = indptr[first + row], indptr[first + row + 1]
            to = at + row * stride + k * width
            for block in range(0, width, LANES):
                source = at + (k - 1) * width + block
                total = splat(single(0.0))
                for number in range(begin, end):
                    total = fma(spread(values, value + number), load(x, source + indices[entry + number] * stride), total)
                if k > 1:
                    total = total + total - load(x, to - 2 * width + block)
                store(x, to + block, total)


@inner
def fold_terms(
    x: Any, at: int, n: int, order: int, width: int, indptr: Any, first: int, indices: Any, entry: int, values: Any, value: int
) -> None:
    """The adjoint of `grow_terms`, and Clenshaw's sum: a row's first block becomes the sum of T_k of its k-th blocks."""
    apart()
    stride = order * width
    for k in range(order - 1, 0, -1):
        double = splat(single(2.0) if k > 1 else single(1.0))
        for row in range(n):
            begin, end = indptr[first + row], indptr[first + row + 1]
            to = at + row * stride + (k - 1) * width
            for block in range(0, width, LANES):
                source = at + k * width + block
                total = splat(single(0.0))
                for number in range(begin, end):
                    total = fma(spread(values, value + number), load(x, source + indices[entry + number] * stride), total)
                store(x, to + block, fma(double, total, load(x, to + block)))
                if k > 1:
                    before = to - width + block
                    store(x, before, load(x, before) - load(x, to + width + block))


@inner
def impulse_terms(
    x: Any, at: int, n: int, order: int, indptr: Any, first: int, indices: Any, entry: int, values: Any, value: int
) -> None:
    """T_k of an impulse in the first of ``n`` rows: numbers instead of blocks; rows from ``n`` on are out of its reach."""
    for place in range(at, at + n * order):
        x[place] = single(0.0)
    x[at] = single(1.0)
    for k in range(1, order):
        for row in range(n):
            total = single(0.0)
            for number in range(indptr[first + row], indptr[first + row + 1]):
                source = indices[entry + number]
                if source < n:
                    total += values[value + number] * x[at + source * order + k - 1]
            to = at + row * order + k
            x[to] = total if k == 1 else total + total - x[to - 2]


@inner
def scatter_impulses(terms: Any, at: int, n: int, order: int, lanes: int, u: Any, to: int) -> None:
    """From terms of several impulses side by side, (rows, order, LANES), to those of each, (lanes, rows, order)."""
    for lane in range(lanes):
        for number in range(n * order):
            u[to + lane * n * order + number] = terms[at + number * LANES + lane]
