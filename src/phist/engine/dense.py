"""Products of tall, narrow matrices, in blocks that stay in registers.

Widths of results are multiples of `LANES`. For the shapes of the network (hundreds of rows, 16 to 48 columns) this is faster
than a general library, which would first copy its operands into an order of its own.
"""

from typing import Any

from phist.engine.jit import inner, never_inline
from phist.engine.simd import LANES, broadcast, fma, load, load_flat, single, splat, store, store_flat
from phist.engine.views import rows_of

TWO = 2 * LANES
SEGMENT = 128  # rows whose products are summed before the sum is added to others
ROWS = 6  # six rows by two vectors: twelve sums in registers, enough to hide the latency of an addition


@inner
def multiply(x: Any, w: Any, y: Any) -> None:
    """Y = x w for x (n, depth), w (depth, width), y (n, width)."""
    never_inline()
    sixes = x.n // ROWS * ROWS
    for column in range(0, w.width - LANES, TWO):
        for row in range(0, sixes, ROWS):
            _six_rows(x, w, y, row, column)
        for row in range(sixes, x.n):
            _one_row(x, w, y, row, column)
            _one_row(x, w, y, row, column + LANES)
    if w.width % TWO:
        for row in range(0, sixes, ROWS):
            _six_rows_narrow(x, w, y, row, w.width - LANES)
        for row in range(sixes, x.n):
            _one_row(x, w, y, row, w.width - LANES)


@inner
def _one_row(x: Any, w: Any, y: Any, row: int, column: int) -> None:
    total, at = splat(single(0.0)), row * x.width
    for k in range(x.width):
        total = fma(broadcast(x, at + k), load(w, k, column), total)
    store(y, row, column, total)


@inner
def _six_rows_narrow(x: Any, w: Any, y: Any, row: int, column: int) -> None:
    zero, depth, at = splat(single(0.0)), x.width, row * x.width
    a, b, c, d, e, f = zero, zero, zero, zero, zero, zero
    for k in range(depth):
        right = load(w, k, column)
        a = fma(broadcast(x, at + k), right, a)
        b = fma(broadcast(x, at + depth + k), right, b)
        c = fma(broadcast(x, at + 2 * depth + k), right, c)
        d = fma(broadcast(x, at + 3 * depth + k), right, d)
        e = fma(broadcast(x, at + 4 * depth + k), right, e)
        f = fma(broadcast(x, at + 5 * depth + k), right, f)
    store(y, row, column, a)
    store(y, row + 1, column, b)
    store(y, row + 2, column, c)
    store(y, row + 3, column, d)
    store(y, row + 4, column, e)
    store(y, row + 5, column, f)


@inner
def _six_rows(x: Any, w: Any, y: Any, row: int, column: int) -> None:
    zero, depth, at = splat(single(0.0)), x.width, row * x.width
    a0, b0, c0, d0, e0, f0 = zero, zero, zero, zero, zero, zero
    a1, b1, c1, d1, e1, f1 = zero, zero, zero, zero, zero, zero
    for k in range(depth):
        left, right = load(w, k, column), load(w, k, column + LANES)
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
    _store_two(y, row, column, a0, a1)
    _store_two(y, row + 1, column, b0, b1)
    _store_two(y, row + 2, column, c0, c1)
    _store_two(y, row + 3, column, d0, d1)
    _store_two(y, row + 4, column, e0, e1)
    _store_two(y, row + 5, column, f0, f1)


@inner
def _store_two(y: Any, row: int, column: int, left: Any, right: Any) -> None:
    store(y, row, column, left)
    store(y, row, column + LANES, right)


@inner
def accumulate(x: Any, y: Any, z: Any) -> None:
    """Z += x' y for x (n, depth), y (n, width), z (depth, width); in parts, since long sums of single numbers lose digits."""
    never_inline()
    for start in range(0, x.n, SEGMENT):
        rows = min(SEGMENT, x.n - start)
        _accumulate_rows(rows_of(x, start, rows), rows_of(y, start, rows), z)


@inner
def _accumulate_rows(x: Any, y: Any, z: Any) -> None:
    sixes = x.width // ROWS * ROWS
    for column in range(0, y.width - LANES, TWO):
        for k in range(0, sixes, ROWS):
            _six_columns(x, y, z, k, column)
        for k in range(sixes, x.width):
            _one_column(x, y, z, k, column)
            _one_column(x, y, z, k, column + LANES)
    if y.width % TWO:
        for k in range(0, sixes, ROWS):
            _six_columns_narrow(x, y, z, k, y.width - LANES)
        for k in range(sixes, x.width):
            _one_column(x, y, z, k, y.width - LANES)


@inner
def _one_column(x: Any, y: Any, z: Any, k: int, column: int) -> None:
    total = splat(single(0.0))
    for row in range(x.n):
        total = fma(broadcast(x, row * x.width + k), load(y, row, column), total)
    _add_one(z, k, column, total)


@inner
def _six_columns_narrow(x: Any, y: Any, z: Any, k: int, column: int) -> None:
    zero = splat(single(0.0))
    a, b, c, d, e, f = zero, zero, zero, zero, zero, zero
    for row in range(x.n):
        right, at = load(y, row, column), row * x.width + k
        a, b, c = fma(broadcast(x, at), right, a), fma(broadcast(x, at + 1), right, b), fma(broadcast(x, at + 2), right, c)
        d, e, f = fma(broadcast(x, at + 3), right, d), fma(broadcast(x, at + 4), right, e), fma(broadcast(x, at + 5), right, f)
    _add_one(z, k, column, a)
    _add_one(z, k + 1, column, b)
    _add_one(z, k + 2, column, c)
    _add_one(z, k + 3, column, d)
    _add_one(z, k + 4, column, e)
    _add_one(z, k + 5, column, f)


@inner
def _six_columns(x: Any, y: Any, z: Any, k: int, column: int) -> None:
    zero = splat(single(0.0))
    a0, b0, c0, d0, e0, f0 = zero, zero, zero, zero, zero, zero
    a1, b1, c1, d1, e1, f1 = zero, zero, zero, zero, zero, zero
    for row in range(x.n):
        left, right, at = load(y, row, column), load(y, row, column + LANES), row * x.width + k
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
    _add_two(z, k, column, a0, a1)
    _add_two(z, k + 1, column, b0, b1)
    _add_two(z, k + 2, column, c0, c1)
    _add_two(z, k + 3, column, d0, d1)
    _add_two(z, k + 4, column, e0, e1)
    _add_two(z, k + 5, column, f0, f1)


@inner
def _add_one(z: Any, row: int, column: int, value: Any) -> None:
    store(z, row, column, load(z, row, column) + value)


@inner
def _add_two(z: Any, row: int, column: int, left: Any, right: Any) -> None:
    _add_one(z, row, column, left)
    _add_one(z, row, column + LANES, right)


@inner
def add_times(target: Any, source: Any, factor: Any) -> None:
    """Target += factor · source, for views of one size."""
    times = splat(factor)
    for at in range(0, target.n * target.width, LANES):
        store_flat(target, at, fma(load_flat(source, at), times, load_flat(target, at)))


@inner
def copy_columns(source: Any, target: Any) -> None:
    """The first columns of every row, as many as ``target`` has."""
    for row in range(target.n):
        for block in range(0, target.width, LANES):
            store(target, row, block, load(source, row, block))


@inner
def fill(target: Any, value: Any) -> None:
    """The same number everywhere in a view, and up to the end of its last vector."""
    constant = splat(value)
    for at in range(0, target.n * target.width, LANES):
        store_flat(target, at, constant)
