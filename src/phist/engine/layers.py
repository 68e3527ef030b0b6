"""The convolutions of a level on the pairs of a chunk, forward and backward.

Pairs come in blocks that have one operator: the background and each root's ball, or one block a root, or the nodes of
a graph. A pair of a ball is held as the difference to its row of the background, which is exactly zero out of reach.
"""

from typing import Any

import numpy as np

from phist.engine.arena import LINEAR, RECURSION, Arena, begin_phase, charge, take_floats
from phist.engine.balls import Chunk, hops_of
from phist.engine.dense import accumulate, multiply
from phist.engine.jit import inner
from phist.engine.plan import Plan
from phist.engine.recursion import ball_terms, ball_terms_backward, chebyshev_terms, chebyshev_terms_backward
from phist.engine.shape import Shape, Weights
from phist.engine.simd import LANES, broadcast, elu, load, single, splat, store, where_positive

SEGMENT = 64  # gradients summed up before the sum is added to others: of many that nearly cancel, few digits are lost
FORWARD, BACKWARD = (np.int64(number) for number in range(2))  # typed, or the compiler would make two functions of everything


@inner
def terms_on_rows(plan: Plan, graph: int, x: Any, at: int, order: int, width: int, backward: np.int64) -> None:
    """`chebyshev_terms`, or its backward form where ``backward``, on the rows of a graph."""
    n = plan.row_ptr[graph + 1] - plan.row_ptr[graph]
    first, entry = plan.row_ptr[graph] + graph, plan.row_entry_ptr[graph]
    if backward:
        chebyshev_terms_backward(x, at, n, order, width, plan.row_indptr, first, plan.row_indices, entry, plan.row_values, entry)
    else:
        chebyshev_terms(x, at, n, order, width, plan.row_indptr, first, plan.row_indices, entry, plan.row_values, entry)


@inner
def terms_on_nodes(plan: Plan, graph: int, x: Any, at: int, order: int, width: int, backward: np.int64) -> None:
    """The same on the nodes of a graph."""
    n = plan.node_ptr[graph + 1] - plan.node_ptr[graph]
    first, entry = plan.node_ptr[graph] + graph, plan.entry_ptr[graph]
    if backward:
        chebyshev_terms_backward(x, at, n, order, width, plan.indptr, first, plan.indices, entry, plan.values, entry)
    else:
        chebyshev_terms(x, at, n, order, width, plan.indptr, first, plan.indices, entry, plan.values, entry)


@inner
def terms_on_chunk(plan: Plan, chunk: Chunk, at: int, hop: int, order: int, width: int, backward: np.int64, arena: Arena) -> None:
    """The same on every block of a chunk; in a ball, what is spread has come ``hop`` hops."""
    floats, integers, since = arena.floats, arena.integers, begin_phase(arena)
    stride = order * width
    if chunk.on_nodes:
        terms_on_nodes(plan, chunk.graph, floats, at, order, width, backward)
    elif chunk.n_background:
        terms_on_rows(plan, chunk.graph, floats, at, order, width, backward)
        for root in range(chunk.n_roots):
            begin, end = integers[chunk.starts + root], integers[chunk.starts + root + 1]
            to, first = at + (chunk.n_background + begin) * stride, chunk.indptr + begin
            reached = hops_of(chunk, root) + hop
            if backward:
                ball_terms_backward(floats, to, reached, order, width, integers, first, chunk.indices, chunk.values)
            else:
                ball_terms(floats, to, reached, order, width, integers, first, chunk.indices, chunk.values, end - begin)
    else:
        for root in range(chunk.n_roots):
            terms_on_rows(plan, chunk.graph, floats, at + root * chunk.n_rows * stride, order, width, backward)
    charge(arena, RECURSION, since)


