"""A large graph that all workers share: f_node by parts of its roots, f_graph by the first worker, and backward likewise."""

from typing import Any

from phist.engine.arena import FLOATS, INTEGERS, clear, lower_tops, tops_of
from phist.engine.graph_passes import (
    asks_for_graphs,
    embed_graphs,
    finish_nodes,
    grad_node_moments,
    graphs_backward,
    remember_chunk,
)
from phist.engine.jit import inner
from phist.engine.parts import count_roots, own_parts
from phist.engine.roots import Roots, embed_roots, merge_roots, take_distinct_roots, take_held
from phist.engine.roots_backward import embed_roots_backward
from phist.engine.views import matrix
from phist.engine.work import FIRST_FLOAT, FIRST_INTEGER, FIRST_ROOT, N_ROOTS, draws_of, meet


@inner
def _take_roots(item: int, job: Any) -> Roots:
    """This worker's part of them, where its arena begins."""
    work, graph = job.work, job.work.graphs[item]
    clear(job.arena)
    distinct = take_distinct_roots(job.network.shape, draws_of(work, item), job.arena)
    return Roots(graph, own_parts(job, graph), work.states[len(work.graphs) + job.number], distinct)


@inner
def _embeddings_of(values: Any, n_roots: int, job: Any) -> Any:
    """Those of all roots, or their gradients, where all workers find them."""
    shape = job.network.shape
    return matrix(values, 0, n_roots, shape.bins.number * shape.widths[-1])


@inner
def embed_shared(items: Any, job: Any) -> None:
    """Embed a graph, the only one of ``items``; all workers come here together."""
    work, arena, item, has_backward = job.work, job.arena, items[0], job.work.keep[0] >= 0
    roots = _take_roots(item, job)
    n_roots, state = merge_roots(job, item, roots.distinct), roots.state
    embeddings, n_own = _embeddings_of(work.exchange.embeddings, n_roots, job), count_roots(roots.parts, n_roots)
    held = take_held(job, roots, n_roots, job.max_held, has_backward)
    above = tops_of(arena)
    chunk = embed_roots(job, roots, embeddings, held)
    is_kept = has_backward and n_own > 0 and chunk.n_roots == n_own
    remember_chunk(state, is_kept, chunk, held)
    if not is_kept:
        lower_tops(arena, above)
    state[FIRST_FLOAT], state[FIRST_INTEGER], state[N_ROOTS] = arena.tops[FLOATS], arena.tops[INTEGERS], n_roots
    meet(job)  # all embeddings are there
    if job.number == 0:  # the rest is as for a graph that is the only one of the first shard
        work.states[item, FIRST_INTEGER], work.states[item, N_ROOTS], work.states[item, FIRST_ROOT] = 0, n_roots, 0
        finish_nodes(job, 0, item, roots.distinct, embeddings)
        if asks_for_graphs(work):
            embed_graphs(items, 0, job, embeddings)


@inner
def shared_backward(items: Any, job: Any) -> None:
    """Its backward pass, while everything is still in the arenas."""
    work, state = job.work, job.work.states[len(job.work.graphs) + job.number]
    n_roots, free = state[N_ROOTS], (state[FIRST_FLOAT], state[FIRST_INTEGER], 0)
    grad_embeddings = _embeddings_of(work.exchange.grad_embeddings, n_roots, job)
    if job.number == 0:
        graphs_backward(items, 0, job, _embeddings_of(work.exchange.embeddings, n_roots, job), grad_embeddings)
    meet(job)  # all gradients of embeddings are there
    roots = _take_roots(items[0], job)
    embed_roots_backward(job, roots, grad_embeddings, grad_node_moments(job, items[0]), free)
