"""The convolutions of a level on the pairs of a chunk, forward and backward.

Pairs come in blocks that have one operator: the background and each root's ball, or one block a root, or the nodes of
a graph. A pair of a ball is held as the difference to its row of the background, which is exactly zero out of reach.
"""

from typing import Any, NamedTuple

import numpy as np

from phist.engine.arena import LINEAR, RECURSION, begin_phase, charge, take_floats
from phist.engine.balls import Chunk, ball_operator, first_pair, reached_from
from phist.engine.dense import accumulate, copy_columns, multiply
from phist.engine.jit import ZERO, inner
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
from phist.engine.simd import LANES, broadcast, elu, load, load_flat, single, splat, store, store_flat, where_positive
from phist.engine.views import matrix, part, rows_of

TILE = 768  # pairs that are taken through several loops while they are in the cache; whole segments, and sixes of `dense`
SEGMENT = 64  # gradients summed up before the sum is added to others: of many that nearly cancel, few digits are lost
FORWARD, BACKWARD = (np.int64(number) for number in range(2))  # typed, or the compiler would make two functions of everything


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
def take_tile(shape: Any, arena: Any) -> Any:
    """Space for what any layer responds to as many pairs as are taken at once."""
    return take_floats(arena, TILE * shape.widest)


@inner
def _spread(chunk: Chunk, layer: Layer, x: Any, backward: np.int64, arena: Any) -> None:
    """The terms of a layer from the first of them, or backward, on every block of a chunk."""
    since, order, n_rows = begin_phase(arena), layer.order, chunk.n_rows
    n_whole = 1 if chunk.n_background else chunk.n_pairs // n_rows
    n_beside = n_whole // BESIDE * BESIDE if chunk.beside == BESIDE else 0
    for block in range(0, n_beside, BESIDE):
        own = matrix(x, block * n_rows * x.width, n_rows, BESIDE * x.width)
        if backward:
            chebyshev_sum_beside(own, order, chunk.transposed)
        else:
            chebyshev_terms_beside(own, order, chunk.operator)
    for block in range(n_beside, n_whole):
        if backward:
            chebyshev_sum(rows_of(x, block * n_rows, n_rows), order, chunk.transposed)
        else:
            chebyshev_terms(rows_of(x, block * n_rows, n_rows), order, chunk.operator)
    for root in range(chunk.n_roots if chunk.n_background else 0):
        begin = first_pair(chunk, root)
        own, reached = rows_of(x, begin, first_pair(chunk, root + 1) - begin), reached_from(chunk, root, layer.hop)
        if backward:
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
        _spread(chunk, layer, layer.terms, FORWARD, arena)
        response = matrix(y if number == len(shape.orders) - 1 else z, 0, chunk.n_pairs, layer.width)
        since, bias = begin_phase(arena), part(weights.values, weights.biases[number], layer.width)
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


@inner
def convolve_backward(shape: Any, weights: Weights, gradient: Any, chunk: Chunk, x: Any, signal: Any, arena: Any) -> None:
    """From the gradient of the last layer's responses to that of the first layer's, in place; adds to that of the parameters.

    Args:
        x: terms of all further layers; their gradients take their place, so that a large chunk needs no more memory here.
        signal: space for the gradient of any layer's responses, which begins with that of the last.
    """
    n_pairs, tile = chunk.n_pairs, take_tile(shape, arena)
    for number in range(len(shape.orders) - 1, 0, -1):
        layer = layer_of(shape, number, x, n_pairs)
        _add_background_backward(chunk, matrix(signal, 0, n_pairs, layer.width))
        since = begin_phase(arena)
        _multiply_backward(weights, gradient, chunk, layer, signal, tile)
        charge(arena, LINEAR, since)
        _spread(chunk, layer, layer.terms, BACKWARD, arena)
        _activate_backward(chunk, layer, matrix(signal, 0, n_pairs, layer.inputs))
    grad_y = matrix(signal, 0, n_pairs, shape.widths[0])
    _add_background_backward(chunk, grad_y)
    _bias_backward(chunk, ZERO, grad_y, part(gradient, weights.biases[0], shape.widths[0]))


