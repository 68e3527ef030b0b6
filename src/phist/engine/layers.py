"""The convolutions of a level on the places of a chunk, upwards and downwards.

Places come in blocks that share an operator: the background and each root's ball, or one block a root, or the nodes of
a graph. A place of a ball is held as the difference to its row of the background, which is exactly zero out of reach.
"""

from typing import Any

import numpy as np

from phist.engine.dense import accumulate, multiply
from phist.engine.memory import LINEAR, RECURSION, Memory, begin_phase, charge, take_floats
from phist.engine.places import Chunk, hops_of
from phist.engine.plan import Plan
from phist.engine.recursion import fold_terms, fold_within, grow_terms, grow_within
from phist.engine.shape import Shape, Weights
from phist.engine.vectors import LANES, elu, inner, load, single, splat, spread, store, where_positive

SEGMENT = 64  # slopes summed up before the sum is added to others: of many that nearly cancel, few digits are lost
FORTH, BACK = (np.int64(number) for number in range(2))  # typed, or the compiler would make two functions of everything


@inner
def spread_over_rows(plan: Plan, graph: int, x: Any, at: int, order: int, width: int, back: np.int64) -> None:
    """`grow_terms`, or `fold_terms` where ``back``, on the rows of a graph."""
    n = plan.row_ptr[graph + 1] - plan.row_ptr[graph]
    first, entry = plan.row_ptr[graph] + graph, plan.row_entry_ptr[graph]
    if back:
        fold_terms(x, at, n, order, width, plan.row_indptr, first, plan.row_indices, entry, plan.row_values, entry)
    else:
        grow_terms(x, at, n, order, width, plan.row_indptr, first, plan.row_indices, entry, plan.row_values, entry)


@inner
def spread_over_nodes(plan: Plan, graph: int, x: Any, at: int, order: int, width: int, back: np.int64) -> None:
    """The same on the nodes of a graph."""
    n = plan.node_ptr[graph + 1] - plan.node_ptr[graph]
    first, entry = plan.node_ptr[graph] + graph, plan.entry_ptr[graph]
    if back:
        fold_terms(x, at, n, order, width, plan.indptr, first, plan.indices, entry, plan.values, entry)
    else:
        grow_terms(x, at, n, order, width, plan.indptr, first, plan.indices, entry, plan.values, entry)


@inner
def spread_terms(plan: Plan, chunk: Chunk, at: int, hop: int, order: int, width: int, back: np.int64, memory: Memory) -> None:
    """The same on every block of a chunk; in a ball, what is spread has come ``hop`` hops."""
    floats, integers, since = memory.floats, memory.integers, begin_phase(memory)
    stride = order * width
    if chunk.on_nodes:
        spread_over_nodes(plan, chunk.graph, floats, at, order, width, back)
    elif chunk.n_below:
        spread_over_rows(plan, chunk.graph, floats, at, order, width, back)
        for root in range(chunk.n_roots):
            begin, end = integers[chunk.starts + root], integers[chunk.starts + root + 1]
            to, first = at + (chunk.n_below + begin) * stride, chunk.indptr + begin
            reached = hops_of(chunk, root) + hop
            if back:
                fold_within(floats, to, reached, order, width, integers, first, chunk.indices, chunk.values)
            else:
                grow_within(floats, to, reached, order, width, integers, first, chunk.indices, chunk.values, end - begin)
    else:
        for root in range(chunk.n_roots):
            spread_over_rows(plan, chunk.graph, floats, at + root * chunk.n_rows * stride, order, width, back)
    charge(memory, RECURSION, since)


@inner
def climb(shape: Shape, weights: Weights, plan: Plan, chunk: Chunk, z: int, x: int, y: int, memory: Memory) -> None:
    """From the first layer's responses z, bias included, to the last layer's, y; the terms in between stay in x."""
    hop = 0
    for layer in range(1, len(shape.orders)):
        below, width, order = shape.widths[layer - 1], shape.widths[layer], shape.orders[layer]
        stride, hop = order * below, hop + shape.orders[layer - 1] - 1
        _activate(chunk, hop, z, below, x, stride, memory)
        spread_terms(plan, chunk, x, hop, order, below, FORTH, memory)
        if layer == len(shape.orders) - 1:
            z = y
        since = begin_phase(memory)
        multiply(memory.floats, x, chunk.n_places, stride, weights.values, weights.matrices[layer], width, memory.floats, z)
        charge(memory, LINEAR, since)
        _add_below(chunk, z, width, weights.values, weights.biases[layer], memory)
        x += chunk.n_places * stride


@inner
def _activate(chunk: Chunk, hop: int, z: int, width: int, x: int, stride: int, memory: Memory) -> None:
    """ELU of every place, less the background's, into the first block of the next layer's terms."""
    floats, integers, n_below = memory.floats, memory.integers, chunk.n_below
    for place in range(n_below if n_below else chunk.n_places):
        for block in range(0, width, LANES):
            store(floats, x + place * stride + block, elu(load(floats, z + place * width + block)))
    if not n_below:
        return
    zero = splat(single(0.0))
    for root in range(chunk.n_roots):
        begin, end = integers[chunk.starts + root], integers[chunk.starts + root + 1]
        reached = begin + integers[hops_of(chunk, root) + hop]
        for place in range(begin, reached):
            under, at = x + integers[chunk.rows + place] * stride, n_below + place
            for block in range(0, width, LANES):
                store(floats, x + at * stride + block, elu(load(floats, z + at * width + block)) - load(floats, under + block))
        for place in range(n_below + reached, n_below + end):
            for block in range(0, width, LANES):
                store(floats, x + place * stride + block, zero)


