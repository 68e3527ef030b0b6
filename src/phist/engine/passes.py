"""Forward and backward over some graphs of a batch, on one thread.

f_node graph by graph, each in cache from beginning to end; then the one wide product, for all roots at once; then f_graph
graph by graph. The backward pass takes the same steps in reverse. The head stands between the two: no graph's loss waits for
another graph, so a worker computes both passes without waiting for the others.
"""

from typing import Any

from phist.engine.arena import DOUBLES as DOUBLES_TOP
from phist.engine.arena import FLOATS as FLOATS_TOP
from phist.engine.arena import INTEGERS as INTEGERS_TOP
from phist.engine.arena import LINEAR, begin_phase, charge, lower_tops, take_floats, take_integers, take_matrix, tops_of
from phist.engine.balls import Chunk, fill_nodes, take_nodes
from phist.engine.dense import accumulate, add_times, fill, multiply
from phist.engine.graph_level import Drawn, GraphResponses, embed_graph, embed_graph_backward, take_graph_responses
from phist.engine.head import head_backward
from phist.engine.jit import inner, unit
from phist.engine.plan import nodes_in
from phist.engine.roots import (
    DistinctRoots,
    add_node_moments,
    embed_roots,
    embed_roots_backward,
    merge_roots,
    take_distinct_roots,
    take_last,
)
from phist.engine.simd import LANES, add_wide, broadcast, fma, load, load_flat, single, splat, store, store_flat
from phist.engine.views import matrix, part, rows_of
from phist.engine.work import ENTRIES, FIRST_ROOT, FLOATS, INTEGERS, KEPT, LAST, N_PAIRS, RESPONSES, ROOTS, draws_of


@inner
def embedding_of(job: Any, embeddings: Any, item: int) -> Any:
    """That of a work item: of f_graph, its moments, and those of f_node."""
    size = len(job.network.graph_standardizer.shift)
    return part(embeddings, item * size, size)


@inner
def _node_moments_of(job: Any, embeddings: Any, item: int) -> Any:
    """Those of f_node, which end the embedding of a work item: (2, width)."""
    width = job.network.shape.widths[-1]
    return matrix(embeddings, (item + 1) * len(job.network.graph_standardizer.shift) - 2 * width, 2, width)


@inner
def take_root_embeddings(shape: Any, n_roots: int, arena: Any) -> Any:
    """Of a shard's roots, or their gradients: (roots, bins · width)."""
    return take_matrix(arena, n_roots, shape.bins.number * shape.widths[-1])


@inner
def take_products(shape: Any, n_roots: int, arena: Any) -> Any:
    """Of embeddings and the first matrix of f_graph, for all terms side by side: (roots, order · width)."""
    return take_matrix(arena, n_roots, shape.orders[0] * shape.widths[0])


