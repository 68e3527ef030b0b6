"""Forward and backward over some graphs of a batch, on one thread.

f_node graph by graph, each in cache from beginning to end; then the one wide product, for all roots at once; then f_graph
graph by graph. The backward pass takes the same steps in reverse. The head stands between the two: no graph's loss waits for
another graph, so a worker computes both passes without waiting for the others.
"""

from typing import Any

from phist.engine.arena import DOUBLES, FLOATS, INTEGERS, lower_tops, take_matrix, tops_of
from phist.engine.graph_passes import (
    asks_for_graphs,
    embed_graphs,
    embedding_of,
    finish_nodes,
    grad_node_moments,
    graphs_backward,
    remember_chunk,
)
from phist.engine.head import head_backward
from phist.engine.jit import inner, never_inline, unit
from phist.engine.parts import one_part
from phist.engine.roots import Roots, embed_roots, merge_roots, take_distinct_roots, take_held
from phist.engine.roots_backward import embed_roots_backward
from phist.engine.shared_graph import embed_shared, shared_backward
from phist.engine.views import matrix, rows_of
from phist.engine.work import FIRST_FLOAT, FIRST_INTEGER, FIRST_ROOT, N_ROOTS, draws_of


@inner
def take_root_embeddings(shape: Any, n_roots: int, arena: Any) -> Any:
    """Of a shard's roots, or their gradients: (roots, bins · width)."""
    return take_matrix(arena, n_roots, shape.bins.number * shape.widths[-1])


@inner
def heads_backward(items: Any, shard: int, job: Any) -> None:
    """Losses of some graphs, the gradients of their embeddings and that of the head."""
    never_inline()
    work, network, arena = job.work, job.network, job.arena
    gradient = work.gradients[shard]
    for item in items:
        embedding, grad = embedding_of(job, work.graph_embeddings, item), embedding_of(job, work.grad_graph_embeddings, item)
        loss, is_hit = head_backward(network, embedding, work.targets[item], work.weights[item], grad, gradient, arena)
        work.losses[item], work.hits[item] = loss, is_hit


@unit
def forward(items: Any, shard: int, job: Any) -> None:
    """Embed some graphs of a batch: those of a shard, or one that is `SHARED`."""
    if shard < 0:
        embed_shared(items, job)
        return
    embeddings, n_roots = _embed_nodes(items, shard, job)
    if asks_for_graphs(job.work):
        embed_graphs(items, shard, job, rows_of(embeddings, 0, n_roots))


@inner
def _embed_nodes(items: Any, shard: int, job: Any) -> tuple[Any, int]:
    """f_node: embeddings of the graphs' distinct roots, and how many there are."""
    work, arena, shape = job.work, job.arena, job.network.shape
    n_draws, n_roots, kept, room = 0, 0, 0, job.max_held
    for item in items:
        n_draws += draws_of(work, item)
    work.root_embeddings[shard] = arena.tops[FLOATS]
    embeddings = take_root_embeddings(shape, n_draws, arena)
    for item in items:
        state = work.states[item]
        state[FIRST_FLOAT], state[FIRST_INTEGER] = arena.tops[FLOATS], arena.tops[INTEGERS]
        distinct = take_distinct_roots(shape, draws_of(work, item), arena)
        own, tops = merge_roots(job, item, distinct), tops_of(arena)
        roots = Roots(work.graphs[item], one_part(shard), state, distinct)
        held = take_held(job, roots, own, room, work.keep[shard] >= 0)
        above = tops_of(arena)
        chunk = embed_roots(job, roots, rows_of(embeddings, n_roots, own), held)
        taken = arena.tops[FLOATS] - tops[FLOATS]
        is_kept = chunk.n_roots == own and kept + taken <= work.keep[shard]
        finish_nodes(job, shard, item, distinct, rows_of(embeddings, n_roots, own))
        remember_chunk(state, is_kept, chunk, held)
        state[N_ROOTS], state[FIRST_ROOT] = own, n_roots
        n_roots += own
        if is_kept:
            kept += taken
        elif work.keep[shard] < 0:
            lower_tops(arena, tops)
        else:
            lower_tops(arena, above)
            room -= held.n * held.width
    return embeddings, n_roots


@unit
def backward(items: Any, shard: int, job: Any) -> None:
    """Add the gradients of the parameters, given those of the graphs' embeddings."""
    if shard < 0:
        shared_backward(items, job)
        return
    work, arena, shape, n_roots = job.work, job.arena, job.network.shape, 0
    for item in items:
        n_roots += work.states[item, N_ROOTS]
    embeddings = matrix(arena.floats, work.root_embeddings[shard], n_roots, shape.bins.number * shape.widths[-1])
    grad_embeddings = take_root_embeddings(shape, n_roots, arena)
    free = tops_of(arena)
    graphs_backward(items, shard, job, embeddings, grad_embeddings)
    for item in items:
        state = work.states[item]
        lower_tops(arena, (state[FIRST_FLOAT], state[FIRST_INTEGER], free[DOUBLES]))
        distinct = take_distinct_roots(shape, draws_of(work, item), arena)
        roots = Roots(work.graphs[item], one_part(shard), state, distinct)
        own = rows_of(grad_embeddings, state[FIRST_ROOT], state[N_ROOTS])
        embed_roots_backward(job, roots, own, grad_node_moments(job, item), free)
    lower_tops(arena, free)
