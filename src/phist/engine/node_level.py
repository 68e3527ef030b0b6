"""f_node on a chunk of a graph's roots: responses and histograms, forward and backward."""

from typing import Any, NamedTuple

from phist.engine.arena import (
    HISTOGRAMS,
    LINEAR,
    RECURSION,
    begin_phase,
    charge,
    lower_tops,
    take_floats,
    take_matrix,
    tops_of,
)
from phist.engine.balls import Chunk, ball_operator, first_pair, reached_from
from phist.engine.beside import embed_beside, embed_beside_backward
from phist.engine.bins import (
    Rows,
    add_to_histogram,
    add_to_histogram_backward,
    append_numbered,
    scale_histogram,
    squash_rows,
)
from phist.engine.dense import accumulate, add_times, fill
from phist.engine.jit import ONE, ZERO, inner
from phist.engine.layers import convolve, multiply_and_add, take_signal
from phist.engine.layers_backward import convolve_backward
from phist.engine.recursion import chebyshev_terms, impulse_terms, scatter_impulses
from phist.engine.shape import Weights
from phist.engine.simd import LANES, load_flat, single, store
from phist.engine.views import matrix, rows_of, stretch, value_of

ROWS_AT_ONCE = 1024  # rows of the background whose histograms are held at a time


class Responses(NamedTuple):
    """What f_node computes of a chunk and needs in the backward pass."""

    u: Any  # (pairs of roots, order): terms of the impulses
    x: Any  # terms of every further layer
    y: Any  # (pairs, width): what the last layer responds
    squashed: Any  # (pairs, width): the same, whitened and between -1 and 1; not of roots side by side
    whitening: Any  # (2, width), or (2 · roots, width): mean and scale for all roots, or for each


class Held(NamedTuple):
    """Responses of a chunk that have their place already, where roots come in turns; nothing of what is computed again."""

    u: Any
    x: Any
    y: Any


class Background(NamedTuple):
    """Histograms of rows of the background, or their gradients."""

    total: Any  # (bins, width)
    numbered: Any  # (2 · bins, width): of one row, and times the bin's number
    table: Any  # (rows at once · bins, width): of each row


@inner
def held_of(shape: Any, chunk: Chunk, held: Any, first: int) -> Held:
    """Those of a chunk whose pairs begin with ``first``, of all that are held: first of all pairs y, then x, then u."""
    n, width, further = chunk.n_pairs if held.width else 0, shape.widths[-1], shape.further_terms
    n_terms = n if held.width > width else 0
    at, terms_at, behind = first if n else 0, first if n_terms else 0, held.n if n_terms else 0
    return Held(
        matrix(held, behind * (width + further) + terms_at * shape.orders[0], n_terms, shape.orders[0]),
        stretch(held, behind * width + terms_at * further, n_terms * further),
        matrix(held, at * width, n, width),
    )


@inner
def take_responses(shape: Any, chunk: Chunk, held: Held, whitening: Any, arena: Any) -> Responses:
    """Memory for them; at the same tops it is the same."""
    n, n_terms = 0 if held.y.n else chunk.n_pairs, 0 if held.u.n else chunk.n_pairs
    u = take_matrix(arena, n_terms - (chunk.n_background if n_terms else 0), shape.orders[0])
    x, y = take_floats(arena, n_terms * shape.further_terms), take_matrix(arena, n, shape.widths[-1])
    squashed = take_matrix(arena, chunk.n_pairs if chunk.beside == 1 else 0, shape.widths[-1])
    return Responses(held.u if held.u.n else u, held.x if held.u.n else x, held.y if held.y.n else y, squashed, whitening)


@inner
def take_impulses(shape: Any, chunk: Chunk, arena: Any) -> Any:
    """Space for the terms of sixteen impulses side by side; balls need none."""
    return take_matrix(arena, 0 if chunk.n_background else chunk.n_rows, shape.orders[0] * LANES)


@inner
def take_background(shape: Any, chunk: Chunk, arena: Any) -> Background:
    """Space for it, where there is a background."""
    number = shape.bins.number if chunk.n_background else 0
    width, n_rows = shape.widths[-1], min(ROWS_AT_ONCE, chunk.n_rows)
    return Background(
        take_matrix(arena, number, width), take_matrix(arena, 2 * number, width), take_matrix(arena, n_rows * number, width)
    )  # fmt: skip


@inner
def take_sums(shape: Any, arena: Any) -> Any:
    """Space for sums over rows, plain and times the response: (2, width)."""
    return take_matrix(arena, 2, shape.widths[-1])


@inner
def floats_per_pair(shape: Any) -> int:
    """What a pair holds of its responses, for the limit of memory."""
    n: int = shape.orders[0] + shape.further_terms + 2 * shape.widths[-1]
    return n