@inner
def take_view(shape: Any, n_draws: int, arena: Any) -> tuple[Any, Any]:
    """An embedding of f_graph with its moments, and the roots of a view's draws."""
    size = (shape.bins.number + shape.moments // 2) * shape.widths[-1]
    return take_floats(arena, size), take_integers(arena, n_draws)


@inner
def heads_backward(items: Any, shard: int, job: Any) -> None:
    """Losses of some graphs, the gradients of their embeddings and that of the head."""
    work, network, arena = job.work, job.network, job.arena
    gradient = work.gradients[shard]
    for item in items:
        embedding, grad = embedding_of(job, work.graph_embeddings, item), embedding_of(job, work.grad_graph_embeddings, item)
        loss, is_hit = head_backward(network, embedding, work.targets[item], work.weights[item], grad, gradient, arena)
        work.losses[item], work.hits[item] = loss, is_hit


@unit
def forward(items: Any, shard: int, job: Any) -> None:
    """Embed some graphs of a batch."""
    embeddings, n_roots = _embed_nodes(items, shard, job)
    if job.work.n_views or not len(job.work.node_embeddings):
        _embed_graphs(items, shard, job, rows_of(embeddings, 0, n_roots))


@inner
def _embed_nodes(items: Any, shard: int, job: Any) -> tuple[Any, int]:
    """f_node: embeddings of the graphs' distinct roots, and how many there are."""
    work, arena, shape = job.work, job.arena, job.network.shape
    n_draws, n_roots, kept, room = 0, 0, 0, job.max_last
    for item in items:
        n_draws += draws_of(work, item)
    work.root_embeddings[shard] = arena.tops[FLOATS_TOP]
    embeddings = take_root_embeddings(shape, n_draws, arena)
    for item in items:
        state = work.states[item]
        state[FLOATS], state[INTEGERS] = arena.tops[FLOATS_TOP], arena.tops[INTEGERS_TOP]
        distinct = take_distinct_roots(shape, draws_of(work, item), arena)
        own, tops = merge_roots(job, item, distinct), tops_of(arena)
        last = take_last(job, work.graphs[item], own, room)
        above = tops_of(arena)
        chunk = embed_roots(job, work.graphs[item], distinct, rows_of(embeddings, n_roots, own), last)
        held = arena.tops[FLOATS_TOP] - tops[FLOATS_TOP]
        is_kept = chunk.n_roots == own and kept + held <= work.keep[shard]
        _finish_nodes(job, shard, item, distinct, rows_of(embeddings, n_roots, own))
        state[KEPT], state[N_PAIRS], state[ENTRIES] = is_kept, chunk.n_pairs, chunk.balls.n_entries
        state[LAST], state[ROOTS], state[FIRST_ROOT] = last.n, own, n_roots
        n_roots += own
        if is_kept:
            kept += held
        elif work.keep[shard] < 0:
            lower_tops(arena, tops)
        else:
            lower_tops(arena, above)
            room -= last.n * last.width
    return embeddings, n_roots


@inner
def _finish_nodes(job: Any, shard: int, item: int, distinct: DistinctRoots, embeddings: Any) -> None:
    """What is asked for besides the embeddings of a graph's roots."""
    work, shape = job.work, job.network.shape
    moments = work.moments[shard]
    _sum_moments(distinct.weights, embeddings, job.network.node_standardizer.shift, moments)
    if shape.moments:
        add_node_moments(shape, distinct, embeddings.n, _node_moments_of(job, work.graph_embeddings, item))
    if len(work.node_embeddings):
        _copy_nodes(distinct, work.draws.ptr[item], embeddings, work.node_embeddings)


@inner
def _sum_moments(weights: Any, embeddings: Any, shift: Any, moments: Any) -> None:
    """Sums over a graph's few roots in single precision, over the graphs in double; about ``shift``, where little cancels."""
    n_roots, size = embeddings.n, embeddings.width
    for root in range(n_roots):
        moments[0] += weights[root]
    for block in range(0, size, LANES):
        total, square = splat(single(0.0)), splat(single(0.0))
        for root in range(n_roots):
            value = load(embeddings, root, block) - load_flat(shift, block)
            counted = value * broadcast(weights, root)
            total, square = total + counted, fma(counted, value, square)
        add_wide(moments, 1 + block, total)
        add_wide(moments, 1 + size + block, square)


@inner
def _copy_nodes(distinct: DistinctRoots, begin: int, embeddings: Any, nodes: Any) -> None:
    size = embeddings.width
    for draw in range(distinct.draw_root.n):
        for block in range(0, size, LANES):
            store_flat(nodes, (begin + draw) * size + block, load(embeddings, distinct.draw_root[draw], block))


@inner
def _standardize(standardizer: Any, embeddings: Any) -> None:
    shift, scale = standardizer.shift, standardizer.scale
    for root in range(embeddings.n):
        for block in range(0, embeddings.width, LANES):
            value = load(embeddings, root, block) - load_flat(shift, block)
            store(embeddings, root, block, value * load_flat(scale, block))


@inner
def _wide_weights(network: Any, embeddings: Any, products: Any) -> Any:
    """The first matrix of f_graph: (bins · width, order · width)."""
    return matrix(network.graph.values, network.graph.matrices[0], embeddings.width, products.width)


@inner
def _embed_graphs(items: Any, shard: int, job: Any, embeddings: Any) -> None:
    """f_graph: the wide product for all roots at once, then graph by graph."""
    work, arena, network, since = job.work, job.arena, job.network, begin_phase(job.arena)
    products = take_products(network.shape, embeddings.n, arena)
    _standardize(network.node_standardizer, embeddings)
    multiply(embeddings, _wide_weights(network, embeddings, products), products)
    charge(arena, LINEAR, since)
    for item in items:
        graph, before = work.graphs[item], tops_of(arena)
        work.states[item, RESPONSES] = arena.tops[FLOATS_TOP]
        responses = take_graph_responses(network.shape, nodes_in(job.plan, graph), arena)
        after = tops_of(arena)
        nodes, drawn = take_nodes(job.plan, graph, arena), _drawn(job, item, products)
        fill_nodes(nodes)
        if work.n_views:
            _embed_graph_in_views(job, item, nodes, drawn, responses)
        else:
            embed_graph(network, nodes, drawn, responses, embedding_of(job, work.graph_embeddings, item), arena)
        lower_tops(arena, before if work.keep[shard] < 0 else after)


@inner
def _drawn(job: Any, item: int, products: Any) -> Drawn:
    """What was drawn for a work item; which root each draw is lies where the item's integers begin."""
    draws, state, n_draws = job.work.draws, job.work.states[item], draws_of(job.work, item)
    return Drawn(
        part(draws.nodes, draws.ptr[item], n_draws),
        part(draws.counts, draws.ptr[item], n_draws),
        part(job.arena.integers, state[INTEGERS], n_draws),
        rows_of(products, state[FIRST_ROOT], state[ROOTS]),
    )


@inner
def _embed_graph_in_views(job: Any, item: int, nodes: Chunk, drawn: Drawn, responses: GraphResponses) -> None:
    """The mean of a graph's histograms, and of f_graph's moments, over several draws of its roots."""
    work, arena, views = job.work, job.arena, job.work.views
    tops, fraction = tops_of(arena), single(1.0) / single(work.n_views)
    for view in range(item * work.n_views, (item + 1) * work.n_views):
        begin, n_draws = views.ptr[view], views.ptr[view + 1] - views.ptr[view]
        own, roots = take_view(job.network.shape, n_draws, arena)
        at, mean = 0, part(work.graph_embeddings, item * len(job.network.graph_standardizer.shift), own.n)
        if view == item * work.n_views:
            fill(mean, single(0.0))
        seen = Drawn(part(views.nodes, begin, n_draws), part(views.counts, begin, n_draws), roots, drawn.products)
        for draw in range(n_draws):  # nodes come in order in both
            while drawn.nodes[at] < seen.nodes[draw]:
                at += 1
            roots[draw] = drawn.roots[at]
        embed_graph(job.network, nodes, seen, responses, own, arena)
        add_times(mean, own, fraction)
        lower_tops(arena, tops)


@unit
def backward(items: Any, shard: int, job: Any) -> None:
    """Add the gradients of the parameters, given those of the graphs' embeddings."""
    work, arena, network, gradient = job.work, job.arena, job.network, job.work.gradients[shard]
    n_roots = 0
    for item in items:
        n_roots += work.states[item, ROOTS]
    size = network.shape.bins.number * network.shape.widths[-1]
    embeddings = matrix(arena.floats, work.root_embeddings[shard], n_roots, size)
    products, grad_embeddings = take_products(network.shape, n_roots, arena), take_root_embeddings(network.shape, n_roots, arena)
    free = tops_of(arena)
    for item in items:
        _graph_backward(job, gradient, item, products, free)
    since, weights = begin_phase(arena), network.graph
    accumulate(embeddings, products, matrix(gradient, weights.matrices[0], size, products.width))
    multiply(products, matrix(weights.values, weights.transposes[0], products.width, size), grad_embeddings)
    charge(arena, LINEAR, since)
    for item in items:
        state = work.states[item]
        lower_tops(arena, (state[FLOATS], state[INTEGERS], free[DOUBLES_TOP]))
        distinct = take_distinct_roots(network.shape, draws_of(work, item), arena)
        own, grad_moments = rows_of(grad_embeddings, state[FIRST_ROOT], state[ROOTS]), grad_embeddings
        if network.shape.moments:
            grad_moments = _node_moments_of(job, work.grad_graph_embeddings, item)
        embed_roots_backward(job, gradient, item, distinct, own, grad_moments, free)
    lower_tops(arena, free)


@inner
def _graph_backward(job: Any, gradient: Any, item: int, products: Any, free: Any) -> None:
    """f_graph's part of the backward pass for one graph."""
    work, arena, graph = job.work, job.arena, job.work.graphs[item]
    lower_tops(arena, (work.states[item, RESPONSES], free[INTEGERS_TOP], free[DOUBLES_TOP]))
    responses = take_graph_responses(job.network.shape, nodes_in(job.plan, graph), arena)
    lower_tops(arena, free)
    nodes, drawn = take_nodes(job.plan, graph, arena), _drawn(job, item, products)
    fill_nodes(nodes)
    grad = embedding_of(job, work.grad_graph_embeddings, item)
    embed_graph_backward(job.network, gradient, nodes, drawn, responses, grad, arena)
    lower_tops(arena, free)
