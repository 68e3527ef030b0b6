"""f_node on a chunk of a graph's roots: responses and histograms, forward and backward."""

from typing import Any, NamedTuple

from phist.engine.arena import HISTOGRAMS, LINEAR, RECURSION, Arena, begin_phase, charge, take_floats
from phist.engine.balls import Chunk, hops_of
from phist.engine.bins import add_to_histogram, add_to_histogram_backward, append_numbered, scale_histogram, squash_rows
from phist.engine.dense import accumulate, add_times, fill, multiply
from phist.engine.jit import inner
from phist.engine.layers import convolve, convolve_backward
from phist.engine.plan import Plan
from phist.engine.recursion import chebyshev_terms, impulse_terms, scatter_impulses
from phist.engine.shape import Shape, Weights
from phist.engine.simd import LANES, load, single, store

ROWS_AT_ONCE = 1024  # rows of the background whose histograms are held at a time


class Responses(NamedTuple):
    """What f_node computes of a chunk and needs in the backward pass; where each begins."""

    u: int  # (pairs of roots, order): terms of the impulses
    x: int  # terms of every further layer
    y: int  # (pairs, width): what the last layer responds
    squashed: int  # (pairs, width): the same, whitened and between -1 and 1


@inner
def take_responses(shape: Shape, chunk: Chunk, arena: Arena) -> Responses:
    """Memory for them; at the same tops it is the same."""
    strides = 0
    for layer in range(1, len(shape.orders)):
        strides += shape.orders[layer] * shape.widths[layer - 1]
    n, width = chunk.n_pairs, shape.widths[-1]
    return Responses(
        take_floats(arena, (n - chunk.n_background) * shape.orders[0]),
        take_floats(arena, n * strides),
        take_floats(arena, n * width),
        take_floats(arena, n * width),
    )


@inner
def respond(shape: Shape, weights: Weights, plan: Plan, chunk: Chunk, roots: int, responses: Responses, arena: Arena) -> None:
    """Convolutions of the impulses in the chunk's roots."""
    u, y = responses.u, responses.y
    floats, n_background, n_pairs = arena.floats, chunk.n_background, chunk.n_pairs
    order, width, mark = shape.orders[0], shape.widths[0], arena.tops[0]
    _fill_impulses(plan, chunk, roots, order, u, arena)
    z = y if len(shape.orders) == 1 else take_floats(arena, n_pairs * shape.widest)
    since = begin_phase(arena)
    multiply(floats, u, n_pairs - n_background, order, weights.values, weights.matrices[0], width, floats, z + n_background * width)
    charge(arena, LINEAR, since)
    for block in range(0, width, LANES):
        bias = load(weights.values, weights.biases[0] + block)
        for row in range(n_background):
            store(floats, z + row * width + block, bias)
        for pair in range(n_background, n_pairs):
            at = z + pair * width + block
            store(floats, at, load(floats, at) + bias)
    convolve(shape, weights, plan, chunk, z, responses.x, y, arena)
    arena.tops[0] = mark


@inner
def _fill_impulses(plan: Plan, chunk: Chunk, roots: int, order: int, u: int, arena: Arena) -> None:
    floats, integers, mark, since = arena.floats, arena.integers, arena.tops[0], begin_phase(arena)
    if chunk.n_background:
        for root in range(chunk.n_roots):
            begin, end = integers[chunk.starts + root], integers[chunk.starts + root + 1]
            hops, first = hops_of(chunk, root), chunk.indptr + begin
            impulse_terms(floats, u + begin * order, end - begin, hops, order, integers, first, chunk.indices, chunk.values)
    else:
        n, stride = chunk.n_rows, order * LANES
        terms = take_floats(arena, n * stride)
        first, entry = plan.row_ptr[chunk.graph] + chunk.graph, plan.row_entry_ptr[chunk.graph]
        for start in range(0, chunk.n_roots, LANES):
            lanes = min(LANES, chunk.n_roots - start)
            for row in range(n):
                fill(floats, terms + row * stride, LANES, single(0.0))
            for lane in range(lanes):
                floats[terms + integers[roots + start + lane] * stride + lane] = single(1.0)
            chebyshev_terms(floats, terms, n, order, LANES, plan.row_indptr, first, plan.row_indices, entry, plan.row_values, entry)
            scatter_impulses(floats, terms, n, order, lanes, floats, u + start * n * order)
    arena.tops[0] = mark
    charge(arena, RECURSION, since)


