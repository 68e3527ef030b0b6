"""Whitened values into bins and back: the innermost loops.

`squash_rows` finds a = tanh((y - mean)·scale) of rows y, `add_to_histogram` adds multiplicity·κ((a - p_l) / w) of every row to bin
l of a histogram, and `add_to_histogram_backward` takes the gradient of a histogram to that of the whitened values. One
after the other, because a processor has more to do at once in short loops; and a is kept for the backward pass.

Equidistant gaussians need two exponentials a value, not one a bin: counted from the middle bin,
κ(u - ρl) = e^(-u²/2) · (e^(ρu))^l · e^(-ρ²l²/2), the last factor is the same for all rows and comes in at the end, and so
the bins are a ladder of products forward and a polynomial in e^(ρu), by Horner's rule, backward.
"""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phist.engine.jit import inner, never_inline
from phist.engine.simd import (
    LANES,
    absolute,
    broadcast,
    exp,
    exp_within,
    fma,
    half_sine,
    larger,
    load,
    single,
    smaller,
    splat,
    store,
    tanh,
    where_equal,
    where_positive,
)

IDENTITY, UNIFORM, RECTANGLE, GAUSSIAN, TRIANGLE, COSINE, LADDER, MAXIMUM = range(8)
_KINDS = {
    "identity": IDENTITY,
    "uniform": UNIFORM,
    "smooth-rectangle": RECTANGLE,
    "gaussian": GAUSSIAN,
    "triangle": TRIANGLE,
    "raised-cosine": COSINE,
    "maximum": MAXIMUM,
}
COMPILED_KERNELS = frozenset(_KINDS) - {"identity", "maximum"}  # those of `phist.nn.kernels` that are computed here
_LARGEST_POWER = 40.0  # e to the power x has an error that grows with x; from 80 on it leaves the range of single precision


class Bins(NamedTuple):
    """A histogram's bins; plain sums are one bin of the kernel "identity", and maxima one of "maximum"."""

    kind: int
    number: int
    centers: NDArray[np.float32]
    width: np.float32
    ratio: np.float32  # of the ladder: spacing over width
    factors: NDArray[np.float32]  # of the ladder: e^(-ρ²l²/2), ones otherwise


