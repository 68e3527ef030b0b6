"""The backward pass of f_node on the distinct roots of one graph."""

from typing import Any, NamedTuple

from phist.engine.arena import lower_tops, take_doubles, take_floats, take_matrix, tops_of
from phist.engine.balls import Chunk, Counts, take_chunk
from phist.engine.bins import scale_histogram_backward
from phist.engine.graph_level import density_of
from phist.engine.jit import ZERO, inner, never_inline
from phist.engine.layers import take_signal
from phist.engine.node_level import (
    Responses,
    embed_backward,
    held_of,
    histogram_of,
    respond,
    respond_backward,
    squash,
    take_sums,
    whitening_of,
)
from phist.engine.parts import clear_sums, count_roots, join_sums, next_roots, sums_of
from phist.engine.plan import nodes_in, rows_in
from phist.engine.roots import DistinctRoots, Roots, count_draws, n_sets, open_roots, take_root_responses
from phist.engine.simd import LANES, load, load_flat, single, store
from phist.engine.views import matrix, rows_of, stretch, value_of
from phist.engine.whitening import append_moments_backward, whiten_backward
from phist.engine.work import HELD_WIDTH, IS_KEPT, N_ENTRIES, N_PAIRS


class RootGradients(NamedTuple):
    """Gradients of a graph's roots."""

    histograms: Any  # (roots · 2 · bins, width)
    sums: Any  # of mean and variance: (2 · width), or that for each root
    ignored: Any  # likewise, for sums that are known already
    inverses: Any  # (roots): one over the weight of the rows that they are whitened with


@inner
def take_root_gradients(shape: Any, n_roots: int, arena: Any) -> RootGradients:
    """Space for them."""
    size = n_sets(shape, n_roots) * 2 * shape.widths[-1]
    return RootGradients(
        take_matrix(arena, 2 * n_roots * shape.bins.number, shape.widths[-1]),
        take_doubles(arena, size),
        take_doubles(arena, size),
        take_floats(arena, n_roots),
    )


@inner
def embed_roots_backward(job: Any, roots: Roots, grad_embeddings: Any, grad_moments: Any, free: Any) -> None:
    """f_node's part of the backward pass for the worker's own roots of one graph.

    Args:
        grad_embeddings: (roots, bins · width): of all its roots' standardised embeddings.
        grad_moments: (2, width): those of f_node's moments.
        free: tops above all that is in use.
    """
    never_inline()
    arena, shape, state, n_roots, kept = job.arena, job.network.shape, roots.state, grad_embeddings.n, tops_of(job.arena)
    n_pairs = count_roots(roots.parts, n_roots) * rows_in(job.plan, roots.graph)
    held = take_matrix(arena, n_pairs if state[HELD_WIDTH] else 0, state[HELD_WIDTH])
    lower_tops(arena, free)
    grads = take_root_gradients(shape, n_roots, arena)
    _fill_gradients(job, roots, grad_embeddings, grads)
    _node_moments_backward(shape, roots.distinct, grad_moments, grads)
    clear_sums(job, roots.parts)
    if state[IS_KEPT]:
        _kept_backward(job, roots, grads, kept)
    else:
        _backward_in_turns(job, roots, grads, held)


@inner
def _fill_gradients(job: Any, roots: Roots, grad_embeddings: Any, grads: RootGradients) -> None:
    """From gradients of standardised embeddings to those of histograms, and the weights of rows, for the worker's own roots."""
    shape, scale, n_nodes = job.network.shape, job.network.node_standardizer.scale, nodes_in(job.plan, roots.graph)
    bins, density, n_roots = value_of(shape.bins), density_of(shape.node_density, n_nodes), grad_embeddings.n
    total, done = count_draws(roots.distinct, n_roots), ZERO
    while done < count_roots(roots.parts, n_roots):
        _, root, _ = next_roots(roots.parts, n_roots, done)
        for block in range(0, grad_embeddings.width, LANES):
            store(grad_embeddings, root, block, load(grad_embeddings, root, block) * load_flat(scale, block))
        own = rows_of(grads.histograms, 2 * root * bins.number, 2 * bins.number)
        scale_histogram_backward(bins, histogram_of(shape, grad_embeddings, root), density, own)
        weight = total if shape.joint else roots.distinct.weights[root]
        grads.inverses[root] = single(1.0) / (single(n_nodes) * weight)
        done += 1


@inner
def _node_moments_backward(shape: Any, distinct: DistinctRoots, grad_moments: Any, grads: RootGradients) -> None:
    """The gradients of mean and variance begin with that of the moments that the head sees."""
    n_roots, size = grads.inverses.n, 2 * shape.widths[-1]
    for c in range(grads.sums.n):
        grads.sums[c] = 0.0
        grads.ignored[c] = 0.0
    if shape.moments:
        n_draws = count_draws(distinct, n_roots)
        for number in range(n_sets(shape, n_roots)):
            fraction = single(1.0) if shape.joint else distinct.weights[number] / n_draws
            whitening, sums = whitening_of(shape, distinct.whitening, number), stretch(grads.sums, number * size, size)
            append_moments_backward(whitening, fraction, grad_moments, sums)