@inner
def whitening_of(shape: Shape, whitening: int, root: int) -> int:
    """Mean and scale for a root: its own, or those of all."""
    return whitening if shape.joint else whitening + root * 2 * shape.widths[-1]


@inner
def squash(shape: Shape, chunk: Chunk, responses: Responses, whitening: int, arena: Arena) -> None:
    """Whiten the responses and bring them between -1 and 1."""
    bins, width, floats, since = shape.bins, shape.widths[-1], arena.floats, begin_phase(arena)
    if shape.joint:
        squash_rows(bins, floats, responses.y, chunk.n_pairs, width, whitening, responses.squashed)
    else:
        for root in range(chunk.n_roots):
            own, at = whitening_of(shape, whitening, root), root * chunk.n_rows * width
            squash_rows(bins, floats, responses.y + at, chunk.n_rows, width, own, responses.squashed + at)
    charge(arena, HISTOGRAMS, since)


@inner
def embed(shape: Shape, chunk: Chunk, squashed: int, embeddings: int, density: Any, arena: Arena) -> None:
    """Histograms of the chunk's roots; what is out of a root's reach counts by the background."""
    bins, width, floats, integers, since = shape.bins, shape.widths[-1], arena.floats, arena.integers, begin_phase(arena)
    size = bins.number * width
    fill(floats, embeddings, chunk.n_roots * size, single(0.0))
    for root in range(chunk.n_roots):
        begin, end = chunk.n_background + integers[chunk.starts + root], chunk.n_background + integers[chunk.starts + root + 1]
        own = squashed + begin * width
        add_to_histogram(bins, floats, own, end - begin, width, chunk.multiplicity + begin, floats, embeddings + root * size)
    if chunk.n_background:
        _embed_background(shape, chunk, squashed, embeddings, arena)
    for root in range(chunk.n_roots):
        scale_histogram(bins, width, floats, embeddings + root * size, density)
    charge(arena, HISTOGRAMS, since)


@inner
def _embed_background(shape: Shape, chunk: Chunk, squashed: int, embeddings: int, arena: Arena) -> None:
    """Every root sees the whole background but the rows of its own ball."""
    bins, width, floats, integers = shape.bins, shape.widths[-1], arena.floats, arena.integers
    size, mark = bins.number * width, arena.tops[0]
    total, table = take_floats(arena, size), take_floats(arena, min(ROWS_AT_ONCE, chunk.n_rows) * size)
    fill(floats, total, size, single(0.0))
    for start in range(0, chunk.n_rows, ROWS_AT_ONCE):
        end = min(start + ROWS_AT_ONCE, chunk.n_rows)
        fill(floats, table, (end - start) * size, single(0.0))
        for row in range(start, end):
            to = table + (row - start) * size
            add_to_histogram(bins, floats, squashed + row * width, 1, width, chunk.multiplicity + row, floats, to)
            add_times(floats, total, floats, to, size, single(1.0))
        for root in range(chunk.n_roots):
            for pair in range(integers[chunk.starts + root], integers[chunk.starts + root + 1]):
                row = integers[chunk.rows + pair]
                if start <= row < end:
                    add_times(floats, embeddings + root * size, floats, table + (row - start) * size, size, single(-1.0))
    for root in range(chunk.n_roots):
        add_times(floats, embeddings + root * size, floats, total, size, single(1.0))
    arena.tops[0] = mark