@inner
def _multiply_backward(weights: Weights, gradient: Any, chunk: Chunk, layer: Layer, signal: Any, tile: Any) -> None:
    """Through the matrix and the bias of a layer: terms become their gradients, and gradients of responses the first terms.

    Both lie in ``signal``. Wider rows are written from the last pair on, narrower ones from the first: nothing is lost unread.
    """
    n_pairs, stride = chunk.n_pairs, layer.order * layer.inputs
    grad_y, values = matrix(signal, 0, n_pairs, layer.width), matrix(signal, 0, n_pairs, layer.inputs)
    transposed = matrix(weights.values, weights.transposes[layer.number], layer.width, stride)
    grad_weights = matrix(gradient, weights.matrices[layer.number], stride, layer.width)
    grad_bias = part(gradient, weights.biases[layer.number], layer.width)
    n_tiles = (n_pairs + TILE - 1) // TILE
    for number in range(n_tiles):
        begin = (n_tiles - 1 - number if layer.inputs > layer.width else number) * TILE
        n = min(TILE, n_pairs - begin)
        own, terms, copied = rows_of(grad_y, begin, n), rows_of(layer.terms, begin, n), matrix(tile, 0, n, layer.width)
        copy_columns(own, copied)
        _bias_backward(chunk, begin, own, grad_bias)
        accumulate(terms, own, grad_weights)
        copy_columns(terms, rows_of(values, begin, n))
        multiply(copied, transposed, terms)


@inner
def _add_background_backward(chunk: Chunk, grad_y: Any) -> None:
    """The gradient of a pair is one of its row of the background too."""
    n_background, rows = chunk.n_background, chunk.balls.rows
    if n_background:
        for pair in range(n_background, chunk.n_pairs):
            row = rows[pair - n_background]
            for block in range(0, grad_y.width, LANES):
                store(grad_y, row, block, load(grad_y, row, block) + load(grad_y, pair, block))


@inner
def _bias_backward(chunk: Chunk, begin: int, grad_y: Any, grad_bias: Any) -> None:
    """From the gradient of one node of a pair, from pair ``begin`` on, to the sum over its nodes; adds to the bias's gradient."""
    multiplicity, n_biased = chunk.multiplicity, grad_y.n
    if chunk.n_background:  # the others are differences, without a bias
        n_biased = max(0, min(n_biased, chunk.n_background - begin))
    for block in range(0, grad_y.width, LANES):
        for pair in range(grad_y.n if chunk.is_merged else 0):
            store(grad_y, pair, block, load(grad_y, pair, block) * broadcast(multiplicity, begin + pair))
        for start in range(0, n_biased, SEGMENT):
            total = splat(single(0.0))
            for pair in range(start, min(start + SEGMENT, n_biased)):
                total = total + load(grad_y, pair, block)
            store_flat(grad_bias, block, load_flat(grad_bias, block) + total)


@inner
def _activate_backward(chunk: Chunk, layer: Layer, grad_y: Any) -> None:
    """Through the activation, whose value is the pair's first term, found in ``grad_y``, plus the background's."""
    grad_terms, n_background, rows, width = layer.terms, chunk.n_background, chunk.balls.rows, grad_y.width
    one, zero = splat(single(1.0)), splat(single(0.0))
    for root in range(chunk.n_roots if n_background else 0):
        begin, end = first_pair(chunk, root), first_pair(chunk, root + 1)
        reached = begin + reached_from(chunk, root, layer.hop)[0]
        for pair in range(begin, reached):
            row = rows[pair - n_background]
            for block in range(0, width, LANES):
                grad, value = load(grad_terms, pair, block), load(grad_y, pair, block) + load(grad_y, row, block)
                store(grad_terms, row, block, load(grad_terms, row, block) - grad)
                store(grad_y, pair, block, grad * where_positive(value, one, value + one))
        for pair in range(reached, end):
            for block in range(0, width, LANES):
                store(grad_y, pair, block, zero)
    for pair in range(n_background if n_background else chunk.n_pairs):
        for block in range(0, width, LANES):
            value, grad = load(grad_y, pair, block), load(grad_terms, pair, block)
            store(grad_y, pair, block, grad * where_positive(value, one, value + one))