@inner
def convolve(shape: Shape, weights: Weights, plan: Plan, chunk: Chunk, z: int, x: int, y: int, arena: Arena) -> None:
    """From the first layer's responses z, bias included, to the last layer's, y; the terms in between stay in x."""
    hop = 0
    for layer in range(1, len(shape.orders)):
        inputs, width, order = shape.widths[layer - 1], shape.widths[layer], shape.orders[layer]
        stride, hop = order * inputs, hop + shape.orders[layer - 1] - 1
        _activate(chunk, hop, z, inputs, x, stride, arena)
        terms_on_chunk(plan, chunk, x, hop, order, inputs, FORWARD, arena)
        if layer == len(shape.orders) - 1:
            z = y
        since = begin_phase(arena)
        multiply(arena.floats, x, chunk.n_pairs, stride, weights.values, weights.matrices[layer], width, arena.floats, z)
        charge(arena, LINEAR, since)
        _add_background(chunk, z, width, weights.values, weights.biases[layer], arena)
        x += chunk.n_pairs * stride


@inner
def _activate(chunk: Chunk, hop: int, z: int, width: int, x: int, stride: int, arena: Arena) -> None:
    """ELU of every pair, less the background's, into the first block of the next layer's terms."""
    floats, integers, n_background = arena.floats, arena.integers, chunk.n_background
    for pair in range(n_background if n_background else chunk.n_pairs):
        for block in range(0, width, LANES):
            store(floats, x + pair * stride + block, elu(load(floats, z + pair * width + block)))
    if not n_background:
        return
    zero = splat(single(0.0))
    for root in range(chunk.n_roots):
        begin, end = integers[chunk.starts + root], integers[chunk.starts + root + 1]
        reached = begin + integers[hops_of(chunk, root) + hop]
        for pair in range(begin, reached):
            background, at = x + integers[chunk.rows + pair] * stride, n_background + pair
            for block in range(0, width, LANES):
                store(floats, x + at * stride + block, elu(load(floats, z + at * width + block)) - load(floats, background + block))
        for pair in range(n_background + reached, n_background + end):
            for block in range(0, width, LANES):
                store(floats, x + pair * stride + block, zero)


@inner
def _add_background(chunk: Chunk, z: int, width: int, bias: Any, bias_at: int, arena: Arena) -> None:
    """From differences to values: add the bias to the background, and the background to the pairs of balls."""
    floats, integers, n_background = arena.floats, arena.integers, chunk.n_background
    for block in range(0, width, LANES):
        constant = load(bias, bias_at + block)
        for pair in range(n_background if n_background else chunk.n_pairs):
            at = z + pair * width + block
            store(floats, at, load(floats, at) + constant)
        if n_background:
            for pair in range(chunk.n_pairs - n_background):
                at = z + (n_background + pair) * width + block
                store(floats, at, load(floats, at) + load(floats, z + integers[chunk.rows + pair] * width + block))


@inner
def convolve_backward(
    shape: Shape, weights: Weights, gradient: Any, plan: Plan, chunk: Chunk, x: int, grad_y: int, arena: Arena
) -> None:
    """From the gradient of the last layer's responses to that of the first layer's, in place; adds to that of the parameters."""
    floats, mark, hop = arena.floats, arena.tops[0], 0
    for layer in range(1, len(shape.orders)):
        x += chunk.n_pairs * shape.orders[layer] * shape.widths[layer - 1]
        hop += shape.orders[layer - 1] - 1
    for layer in range(len(shape.orders) - 1, 0, -1):
        inputs, width, order = shape.widths[layer - 1], shape.widths[layer], shape.orders[layer]
        stride = order * inputs
        x -= chunk.n_pairs * stride
        grad_terms = take_floats(arena, chunk.n_pairs * stride)
        _add_background_backward(chunk, grad_y, width, arena)
        since = begin_phase(arena)
        multiply(floats, grad_y, chunk.n_pairs, width, weights.values, weights.transposes[layer], stride, floats, grad_terms)
        charge(arena, LINEAR, since)
        _bias_backward(plan, chunk, grad_y, width, gradient, weights.biases[layer], arena)
        since = begin_phase(arena)
        accumulate(floats, x, chunk.n_pairs, stride, floats, grad_y, width, gradient, weights.matrices[layer])
        charge(arena, LINEAR, since)
        terms_on_chunk(plan, chunk, grad_terms, hop, order, inputs, BACKWARD, arena)
        _activate_backward(chunk, hop, x, grad_terms, stride, inputs, grad_y, arena)
        hop -= shape.orders[layer - 1] - 1
        arena.tops[0] = mark
    _add_background_backward(chunk, grad_y, shape.widths[0], arena)
    _bias_backward(plan, chunk, grad_y, shape.widths[0], gradient, weights.biases[0], arena)