@inner
def embed_backward(
    shape: Shape, chunk: Chunk, responses: Responses, whitening: int, grad_histograms: int, grad_y: int, sums: int, arena: Arena
) -> None:
    """The gradient of the whitened responses from that of the histograms; their sums are added to ``doubles[sums]``.

    Args:
        grad_histograms: for each root that of its histogram, then the same times the bin's number.
        sums: plain and times the response, for all roots or for each.
    """
    bins, width, floats, integers, since = shape.bins, shape.widths[-1], arena.floats, arena.integers, begin_phase(arena)
    size, mark = bins.number * width, arena.tops[0]
    part = take_floats(arena, 2 * width)
    if chunk.n_background:
        fill(floats, part, 2 * width, single(0.0))
        _embed_background_backward(shape, chunk, responses, whitening, grad_histograms, grad_y, part, arena)
        for c in range(2 * width):
            arena.doubles[sums + c] += floats[part + c]
    for root in range(chunk.n_roots):
        fill(floats, part, 2 * width, single(0.0))
        begin, end = chunk.n_background + integers[chunk.starts + root], chunk.n_background + integers[chunk.starts + root + 1]
        own, to = whitening_of(shape, whitening, root), sums if shape.joint else sums + root * 2 * width
        add_to_histogram_backward(
            bins,
            floats,
            responses.y + begin * width,
            responses.squashed + begin * width,
            end - begin,
            width,
            own,
            chunk.multiplicity + begin,
            grad_histograms + root * 2 * size,
            grad_y + begin * width,
            part,
        )
        for c in range(2 * width):
            arena.doubles[to + c] += floats[part + c]
    arena.tops[0] = mark
    charge(arena, HISTOGRAMS, since)


@inner
def _embed_background_backward(
    shape: Shape, chunk: Chunk, responses: Responses, whitening: int, grad_histograms: int, grad_y: int, sums: int, arena: Arena
) -> None:
    """A row of the background has the gradient of all roots but those that reach it."""
    bins, width, floats, integers = shape.bins, shape.widths[-1], arena.floats, arena.integers
    size, mark = bins.number * width, arena.tops[0]
    total, numbered = take_floats(arena, size), take_floats(arena, 2 * size)
    table = take_floats(arena, min(ROWS_AT_ONCE, chunk.n_rows) * size)
    fill(floats, total, size, single(0.0))
    for root in range(chunk.n_roots):
        add_times(floats, total, floats, grad_histograms + root * 2 * size, size, single(1.0))
    for start in range(0, chunk.n_rows, ROWS_AT_ONCE):
        end = min(start + ROWS_AT_ONCE, chunk.n_rows)
        fill(floats, table, (end - start) * size, single(0.0))
        for root in range(chunk.n_roots):
            for pair in range(integers[chunk.starts + root], integers[chunk.starts + root + 1]):
                row = integers[chunk.rows + pair]
                if start <= row < end:
                    add_times(floats, table + (row - start) * size, floats, grad_histograms + root * 2 * size, size, single(1.0))
        for row in range(start, end):
            fill(floats, numbered, size, single(0.0))
            add_times(floats, numbered, floats, total, size, single(1.0))
            add_times(floats, numbered, floats, table + (row - start) * size, size, single(-1.0))
            append_numbered(bins, width, floats, numbered)
            add_to_histogram_backward(
                bins,
                floats,
                responses.y + row * width,
                responses.squashed + row * width,
                1,
                width,
                whitening,
                chunk.multiplicity + row,
                numbered,
                grad_y + row * width,
                sums,
            )
    arena.tops[0] = mark


@inner
def respond_backward(
    shape: Shape, weights: Weights, gradient: Any, plan: Plan, chunk: Chunk, responses: Responses, grad_y: int, arena: Arena
) -> None:
    """From the gradient of the last responses to that of f_node's parameters."""
    width, n_background = shape.widths[0], chunk.n_background
    convolve_backward(shape, weights, gradient, plan, chunk, responses.x, grad_y, arena)
    since = begin_phase(arena)
    accumulate(
        arena.floats,
        responses.u,
        chunk.n_pairs - n_background,
        shape.orders[0],
        arena.floats,
        grad_y + n_background * width,
        width,
        gradient,
        weights.matrices[0],
    )
    charge(arena, LINEAR, since)
