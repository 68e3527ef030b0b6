"""f_node on a chunk of a graph's roots: responses, histograms, and the way back."""

from typing import Any, NamedTuple

from phist.engine.bins import add_places, number_slopes, pull_places, scale_histograms, squash_places
from phist.engine.dense import accumulate, add_times, fill, multiply
from phist.engine.layers import climb, descend
from phist.engine.memory import HISTOGRAMS, LINEAR, RECURSION, Memory, begin_phase, charge, take_floats
from phist.engine.places import Chunk, hops_of
from phist.engine.plan import Plan
from phist.engine.recursion import grow_terms, impulse_terms, scatter_impulses
from phist.engine.shape import Shape, Weights
from phist.engine.vectors import LANES, inner, load, single, store

ROWS_AT_ONCE = 1024  # rows of the background whose histograms are held at a time


class Responses(NamedTuple):
    """What f_node computes of a chunk and needs on the way back; where each begins."""

    u: int  # (places of roots, order): terms of the impulses
    x: int  # terms of every further layer
    y: int  # (places, width): what the last layer responds
    squashed: int  # (places, width): the same, whitened and between -1 and 1


@inner
def take_responses(shape: Shape, chunk: Chunk, memory: Memory) -> Responses:
    """Memory for them; at the same tops it is the same."""
    strides = 0
    for layer in range(1, len(shape.orders)):
        strides += shape.orders[layer] * shape.widths[layer - 1]
    n, width = chunk.n_places, shape.widths[-1]
    return Responses(
        take_floats(memory, (n - chunk.n_below) * shape.orders[0]), take_floats(memory, n * strides),
        take_floats(memory, n * width), take_floats(memory, n * width),
    )  # fmt: skip


@inner
def respond(shape: Shape, weights: Weights, plan: Plan, chunk: Chunk, roots: int, responses: Responses, memory: Memory) -> None:
    """Convolutions of the impulses in the chunk's roots."""
    u, y = responses.u, responses.y
    floats, n_below, n_places = memory.floats, chunk.n_below, chunk.n_places
    order, width, mark = shape.orders[0], shape.widths[0], memory.tops[0]
    _fill_impulses(plan, chunk, roots, order, u, memory)
    z = y if len(shape.orders) == 1 else take_floats(memory, n_places * shape.widest)
    since = begin_phase(memory)
    multiply(floats, u, n_places - n_below, order, weights.values, weights.matrices[0], width, floats, z + n_below * width)
    charge(memory, LINEAR, since)
    for block in range(0, width, LANES):
        bias = load(weights.values, weights.biases[0] + block)
        for row in range(n_below):
            store(floats, z + row * width + block, bias)
        for place in range(n_below, n_places):
            at = z + place * width + block
            store(floats, at, load(floats, at) + bias)
    climb(shape, weights, plan, chunk, z, responses.x, y, memory)
    memory.tops[0] = mark


@inner
def _fill_impulses(plan: Plan, chunk: Chunk, roots: int, order: int, u: int, memory: Memory) -> None:
    floats, integers, mark, since = memory.floats, memory.integers, memory.tops[0], begin_phase(memory)
    if chunk.n_below:
        for root in range(chunk.n_roots):
            begin, end = integers[chunk.starts + root], integers[chunk.starts + root + 1]
            hops, first = hops_of(chunk, root), chunk.indptr + begin
            impulse_terms(floats, u + begin * order, end - begin, hops, order, integers, first, chunk.indices, chunk.values)
    else:
        n, stride = chunk.n_rows, order * LANES
        terms = take_floats(memory, n * stride)
        first, entry = plan.row_ptr[chunk.graph] + chunk.graph, plan.row_entry_ptr[chunk.graph]
        for start in range(0, chunk.n_roots, LANES):
            lanes = min(LANES, chunk.n_roots - start)
            for row in range(n):
                fill(floats, terms + row * stride, LANES, single(0.0))
            for lane in range(lanes):
                floats[terms + integers[roots + start + lane] * stride + lane] = single(1.0)
            grow_terms(floats, terms, n, order, LANES, plan.row_indptr, first, plan.row_indices, entry, plan.row_values, entry)
            scatter_impulses(floats, terms, n, order, lanes, floats, u + start * n * order)
    memory.tops[0] = mark
    charge(memory, RECURSION, since)


