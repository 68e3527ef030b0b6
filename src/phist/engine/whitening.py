"""Mean and variance of weighted rows, and their part in the gradient."""

import math
from typing import Any

from phist.engine.jit import inner
from phist.engine.simd import LANES, add_wide, broadcast, fma, load, load_narrow, single, splat, store

SEGMENT = 256  # rows summed in single precision before the sum goes on in double


@inner
def total_weight(multiplicity: Any, draw_counts: Any) -> float:
    """The weight of rows: nodes times draws."""
    weight = 0.0
    for row in range(multiplicity.n):
        weight += multiplicity[row] * draw_counts[row]
    return weight


@inner
def add_moments(y: Any, multiplicity: Any, draw_counts: Any, moments: Any, own: Any) -> None:
    """Merge rows into moments: their weight, then mean, then summed squares about the mean.

    Args:
        own: 2 · `LANES` doubles for mean and squares of these rows alone.
    """
    weight, before = total_weight(multiplicity, draw_counts), moments[0]
    if weight == 0.0:
        return
    moments[0] = before + weight
    for block in range(0, y.width, LANES):
        _mean_and_squares(y, block, multiplicity, draw_counts, weight, own)
        for c in range(LANES):
            _merge_channel(moments, 1 + block + c, y.width, before, weight, own[c], own[LANES + c])


@inner
def merge_moments(moments: Any, others: Any) -> None:
    """Merge the moments of other rows."""
    weight, before = others[0], moments[0]
    if weight == 0.0:
        return
    moments[0] = before + weight
    width = (others.n - 1) // 2
    for c in range(width):
        _merge_channel(moments, 1 + c, width, before, weight, others[1 + c], others[1 + width + c])


@inner
def _merge_channel(moments: Any, at: int, width: int, before: float, weight: float, mean: float, squares: float) -> None:
    """Mean and squares of rows of so much weight, where those there had weighed ``before``."""
    shift = mean - moments[at]
    moments[at] += shift * weight / moments[0]
    moments[at + width] += squares + shift * shift * before * weight / moments[0]


@inner
def _mean_and_squares(y: Any, block: int, multiplicity: Any, draw_counts: Any, weight: float, own: Any) -> None:
    """Of sixteen channels of the rows alone: about one of the rows first, then about what that says is the mean."""
    origin = load(y, 0, block)  # rows that are nearly alike differ little from any of them, so that hardly a digit is lost
    _sum_about(y, block, multiplicity, draw_counts, origin, own)
    for c in range(LANES):
        own[c] = own[c] / weight
    add_wide(own, 0, origin)
    center = load_narrow(own, 0)
    _sum_about(y, block, multiplicity, draw_counts, center, own)
    for c in range(LANES):  # what is left of the mean, small and so nearly exact
        rest = own[c] / weight
        own[c] = rest
        own[LANES + c] -= weight * rest * rest
    add_wide(own, 0, center)


@inner
def _sum_about(y: Any, block: int, multiplicity: Any, draw_counts: Any, center: Any, own: Any) -> None:
    """Weighted sums of the rows less ``center``, and of the squares of that."""
    for c in range(2 * LANES):
        own[c] = 0.0
    for start in range(0, y.n, SEGMENT):
        total, squares = splat(single(0.0)), splat(single(0.0))
        for row in range(start, min(start + SEGMENT, y.n)):
            away = load(y, row, block) - center
            counted = away * (broadcast(multiplicity, row) * broadcast(draw_counts, row))
            total, squares = total + counted, fma(away, counted, squares)
        add_wide(own, 0, total)
        add_wide(own, LANES, squares)


@inner
def finish_moments(moments: Any, epsilon: float, whitening: Any) -> None:
    """The mean, then the scale that whitens: (2, width)."""
    width = whitening.width
    for c in range(width):
        whitening[c] = moments[1 + c]
        whitening[width + c] = 1.0 / math.sqrt(moments[1 + width + c] / moments[0] + epsilon)


@inner
def append_moments(whitening: Any, fraction: Any, result: Any) -> None:
    """Add what rows are whitened with, their mean and then their standard deviation, times ``fraction``, to a (2, width) result."""
    for block in range(0, whitening.width, LANES):
        mean, standard_deviation = load(whitening, 0, block), splat(single(1.0)) / load(whitening, 1, block)
        store(result, 0, block, fma(mean, splat(fraction), load(result, 0, block)))
        store(result, 1, block, fma(standard_deviation, splat(fraction), load(result, 1, block)))


@inner
def append_moments_backward(whitening: Any, fraction: Any, grad: Any, sums: Any) -> None:
    """Sums for `whiten_backward` that begin with the gradient of what `append_moments` has added.

    A row x = (y - mean)/σ moves the mean by its part of dy and σ, the standard deviation, by its part of x·dy: just what the sums
    stand for, but that those are subtracted, and divided by σ.
    """
    width = whitening.width
    for c in range(width):
        factor = fraction / whitening[width + c]
        sums[c] = -grad[c] * factor
        sums[width + c] = -grad[width + c] * factor


@inner
def whiten_backward(y: Any, whitening: Any, draw_counts: Any, inverse: Any, sums: Any, grad_y: Any) -> None:
    """From the gradient of whitened rows to that of the rows, in place, through mean and scale too."""
    for block in range(0, y.width, LANES):
        mean, scale = load(whitening, 0, block), load(whitening, 1, block)
        total, along = load(sums, 0, block), load(sums, 1, block)
        for row in range(y.n):
            x = (load(y, row, block) - mean) * scale
            common = fma(x, along, total) * (broadcast(draw_counts, row) * inverse)
            store(grad_y, row, block, (load(grad_y, row, block) - common) * scale)