@inner
def _add_background_backward(chunk: Chunk, grad_y: int, width: int, arena: Arena) -> None:
    """The gradient of a pair is one of its row of the background too."""
    floats, integers = arena.floats, arena.integers
    if chunk.n_background:
        for pair in range(chunk.n_pairs - chunk.n_background):
            to, at = grad_y + integers[chunk.rows + pair] * width, grad_y + (chunk.n_background + pair) * width
            for block in range(0, width, LANES):
                store(floats, to + block, load(floats, to + block) + load(floats, at + block))


@inner
def _bias_backward(plan: Plan, chunk: Chunk, grad_y: int, width: int, gradient: Any, bias: int, arena: Arena) -> None:
    """From the gradient of one node of a pair to the sum over its nodes; adds to the bias's gradient."""
    floats, all_alone = arena.floats, chunk.on_nodes or plan.node_ptr[chunk.graph + 1] - plan.node_ptr[chunk.graph] == chunk.n_rows
    n_biased = chunk.n_background if chunk.n_background else chunk.n_pairs  # the others are differences, without a bias
    for block in range(0, width, LANES):
        for pair in range(0 if all_alone else chunk.n_pairs):
            at = grad_y + pair * width + block
            store(floats, at, load(floats, at) * broadcast(floats, chunk.multiplicity + pair))
        for start in range(0, n_biased, SEGMENT):
            total = splat(single(0.0))
            for pair in range(start, min(start + SEGMENT, n_biased)):
                total = total + load(floats, grad_y + pair * width + block)
            store(gradient, bias + block, load(gradient, bias + block) + total)


@inner
def _activate_backward(chunk: Chunk, hop: int, x: int, grad_terms: int, stride: int, width: int, grad_y: int, arena: Arena) -> None:
    """Through the activation, whose value is the pair's first term plus the background's."""
    floats, integers, n_background = arena.floats, arena.integers, chunk.n_background
    one, zero = splat(single(1.0)), splat(single(0.0))
    if n_background:
        for root in range(chunk.n_roots):
            begin, end = integers[chunk.starts + root], integers[chunk.starts + root + 1]
            reached = begin + integers[hops_of(chunk, root) + hop]
            for pair in range(begin, reached):
                background, at = integers[chunk.rows + pair] * stride, n_background + pair
                for block in range(0, width, LANES):
                    grad = load(floats, grad_terms + at * stride + block)
                    value = load(floats, x + at * stride + block) + load(floats, x + background + block)
                    store(floats, grad_terms + background + block, load(floats, grad_terms + background + block) - grad)
                    store(floats, grad_y + at * width + block, grad * where_positive(value, one, value + one))
            for pair in range(n_background + reached, n_background + end):
                for block in range(0, width, LANES):
                    store(floats, grad_y + pair * width + block, zero)
    for pair in range(n_background if n_background else chunk.n_pairs):
        for block in range(0, width, LANES):
            value, grad = load(floats, x + pair * stride + block), load(floats, grad_terms + pair * stride + block)
            store(floats, grad_y + pair * width + block, grad * where_positive(value, one, value + one))