@inner
def respond(shape: Any, weights: Weights, chunk: Chunk, roots: Any, responses: Responses, arena: Any) -> None:
    """Convolutions of the impulses in the chunk's roots."""
    u, n_background, n_pairs = responses.u, chunk.n_background, chunk.n_pairs
    order, width, tops = shape.orders[0], shape.widths[0], tops_of(arena)
    _fill_impulses(shape, chunk, roots, u, arena)
    signal = take_signal(shape, 0 if len(shape.orders) == 1 else n_pairs, arena)
    z = matrix(responses.y if len(shape.orders) == 1 else signal, 0, n_pairs, width)
    since, bias = begin_phase(arena), stretch(weights.values, weights.biases[0], width)
    first = matrix(weights.values, weights.matrices[0], order, width)
    multiply_and_add(u, first, bias, ZERO, rows_of(z, n_background, n_pairs - n_background))
    charge(arena, LINEAR, since)
    for row in range(n_background):
        for block in range(0, width, LANES):
            store(z, row, block, load_flat(bias, block))
    convolve(shape, weights, chunk, signal, responses.x, responses.y, arena)
    lower_tops(arena, tops)


@inner
def _fill_impulses(shape: Any, chunk: Chunk, roots: Any, u: Any, arena: Any) -> None:
    tops, since, n, order = tops_of(arena), begin_phase(arena), chunk.n_rows, shape.orders[0]
    for root in range(chunk.n_roots if chunk.n_background else 0):
        begin, end = chunk.balls.starts[root], chunk.balls.starts[root + 1]
        impulse_terms(rows_of(u, begin, end - begin), reached_from(chunk, root, ZERO), ball_operator(chunk, root))
    terms = take_impulses(shape, chunk, arena)
    for start in range(0, 0 if chunk.n_background else chunk.n_roots, LANES):
        lanes = min(LANES, chunk.n_roots - start)
        for row in range(n):
            fill(stretch(terms, row * terms.width, LANES), single(0.0))
        for lane in range(lanes):
            terms[roots[start + lane] * terms.width + lane] = single(1.0)
        chebyshev_terms(terms, order, chunk.operator)
        scatter_impulses(terms, lanes, chunk.beside, rows_of(u, start * n, lanes * n))
    lower_tops(arena, tops)
    charge(arena, RECURSION, since)


@inner
def whitening_of(shape: Any, whitening: Any, root: int) -> Any:
    """Mean and scale for a root: its own, or those of all."""
    return rows_of(whitening, 0 if shape.joint else 2 * root, 2)


@inner
def _rows(chunk: Chunk, responses: Responses, whitening: Any, begin: int, n: int) -> Rows:
    """Some pairs as the histogram takes them."""
    y, squashed = rows_of(responses.y, begin, n), rows_of(responses.squashed, begin, n)
    return Rows(y, whitening, squashed, stretch(chunk.multiplicity, begin, n))


@inner
def _all_rows(chunk: Chunk, responses: Responses) -> Rows:
    return Rows(responses.y, responses.whitening, responses.squashed, chunk.multiplicity)


