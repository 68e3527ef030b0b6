"""A large graph that all workers share: f_node by parts of its roots, f_graph by the first worker, and backward likewise."""

from typing import Any

from phist.engine.arena import clear, lower_tops, tops_of
from phist.engine.jit import inner
from phist.engine.parts import count_roots, own_parts
from phist.engine.passes import (
    asks_for_graphs,
    embed_graphs,
    finish_nodes,
    grad_node_moments,
    graphs_backward,
    heads_backward,
    remember_chunk,
)
from phist.engine.roots import DistinctRoots, Roots, embed_roots, merge_roots, take_distinct_roots, take_held
from phist.engine.roots_backward import embed_roots_backward
from phist.engine.views import matrix
from phist.engine.work import FIRST_ROOT, INTEGERS, ROOTS, draws_of, meet


@inner
def run_shared_graph(items: Any, is_training: bool, job: Any) -> None:
    """Forward, and in training backward too. The graph is the only one of ``items``; all workers come here together."""
    work, arena, shape, item = job.work, job.arena, job.network.shape, items[0]
    clear(arena)
    graph, size = work.graphs[item], shape.bins.number * shape.widths[-1]
    distinct = take_distinct_roots(shape, draws_of(work, item), arena)
    roots = Roots(graph, own_parts(job, graph), work.states[len(work.graphs) + job.number], distinct)
    n_roots, tops = merge_roots(job, item, distinct), tops_of(arena)
    embeddings = matrix(work.exchange.embeddings, 0, n_roots, size)
    grad_embeddings = matrix(work.exchange.grad_embeddings, 0, n_roots if is_training else 0, size)

    held, n_own = take_held(job, roots, n_roots, job.max_held, is_training), count_roots(roots.parts, n_roots)
    above = tops_of(arena)
    chunk = embed_roots(job, roots, embeddings, held)
    is_kept = is_training and n_own > 0 and chunk.n_roots == n_own
    remember_chunk(roots.state, is_kept, chunk, held)
    if not is_kept:
        lower_tops(arena, above)
    free = tops_of(arena)
    meet(job)  # all embeddings are there
    if job.number == 0:
        _run_graph_level(items, is_training, job, distinct, embeddings, grad_embeddings)
    if is_training:
        meet(job)  # and their gradients
        lower_tops(arena, tops)
        embed_roots_backward(job, roots, grad_embeddings, grad_node_moments(job, item), free)


@inner
def _run_graph_level(
    items: Any, is_training: bool, job: Any, distinct: DistinctRoots, embeddings: Any, grad_embeddings: Any
) -> None:
    """What follows f_node, as for a graph that is the only one of the first shard."""
    state = job.work.states[items[0]]
    state[INTEGERS], state[ROOTS], state[FIRST_ROOT] = 0, embeddings.n, 0
    finish_nodes(job, 0, items[0], distinct, embeddings)
    if asks_for_graphs(job.work):
        embed_graphs(items, 0, job, embeddings)
    if is_training:
        heads_backward(items, 0, job)
        graphs_backward(items, 0, job, embeddings, grad_embeddings)
