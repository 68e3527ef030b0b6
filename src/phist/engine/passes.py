"""Forward and backward over some graphs of a batch, on one thread.

f_node graph by graph, each in cache from beginning to end; then the one wide product, for all roots at once; then f_graph
graph by graph. The backward pass takes the same steps in reverse. The head stands between the two: no graph's loss waits for
another graph, so a worker computes both passes without waiting for the others.
"""

from typing import Any, NamedTuple

from phist.engine.arena import LINEAR, Arena, begin_phase, charge, take_floats, take_integers
from phist.engine.dense import accumulate, add_times, fill, multiply
from phist.engine.graph_level import Drawn, GraphResponses, embed_graph, embed_graph_backward, take_graph_responses
from phist.engine.head import head_backward
from phist.engine.jit import inner
from phist.engine.plan import Plan
from phist.engine.roots import (
    ENTRIES,
    FIRST_ROOT,
    FLOATS,
    INTEGERS,
    KEPT,
    N_PAIRS,
    RESPONSES,
    ROOTS,
    DistinctRoots,
    add_node_moments,
    density_of,
    embed_roots,
    embed_roots_backward,
    merge_roots,
    take_distinct_roots,
)  # fmt: skip
from phist.engine.shape import Network, Standardizer
from phist.engine.simd import LANES, broadcast, fma, load, single, splat, store
from phist.engine.threads import Shards
from phist.nn.sampling import Draws


class Work(NamedTuple):
    """What workers read and fill in passes over work items, each a graph with its draws; in training, a step follows every pass."""

    graphs: Any  # (graphs): by their numbers in the plan
    draws: Draws
    targets: Any  # (graphs): their classes, for the head
    weights: Any  # (graphs): what each counts for in the loss, those of a step together 1
    shards: Shards
    taken: Any  # (steps): spare shards that some worker has taken
    keep_below: Any  # (shards): responses that end below so many floats stay for the backward pass; below 0 nothing stays
    states: Any  # (graphs, STATES)
    root_embeddings: Any  # (shards): where those of its roots begin in a worker's arena
    node_embeddings: Any  # unless empty, embeddings of the drawn nodes are all that is asked for
    views: Draws  # (graphs · n_views): what f_graph sees of the drawn nodes, the mean over them; they have no backward pass
    n_views: int  # 0 where it sees them all once
    graph_embeddings: Any  # (graphs · (bins + moments) · width): those of f_graph, its moments, those of f_node
    grad_graph_embeddings: Any  # likewise
    moments: Any  # (shards, 1 + 2 · bins · width): draws, sums and sums of squares of drawn embeddings less the shift
    losses: Any  # (graphs): what each adds to the loss of its step
    hits: Any  # (graphs)
    gradients: Any  # (shards, parameters with padding, without transposes)


@inner
def heads_backward(items: Any, shard: int, network: Network, work: Work, arena: Arena) -> None:
    """Losses of some graphs, the gradients of their embeddings and that of the head."""
    size, gradient = len(network.graph_standardizer.shift), work.gradients[shard]
    for item in items:
        loss, is_hit = head_backward(
            network.head, network.graph_standardizer, work.graph_embeddings, item * size, work.targets[item], work.weights[item],
            work.grad_graph_embeddings, gradient, arena,
        )  # fmt: skip
        work.losses[item], work.hits[item] = loss, is_hit


@inner
def _sum_moments(weights: int, embeddings: int, n_roots: int, shift: Any, moments: Any, arena: Arena) -> None:
    """Sums over a graph's few roots in single precision, over the graphs in double; about ``shift``, where little cancels."""
    floats, mark, size = arena.floats, arena.tops[0], len(shift)
    lanes = take_floats(arena, 2 * LANES)
    for root in range(n_roots):
        moments[0] += floats[weights + root]
    for block in range(0, size, LANES):
        total, square = splat(single(0.0)), splat(single(0.0))
        for root in range(n_roots):
            value = load(floats, embeddings + root * size + block) - load(shift, block)
            counted = value * broadcast(floats, weights + root)
            total, square = total + counted, fma(counted, value, square)
        store(floats, lanes, total)
        store(floats, lanes + LANES, square)
        for c in range(LANES):
            moments[1 + block + c] += floats[lanes + c]
            moments[1 + size + block + c] += floats[lanes + LANES + c]
    arena.tops[0] = mark


@inner
def _copy_nodes(distinct: DistinctRoots, begin: int, end: int, embeddings: int, size: int, nodes: Any, arena: Arena) -> None:
    for draw in range(begin, end):
        root = arena.integers[distinct.draw_root + draw - begin]
        for block in range(0, size, LANES):
            store(nodes, draw * size + block, load(arena.floats, embeddings + root * size + block))


