"""Mean and variance of weighted rows, and their part in the gradient."""

from typing import Any

import numpy as np

from phist.engine.jit import inner
from phist.engine.simd import LANES, broadcast, fma, load, single, splat, store

SEGMENT = 256  # rows summed in single precision before the sum goes on in double


@inner
def total_weight(f: Any, multiplicity: int, draw_counts: int, n: int) -> float:
    """The weight of ``n`` rows: nodes times draws."""
    weight = 0.0
    for row in range(n):
        weight += f[multiplicity + row] * f[draw_counts + row]
    return weight


@inner
def add_moments(f: Any, y: int, n: int, width: int, multiplicity: int, draw_counts: int, doubles: Any, to: int, lanes: int) -> None:
    """Merge ``n`` rows at ``f[y]`` into moments: their weight, then mean, then summed squares about the mean.

    Args:
        lanes: where in ``f`` a vector may be put.
    """
    weight, before = total_weight(f, multiplicity, draw_counts, n), doubles[to]
    if weight == 0.0:
        return
    doubles[to] = before + weight
    mean, square = to + 1 + 2 * width, to + 1 + 2 * width + LANES  # of these rows, behind the moments
    for block in range(0, width, LANES):
        origin = load(f, y + block)  # rows that are nearly alike differ little from any of them, so that hardly a digit is lost
        for c in range(2 * LANES):
            doubles[mean + c] = 0.0
        for start in range(0, n, SEGMENT):
            total = splat(single(0.0))
            for row in range(start, min(start + SEGMENT, n)):
                weights = broadcast(f, multiplicity + row) * broadcast(f, draw_counts + row)
                total = fma(load(f, y + row * width + block) - origin, weights, total)
            store(f, lanes, total)
            for c in range(LANES):
                doubles[mean + c] += f[lanes + c]
        store(f, lanes, origin)
        for c in range(LANES):
            doubles[mean + c] = f[lanes + c] + doubles[mean + c] / weight
            f[lanes + c] = doubles[mean + c]
        center = load(f, lanes)
        for c in range(LANES):
            doubles[mean + c] = 0.0
        for start in range(0, n, SEGMENT):
            total, squares = splat(single(0.0)), splat(single(0.0))
            for row in range(start, min(start + SEGMENT, n)):
                away = load(f, y + row * width + block) - center
                counted = away * (broadcast(f, multiplicity + row) * broadcast(f, draw_counts + row))
                total, squares = total + counted, fma(away, counted, squares)
            store(f, lanes, total)
            for c in range(LANES):
                doubles[mean + c] += f[lanes + c]
            store(f, lanes, squares)
            for c in range(LANES):
                doubles[square + c] += f[lanes + c]
        store(f, lanes, center)
        for c in range(LANES):  # what is left of the mean, small and so nearly exact
            rest = doubles[mean + c] / weight
            doubles[mean + c] = f[lanes + c] + rest
            doubles[square + c] -= weight * rest * rest
        for c in range(LANES):
            at = to + 1 + block + c
            shift = doubles[mean + c] - doubles[at]
            doubles[at] += shift * weight / doubles[to]
            doubles[at + width] += doubles[square + c] + shift * shift * before * weight / doubles[to]


@inner
def finish_moments(doubles: Any, at: int, width: int, epsilon: float, f: Any, whitening: int) -> None:
    """The mean, then the scale that whitens."""
    for c in range(width):
        f[whitening + c] = doubles[at + 1 + c]
        f[whitening + width + c] = 1.0 / np.sqrt(doubles[at + 1 + width + c] / doubles[at] + epsilon)


@inner
def append_moments(f: Any, whitening: int, width: int, fraction: Any, result: Any, to: int) -> None:
    """Add what rows are whitened with, their mean and then their standard deviation, times ``fraction``, to ``result[to]``."""
    for block in range(0, width, LANES):
        mean, deviation = load(f, whitening + block), splat(single(1.0)) / load(f, whitening + width + block)
        store(result, to + block, fma(mean, splat(fraction), load(result, to + block)))
        store(result, to + width + block, fma(deviation, splat(fraction), load(result, to + width + block)))


@inner
def append_moments_backward(f: Any, whitening: int, width: int, fraction: Any, grad: Any, at: int, sums: Any, to: int) -> None:
    """Sums for `whiten_backward` that begin with the gradient of what `append_moments` has added.

    A row x = (y - mean)/σ moves the mean by its part of dy and σ, the standard deviation, by its part of x·dy: just what the sums
    stand for, but that those are subtracted, and divided by σ.
    """
    for c in range(width):
        factor = fraction / f[whitening + width + c]
        sums[to + c] = -grad[at + c] * factor
        sums[to + width + c] = -grad[at + width + c] * factor


@inner
def whiten_backward(
    f: Any, y: int, n: int, width: int, whitening: int, draw_counts: int, inverse: Any, sums: int, grad_y: int
) -> None:
    """From the gradient of whitened rows to that of the rows, through mean and scale too."""
    for block in range(0, width, LANES):
        mean, scale = load(f, whitening + block), load(f, whitening + width + block)
        total, along = load(f, sums + block), load(f, sums + width + block)
        for row in range(n):
            at = row * width + block
            x = (load(f, y + at) - mean) * scale
            common = fma(x, along, total) * (broadcast(f, draw_counts + row) * inverse)
            store(f, grad_y + at, (load(f, grad_y + at) - common) * scale)
