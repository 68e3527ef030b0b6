"""How large the arenas of a call must be, and how much of it may stay for the backward pass: by a dry run.

What the passes take from an arena is taken here from one that only counts, by the same functions and in the same order. Of roots,
pairs and entries, which are known only when balls are found, the most that there can be are taken.
"""

from typing import Any

from phist.engine.arena import DOUBLES, FLOATS, INTEGERS, clear, lower_tops, take_matrix, tops_of
from phist.engine.balls import Chunk, most_counts, take_chunk, take_nodes
from phist.engine.beside import take_beside
from phist.engine.graph_level import take_graph_gradients, take_graph_responses, take_graph_scratch, take_moments
from phist.engine.graph_passes import take_products, take_view
from phist.engine.head import take_scores
from phist.engine.jit import ONE, ZERO, compiled, inner
from phist.engine.layers import take_signal
from phist.engine.layers_backward import take_grad_terms
from phist.engine.node_level import floats_per_pair, held_of, take_background, take_impulses, take_responses, take_sums
from phist.engine.passes import take_root_embeddings
from phist.engine.plan import nodes_in, rows_in
from phist.engine.roots import n_sets, pairs_in_turns, take_distinct_roots
from phist.engine.roots_backward import take_root_gradients
from phist.engine.simd import LANES
from phist.engine.views import handle_of
from phist.engine.work import Job, draws_of

POSITIONS, KEPT = 3, 4  # columns of what is needed, beside those of the arena's tops


@compiled
def needs(job: Job, keep: bool, result: Any) -> None:
    """Enough for each shard in any step, whatever balls its roots have, to ``result``, (shards, 5); the job's arena only counts.

    Responses of ``result[:, KEPT]`` floats may be kept for the backward pass.
    """
    shards, handle, n_steps = job.work.shards, handle_of(job), len(job.work.shards.ptr)
    for number in range(len(result)):
        for step in range(n_steps):
            items = shards.order[shards.ptr[step, number] : shards.ptr[step, number + 1]]
            _measure_shard(items, handle, keep, result[number])
            for at in range(shards.ptr[step, -1], shards.ends[step]):  # no worker needs more for its part of a graph
                _measure_shard(shards.order[at : at + 1], handle, keep, result[number])
        if not keep:
            result[number, KEPT] = -1


@inner
def _measure_shard(items: Any, job: Any, keep: bool, result: Any) -> None:
    """What a shard needs in a step, where that is more than ``result`` says."""
    peaks, shape = job.arena.peaks, job.network.shape
    clear(job.arena)
    for kind in range(len(peaks)):
        peaks[kind] = 0
    n_roots, held, held_integers = _measure_nodes(items, job)
    _measure_graphs(items, job, n_roots, keep)
    if keep:
        _measure_backward(items, job, n_roots)
    kept = min(held, job.max_pairs * floats_per_pair(shape)) if keep else 0
    result[FLOATS] = max(result[FLOATS], peaks[FLOATS] + kept + _measure_held(items, job, keep))
    result[INTEGERS] = max(result[INTEGERS], peaks[INTEGERS] + (held_integers if keep else 0))
    result[DOUBLES] = max(result[DOUBLES], peaks[DOUBLES])
    result[KEPT] = max(result[KEPT], kept)
    for item in items:
        result[POSITIONS] = max(result[POSITIONS], rows_in(job.plan, job.work.graphs[item]))


@inner
def _most_roots(job: Any, item: int) -> int:
    return min(draws_of(job.work, item), rows_in(job.plan, job.work.graphs[item]))


@inner
def _take_most(job: Any, item: int, whitening: Any) -> Chunk:
    """The largest chunk that there can be, with its responses."""
    plan, arena, shape = job.plan, job.arena, job.network.shape
    graph, n_roots = job.work.graphs[item], _most_roots(job, item)
    counts = most_counts(plan, graph, n_roots, job.max_pairs)
    chunk = take_chunk(plan, graph, n_roots, counts, shape.reach, job.max_pairs, arena)
    take_responses(shape, chunk, held_of(shape, chunk, take_matrix(arena, 0, 0), ZERO), whitening, arena)
    return chunk


