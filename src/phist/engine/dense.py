"""Products of tall, narrow matrices, in blocks that stay in registers.

A matrix is a flat array and the number where it begins; its width is a multiple of `LANES`. For the shapes of the network
(hundreds of rows, 16 to 48 columns) this is faster than a general library, which would first copy its operands into an
order of its own.
"""

from typing import Any

from phist.engine.jit import inner, never_inline
from phist.engine.simd import LANES, broadcast, fma, load, single, splat, store

TWO = 2 * LANES
SEGMENT = 128  # rows whose products are summed before the sum is added to others
ROWS = 6  # six rows by two vectors: twelve sums in registers, enough to hide the latency of an addition


@inner
def multiply(x: Any, x_at: int, n: int, depth: int, w: Any, w_at: int, width: int, y: Any, y_at: int) -> None:
    """Y = x w for x (n, depth), w (depth, width), y (n, width)."""
    never_inline()
    sixes = n // ROWS * ROWS
    for column in range(0, width - LANES, TWO):
        for row in range(0, sixes, ROWS):
            _six_rows(x, x_at + row * depth, depth, w, w_at + column, width, y, y_at + row * width + column)
        for row in range(sixes, n):
            _one_row(x, x_at + row * depth, depth, w, w_at + column, width, y, y_at + row * width + column)
            _one_row(x, x_at + row * depth, depth, w, w_at + column + LANES, width, y, y_at + row * width + column + LANES)
    if width % TWO:
        column = width - LANES
        for row in range(0, sixes, ROWS):
            _six_rows_narrow(x, x_at + row * depth, depth, w, w_at + column, width, y, y_at + row * width + column)
        for row in range(sixes, n):
            _one_row(x, x_at + row * depth, depth, w, w_at + column, width, y, y_at + row * width + column)


@inner
def _one_row(x: Any, at: int, depth: int, w: Any, w_at: int, width: int, y: Any, to: int) -> None:
    total = splat(single(0.0))
    for k in range(depth):
        total = fma(broadcast(x, at + k), load(w, w_at + k * width), total)
    store(y, to, total)


@inner
def _six_rows_narrow(x: Any, at: int, depth: int, w: Any, w_at: int, width: int, y: Any, to: int) -> None:
    zero = splat(single(0.0))
    a, b, c, d, e, f = zero, zero, zero, zero, zero, zero
    for k in range(depth):
        right = load(w, w_at + k * width)
        a = fma(broadcast(x, at + k), right, a)
        b = fma(broadcast(x, at + depth + k), right, b)
        c = fma(broadcast(x, at + 2 * depth + k), right, c)
        d = fma(broadcast(x, at + 3 * depth + k), right, d)
        e = fma(broadcast(x, at + 4 * depth + k), right, e)
        f = fma(broadcast(x, at + 5 * depth + k), right, f)
    store(y, to, a)
    store(y, to + width, b)
    store(y, to + 2 * width, c)
    store(y, to + 3 * width, d)
    store(y, to + 4 * width, e)
    store(y, to + 5 * width, f)


@inner
def _six_rows(x: Any, at: int, depth: int, w: Any, w_at: int, width: int, y: Any, to: int) -> None:
    zero = splat(single(0.0))
    a0, b0, c0, d0, e0, f0 = zero, zero, zero, zero, zero, zero
    a1, b1, c1, d1, e1, f1 = zero, zero, zero, zero, zero, zero
    for k in range(depth):
        left, right = load(w, w_at + k * width), load(w, w_at + k * width + LANES)
        value = broadcast(x, at + k)
        a0, a1 = fma(value, left, a0), fma(value, right, a1)
        value = broadcast(x, at + depth + k)
        b0, b1 = fma(value, left, b0), fma(value, right, b1)
        value = broadcast(x, at + 2 * depth + k)
        c0, c1 = fma(value, left, c0), fma(value, right, c1)
        value = broadcast(x, at + 3 * depth + k)
        d0, d1 = fma(value, left, d0), fma(value, right, d1)
        value = broadcast(x, at + 4 * depth + k)
        e0, e1 = fma(value, left, e0), fma(value, right, e1)
        value = broadcast(x, at + 5 * depth + k)
        f0, f1 = fma(value, left, f0), fma(value, right, f1)
    _store_two(y, to, a0, a1)
    _store_two(y, to + width, b0, b1)
    _store_two(y, to + 2 * width, c0, c1)
    _store_two(y, to + 3 * width, d0, d1)
    _store_two(y, to + 4 * width, e0, e1)
    _store_two(y, to + 5 * width, f0, f1)


@inner
def _store_two(y: Any, at: int, left: Any, right: Any) -> None:
    store(y, at, left)
    store(y, at + LANES, right)