@inner
def _add_below(chunk: Chunk, z: int, width: int, bias: Any, bias_at: int, memory: Memory) -> None:
    """From differences to values: add the bias to the background, and the background to the places above it."""
    floats, integers, n_below = memory.floats, memory.integers, chunk.n_below
    for block in range(0, width, LANES):
        constant = load(bias, bias_at + block)
        for place in range(n_below if n_below else chunk.n_places):
            at = z + place * width + block
            store(floats, at, load(floats, at) + constant)
        if n_below:
            for place in range(chunk.n_places - n_below):
                at = z + (n_below + place) * width + block
                store(floats, at, load(floats, at) + load(floats, z + integers[chunk.rows + place] * width + block))


@inner
def descend(shape: Shape, weights: Weights, gradient: Any, plan: Plan, chunk: Chunk, x: int, g: int, memory: Memory) -> None:
    """From the slopes g of the last layer's responses to those of the first layer's, in place; adds to the gradient."""
    floats, mark, hop = memory.floats, memory.tops[0], 0
    for layer in range(1, len(shape.orders)):
        x += chunk.n_places * shape.orders[layer] * shape.widths[layer - 1]
        hop += shape.orders[layer - 1] - 1
    for layer in range(len(shape.orders) - 1, 0, -1):
        below, width, order = shape.widths[layer - 1], shape.widths[layer], shape.orders[layer]
        stride = order * below
        x -= chunk.n_places * stride
        slopes = take_floats(memory, chunk.n_places * stride)
        _sum_below(chunk, g, width, memory)
        since = begin_phase(memory)
        multiply(floats, g, chunk.n_places, width, weights.values, weights.transposes[layer], stride, floats, slopes)
        charge(memory, LINEAR, since)
        _count_members(plan, chunk, g, width, gradient, weights.biases[layer], memory)
        since = begin_phase(memory)
        accumulate(floats, x, chunk.n_places, stride, floats, g, width, gradient, weights.matrices[layer])
        charge(memory, LINEAR, since)
        spread_terms(plan, chunk, slopes, hop, order, below, BACK, memory)
        _deactivate(chunk, hop, x, slopes, stride, below, g, memory)
        hop -= shape.orders[layer - 1] - 1
        memory.tops[0] = mark
    _sum_below(chunk, g, shape.widths[0], memory)
    _count_members(plan, chunk, g, shape.widths[0], gradient, weights.biases[0], memory)


@inner
def _sum_below(chunk: Chunk, g: int, width: int, memory: Memory) -> None:
    """The adjoint of adding the background."""
    floats, integers = memory.floats, memory.integers
    if chunk.n_below:
        for place in range(chunk.n_places - chunk.n_below):
            to, at = g + integers[chunk.rows + place] * width, g + (chunk.n_below + place) * width
            for block in range(0, width, LANES):
                store(floats, to + block, load(floats, to + block) + load(floats, at + block))


@inner
def _count_members(plan: Plan, chunk: Chunk, g: int, width: int, gradient: Any, bias: int, memory: Memory) -> None:
    """From slopes of one node of a place to the sum over its nodes; adds to the bias's gradient."""
    floats, all_alone = memory.floats, chunk.on_nodes or plan.node_ptr[chunk.graph + 1] - plan.node_ptr[chunk.graph] == chunk.n_rows
    n_biased = chunk.n_below if chunk.n_below else chunk.n_places  # the others are differences, without a bias
    for block in range(0, width, LANES):
        for place in range(0 if all_alone else chunk.n_places):
            at = g + place * width + block
            store(floats, at, load(floats, at) * spread(floats, chunk.members + place))
        for start in range(0, n_biased, SEGMENT):
            total = splat(single(0.0))
            for place in range(start, min(start + SEGMENT, n_biased)):
                total = total + load(floats, g + place * width + block)
            store(gradient, bias + block, load(gradient, bias + block) + total)


@inner
def _deactivate(chunk: Chunk, hop: int, x: int, slopes: int, stride: int, width: int, g: int, memory: Memory) -> None:
    """Back through the activation, whose value is the place's first term plus the background's."""
    floats, integers, n_below = memory.floats, memory.integers, chunk.n_below
    one, zero = splat(single(1.0)), splat(single(0.0))
    if n_below:
        for root in range(chunk.n_roots):
            begin, end = integers[chunk.starts + root], integers[chunk.starts + root + 1]
            reached = begin + integers[hops_of(chunk, root) + hop]
            for place in range(begin, reached):
                under, at = integers[chunk.rows + place] * stride, n_below + place
                for block in range(0, width, LANES):
                    slope = load(floats, slopes + at * stride + block)
                    value = load(floats, x + at * stride + block) + load(floats, x + under + block)
                    store(floats, slopes + under + block, load(floats, slopes + under + block) - slope)
                    store(floats, g + at * width + block, slope * where_positive(value, one, value + one))
            for place in range(n_below + reached, n_below + end):
                for block in range(0, width, LANES):
                    store(floats, g + place * width + block, zero)
    for place in range(n_below if n_below else chunk.n_places):
        for block in range(0, width, LANES):
            value, slope = load(floats, x + place * stride + block), load(floats, slopes + place * stride + block)
            store(floats, g + place * width + block, slope * where_positive(value, one, value + one))
