"""f_node on the distinct roots of one graph, all at once or in turns as memory allows, forward and backward."""

from typing import Any, NamedTuple

from phist.engine.arena import (
    BALLS,
    DOUBLES,
    begin_phase,
    charge,
    lower_tops,
    take_doubles,
    take_floats,
    take_integers,
    take_matrix,
    tops_of,
)
from phist.engine.balls import Chunk, Counts, most_counts, open_chunk, take_chunk
from phist.engine.bins import scale_histogram_backward
from phist.engine.dense import fill
from phist.engine.graph_level import density_of, take_moments
from phist.engine.jit import YES, ZERO, inner
from phist.engine.layers import take_signal
from phist.engine.node_level import (
    Responses,
    embed,
    embed_backward,
    histogram_of,
    respond,
    respond_backward,
    squash,
    take_responses,
    take_sums,
    whitening_of,
)
from phist.engine.plan import nodes_in, rows_in
from phist.engine.simd import LANES, load, load_flat, single, store
from phist.engine.views import matrix, part, rows_of, value_of
from phist.engine.whitening import add_moments, append_moments, append_moments_backward, finish_moments, whiten_backward
from phist.engine.work import ENTRIES, KEPT, LAST, N_PAIRS

PAIRS_AT_ONCE = 4096  # in statistics


class DistinctRoots(NamedTuple):
    """The distinct roots of a graph; there may be fewer than draws."""

    draw_root: Any  # (draws): which root each draw is; twins are one
    rows: Any  # (roots): which row of the graph each is
    weights: Any  # (roots): draws of each
    whitening: Any  # (2, width), or (2 · draws, width): mean and scale for all roots, or for each


class RootGradients(NamedTuple):
    """Gradients of a graph's roots."""

    histograms: Any  # (roots · 2 · bins, width)
    sums: Any  # of mean and variance: (2 · width), or that for each root
    ignored: Any  # likewise, for sums that are known already
    inverses: Any  # (roots): one over the weight of the rows that they are whitened with


@inner
def n_sets(shape: Any, n_roots: int) -> int:
    """How many sets of rows have statistics of their own."""
    return 1 if shape.joint else n_roots


@inner
def take_distinct_roots(shape: Any, n_draws: int, arena: Any) -> DistinctRoots:
    """Space for them; at the same tops it is the same."""
    return DistinctRoots(
        take_integers(arena, n_draws),
        take_integers(arena, n_draws),
        take_floats(arena, n_draws),
        take_matrix(arena, 2 * n_sets(shape, n_draws), shape.widths[-1]),
    )


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
def merge_roots(job: Any, item: int, distinct: DistinctRoots) -> int:
    """Twin roots have the same embedding: keep each once, with the draws of all; returns how many there are."""
    plan, draws, position = job.plan, job.work.draws, job.arena.position
    root_row, drawn, counts = plan.root_row, draws.nodes, draws.counts
    first, begin, n_roots = plan.node_ptr[job.work.graphs[item]], draws.ptr[item], 0
    for draw in range(distinct.draw_root.n):
        row = root_row[first + drawn[begin + draw]]
        if position[row] < 0:
            position[row] = n_roots
            distinct.rows[n_roots] = row
            distinct.weights[n_roots] = single(0.0)
            n_roots += 1
        distinct.draw_root[draw] = position[row]
        distinct.weights[position[row]] += counts[begin + draw]
    for root in range(n_roots):
        position[distinct.rows[root]] = -1
    return n_roots


@inner
def _open_chunk(job: Any, graph: int, distinct: DistinctRoots, begin: int, n_roots: int) -> Chunk:
    """From root ``begin`` on."""
    since, n = begin_phase(job.arena), n_roots - begin
    roots, weights = part(distinct.rows, begin, n), part(distinct.weights, begin, n)
    chunk = open_chunk(job.plan, graph, roots, weights, job.network.shape.reach, job.max_pairs, job.arena)
    charge(job.arena, BALLS, since)
    return chunk