@inner
def accumulate(x: Any, x_at: int, n: int, depth: int, y: Any, y_at: int, width: int, z: Any, z_at: int) -> None:
    """Z += x' y for x (n, depth), y (n, width), z (depth, width); in parts, since long sums of single numbers lose digits."""
    never_inline()
    for start in range(0, n, SEGMENT):
        rows = min(SEGMENT, n - start)
        _accumulate_rows(x, x_at + start * depth, rows, depth, y, y_at + start * width, width, z, z_at)


@inner
def _accumulate_rows(x: Any, x_at: int, n: int, depth: int, y: Any, y_at: int, width: int, z: Any, z_at: int) -> None:
    sixes = depth // ROWS * ROWS
    for column in range(0, width - LANES, TWO):
        for k in range(0, sixes, ROWS):
            _six_columns(x, x_at + k, n, depth, y, y_at + column, width, z, z_at + k * width + column)
        for k in range(sixes, depth):
            _one_column(x, x_at + k, n, depth, y, y_at + column, width, z, z_at + k * width + column)
            _one_column(x, x_at + k, n, depth, y, y_at + column + LANES, width, z, z_at + k * width + column + LANES)
    if width % TWO:
        column = width - LANES
        for k in range(0, sixes, ROWS):
            _six_columns_narrow(x, x_at + k, n, depth, y, y_at + column, width, z, z_at + k * width + column)
        for k in range(sixes, depth):
            _one_column(x, x_at + k, n, depth, y, y_at + column, width, z, z_at + k * width + column)


@inner
def _one_column(x: Any, x_at: int, n: int, depth: int, y: Any, y_at: int, width: int, z: Any, to: int) -> None:
    total = splat(single(0.0))
    for row in range(n):
        total = fma(broadcast(x, x_at + row * depth), load(y, y_at + row * width), total)
    store(z, to, load(z, to) + total)


@inner
def _six_columns_narrow(x: Any, x_at: int, n: int, depth: int, y: Any, y_at: int, width: int, z: Any, to: int) -> None:
    zero = splat(single(0.0))
    a, b, c, d, e, f = zero, zero, zero, zero, zero, zero
    for row in range(n):
        right, at = load(y, y_at + row * width), x_at + row * depth
        a, b, c = fma(broadcast(x, at), right, a), fma(broadcast(x, at + 1), right, b), fma(broadcast(x, at + 2), right, c)
        d, e, f = fma(broadcast(x, at + 3), right, d), fma(broadcast(x, at + 4), right, e), fma(broadcast(x, at + 5), right, f)
    store(z, to, load(z, to) + a)
    store(z, to + width, load(z, to + width) + b)
    store(z, to + 2 * width, load(z, to + 2 * width) + c)
    store(z, to + 3 * width, load(z, to + 3 * width) + d)
    store(z, to + 4 * width, load(z, to + 4 * width) + e)
    store(z, to + 5 * width, load(z, to + 5 * width) + f)


@inner
def _six_columns(x: Any, x_at: int, n: int, depth: int, y: Any, y_at: int, width: int, z: Any, to: int) -> None:
    zero = splat(single(0.0))
    a0, b0, c0, d0, e0, f0 = zero, zero, zero, zero, zero, zero
    a1, b1, c1, d1, e1, f1 = zero, zero, zero, zero, zero, zero
    for row in range(n):
        left, right = load(y, y_at + row * width), load(y, y_at + row * width + LANES)
        at = x_at + row * depth
        value = broadcast(x, at)
        a0, a1 = fma(value, left, a0), fma(value, right, a1)
        value = broadcast(x, at + 1)
        b0, b1 = fma(value, left, b0), fma(value, right, b1)
        value = broadcast(x, at + 2)
        c0, c1 = fma(value, left, c0), fma(value, right, c1)
        value = broadcast(x, at + 3)
        d0, d1 = fma(value, left, d0), fma(value, right, d1)
        value = broadcast(x, at + 4)
        e0, e1 = fma(value, left, e0), fma(value, right, e1)
        value = broadcast(x, at + 5)
        f0, f1 = fma(value, left, f0), fma(value, right, f1)
    _add_two(z, to, a0, a1)
    _add_two(z, to + width, b0, b1)
    _add_two(z, to + 2 * width, c0, c1)
    _add_two(z, to + 3 * width, d0, d1)
    _add_two(z, to + 4 * width, e0, e1)
    _add_two(z, to + 5 * width, f0, f1)


@inner
def _add_two(z: Any, at: int, left: Any, right: Any) -> None:
    store(z, at, load(z, at) + left)
    store(z, at + LANES, load(z, at + LANES) + right)


@inner
def add_times(target: Any, to: int, source: Any, at: int, size: int, factor: Any) -> None:
    """Target += factor · source, for ``size`` numbers."""
    times = splat(factor)
    for block in range(0, size, LANES):
        store(target, to + block, fma(load(source, at + block), times, load(target, to + block)))


@inner
def fill(target: Any, to: int, size: int, value: Any) -> None:
    """``size`` times the same number; up to a vector's length is overwritten beyond."""
    constant = splat(value)
    for block in range(0, size, LANES):
        store(target, to + block, constant)