@inner
def whitening_of(shape: Shape, whitening: int, root: int) -> int:
    """Mean and scale for a root: its own, or those of all."""
    return whitening if shape.joint else whitening + root * 2 * shape.widths[-1]


@inner
def squash(shape: Shape, chunk: Chunk, responses: Responses, whitening: int, memory: Memory) -> None:
    """Whiten the responses and bring them between -1 and 1."""
    bins, width, floats, since = shape.bins, shape.widths[-1], memory.floats, begin_phase(memory)
    if shape.joint:
        squash_places(bins, floats, responses.y, chunk.n_places, width, whitening, responses.squashed)
    else:
        for root in range(chunk.n_roots):
            own, at = whitening_of(shape, whitening, root), root * chunk.n_rows * width
            squash_places(bins, floats, responses.y + at, chunk.n_rows, width, own, responses.squashed + at)
    charge(memory, HISTOGRAMS, since)


@inner
def embed(shape: Shape, chunk: Chunk, squashed: int, embeddings: int, density: Any, memory: Memory) -> None:
    """Histograms of the chunk's roots; what is out of a root's reach counts by the background."""
    bins, width, floats, integers, since = shape.bins, shape.widths[-1], memory.floats, memory.integers, begin_phase(memory)
    size = bins.number * width
    fill(floats, embeddings, chunk.n_roots * size, single(0.0))
    for root in range(chunk.n_roots):
        begin, end = chunk.n_below + integers[chunk.starts + root], chunk.n_below + integers[chunk.starts + root + 1]
        own = squashed + begin * width
        add_places(bins, floats, own, end - begin, width, chunk.members + begin, floats, embeddings + root * size)
    if chunk.n_below:
        _embed_background(shape, chunk, squashed, embeddings, memory)
    for root in range(chunk.n_roots):
        scale_histograms(bins, width, floats, embeddings + root * size, density)
    charge(memory, HISTOGRAMS, since)


@inner
def _embed_background(shape: Shape, chunk: Chunk, squashed: int, embeddings: int, memory: Memory) -> None:
    """Every root sees the whole background but the rows of its own ball."""
    bins, width, floats, integers = shape.bins, shape.widths[-1], memory.floats, memory.integers
    size, mark = bins.number * width, memory.tops[0]
    total, table = take_floats(memory, size), take_floats(memory, min(ROWS_AT_ONCE, chunk.n_rows) * size)
    fill(floats, total, size, single(0.0))
    for start in range(0, chunk.n_rows, ROWS_AT_ONCE):
        end = min(start + ROWS_AT_ONCE, chunk.n_rows)
        fill(floats, table, (end - start) * size, single(0.0))
        for row in range(start, end):
            to = table + (row - start) * size
            add_places(bins, floats, squashed + row * width, 1, width, chunk.members + row, floats, to)
            add_times(floats, total, floats, to, size, single(1.0))
        for root in range(chunk.n_roots):
            for place in range(integers[chunk.starts + root], integers[chunk.starts + root + 1]):
                row = integers[chunk.rows + place]
                if start <= row < end:
                    add_times(floats, embeddings + root * size, floats, table + (row - start) * size, size, single(-1.0))
    for root in range(chunk.n_roots):
        add_times(floats, embeddings + root * size, floats, total, size, single(1.0))
    memory.tops[0] = mark