@inner
def pairs_in_turns(job: Any, graph: int, n_roots: int) -> int:
    """All pairs of the roots, where they come in turns and are known beforehand: without balls."""
    plan = job.plan
    if plan.by_balls[graph] or most_counts(plan, graph, n_roots, job.max_pairs).roots == n_roots:
        return 0
    n: int = n_roots * rows_in(plan, graph)
    return n


@inner
def take_last(job: Any, graph: int, n_roots: int, room: int) -> Any:
    """Space for what the last layer responds in all turns, which is not computed again then: (pairs, width), if there is room."""
    n, width = pairs_in_turns(job, graph, n_roots), job.network.shape.widths[-1]
    return take_matrix(job.arena, n if n * width <= room else 0, width)


@inner
def _take_responses(shape: Any, chunk: Chunk, distinct: DistinctRoots, begin: int, last: Any, arena: Any) -> Responses:
    """Those of a chunk whose first root is ``begin``."""
    whitening = rows_of(distinct.whitening, 0 if shape.joint else 2 * begin, 2 * n_sets(shape, chunk.n_roots))
    own = rows_of(last, begin * chunk.n_rows if last.n else 0, chunk.n_pairs if last.n else 0)
    return take_responses(shape, chunk, own, whitening, arena)


@inner
def embed_roots(job: Any, graph: int, distinct: DistinctRoots, embeddings: Any, last: Any) -> Chunk:
    """f_node: embeddings of the distinct roots. Returns the last chunk; a single one stays in the arena with its responses."""
    arena, shape, n_roots = job.arena, job.network.shape, embeddings.n
    doubles = arena.tops[DOUBLES]
    moments, own = take_moments(shape.widths[-1], n_sets(shape, n_roots), arena)
    for c in range(moments.n):
        moments[c] = 0.0
    tops = tops_of(arena)
    chunk = _open_chunk(job, graph, distinct, ZERO, n_roots)
    responses = _take_responses(shape, chunk, distinct, ZERO, last, arena)
    in_turns = chunk.n_roots < n_roots
    for turn in range(2):
        begin = ZERO
        while begin < n_roots:
            if begin or (in_turns and turn):
                lower_tops(arena, tops)
                chunk = _open_chunk(job, graph, distinct, begin, n_roots)
                responses = _take_responses(shape, chunk, distinct, begin, last, arena)
            if turn == 0 or (in_turns and not last.n):
                respond(shape, job.network.node, chunk, part(distinct.rows, begin, chunk.n_roots), responses, arena)
            if turn == 0:
                _add_moments(shape, chunk, responses.y, begin, moments, own)
            else:
                density = density_of(shape.node_density, nodes_in(job.plan, graph))
                squash(shape, chunk, responses, arena)
                embed(shape, chunk, responses, rows_of(embeddings, begin, chunk.n_roots), density, arena)
            begin += chunk.n_roots
        if turn == 0:
            _finish_moments(shape, moments, distinct, n_roots)
    arena.tops[DOUBLES] = doubles
    return chunk


@inner
def _add_moments(shape: Any, chunk: Chunk, y: Any, begin: int, moments: Any, own: Any) -> None:
    """Statistics of the responses, over all pairs or root by root; of many, some at a time, which stay in the cache."""
    n, size = chunk.n_pairs if shape.joint else chunk.n_rows, 1 + 2 * shape.widths[-1]
    for number in range(n_sets(shape, chunk.n_roots)):
        to = part(moments, 0 if shape.joint else (begin + number) * size, size)
        for first in range(number * n, (number + 1) * n, PAIRS_AT_ONCE):
            count = min(PAIRS_AT_ONCE, (number + 1) * n - first)
            multiplicity, draw_counts = part(chunk.multiplicity, first, count), part(chunk.draw_counts, first, count)
            add_moments(rows_of(y, first, count), multiplicity, draw_counts, to, own)