def make_bins(kernel: str, centers: NDArray[np.float32], width: float) -> Bins:
    """The bins of ``kernel`` with equidistant ``centers``."""
    count = len(centers)
    kind, ratio = _KINDS[kernel], (2 / count) / width
    factors = np.ones(count, np.float32)
    if kind == GAUSSIAN and _ladder_fits(centers, width, ratio):
        kind = LADDER
        factors = np.exp(-0.5 * (ratio * (np.arange(count) - count // 2)) ** 2).astype(np.float32)
    return Bins(kind, count, np.ascontiguousarray(centers), np.float32(width), np.float32(ratio), factors)


def _ladder_fits(centers: NDArray[np.float32], width: float, ratio: float) -> bool:
    """Whether no product on the ladder is so large or small that bins lose digits."""
    middle = len(centers) // 2
    u = (np.linspace(-1, 1, 401) - centers[middle]) / width
    powers = -0.5 * u[:, None] ** 2 + ratio * (np.arange(len(centers)) - middle) * u[:, None]
    return bool(max(abs(powers[:, 0]).max(), powers.max(), abs(ratio * u).max()) < _LARGEST_POWER)


@inner
def _kernel(kind: int, z: Any) -> Any:
    one, zero = splat(single(1.0)), splat(single(0.0))
    if kind == UNIFORM:
        return where_positive(one - z, where_positive(zero - one - z, zero, one), zero)
    if kind == RECTANGLE:
        z = larger(smaller(z, splat(single(8.0))), splat(single(-8.0)))
        fourth = z * z * z * z
        return one / (one + fourth * fourth * fourth * fourth * fourth)
    if kind == GAUSSIAN:
        return exp(z * z * single(-0.5))
    if kind == TRIANGLE:
        return larger(one - absolute(z), zero)
    if kind == COSINE:
        cosine = half_sine(one - smaller(absolute(z), one))
        return cosine * cosine
    return z


@inner
def _kernel_derivative(kind: int, z: Any) -> Any:
    one, zero = splat(single(1.0)), splat(single(0.0))
    if kind == UNIFORM:
        return zero
    if kind == RECTANGLE:
        z = larger(smaller(z, splat(single(8.0))), splat(single(-8.0)))
        cube = z * z * z
        fourth = cube * z
        sixteenth = fourth * fourth * fourth * fourth
        value = one / (one + sixteenth * fourth)
        return sixteenth * cube * value * value * single(-20.0)
    if kind == GAUSSIAN:
        return exp(z * z * single(-0.5)) * z * single(-1.0)
    if kind == TRIANGLE:
        sign = where_positive(z, zero - one, where_positive(zero - z, one, zero))
        return where_positive(one - absolute(z), sign, zero)
    if kind == COSINE:
        size = smaller(absolute(z), one)
        sine = half_sine(one - absolute(size + size - one))  # sin πz by its symmetry about 1/2
        return where_positive(z, zero - sine, sine) * single(np.pi / 2)
    return one


class Rows(NamedTuple):
    """Rows to be counted in a histogram."""

    y: Any  # (rows, width): as they are
    whitening: Any  # (2, width): mean and scale
    squashed: Any  # (rows, width): whitened and between -1 and 1
    multiplicity: Any  # (rows): nodes that each stands for


@inner
def squash_rows(bins: Bins, rows: Rows) -> None:
    """Whiten rows and bring them between -1 and 1."""
    never_inline()
    y, squashed, whitening = rows.y, rows.squashed, rows.whitening
    inside = single(1 - 2.0**-20) if bins.kind == UNIFORM else single(1.0)
    for block in range(0, y.width, LANES):
        mean, scale = load(whitening, 0, block), load(whitening, 1, block)
        for row in range(y.n):
            store(squashed, row, block, tanh((load(y, row, block) - mean) * scale) * inside)


@inner
def _lowest_rung(bins: Bins, a: Any) -> Any:
    """The factor from bin to bin, and the value of the first, both without the common factors."""
    u = (a - bins.centers[bins.number // 2]) * (single(1.0) / bins.width)
    return exp_within(u * bins.ratio), exp_within((u * single(-0.5) - single(bins.number // 2) * bins.ratio) * u)


@inner
def add_to_histogram(bins: Bins, rows: Rows, h: Any) -> None:
    """Add squashed rows to a histogram, (bins, width), which is zero where maxima are asked for."""
    never_inline()
    for block in range(0, h.width, LANES):
        if bins.kind == LADDER:
            _add_by_ladder(bins, rows, h, block)
        elif bins.kind == MAXIMUM:
            store(h, 0, block, _maximum(rows, block))
        else:
            _add_by_bins(bins, rows, h, block)


@inner
def _add_by_ladder(bins: Bins, rows: Rows, h: Any, block: int) -> None:
    """Two rows at a time, the last one with nothing beside it where their number is odd."""
    squashed, multiplicity, n = rows.squashed, rows.multiplicity, rows.squashed.n
    for row in range(0, n, 2):
        other = min(row + 1, n - 1)
        factor, value = _lowest_rung(bins, load(squashed, row, block))
        other_factor, other_value = _lowest_rung(bins, load(squashed, other, block))
        value = value * broadcast(multiplicity, row)
        other_value = other_value * broadcast(multiplicity, other) * single(other - row)
        for number in range(bins.number):
            store(h, number, block, load(h, number, block) + (value + other_value))
            value, other_value = value * factor, other_value * other_factor


@inner
def _add_by_bins(bins: Bins, rows: Rows, h: Any, block: int) -> None:
    squashed, multiplicity, inverse = rows.squashed, rows.multiplicity, single(1.0) / bins.width
    for row in range(squashed.n):
        a = load(squashed, row, block)
        for number in range(bins.number):
            z = (a - bins.centers[number]) / bins.width if bins.kind == UNIFORM else (a - bins.centers[number]) * inverse
            store(h, number, block, fma(_kernel(bins.kind, z), broadcast(multiplicity, row), load(h, number, block)))


@inner
def _maximum(rows: Rows, block: int) -> Any:
    """The largest of the squashed rows in each channel; no number where one is none."""
    squashed, zero = rows.squashed, splat(single(0.0))
    largest, nothing = splat(single(-1.0)), zero
    for row in range(squashed.n):
        value = load(squashed, row, block)
        largest, nothing = larger(largest, value), fma(value, zero, nothing)
    return largest + nothing


@inner
def add_to_histogram_backward(bins: Bins, rows: Rows, grad_histogram: Any, grad_rows: Any, sums: Any) -> None:
    """Gradients of whitened rows; their sums, plain and times the rows, are added to ``sums``, (2, width).

    Args:
        grad_histogram: (2 · bins, width): the gradient of the histogram, then the same times the bin's number.
    """
    never_inline()
    for block in range(0, grad_rows.width, LANES):
        if bins.kind == LADDER:
            _add_by_ladder_backward(bins, rows, grad_histogram, grad_rows, sums, block)
        else:
            _add_by_bins_backward(bins, rows, grad_histogram, grad_rows, sums, block)


@inner
def _add_by_bins_backward(bins: Bins, rows: Rows, grad_histogram: Any, grad_rows: Any, sums: Any, block: int) -> None:
    y, squashed, whitening, multiplicity = rows.y, rows.squashed, rows.whitening, rows.multiplicity
    mean, scale = load(whitening, 0, block), load(whitening, 1, block)
    total, along = load(sums, 0, block), load(sums, 1, block)
    largest, fraction = splat(single(0.0)), splat(single(0.0))
    if bins.kind == MAXIMUM:
        largest = _maximum(rows, block)
        fraction = load(grad_histogram, 0, block) / _count_equal(rows, block, largest)
    for row in range(y.n):
        x, a = (load(y, row, block) - mean) * scale, load(squashed, row, block)
        if bins.kind == MAXIMUM:
            grad = where_equal(a, largest, fraction) * (splat(single(1.0)) - a * a)
        else:
            grad = _bins_gradient(bins, a, grad_histogram, block)
        store(grad_rows, row, block, grad)
        counted = grad * broadcast(multiplicity, row)
        total, along = total + counted, fma(counted, x, along)
    store(sums, 0, block, total)
    store(sums, 1, block, along)


@inner
def _count_equal(rows: Rows, block: int, value: Any) -> Any:
    """Nodes whose squashed value is ``value``; they share its gradient, as torch has it."""
    squashed, multiplicity, count = rows.squashed, rows.multiplicity, splat(single(0.0))
    for row in range(squashed.n):
        count = count + where_equal(load(squashed, row, block), value, broadcast(multiplicity, row))
    return count


@inner
def _add_by_ladder_backward(bins: Bins, rows: Rows, grad_histogram: Any, grad_rows: Any, sums: Any, block: int) -> None:
    """Two rows at a time, as `_add_by_ladder` takes them."""
    y, squashed, whitening, multiplicity, n = rows.y, rows.squashed, rows.whitening, rows.multiplicity, rows.y.n
    mean, scale = load(whitening, 0, block), load(whitening, 1, block)
    total, along = load(sums, 0, block), load(sums, 1, block)
    for row in range(0, n, 2):
        other = min(row + 1, n - 1)
        x, other_x = (load(y, row, block) - mean) * scale, (load(y, other, block) - mean) * scale
        a, b = load(squashed, row, block), load(squashed, other, block)
        factor, value = _lowest_rung(bins, a)
        other_factor, other_value = _lowest_rung(bins, b)
        plain, numbered = load(grad_histogram, bins.number - 1, block), load(grad_histogram, 2 * bins.number - 1, block)
        other_plain, other_numbered = plain, numbered
        for number in range(bins.number - 2, -1, -1):
            one, more = load(grad_histogram, number, block), load(grad_histogram, bins.number + number, block)
            plain, numbered = fma(plain, factor, one), fma(numbered, factor, more)
            other_plain, other_numbered = fma(other_plain, other_factor, one), fma(other_numbered, other_factor, more)
        grad = _ladder_gradient(bins, a, value, plain, numbered)
        other_grad = _ladder_gradient(bins, b, other_value, other_plain, other_numbered)
        store(grad_rows, row, block, grad)
        store(grad_rows, other, block, other_grad)
        counted = grad * broadcast(multiplicity, row)
        other_counted = other_grad * broadcast(multiplicity, other) * single(other - row)
        total, along = total + (counted + other_counted), fma(counted, x, fma(other_counted, other_x, along))
    store(sums, 0, block, total)
    store(sums, 1, block, along)


@inner
def _ladder_gradient(bins: Bins, a: Any, value: Any, plain: Any, numbered: Any) -> Any:
    """From Horner's two sums, over gradients of bins and the same times the bin's number, to the gradient of the whitened value."""
    inverse, lowest = single(1.0) / bins.width, single(bins.number // 2) * bins.ratio
    u = (a - bins.centers[bins.number // 2]) * inverse
    return value * inverse * (numbered * bins.ratio - (u + lowest) * plain) * (splat(single(1.0)) - a * a)


@inner
def _bins_gradient(bins: Bins, a: Any, grad_histogram: Any, block: int) -> Any:
    inverse = single(1.0) / bins.width
    total = splat(single(0.0))
    for number in range(bins.number):
        total = fma(_kernel_derivative(bins.kind, (a - bins.centers[number]) * inverse), load(grad_histogram, number, block), total)
    return total * inverse * (splat(single(1.0)) - a * a)


@inner
def scale_histogram(bins: Bins, h: Any, density: Any) -> None:
    """The ladder's common factors, and the number of elements where a density is asked for."""
    for number in range(bins.number):
        factor = bins.factors[number] * density
        for block in range(0, h.width, LANES):
            store(h, number, block, load(h, number, block) * factor)


@inner
def scale_histogram_backward(bins: Bins, grad: Any, density: Any, grad_histogram: Any) -> None:
    """The gradient of a histogram as `add_to_histogram_backward` takes it: with the ladder's factors and the bin's number."""
    for number in range(bins.number):
        factor = bins.factors[number] * density
        for block in range(0, grad.width, LANES):
            store(grad_histogram, number, block, load(grad, number, block) * factor)
    append_numbered(bins, grad_histogram)


@inner
def append_numbered(bins: Bins, grad_histogram: Any) -> None:
    """Behind the gradient of a histogram the same times the bin's number, which only the ladder needs."""
    if bins.kind == LADDER:
        for number in range(bins.number):
            for block in range(0, grad_histogram.width, LANES):
                grad = load(grad_histogram, number, block)
                store(grad_histogram, bins.number + number, block, grad * single(number))