@inner
def _kept_backward(job: Any, roots: Roots, grads: RootGradients, kept: Any) -> None:
    """A single chunk, which begins at the tops ``kept``: both halves of the pass with nothing computed twice."""
    arena, shape, state, above = job.arena, job.network.shape, roots.state, tops_of(job.arena)
    number, begin, end = next_roots(roots.parts, grads.inverses.n, ZERO)
    lower_tops(arena, kept)
    counts = Counts(end - begin, state[N_PAIRS], state[N_ENTRIES])
    chunk = take_chunk(job.plan, roots.graph, end - begin, counts, shape.reach, job.max_pairs, arena)
    nothing = held_of(shape, chunk, take_matrix(arena, 0, 0), ZERO)
    responses = take_root_responses(shape, chunk, roots, begin, nothing, arena)
    lower_tops(arena, above)
    own = _gradients_of(shape, grads, begin, chunk.n_roots)
    signal = take_signal(shape, chunk.n_pairs, arena)
    _count_backward(shape, chunk, responses, own, signal, sums_of(job, roots.parts, number, own.sums), arena)
    join_sums(job, roots.parts, own.sums)
    _parameters_backward(job, number, chunk, responses, own, signal)


@inner
def _backward_in_turns(job: Any, roots: Roots, grads: RootGradients, held: Any) -> None:
    """Chunk by chunk, once for the gradients of mean and variance, once for those of the parameters; what was not held is computed
    again.
    """
    arena, shape, parts, n_roots = job.arena, job.network.shape, roots.parts, grads.inverses.n
    tops, n_own, has_terms = tops_of(arena), count_roots(parts, n_roots), held.width > shape.widths[-1]
    for turn in range(2):
        done = ZERO
        while done < n_own:
            number, begin, end = next_roots(parts, n_roots, done)
            lower_tops(arena, tops)
            chunk = open_roots(job, roots, begin, end)
            own_held = held_of(shape, chunk, held, done * chunk.n_rows)
            responses = take_root_responses(shape, chunk, roots, begin, own_held, arena)
            if not held.n or (turn and not has_terms):
                respond(shape, job.network.node, chunk, stretch(roots.distinct.rows, begin, chunk.n_roots), responses, arena)
            squash(shape, chunk, responses, arena)
            own, signal = _gradients_of(shape, grads, begin, chunk.n_roots), take_signal(shape, chunk.n_pairs, arena)
            sums = own.ignored if turn else sums_of(job, parts, number, own.sums)
            _count_backward(shape, chunk, responses, own, signal, sums, arena)
            if turn:
                _parameters_backward(job, number, chunk, responses, own, signal)
            done += chunk.n_roots
        if turn == 0:
            join_sums(job, parts, grads.sums)


@inner
def _gradients_of(shape: Any, grads: RootGradients, begin: int, n: int) -> RootGradients:
    """Those of some of the roots."""
    per_root, size = 2 * shape.bins.number, 2 * shape.widths[-1]
    first, count = 0 if shape.joint else begin * size, n_sets(shape, n) * size
    return RootGradients(
        rows_of(grads.histograms, begin * per_root, n * per_root),
        stretch(grads.sums, first, count),
        stretch(grads.ignored, first, count),
        stretch(grads.inverses, begin, n),
    )


@inner
def _count_backward(
    shape: Any, chunk: Chunk, responses: Responses, grads: RootGradients, signal: Any, sums: Any, arena: Any
) -> None:
    """The gradient of the whitened responses, at the beginning of ``signal``; adds to those of mean and variance."""
    grad_y = matrix(signal, 0, chunk.n_pairs, shape.widths[-1])
    embed_backward(shape, chunk, responses, grads.histograms, grad_y, sums, arena)


@inner
def _parameters_backward(job: Any, number: int, chunk: Chunk, responses: Responses, grads: RootGradients, signal: Any) -> None:
    """Through mean and variance, whose gradients are complete, and the convolutions, to the gradient of a part."""
    arena, shape = job.arena, job.network.shape
    _whiten_backward(shape, chunk, responses, grads, matrix(signal, 0, chunk.n_pairs, shape.widths[-1]), arena)
    respond_backward(shape, job.network.node, job.work.gradients[number], chunk, responses, signal, arena)


@inner
def _whiten_backward(shape: Any, chunk: Chunk, responses: Responses, grads: RootGradients, grad_y: Any, arena: Any) -> None:
    """The gradient of the responses, through mean and variance too."""
    width, tops, n = shape.widths[-1], tops_of(arena), chunk.n_pairs if shape.joint else chunk.n_rows
    sums = take_sums(shape, arena)
    for number in range(n_sets(shape, chunk.n_roots)):
        for c in range(2 * width):
            sums[c] = grads.sums[number * 2 * width + c]
        whitening, draw_counts = whitening_of(shape, responses.whitening, number), stretch(chunk.draw_counts, number * n, n)
        y, own = rows_of(responses.y, number * n, n), rows_of(grad_y, number * n, n)
        whiten_backward(y, whitening, draw_counts, grads.inverses[number], sums, own)
    lower_tops(arena, tops)