@inner
def _finish_moments(shape: Any, moments: Any, distinct: DistinctRoots, n_roots: int) -> None:
    size = 1 + 2 * shape.widths[-1]
    for number in range(n_sets(shape, n_roots)):
        finish_moments(part(moments, number * size, size), shape.epsilon, whitening_of(shape, distinct.whitening, number))


@inner
def _count_draws(distinct: DistinctRoots, n_roots: int) -> Any:
    total = single(0.0)
    for root in range(n_roots):
        total += distinct.weights[root]
    return total


@inner
def add_node_moments(shape: Any, distinct: DistinctRoots, n_roots: int, result: Any) -> None:
    """Mean and standard deviation of f_node's responses, the mean over the roots where each has its own: (2, width)."""
    n_draws = _count_draws(distinct, n_roots)
    fill(result, single(0.0))
    for number in range(n_sets(shape, n_roots)):
        fraction = single(1.0) if shape.joint else distinct.weights[number] / n_draws
        append_moments(whitening_of(shape, distinct.whitening, number), fraction, result)


@inner
def embed_roots_backward(
    job: Any, gradient: Any, item: int, distinct: DistinctRoots, grad_embeddings: Any, grad_moments: Any, free: Any
) -> None:
    """f_node's part of the backward pass for one graph.

    Args:
        grad_embeddings: (roots, bins · width): of its roots' standardised embeddings.
        grad_moments: (2, width): those of f_node's moments.
        free: tops above all that is in use.
    """
    arena, shape, graph, state = job.arena, job.network.shape, job.work.graphs[item], job.work.states[item]
    n_roots, kept = grad_embeddings.n, tops_of(arena)
    last = take_matrix(arena, state[LAST], shape.widths[-1])
    lower_tops(arena, free)
    grads = take_root_gradients(shape, n_roots, arena)
    _fill_gradients(job, graph, distinct, grad_embeddings, grads)
    _node_moments_backward(shape, distinct, grad_moments, grads)
    if state[KEPT]:
        above = tops_of(arena)
        lower_tops(arena, kept)
        counts = Counts(n_roots, state[N_PAIRS], state[ENTRIES])
        chunk = take_chunk(job.plan, graph, n_roots, counts, shape.reach, job.max_pairs, arena)
        responses = _take_responses(shape, chunk, distinct, ZERO, last, arena)
        lower_tops(arena, above)
        _chunk_backward(job, gradient, chunk, responses, grads, grads.sums, YES)
    else:
        _backward_in_turns(job, gradient, graph, distinct, grads, last)


@inner
def _fill_gradients(job: Any, graph: int, distinct: DistinctRoots, grad_embeddings: Any, grads: RootGradients) -> None:
    """From gradients of standardised embeddings to those of histograms, and the weights of rows."""
    shape, scale, n_nodes = job.network.shape, job.network.node_standardizer.scale, nodes_in(job.plan, graph)
    bins, density, n_roots = value_of(shape.bins), density_of(shape.node_density, n_nodes), grad_embeddings.n
    total = _count_draws(distinct, n_roots)
    for root in range(n_roots):
        for block in range(0, grad_embeddings.width, LANES):
            store(grad_embeddings, root, block, load(grad_embeddings, root, block) * load_flat(scale, block))
        own = rows_of(grads.histograms, 2 * root * bins.number, 2 * bins.number)
        scale_histogram_backward(bins, histogram_of(shape, grad_embeddings, root), density, own)
        weight = total if shape.joint else distinct.weights[root]
        grads.inverses[root] = single(1.0) / (single(n_nodes) * weight)