@inner
def _measure_held(items: Any, job: Any, keep: bool) -> int:
    """Floats of responses that are held: those of all graphs whose roots come in turns, or as many as may be."""
    pairs, shape = 0, job.network.shape
    for item in items:
        pairs += pairs_in_turns(job, job.work.graphs[item], _most_roots(job, item))
    n: int = min(pairs * (floats_per_pair(shape) if keep else shape.widths[-1]), job.max_held) + len(items) * LANES
    return n


@inner
def _measure_response(shape: Any, chunk: Chunk, arena: Any) -> None:
    tops = tops_of(arena)
    take_impulses(shape, chunk, arena)
    lower_tops(arena, tops)
    take_signal(shape, chunk.n_pairs, arena)
    lower_tops(arena, tops)
    take_background(shape, chunk, arena)
    lower_tops(arena, tops)
    take_beside(shape, chunk, arena)
    lower_tops(arena, tops)


@inner
def _measure_nodes(items: Any, job: Any) -> tuple[int, int, int]:
    """f_node: how many roots there are at most, and the floats and integers of all responses."""
    arena, shape = job.arena, job.network.shape
    n_draws, n_roots, held, held_integers = 0, 0, 0, 0
    for item in items:
        n_draws += draws_of(job.work, item)
    take_root_embeddings(shape, n_draws, arena)
    for item in items:
        distinct = take_distinct_roots(shape, draws_of(job.work, item), arena)
        before = tops_of(arena)
        take_moments(shape.widths[-1], n_sets(shape, _most_roots(job, item)), arena)
        chunk = _take_most(job, item, distinct.whitening)
        after = tops_of(arena)
        _measure_response(shape, chunk, arena)
        lower_tops(arena, before)
        n_roots += _most_roots(job, item)
        held += after[FLOATS] - before[FLOATS]
        held_integers += after[INTEGERS] - before[INTEGERS]
    return n_roots, held, held_integers


@inner
def _measure_graphs(items: Any, job: Any, n_roots: int, keep: bool) -> None:
    """f_graph and the head."""
    arena, shape = job.arena, job.network.shape
    take_products(shape, n_roots, arena)
    for item in items:
        graph, before = job.work.graphs[item], tops_of(arena)
        take_graph_responses(shape, nodes_in(job.plan, graph), arena)
        after = tops_of(arena)
        nodes = take_nodes(job.plan, graph, arena)
        take_view(shape, draws_of(job.work, item), arena)
        take_graph_scratch(shape, nodes.n_rows, arena)
        take_moments(shape.widths[-1], ONE, arena)
        lower_tops(arena, after if keep else before)
    tops = tops_of(arena)
    take_scores(job.network, arena)
    lower_tops(arena, tops)


@inner
def _measure_backward(items: Any, job: Any, n_roots: int) -> None:
    """Both levels, as if nothing had been kept."""
    arena, shape = job.arena, job.network.shape
    take_root_embeddings(shape, n_roots, arena)
    free = tops_of(arena)
    for item in items:
        take_products(shape, n_roots, arena)
        nodes = take_nodes(job.plan, job.work.graphs[item], arena)
        take_graph_scratch(shape, nodes.n_rows, arena)
        after = tops_of(arena)
        take_graph_gradients(shape, arena)
        lower_tops(arena, after)
        take_grad_terms(shape, nodes.n_rows, arena)
        lower_tops(arena, free)

        grads = take_root_gradients(shape, _most_roots(job, item), arena)
        chunk = _take_most(job, item, grads.histograms)
        _measure_response(shape, chunk, arena)
        take_signal(shape, chunk.n_pairs, arena)
        after = tops_of(arena)
        take_sums(shape, arena)
        take_background(shape, chunk, arena)
        take_beside(shape, chunk, arena)
        lower_tops(arena, after)
        take_grad_terms(shape, chunk.n_pairs, arena)
        lower_tops(arena, free)