@inner
def pull(shape: Shape, chunk: Chunk, responses: Responses, whitening: int, slopes: int, g: int, sums: int, memory: Memory) -> None:
    """Slopes of the whitened responses from those of the histograms; their sums are added to ``doubles[sums]``.

    Args:
        slopes: for each root those of its histogram, then the same times the bin's number.
        sums: plain and times the response, for all roots or for each.
    """
    bins, width, floats, integers, since = shape.bins, shape.widths[-1], memory.floats, memory.integers, begin_phase(memory)
    size, mark = bins.number * width, memory.tops[0]
    part = take_floats(memory, 2 * width)
    if chunk.n_below:
        fill(floats, part, 2 * width, single(0.0))
        _pull_background(shape, chunk, responses, whitening, slopes, g, part, memory)
        for c in range(2 * width):
            memory.doubles[sums + c] += floats[part + c]
    for root in range(chunk.n_roots):
        fill(floats, part, 2 * width, single(0.0))
        begin, end = chunk.n_below + integers[chunk.starts + root], chunk.n_below + integers[chunk.starts + root + 1]
        own, to = whitening_of(shape, whitening, root), sums if shape.joint else sums + root * 2 * width
        pull_places(
            bins, floats, responses.y + begin * width, responses.squashed + begin * width, end - begin, width, own,
            chunk.members + begin, slopes + root * 2 * size, g + begin * width, part,
        )  # fmt: skip
        for c in range(2 * width):
            memory.doubles[to + c] += floats[part + c]
    memory.tops[0] = mark
    charge(memory, HISTOGRAMS, since)


@inner
def _pull_background(
    shape: Shape, chunk: Chunk, responses: Responses, whitening: int, slopes: int, g: int, sums: int, memory: Memory
) -> None:
    """A row of the background has the slopes of all roots but those that reach it."""
    bins, width, floats, integers = shape.bins, shape.widths[-1], memory.floats, memory.integers
    size, mark = bins.number * width, memory.tops[0]
    total, numbered = take_floats(memory, size), take_floats(memory, 2 * size)
    table = take_floats(memory, min(ROWS_AT_ONCE, chunk.n_rows) * size)
    fill(floats, total, size, single(0.0))
    for root in range(chunk.n_roots):
        add_times(floats, total, floats, slopes + root * 2 * size, size, single(1.0))
    for start in range(0, chunk.n_rows, ROWS_AT_ONCE):
        end = min(start + ROWS_AT_ONCE, chunk.n_rows)
        fill(floats, table, (end - start) * size, single(0.0))
        for root in range(chunk.n_roots):
            for place in range(integers[chunk.starts + root], integers[chunk.starts + root + 1]):
                row = integers[chunk.rows + place]
                if start <= row < end:
                    add_times(floats, table + (row - start) * size, floats, slopes + root * 2 * size, size, single(1.0))
        for row in range(start, end):
            fill(floats, numbered, size, single(0.0))
            add_times(floats, numbered, floats, total, size, single(1.0))
            add_times(floats, numbered, floats, table + (row - start) * size, size, single(-1.0))
            number_slopes(bins, width, floats, numbered)
            pull_places(
                bins, floats, responses.y + row * width, responses.squashed + row * width, 1, width, whitening,
                chunk.members + row, numbered, g + row * width, sums,
            )  # fmt: skip
    memory.tops[0] = mark


@inner
def learn(
    shape: Shape, weights: Weights, gradient: Any, plan: Plan, chunk: Chunk, responses: Responses, g: int, memory: Memory
) -> None:
    """From the slopes of the last responses to the gradient of f_node's parameters."""
    width, n_below = shape.widths[0], chunk.n_below
    descend(shape, weights, gradient, plan, chunk, responses.x, g, memory)
    since = begin_phase(memory)
    accumulate(
        memory.floats, responses.u, chunk.n_places - n_below, shape.orders[0], memory.floats, g + n_below * width, width, gradient,
        weights.matrices[0],
    )  # fmt: skip
    charge(memory, LINEAR, since)