@inner
def _node_moments_backward(shape: Any, distinct: DistinctRoots, grad_moments: Any, grads: RootGradients) -> None:
    """The gradients of mean and variance begin with that of the moments that the head sees."""
    n_roots, size = grads.inverses.n, 2 * shape.widths[-1]
    for c in range(grads.sums.n):
        grads.sums[c] = 0.0
        grads.ignored[c] = 0.0
    if shape.moments:
        n_draws = _count_draws(distinct, n_roots)
        for number in range(n_sets(shape, n_roots)):
            fraction = single(1.0) if shape.joint else distinct.weights[number] / n_draws
            whitening, sums = whitening_of(shape, distinct.whitening, number), part(grads.sums, number * size, size)
            append_moments_backward(whitening, fraction, grad_moments, sums)


@inner
def _backward_in_turns(job: Any, gradient: Any, graph: int, distinct: DistinctRoots, grads: RootGradients, last: Any) -> None:
    """Chunk by chunk, once for the gradients of mean and variance, once for those of the parameters; what was not kept is computed
    again.
    """
    arena, shape, n_roots = job.arena, job.network.shape, grads.inverses.n
    tops = tops_of(arena)
    for turn in range(2):
        begin = ZERO
        while begin < n_roots:
            lower_tops(arena, tops)
            chunk = _open_chunk(job, graph, distinct, begin, n_roots)
            responses = _take_responses(shape, chunk, distinct, begin, last, arena)
            if turn or not last.n:
                respond(shape, job.network.node, chunk, part(distinct.rows, begin, chunk.n_roots), responses, arena)
            squash(shape, chunk, responses, arena)
            own = _gradients_of(shape, grads, begin, chunk.n_roots)
            _chunk_backward(job, gradient, chunk, responses, own, own.ignored if turn else own.sums, bool(turn))
            begin += chunk.n_roots


@inner
def _gradients_of(shape: Any, grads: RootGradients, begin: int, n: int) -> RootGradients:
    """Those of some of the roots."""
    per_root, size = 2 * shape.bins.number, 2 * shape.widths[-1]
    first, count = 0 if shape.joint else begin * size, n_sets(shape, n) * size
    return RootGradients(
        rows_of(grads.histograms, begin * per_root, n * per_root),
        part(grads.sums, first, count),
        part(grads.ignored, first, count),
        part(grads.inverses, begin, n),
    )


@inner
def _chunk_backward(
    job: Any, gradient: Any, chunk: Chunk, responses: Responses, grads: RootGradients, sums: Any, to_parameters: bool
) -> None:
    """Add to ``sums``, and then, with ``grads.sums`` complete, to the gradient of the parameters."""
    arena, shape, tops = job.arena, job.network.shape, tops_of(job.arena)
    signal = take_signal(shape, chunk.n_pairs, arena)
    grad_y = matrix(signal, 0, chunk.n_pairs, shape.widths[-1])
    embed_backward(shape, chunk, responses, grads.histograms, grad_y, sums, arena)
    if to_parameters:
        _whiten_backward(shape, chunk, responses, grads, grad_y, arena)
        respond_backward(shape, job.network.node, gradient, chunk, responses, signal, arena)
    lower_tops(arena, tops)


@inner
def _whiten_backward(shape: Any, chunk: Chunk, responses: Responses, grads: RootGradients, grad_y: Any, arena: Any) -> None:
    """The gradient of the responses, through mean and variance too."""
    width, tops, n = shape.widths[-1], tops_of(arena), chunk.n_pairs if shape.joint else chunk.n_rows
    sums = take_sums(shape, arena)
    for number in range(n_sets(shape, chunk.n_roots)):
        for c in range(2 * width):
            sums[c] = grads.sums[number * 2 * width + c]
        whitening, draw_counts = whitening_of(shape, responses.whitening, number), part(chunk.draw_counts, number * n, n)
        y, own = rows_of(responses.y, number * n, n), rows_of(grad_y, number * n, n)
        whiten_backward(y, whitening, draw_counts, grads.inverses[number], sums, own)
    lower_tops(arena, tops)