@inner
def squash(shape: Any, chunk: Chunk, responses: Responses, arena: Any) -> None:
    """Whiten the responses and bring them between -1 and 1."""
    bins, since = value_of(shape.bins), begin_phase(arena)
    n = chunk.n_pairs if shape.joint else chunk.n_rows
    for begin in range(0, chunk.n_pairs if chunk.beside == 1 else 0, n):
        squash_rows(bins, _rows(chunk, responses, whitening_of(shape, responses.whitening, begin // n), begin, n))
    charge(arena, HISTOGRAMS, since)


@inner
def histogram_of(shape: Any, embeddings: Any, root: int) -> Any:
    """The histogram of a root among the embeddings, (roots, bins · width)."""
    return matrix(embeddings, root * embeddings.width, shape.bins.number, shape.widths[-1])


@inner
def embed(shape: Any, chunk: Chunk, responses: Responses, embeddings: Any, density: Any, arena: Any) -> None:
    """Histograms of the chunk's roots; what is out of a root's reach counts by the background."""
    bins, since = value_of(shape.bins), begin_phase(arena)
    fill(embeddings, single(0.0))
    if chunk.beside > 1:
        embed_beside(shape, chunk, _all_rows(chunk, responses), embeddings, arena)
    for root in range(chunk.n_roots if chunk.beside == 1 else 0):
        begin = first_pair(chunk, root)
        rows = _rows(chunk, responses, responses.whitening, begin, first_pair(chunk, root + 1) - begin)
        add_to_histogram(bins, rows, histogram_of(shape, embeddings, root))
    if chunk.n_background:
        _embed_background(shape, chunk, responses, embeddings, arena)
    for root in range(chunk.n_roots):
        scale_histogram(bins, histogram_of(shape, embeddings, root), density)
    charge(arena, HISTOGRAMS, since)


@inner
def _embed_background(shape: Any, chunk: Chunk, responses: Responses, embeddings: Any, arena: Any) -> None:
    """Every root sees the whole background but the rows of its own ball."""
    bins, tops, number = value_of(shape.bins), tops_of(arena), shape.bins.number
    balls, background = chunk.balls, take_background(shape, chunk, arena)
    fill(background.total, single(0.0))
    for start in range(0, chunk.n_rows, ROWS_AT_ONCE):
        end = min(start + ROWS_AT_ONCE, chunk.n_rows)
        fill(rows_of(background.table, 0, (end - start) * number), single(0.0))
        for row in range(start, end):
            own = rows_of(background.table, (row - start) * number, number)
            add_to_histogram(bins, _rows(chunk, responses, responses.whitening, row, ONE), own)
            add_times(background.total, own, single(1.0))
        for root in range(chunk.n_roots):
            for pair in range(balls.starts[root], balls.starts[root + 1]):
                row = balls.rows[pair]
                if start <= row < end:
                    own = rows_of(background.table, (row - start) * number, number)
                    add_times(histogram_of(shape, embeddings, root), own, single(-1.0))
    for root in range(chunk.n_roots):
        add_times(histogram_of(shape, embeddings, root), background.total, single(1.0))
    lower_tops(arena, tops)


@inner
def embed_backward(
    shape: Any, chunk: Chunk, responses: Responses, grad_histograms: Any, grad_y: Any, sums: Any, arena: Any
) -> None:
    """The gradient of the whitened responses from that of the histograms.

    Args:
        grad_histograms: (roots · 2 · bins, width): of each root, then the same times the bin's number.
        sums: their sums are added here in double precision, plain and times the response, for all roots or for each.
    """
    bins, since, tops, width = value_of(shape.bins), begin_phase(arena), tops_of(arena), shape.widths[-1]
    own = take_sums(shape, arena)
    if chunk.beside > 1:
        embed_beside_backward(shape, chunk, _all_rows(chunk, responses), grad_histograms, grad_y, sums, arena)
    if chunk.n_background:
        fill(own, single(0.0))
        _embed_background_backward(shape, chunk, responses, grad_histograms, grad_y, own, arena)
        _add_sums(sums, ZERO, own)
    for root in range(chunk.n_roots if chunk.beside == 1 else 0):
        fill(own, single(0.0))
        begin = first_pair(chunk, root)
        n, whitening = first_pair(chunk, root + 1) - begin, whitening_of(shape, responses.whitening, root)
        grad_histogram = rows_of(grad_histograms, 2 * root * bins.number, 2 * bins.number)
        rows = _rows(chunk, responses, whitening, begin, n)
        add_to_histogram_backward(bins, rows, grad_histogram, rows_of(grad_y, begin, n), own)
        _add_sums(sums, 0 if shape.joint else root * 2 * width, own)
    lower_tops(arena, tops)
    charge(arena, HISTOGRAMS, since)


@inner
def _add_sums(sums: Any, to: int, own: Any) -> None:
    for c in range(2 * own.width):
        sums[to + c] += own[c]


@inner
def _embed_background_backward(
    shape: Any, chunk: Chunk, responses: Responses, grad_histograms: Any, grad_y: Any, sums: Any, arena: Any
) -> None:
    """A row of the background has the gradient of all roots but those that reach it."""
    bins, tops, number, balls = value_of(shape.bins), tops_of(arena), shape.bins.number, chunk.balls
    background = take_background(shape, chunk, arena)
    numbered, plain = background.numbered, rows_of(background.numbered, 0, number)
    fill(background.total, single(0.0))
    for root in range(chunk.n_roots):
        add_times(background.total, rows_of(grad_histograms, 2 * root * number, number), single(1.0))
    for start in range(0, chunk.n_rows, ROWS_AT_ONCE):
        end = min(start + ROWS_AT_ONCE, chunk.n_rows)
        fill(rows_of(background.table, 0, (end - start) * number), single(0.0))
        for root in range(chunk.n_roots):
            for pair in range(balls.starts[root], balls.starts[root + 1]):
                row = balls.rows[pair]
                if start <= row < end:
                    own = rows_of(background.table, (row - start) * number, number)
                    add_times(own, rows_of(grad_histograms, 2 * root * number, number), single(1.0))
        for row in range(start, end):
            fill(plain, single(0.0))
            add_times(plain, background.total, single(1.0))
            add_times(plain, rows_of(background.table, (row - start) * number, number), single(-1.0))
            append_numbered(bins, numbered)
            rows = _rows(chunk, responses, responses.whitening, row, ONE)
            add_to_histogram_backward(bins, rows, numbered, rows_of(grad_y, row, 1), sums)
    lower_tops(arena, tops)


@inner
def respond_backward(
    shape: Any, weights: Weights, gradient: Any, chunk: Chunk, responses: Responses, signal: Any, arena: Any
) -> None:
    """From the gradient of the last responses, at the beginning of ``signal``, to that of f_node's parameters."""
    order, width, n_background, tops = shape.orders[0], shape.widths[0], chunk.n_background, tops_of(arena)
    convolve_backward(shape, weights, gradient, chunk, responses.x, signal, arena)
    since, n = begin_phase(arena), chunk.n_pairs - n_background
    grad_z = matrix(signal, n_background * width, n, width)
    accumulate(responses.u, grad_z, matrix(gradient, weights.matrices[0], order, width))
    charge(arena, LINEAR, since)
    lower_tops(arena, tops)