@inner
def _standardize(standardizer: Standardizer, n_roots: int, embeddings: int, arena: Arena) -> None:
    floats, size = arena.floats, len(standardizer.shift)
    for root in range(n_roots):
        for block in range(0, size, LANES):
            at = embeddings + root * size + block
            value = load(floats, at) - load(standardizer.shift, block)
            store(floats, at, value * load(standardizer.scale, block))


@inner
def _embed_graph_in_views(
    network: Network, plan: Plan, item: int, drawn: Drawn, responses: GraphResponses, density: Any, work: Work, arena: Arena
) -> None:
    """The mean of a graph's histograms, and of f_graph's moments, over several draws of its roots."""
    mark, integers, views, embedded = arena.tops[0], arena.tops[1], work.views, work.draws.nodes
    shape, fraction, to = network.shape, single(1.0) / single(work.n_views), item * len(network.graph_standardizer.shift)
    size = (shape.bins.number + shape.moments // 2) * shape.widths[-1]
    own = take_floats(arena, size)
    fill(work.graph_embeddings, to, size, single(0.0))
    for view in range(item * work.n_views, (item + 1) * work.n_views):
        begin, end = views.ptr[view], views.ptr[view + 1]
        arena.tops[1] = integers
        view_root, at = take_integers(arena, end - begin), drawn.begin
        for draw in range(begin, end):  # nodes come in order in both
            while embedded[at] < views.nodes[draw]:
                at += 1
            arena.integers[view_root + draw - begin] = arena.integers[drawn.draw_root + at - drawn.begin]
        seen = Drawn(drawn.graph, begin, end, view_root, drawn.n_roots, drawn.products)
        embed_graph(shape, network.graph, plan, seen, views.nodes, views.counts, responses, density, arena.floats, own, arena)
        add_times(work.graph_embeddings, to, arena.floats, own, size, fraction)
    arena.tops[0], arena.tops[1] = mark, integers


@inner
def forward(items: Any, shard: int, plan: Plan, network: Network, work: Work, max_pairs: int, arena: Arena) -> int:
    """Embed some graphs of a batch; returns where the embeddings of their roots begin."""
    embeddings, n_roots = _embed_nodes(items, shard, plan, network, work, max_pairs, arena)
    if not len(work.node_embeddings):
        _embed_graphs(items, shard, plan, network, work, embeddings, n_roots, arena)
    return embeddings


@inner
def _embed_nodes(items: Any, shard: int, plan: Plan, network: Network, work: Work, max_pairs: int, arena: Arena) -> tuple[int, int]:
    """f_node: where the embeddings of the graphs' distinct roots begin, and how many there are."""
    graphs, draws, states, nodes, shape = work.graphs, work.draws, work.states, work.node_embeddings, network.shape
    size = shape.bins.number * shape.widths[-1]
    n_draws, n_roots = 0, 0
    for item in items:
        n_draws += draws.ptr[item + 1] - draws.ptr[item]
    embeddings = take_floats(arena, n_draws * size)
    for item in items:
        graph, begin, end = graphs[item], draws.ptr[item], draws.ptr[item + 1]
        states[item, FLOATS], states[item, INTEGERS] = arena.tops[0], arena.tops[1]
        distinct = take_distinct_roots(shape, end - begin, arena)
        own = merge_roots(plan, graph, draws, begin, end, distinct, arena)
        after, integers = arena.tops[0], arena.tops[1]
        at = embeddings + n_roots * size
        chunk = embed_roots(network, plan, graph, distinct, own, at, max_pairs, arena)
        _sum_moments(distinct.weights, at, own, network.node_standardizer.shift, work.moments[shard], arena)
        if shape.moments:
            add_node_moments(shape, distinct, own, work.graph_embeddings, _moments_of_nodes(network, item), arena)
        if len(nodes):
            _copy_nodes(distinct, begin, end, at, size, nodes, arena)
        is_kept = chunk.n_roots == own and arena.tops[0] <= work.keep_below[shard]
        states[item, KEPT], states[item, N_PAIRS], states[item, ENTRIES] = is_kept, chunk.n_pairs, chunk.n_entries
        states[item, ROOTS], states[item, FIRST_ROOT] = own, n_roots
        n_roots += own
        if not is_kept:
            arena.tops[0], arena.tops[1] = after, integers
    return embeddings, n_roots


@inner
def _moments_of_nodes(network: Network, item: int) -> int:
    """Where those of a graph begin: they end its embedding."""
    end: int = (item + 1) * len(network.graph_standardizer.shift)
    begin: int = end - 2 * network.shape.widths[-1]
    return begin


@inner
def _embed_graphs(
    items: Any, shard: int, plan: Plan, network: Network, work: Work, embeddings: int, n_roots: int, arena: Arena
) -> None:
    """f_graph: the wide product for all roots at once, then graph by graph."""
    shape, weights, draws, since = network.shape, network.graph, work.draws, begin_phase(arena)
    size, stride = shape.bins.number * shape.widths[-1], shape.orders[0] * shape.widths[0]
    embedding_size = len(network.graph_standardizer.shift)
    products = take_floats(arena, n_roots * stride)
    _standardize(network.node_standardizer, n_roots, embeddings, arena)
    multiply(arena.floats, embeddings, n_roots, size, weights.values, weights.matrices[0], stride, arena.floats, products)
    charge(arena, LINEAR, since)
    for item in items:
        n_nodes = plan.node_ptr[work.graphs[item] + 1] - plan.node_ptr[work.graphs[item]]
        before = arena.tops[0]
        responses, drawn = take_graph_responses(shape, n_nodes, arena), _drawn(item, work, products, stride)
        density = density_of(shape.graph_density, n_nodes)
        if work.n_views:
            _embed_graph_in_views(network, plan, item, drawn, responses, density, work, arena)
        else:
            to = item * embedding_size
            embed_graph(
                shape, weights, plan, drawn, draws.nodes, draws.counts, responses, density, work.graph_embeddings, to, arena
            )
        work.states[item, RESPONSES] = before
        if work.keep_below[shard] < 0:
            arena.tops[0] = before


@inner
def _drawn(item: int, work: Work, products: int, stride: int) -> Drawn:
    draws, states = work.draws, work.states
    return Drawn(
        work.graphs[item], draws.ptr[item], draws.ptr[item + 1], states[item, INTEGERS], states[item, ROOTS],
        products + states[item, FIRST_ROOT] * stride,
    )  # fmt: skip


@inner
def backward(items: Any, shard: int, plan: Plan, network: Network, work: Work, max_pairs: int, arena: Arena) -> None:
    """Add the gradients of the parameters, given those of the graphs' embeddings."""
    graphs, draws, states, grad_graph_embeddings = work.graphs, work.draws, work.states, work.grad_graph_embeddings
    embeddings, gradient = work.root_embeddings[shard], work.gradients[shard]
    shape, weights, floats = network.shape, network.graph, arena.floats
    size, stride = shape.bins.number * shape.widths[-1], shape.orders[0] * shape.widths[0]
    embedding_size, n_roots = len(network.graph_standardizer.shift), 0
    for item in items:
        n_roots += states[item, ROOTS]
    products, grad_root_embeddings = take_floats(arena, n_roots * stride), take_floats(arena, n_roots * size)
    mark, integers = arena.tops[0], arena.tops[1]
    for item in items:
        n_nodes = plan.node_ptr[graphs[item] + 1] - plan.node_ptr[graphs[item]]
        arena.tops[0] = states[item, RESPONSES]
        responses = take_graph_responses(shape, n_nodes, arena)
        arena.tops[0] = mark
        drawn = _drawn(item, work, products, stride)
        density, at = density_of(shape.graph_density, n_nodes), item * embedding_size
        embed_graph_backward(
            shape, weights, gradient, plan, drawn, draws.nodes, draws.counts, responses, density, grad_graph_embeddings, at, arena
        )

    since = begin_phase(arena)
    accumulate(floats, embeddings, n_roots, size, floats, products, stride, gradient, weights.matrices[0])
    multiply(floats, products, n_roots, stride, weights.values, weights.transposes[0], size, floats, grad_root_embeddings)
    charge(arena, LINEAR, since)
    for item in items:
        own = grad_root_embeddings + states[item, FIRST_ROOT] * size
        arena.tops[0], arena.tops[1] = states[item, FLOATS], states[item, INTEGERS]
        distinct = take_distinct_roots(shape, draws.ptr[item + 1] - draws.ptr[item], arena)
        at = _moments_of_nodes(network, item)
        embed_roots_backward(
            network,
            gradient,
            plan,
            graphs[item],
            distinct,
            states[item],
            own,
            grad_graph_embeddings,
            at,
            max_pairs,
            mark,
            integers,
            arena,
        )
    arena.tops[0], arena.tops[1] = mark, integers
