"""What follows f_node in a pass: sums over the roots' embeddings, the wide product for all roots at once, f_graph; and backward."""

from typing import Any

from phist.engine.arena import (
    DOUBLES,
    FLOATS,
    INTEGERS,
    LINEAR,
    begin_phase,
    charge,
    lower_tops,
    take_floats,
    take_integers,
    take_matrix,
    tops_of,
)
from phist.engine.balls import Chunk, fill_nodes, take_nodes
from phist.engine.dense import accumulate, add_times, fill, multiply
from phist.engine.graph_level import Drawn, GraphResponses, embed_graph, embed_graph_backward, take_graph_responses
from phist.engine.jit import inner, never_inline
from phist.engine.plan import nodes_in
from phist.engine.roots import DistinctRoots, add_node_moments
from phist.engine.simd import LANES, add_wide, broadcast, fma, load, load_flat, single, splat, store, store_flat
from phist.engine.views import matrix, rows_of, stretch
from phist.engine.work import FIRST_INTEGER, FIRST_RESPONSE, FIRST_ROOT, HELD_WIDTH, IS_KEPT, N_ENTRIES, N_PAIRS, N_ROOTS, draws_of


@inner
def embedding_of(job: Any, embeddings: Any, item: int) -> Any:
    """That of a work item: of f_graph, its moments, and those of f_node."""
    size = len(job.network.graph_standardizer.shift)
    return stretch(embeddings, item * size, size)


@inner
def node_moments_of(job: Any, embeddings: Any, item: int) -> Any:
    """Those of f_node, which end the embedding of a work item: (2, width)."""
    width = job.network.shape.widths[-1]
    return matrix(embeddings, (item + 1) * len(job.network.graph_standardizer.shift) - 2 * width, 2, width)


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
def asks_for_graphs(work: Any) -> bool:
    """Whether embeddings of nodes are not all that is asked for."""
    return work.n_views > 0 or not len(work.node_embeddings)


@inner
def remember_chunk(state: Any, is_kept: bool, chunk: Chunk, held: Any) -> None:
    """What the backward pass has to know of roots whose last chunk this was."""
    state[IS_KEPT], state[N_PAIRS], state[N_ENTRIES], state[HELD_WIDTH] = is_kept, chunk.n_pairs, chunk.balls.n_entries, held.width


@inner
def finish_nodes(job: Any, shard: int, item: int, distinct: DistinctRoots, embeddings: Any) -> None:
    """What is asked for besides the embeddings of a graph's roots."""
    never_inline()
    work, shape = job.work, job.network.shape
    moments = work.moments[shard]
    _sum_moments(distinct.weights, embeddings, job.network.node_standardizer.shift, moments)
    if shape.moments:
        add_node_moments(shape, distinct, embeddings.n, node_moments_of(job, work.graph_embeddings, item))
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
def embed_graphs(items: Any, shard: int, job: Any, embeddings: Any) -> None:
    """f_graph: the wide product for all roots at once, then graph by graph."""
    never_inline()
    work, arena, network, since = job.work, job.arena, job.network, begin_phase(job.arena)
    products = take_products(network.shape, embeddings.n, arena)
    _standardize(network.node_standardizer, embeddings)
    multiply(embeddings, _wide_weights(network, embeddings, products), products)
    charge(arena, LINEAR, since)
    for item in items:
        graph, before = work.graphs[item], tops_of(arena)
        work.states[item, FIRST_RESPONSE] = arena.tops[FLOATS]
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
        stretch(draws.nodes, draws.ptr[item], n_draws),
        stretch(draws.counts, draws.ptr[item], n_draws),
        stretch(job.arena.integers, state[FIRST_INTEGER], n_draws),
        rows_of(products, state[FIRST_ROOT], state[N_ROOTS]),
    )


@inner
def _embed_graph_in_views(job: Any, item: int, nodes: Chunk, drawn: Drawn, responses: GraphResponses) -> None:
    """The mean of a graph's histograms, and of f_graph's moments, over several draws of its roots."""
    work, arena, views = job.work, job.arena, job.work.views
    tops, fraction = tops_of(arena), single(1.0) / single(work.n_views)
    for view in range(item * work.n_views, (item + 1) * work.n_views):
        begin, n_draws = views.ptr[view], views.ptr[view + 1] - views.ptr[view]
        own, roots = take_view(job.network.shape, n_draws, arena)
        at, mean = 0, stretch(work.graph_embeddings, item * len(job.network.graph_standardizer.shift), own.n)
        if view == item * work.n_views:
            fill(mean, single(0.0))
        seen = Drawn(stretch(views.nodes, begin, n_draws), stretch(views.counts, begin, n_draws), roots, drawn.products)
        for draw in range(n_draws):  # nodes come in order in both
            while drawn.nodes[at] < seen.nodes[draw]:
                at += 1
            roots[draw] = drawn.roots[at]
        embed_graph(job.network, nodes, seen, responses, own, arena)
        add_times(mean, own, fraction)
        lower_tops(arena, tops)


@inner
def grad_node_moments(job: Any, item: int) -> Any:
    """Gradients of f_node's moments, where the head sees them."""
    grads = job.work.grad_graph_embeddings
    return node_moments_of(job, grads, item) if job.network.shape.moments else matrix(grads, 0, 0, 0)


@inner
def graphs_backward(items: Any, shard: int, job: Any, embeddings: Any, grad_embeddings: Any) -> None:
    """f_graph's part, and the wide product for all roots at once: to the gradients of f_node's embeddings."""
    never_inline()
    arena, network, gradient, before = job.arena, job.network, job.work.gradients[shard], tops_of(job.arena)
    products = take_products(network.shape, embeddings.n, arena)
    free = tops_of(arena)
    for item in items:
        _graph_backward(job, gradient, item, products, free)
    since, weights, size = begin_phase(arena), network.graph, embeddings.width
    accumulate(embeddings, products, matrix(gradient, weights.matrices[0], size, products.width))
    multiply(products, matrix(weights.values, weights.transposes[0], products.width, size), grad_embeddings)
    charge(arena, LINEAR, since)
    lower_tops(arena, before)


@inner
def _graph_backward(job: Any, gradient: Any, item: int, products: Any, free: Any) -> None:
    """f_graph's part of the backward pass for one graph."""
    work, arena, graph = job.work, job.arena, job.work.graphs[item]
    lower_tops(arena, (work.states[item, FIRST_RESPONSE], free[INTEGERS], free[DOUBLES]))
    responses = take_graph_responses(job.network.shape, nodes_in(job.plan, graph), arena)
    lower_tops(arena, free)
    nodes, drawn = take_nodes(job.plan, graph, arena), _drawn(job, item, products)
    fill_nodes(nodes)
    grad = embedding_of(job, work.grad_graph_embeddings, item)
    embed_graph_backward(job.network, gradient, nodes, drawn, responses, grad, arena)
    lower_tops(arena, free)
