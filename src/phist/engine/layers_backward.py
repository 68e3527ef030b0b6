"""The backward pass of the convolutions of a level on the pairs of a chunk."""

from typing import Any

from phist.engine.arena import LINEAR, begin_phase, charge, take_floats
from phist.engine.balls import Chunk, first_pair, reached_from
from phist.engine.dense import accumulate, copy_columns, multiply
from phist.engine.jit import YES, ZERO, inner
from phist.engine.layers import TILE, Layer, layer_of, spread
from phist.engine.shape import Weights
from phist.engine.simd import LANES, broadcast, load, load_flat, single, splat, store, store_flat, where_positive
from phist.engine.views import matrix, rows_of, stretch

MOST_APART = 1 << 16  # pairs whose terms and gradients are held both; of more, gradients replace terms, which saves a third
SEGMENT = 64  # gradients summed up before the sum is added to others: of many that nearly cancel, few digits are lost


@inner
def take_grad_terms(shape: Any, n_pairs: int, arena: Any) -> tuple[Any, Any]:
    """Space for the gradients of any further layer's terms, and for responses of a tile where these gradients replace the terms."""
    return take_floats(arena, min(n_pairs, MOST_APART) * shape.widest_terms), take_floats(arena, TILE * shape.widest)


@inner
def convolve_backward(shape: Any, weights: Weights, gradient: Any, chunk: Chunk, x: Any, signal: Any, arena: Any) -> None:
    """From the gradient of the last layer's responses to that of the first layer's, in place; adds to that of the parameters.

    Args:
        x: terms of all further layers; in a large chunk their gradients take their place, so that it needs no more memory.
        signal: space for the gradient of any layer's responses, which begins with that of the last.
    """
    n_pairs, in_place = chunk.n_pairs, chunk.n_pairs > MOST_APART
    grad_terms, tile = take_grad_terms(shape, n_pairs, arena)
    for number in range(len(shape.orders) - 1, 0, -1):
        layer = layer_of(shape, number, x, n_pairs)
        grad_y, values = matrix(signal, 0, n_pairs, layer.width), matrix(signal, 0, n_pairs, layer.inputs)
        _add_background_backward(chunk, grad_y)
        since, own = begin_phase(arena), layer.terms
        if in_place:
            _multiply_backward_in_place(weights, gradient, chunk, layer, signal, tile)
        else:
            own = matrix(grad_terms, 0, n_pairs, layer.terms.width)
            _multiply_backward(weights, gradient, chunk, layer, grad_y, own)
        charge(arena, LINEAR, since)
        spread(chunk, layer, own, YES, arena)
        _activate_backward(chunk, layer, own, values if in_place else layer.terms, values)
    grad_y = matrix(signal, 0, n_pairs, shape.widths[0])
    _add_background_backward(chunk, grad_y)
    _bias_backward(chunk, ZERO, grad_y, stretch(gradient, weights.biases[0], shape.widths[0]))


@inner
def _matrix_of(layer: Layer, values: Any, begin: int) -> Any:
    """The matrix of a layer, or its gradient."""
    return matrix(values, begin, layer.order * layer.inputs, layer.width)


@inner
def _transposed(weights: Weights, layer: Layer) -> Any:
    return matrix(weights.values, weights.transposes[layer.number], layer.width, layer.order * layer.inputs)


@inner
def _multiply_backward(weights: Weights, gradient: Any, chunk: Chunk, layer: Layer, grad_y: Any, grad_terms: Any) -> None:
    """Through the matrix and the bias of a layer."""
    number, transposed = layer.number, _transposed(weights, layer)
    grad_weights = _matrix_of(layer, gradient, weights.matrices[number])
    grad_bias = stretch(gradient, weights.biases[number], layer.width)
    for begin in range(0, chunk.n_pairs, TILE):
        n = min(TILE, chunk.n_pairs - begin)
        multiply(rows_of(grad_y, begin, n), transposed, rows_of(grad_terms, begin, n))
        _bias_backward(chunk, begin, rows_of(grad_y, begin, n), grad_bias)
        accumulate(rows_of(layer.terms, begin, n), rows_of(grad_y, begin, n), grad_weights)


@inner
def _multiply_backward_in_place(weights: Weights, gradient: Any, chunk: Chunk, layer: Layer, signal: Any, tile: Any) -> None:
    """Likewise; terms become their gradients, and the gradients of responses, in ``signal``, become the first terms.

    Wider rows are written from the last pair on, narrower ones from the first: nothing is lost unread.
    """
    number, transposed, n_pairs = layer.number, _transposed(weights, layer), chunk.n_pairs
    grad_weights = _matrix_of(layer, gradient, weights.matrices[number])
    grad_bias = stretch(gradient, weights.biases[number], layer.width)
    grad_y, values = matrix(signal, 0, n_pairs, layer.width), matrix(signal, 0, n_pairs, layer.inputs)
    n_tiles = (n_pairs + TILE - 1) // TILE
    for count in range(n_tiles):
        begin = (n_tiles - 1 - count if layer.inputs > layer.width else count) * TILE
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
def _activate_backward(chunk: Chunk, layer: Layer, grad_terms: Any, values: Any, grad_y: Any) -> None:
    """Through the activation, whose value is the pair's first term, a row of ``values`` begins with it, plus the background's."""
    n_background, rows, width = chunk.n_background, chunk.balls.rows, grad_y.width
    one, zero = splat(single(1.0)), splat(single(0.0))
    for root in range(chunk.n_roots if n_background else 0):
        begin, end = first_pair(chunk, root), first_pair(chunk, root + 1)
        reached = begin + reached_from(chunk, root, layer.hop)[0]
        for pair in range(begin, reached):
            row = rows[pair - n_background]
            for block in range(0, width, LANES):
                grad, value = load(grad_terms, pair, block), load(values, pair, block) + load(values, row, block)
                store(grad_terms, row, block, load(grad_terms, row, block) - grad)
                store(grad_y, pair, block, grad * where_positive(value, one, value + one))
        for pair in range(reached, end):
            for block in range(0, width, LANES):
                store(grad_y, pair, block, zero)
    for pair in range(n_background if n_background else chunk.n_pairs):
        for block in range(0, width, LANES):
            value, grad = load(values, pair, block), load(grad_terms, pair, block)
            store(grad_y, pair, block, grad * where_positive(value, one, value + one))
