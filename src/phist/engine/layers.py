"""The convolutions of a level on the pairs of a chunk.

Pairs come in blocks that have one operator: the background and each root's ball, or one block a root, or the nodes of
a graph. A pair of a ball is held as the difference to its row of the background, which is exactly zero out of reach.
"""

from typing import Any, NamedTuple

from phist.engine.arena import LINEAR, RECURSION, begin_phase, charge, take_floats
from phist.engine.balls import Chunk, ball_operator, first_pair, reached_from
from phist.engine.dense import multiply
from phist.engine.jit import NO, inner
from phist.engine.recursion import (
    BESIDE,
    ball_sum,
    ball_terms,
    chebyshev_sum,
    chebyshev_sum_beside,
    chebyshev_terms,
    chebyshev_terms_beside,
)
from phist.engine.shape import Weights
from phist.engine.simd import LANES, elu, load, load_flat, single, splat, store
from phist.engine.views import matrix, rows_of, stretch

TILE = 768  # pairs that are taken through several loops while they are in the cache; whole segments, and sixes of `dense`


class Layer(NamedTuple):
    """A layer after the first: its sizes, and its part of what was computed before it."""

    number: int
    order: int
    inputs: int  # width below
    width: int
    hop: int  # hops that its input has come
    terms: Any  # (pairs, order · inputs)


@inner
def layer_of(shape: Any, number: int, x: Any, n_pairs: int) -> Layer:
    """A layer, given the terms of all further layers one after the other."""
    hop, begin = 0, 0
    for below in range(1, number):
        begin += n_pairs * shape.orders[below] * shape.widths[below - 1]
        hop += shape.orders[below - 1] - 1
    order, inputs, width = shape.orders[number], shape.widths[number - 1], shape.widths[number]
    hop += shape.orders[number - 1] - 1
    return Layer(number, order, inputs, width, hop, matrix(x, begin, n_pairs, order * inputs))


@inner
def weights_of(weights: Any, layer: Layer) -> Any:
    """The matrix of a layer."""
    return matrix(weights.values, weights.matrices[layer.number], layer.order * layer.inputs, layer.width)


@inner
def take_signal(shape: Any, n_pairs: int, arena: Any) -> Any:
    """Space for what any layer responds."""
    return take_floats(arena, n_pairs * shape.widest)


@inner
def spread(chunk: Chunk, layer: Layer, x: Any, is_backward: bool, arena: Any) -> None:
    """The terms of a layer from the first of them, or backward, on every block of a chunk."""
    since, order, n_rows = begin_phase(arena), layer.order, chunk.n_rows
    n_whole = 1 if chunk.n_background else chunk.n_pairs // n_rows
    n_beside = n_whole // BESIDE * BESIDE if chunk.beside == BESIDE else 0
    for block in range(0, n_beside, BESIDE):
        own = matrix(x, block * n_rows * x.width, n_rows, BESIDE * x.width)
        if is_backward:
            chebyshev_sum_beside(own, order, chunk.transposed)
        else:
            chebyshev_terms_beside(own, order, chunk.operator)
    for block in range(n_beside, n_whole):
        if is_backward:
            chebyshev_sum(rows_of(x, block * n_rows, n_rows), order, chunk.transposed)
        else:
            chebyshev_terms(rows_of(x, block * n_rows, n_rows), order, chunk.operator)
    for root in range(chunk.n_roots if chunk.n_background else 0):
        begin = first_pair(chunk, root)
        own, reached = rows_of(x, begin, first_pair(chunk, root + 1) - begin), reached_from(chunk, root, layer.hop)
        if is_backward:
            ball_sum(own, order, reached, ball_operator(chunk, root))
        else:
            ball_terms(own, order, reached, ball_operator(chunk, root))
    charge(arena, RECURSION, since)


@inner
def convolve(shape: Any, weights: Weights, chunk: Chunk, z: Any, x: Any, y: Any, arena: Any) -> None:
    """From the first layer's responses z, bias included, to the last layer's, y; the terms in between stay in x."""
    for number in range(1, len(shape.orders)):
        layer = layer_of(shape, number, x, chunk.n_pairs)
        _activate(chunk, layer, matrix(z, 0, chunk.n_pairs, layer.inputs))
        spread(chunk, layer, layer.terms, NO, arena)
        response = matrix(y if number == len(shape.orders) - 1 else z, 0, chunk.n_pairs, layer.width)
        since, bias = begin_phase(arena), stretch(weights.values, weights.biases[number], layer.width)
        multiply_and_add(layer.terms, weights_of(weights, layer), bias, chunk.n_background, response)
        charge(arena, LINEAR, since)
        _add_background(chunk, response)


@inner
def multiply_and_add(x: Any, w: Any, bias: Any, n_biased: int, y: Any) -> None:
    """Y = x w, and the bias on the first ``n_biased`` rows, or on all where that is zero."""
    n_biased = n_biased if n_biased else y.n
    for begin in range(0, y.n, TILE):
        end = min(begin + TILE, y.n)
        multiply(rows_of(x, begin, end - begin), w, rows_of(y, begin, end - begin))
        for block in range(0, y.width, LANES):
            constant = load_flat(bias, block)
            for row in range(begin, min(end, n_biased)):
                store(y, row, block, load(y, row, block) + constant)


@inner
def _activate(chunk: Chunk, layer: Layer, z: Any) -> None:
    """ELU of every pair, less the background's, into the first block of the next layer's terms."""
    terms, n_background, rows, width = layer.terms, chunk.n_background, chunk.balls.rows, z.width
    for pair in range(n_background if n_background else chunk.n_pairs):
        for block in range(0, width, LANES):
            store(terms, pair, block, elu(load(z, pair, block)))
    if not n_background:
        return
    zero = splat(single(0.0))
    for root in range(chunk.n_roots):
        begin, end = first_pair(chunk, root), first_pair(chunk, root + 1)
        reached = begin + reached_from(chunk, root, layer.hop)[0]
        for pair in range(begin, reached):
            row = rows[pair - n_background]
            for block in range(0, width, LANES):
                store(terms, pair, block, elu(load(z, pair, block)) - load(terms, row, block))
        for pair in range(reached, end):
            for block in range(0, width, LANES):
                store(terms, pair, block, zero)


@inner
def _add_background(chunk: Chunk, z: Any) -> None:
    """From differences to values, for the pairs of balls."""
    n_background, rows = chunk.n_background, chunk.balls.rows
    for block in range(0, z.width if n_background else 0, LANES):
        for pair in range(n_background, chunk.n_pairs):
            store(z, pair, block, load(z, pair, block) + load(z, rows[pair - n_background], block))
