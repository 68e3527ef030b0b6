"""Whitened values into bins and back: the innermost loops.

`squash_rows` finds a = tanh((y - mean)·scale) of rows y, `add_to_histogram` adds multiplicity·κ((a - p_l) / w) of every row to a
histogram ``h[l·width + c]``, and `add_to_histogram_backward` takes the gradient of a histogram to that of the whitened values. One
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
    where_positive,
)

IDENTITY, UNIFORM, RECTANGLE, GAUSSIAN, TRIANGLE, COSINE, LADDER = range(7)
_KINDS = {
    "identity": IDENTITY,
    "uniform": UNIFORM,
    "smooth-rectangle": RECTANGLE,
    "gaussian": GAUSSIAN,
    "triangle": TRIANGLE,
    "raised-cosine": COSINE,
}
COMPILED_KERNELS = frozenset(_KINDS) - {"identity"}  # those of `phist.nn.kernels` that are computed here
_LARGEST_POWER = 40.0  # e to the power x has an error that grows with x; from 80 on it leaves the range of single precision


class Bins(NamedTuple):
    """A histogram's bins; plain sums are one bin of the kernel "identity"."""

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


@inner
def squash_rows(bins: Bins, y: Any, y_at: int, n: int, width: int, whitening: int, squashed: int) -> None:
    """Values a of ``n`` rows at ``y[y_at]``, to ``y[squashed]``.

    Args:
        whitening: where the mean begins, and after it the scale.
    """
    never_inline()
    inside = single(1 - 2.0**-20) if bins.kind == UNIFORM else single(1.0)
    for block in range(0, width, LANES):
        mean, scale = load(y, whitening + block), load(y, whitening + width + block)
        for at in range(block, n * width, width):
            store(y, squashed + at, tanh((load(y, y_at + at) - mean) * scale) * inside)


@inner
def _lowest_rung(bins: Bins, a: Any) -> Any:
    """The factor from bin to bin, and the value of the first, both without the common factors."""
    u = (a - bins.centers[bins.number // 2]) * (single(1.0) / bins.width)
    return exp_within(u * bins.ratio), exp_within((u * single(-0.5) - single(bins.number // 2) * bins.ratio) * u)


@inner
def add_to_histogram(bins: Bins, y: Any, squashed: int, n: int, width: int, multiplicity: int, h: Any, h_at: int) -> None:
    """Add ``n`` rows at ``y[squashed]`` to the histogram at ``h[h_at]``.

    Args:
        members: where in ``y`` the number of nodes of each row begins.
    """
    never_inline()
    for block in range(0, width, LANES):
        if bins.kind == LADDER:
            _add_by_ladder(bins, y, squashed + block, n, width, multiplicity, h, h_at + block)
        else:
            _add_by_bins(bins, y, squashed + block, n, width, multiplicity, h, h_at + block)


@inner
def _add_by_ladder(bins: Bins, y: Any, squashed: int, n: int, width: int, multiplicity: int, h: Any, h_at: int) -> None:
    """Two rows at a time, the last one with nothing beside it where their number is odd."""
    for row in range(0, n, 2):
        other = min(row + 1, n - 1)
        factor, value = _lowest_rung(bins, load(y, squashed + row * width))
        other_factor, other_value = _lowest_rung(bins, load(y, squashed + other * width))
        value = value * broadcast(y, multiplicity + row)
        other_value = other_value * broadcast(y, multiplicity + other) * single(other - row)
        for number in range(bins.number):
            to = h_at + number * width
            store(h, to, load(h, to) + (value + other_value))
            value, other_value = value * factor, other_value * other_factor


@inner
def _add_by_bins(bins: Bins, y: Any, squashed: int, n: int, width: int, multiplicity: int, h: Any, h_at: int) -> None:
    inverse = single(1.0) / bins.width
    for row in range(n):
        a = load(y, squashed + row * width)
        for number in range(bins.number):
            to = h_at + number * width
            z = (a - bins.centers[number]) / bins.width if bins.kind == UNIFORM else (a - bins.centers[number]) * inverse
            store(h, to, fma(_kernel(bins.kind, z), broadcast(y, multiplicity + row), load(h, to)))


@inner
def add_to_histogram_backward(
    bins: Bins,
    y: Any,
    y_at: int,
    squashed: int,
    n: int,
    width: int,
    whitening: int,
    multiplicity: int,
    grad_histogram: int,
    grad_rows: int,
    sums: int,
) -> None:
    """Gradients of ``n`` whitened rows to ``y[grad_rows]``; their sums, plain and times the rows, go to ``y[sums]``.

    Args:
        grad_histogram: where the gradient of the histogram begins: (bins, width), then the same times the bin's number.
    """
    never_inline()
    for block in range(0, width, LANES):
        mean, scale = load(y, whitening + block), load(y, whitening + width + block)
        if bins.kind == LADDER:
            _add_by_ladder_backward(
                bins,
                y,
                y_at + block,
                squashed + block,
                n,
                width,
                mean,
                scale,
                multiplicity,
                grad_histogram + block,
                grad_rows + block,
                sums + block,
            )
        else:
            _add_by_bins_backward(
                bins,
                y,
                y_at + block,
                squashed + block,
                n,
                width,
                mean,
                scale,
                multiplicity,
                grad_histogram + block,
                grad_rows + block,
                sums + block,
            )


@inner
def _add_by_bins_backward(
    bins: Bins,
    y: Any,
    y_at: int,
    squashed: int,
    n: int,
    width: int,
    mean: Any,
    scale: Any,
    multiplicity: int,
    grad_histogram: int,
    grad_rows: int,
    sums: int,
) -> None:
    total, along = load(y, sums), load(y, sums + width)
    for row in range(n):
        x = (load(y, y_at + row * width) - mean) * scale
        grad = _bins_gradient(bins, load(y, squashed + row * width), width, y, grad_histogram)
        store(y, grad_rows + row * width, grad)
        counted = grad * broadcast(y, multiplicity + row)
        total, along = total + counted, fma(counted, x, along)
    store(y, sums, total)
    store(y, sums + width, along)


@inner
def _add_by_ladder_backward(
    bins: Bins,
    y: Any,
    y_at: int,
    squashed: int,
    n: int,
    width: int,
    mean: Any,
    scale: Any,
    multiplicity: int,
    grad_histogram: int,
    grad_rows: int,
    sums: int,
) -> None:
    """Two rows at a time, as `_add_by_ladder` takes them."""
    total, along = load(y, sums), load(y, sums + width)
    second, last = grad_histogram + bins.number * width, (bins.number - 1) * width
    for row in range(0, n, 2):
        other = min(row + 1, n - 1)
        x, other_x = (load(y, y_at + row * width) - mean) * scale, (load(y, y_at + other * width) - mean) * scale
        a, b = load(y, squashed + row * width), load(y, squashed + other * width)
        factor, value = _lowest_rung(bins, a)
        other_factor, other_value = _lowest_rung(bins, b)
        plain, numbered = load(y, grad_histogram + last), load(y, second + last)
        other_plain, other_numbered = plain, numbered
        for number in range(last - width, -1, -width):
            one, more = load(y, grad_histogram + number), load(y, second + number)
            plain, numbered = fma(plain, factor, one), fma(numbered, factor, more)
            other_plain, other_numbered = fma(other_plain, other_factor, one), fma(other_numbered, other_factor, more)
        grad = _ladder_gradient(bins, a, value, plain, numbered)
        other_grad = _ladder_gradient(bins, b, other_value, other_plain, other_numbered)
        store(y, grad_rows + row * width, grad)
        store(y, grad_rows + other * width, other_grad)
        counted = grad * broadcast(y, multiplicity + row)
        other_counted = other_grad * broadcast(y, multiplicity + other) * single(other - row)
        total, along = total + (counted + other_counted), fma(counted, x, fma(other_counted, other_x, along))
    store(y, sums, total)
    store(y, sums + width, along)


@inner
def _ladder_gradient(bins: Bins, a: Any, value: Any, plain: Any, numbered: Any) -> Any:
    """From Horner's two sums, over gradients of bins and the same times the bin's number, to the gradient of the whitened value."""
    inverse, lowest = single(1.0) / bins.width, single(bins.number // 2) * bins.ratio
    u = (a - bins.centers[bins.number // 2]) * inverse
    return value * inverse * (numbered * bins.ratio - (u + lowest) * plain) * (splat(single(1.0)) - a * a)


@inner
def _bins_gradient(bins: Bins, a: Any, width: int, grad_histogram: Any, at: int) -> Any:
    inverse = single(1.0) / bins.width
    total = splat(single(0.0))
    for number in range(bins.number):
        total = fma(
            _kernel_derivative(bins.kind, (a - bins.centers[number]) * inverse), load(grad_histogram, at + number * width), total
        )
    return total * inverse * (splat(single(1.0)) - a * a)


@inner
def scale_histogram(bins: Bins, width: int, h: Any, at: int, density: Any) -> None:
    """The ladder's common factors, and the number of elements where a density is asked for."""
    for number in range(bins.number):
        factor = bins.factors[number] * density
        for block in range(0, width, LANES):
            to = at + number * width + block
            store(h, to, load(h, to) * factor)


@inner
def scale_histogram_backward(bins: Bins, width: int, source: Any, at: int, density: Any, target: Any, to: int) -> None:
    """The gradient of a histogram as `add_to_histogram_backward` takes it: with the ladder's factors and the bin's number."""
    for number in range(bins.number):
        factor = bins.factors[number] * density
        for block in range(0, width, LANES):
            store(target, to + number * width + block, load(source, at + number * width + block) * factor)
    append_numbered(bins, width, target, to)


@inner
def append_numbered(bins: Bins, width: int, grad_histogram: Any, at: int) -> None:
    """Behind the gradient of a histogram the same times the bin's number, which only the ladder needs."""
    if bins.kind == LADDER:
        for number in range(bins.number):
            for block in range(0, width, LANES):
                grad = load(grad_histogram, at + number * width + block)
                store(grad_histogram, at + (bins.number + number) * width + block, grad * single(number))
