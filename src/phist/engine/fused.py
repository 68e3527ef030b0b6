"""Forward and backward over some graphs of a batch, on one thread.

f_node graph by graph, each in cache from beginning to end; then the one wide product, for all roots at once; then f_graph
graph by graph. The way back takes the same steps in reverse. The head stands between the two: no graph's loss waits for
another graph, so a thread goes all the way there and back without meeting the others.
"""

from typing import Any, NamedTuple

from phist.engine.dense import accumulate, add_times, fill, multiply
from phist.engine.graph_level import Drawn, Read, read_graph, take_read, unread_graph
from phist.engine.head import learn_head
from phist.engine.memory import LINEAR, Memory, begin_phase, charge, take_floats, take_integers
from phist.engine.plan import Plan
from phist.engine.roots import (
    ENTRIES,
    FIRST_ROOT,
    FLOATS,
    INTEGERS,
    KEPT,
    N_PLACES,
    READ,
    ROOTS,
    Rooted,
    add_node_moments,
    density_of,
    embed_roots,
    learn_roots,
    merge_roots,
    take_rooted,
)  # fmt: skip
from phist.engine.shape import Network, Standardizer
from phist.engine.threads import Shares
from phist.engine.vectors import LANES, fma, inner, load, single, splat, spread, store
from phist.nn.sampling import Draws


class Pass(NamedTuple):
    """What the threads read and fill in a pass over a batch, or in several with a step of training after each."""

    graphs: Any  # (graphs): by their numbers in the plan
    draws: Draws
    targets: Any  # (graphs): their classes, for the head
    weights: Any  # (graphs): what each counts for in the loss, those of a step together 1
    shares: Shares
    taken: Any  # (steps): spare shares that some thread has taken
    keep_below: Any  # (shares): responses that end below so many floats stay for the way back; below 0 nothing stays
    states: Any  # (graphs, STATES)
    embeddings: Any  # (shares): where those of its roots begin in a thread's memory
    nodes: Any  # unless empty, embeddings of the drawn nodes are all that is asked for
    views: Draws  # (graphs · n_views): what f_graph sees of the drawn nodes, the mean over them; they have no way back
    n_views: int  # 0 where it sees them all once
    histograms: Any  # (graphs · (bins + moments) · width): those of f_graph, its moments, those of f_node
    slopes: Any  # likewise
    moments: Any  # (shares, 1 + 2 · bins · width): draws, sums and sums of squares of drawn embeddings less the shift
    losses: Any  # (graphs): what each adds to the loss of its step
    hits: Any  # (graphs)
    gradients: Any  # (shares, parameters with padding, without transposes)


@inner
def learn_heads(some: Any, share: int, network: Network, batch: Pass, memory: Memory) -> None:
    """Losses of some graphs, their slopes and the gradient of the head, which begins with them."""
    size, gradient = len(network.graph_standardizer.shift), batch.gradients[share]
    for place in some:
        loss, is_hit = learn_head(
            network.head, network.graph_standardizer, batch.histograms, place * size, batch.targets[place], batch.weights[place],
            batch.slopes, gradient, memory,
        )  # fmt: skip
        batch.losses[place], batch.hits[place] = loss, is_hit


@inner
def _sum_moments(weights: int, embeddings: int, n_roots: int, shift: Any, moments: Any, memory: Memory) -> None:
    """Sums over a graph's few roots in single precision, over the graphs in double; about ``shift``, where little cancels."""
    floats, mark, size = memory.floats, memory.tops[0], len(shift)
    lanes = take_floats(memory, 2 * LANES)
    for root in range(n_roots):
        moments[0] += floats[weights + root]
    for block in range(0, size, LANES):
        total, square = splat(single(0.0)), splat(single(0.0))
        for root in range(n_roots):
            value = load(floats, embeddings + root * size + block) - load(shift, block)
            counted = value * spread(floats, weights + root)
            total, square = total + counted, fma(counted, value, square)
        store(floats, lanes, total)
        store(floats, lanes + LANES, square)
        for c in range(LANES):
            moments[1 + block + c] += floats[lanes + c]
            moments[1 + size + block + c] += floats[lanes + LANES + c]
    memory.tops[0] = mark


@inner
def _copy_nodes(rooted: Rooted, begin: int, end: int, embeddings: int, size: int, nodes: Any, memory: Memory) -> None:
    for draw in range(begin, end):
        root = memory.integers[rooted.draw_root + draw - begin]
        for block in range(0, size, LANES):
            store(nodes, draw * size + block, load(memory.floats, embeddings + root * size + block))


@inner
def _standardize(standardizer: Standardizer, n_roots: int, embeddings: int, memory: Memory) -> None:
    floats, size = memory.floats, len(standardizer.shift)
    for root in range(n_roots):
        for block in range(0, size, LANES):
            at = embeddings + root * size + block
            value = load(floats, at) - load(standardizer.shift, block)
            store(floats, at, value * load(standardizer.scale, block))


@inner
def _read_views(
    network: Network, plan: Plan, place: int, drawn: Drawn, read: Read, density: Any, batch: Pass, memory: Memory
) -> None:
    """The mean of a graph's histograms, and of f_graph's moments, over several draws of its roots."""
    mark, integers, views, embedded = memory.tops[0], memory.tops[1], batch.views, batch.draws.nodes
    shape, share, to = network.shape, single(1.0) / single(batch.n_views), place * len(network.graph_standardizer.shift)
    size = (shape.bins.number + shape.moments // 2) * shape.widths[-1]
    own = take_floats(memory, size)
    fill(batch.histograms, to, size, single(0.0))
    for view in range(place * batch.n_views, (place + 1) * batch.n_views):
        begin, end = views.ptr[view], views.ptr[view + 1]
        memory.tops[1] = integers
        view_root, at = take_integers(memory, end - begin), drawn.begin
        for draw in range(begin, end):  # nodes come in order in both
            while embedded[at] < views.nodes[draw]:
                at += 1
            memory.integers[view_root + draw - begin] = memory.integers[drawn.draw_root + at - drawn.begin]
        seen = Drawn(drawn.graph, begin, end, view_root, drawn.n_roots, drawn.products)
        read_graph(shape, network.graph, plan, seen, views.nodes, views.counts, read, density, memory.floats, own, memory)
        add_times(batch.histograms, to, memory.floats, own, size, share)
    memory.tops[0], memory.tops[1] = mark, integers


@inner
def forward(some: Any, share: int, plan: Plan, network: Network, batch: Pass, most_places: int, memory: Memory) -> int:
    """Embed some graphs of a batch; returns where the embeddings of their roots begin."""
    embeddings, n_roots = _embed_nodes(some, share, plan, network, batch, most_places, memory)
    if not len(batch.nodes):
        _embed_graphs(some, share, plan, network, batch, embeddings, n_roots, memory)
    return embeddings


@inner
def _embed_nodes(
    some: Any, share: int, plan: Plan, network: Network, batch: Pass, most_places: int, memory: Memory
) -> tuple[int, int]:
    """f_node: where the embeddings of the graphs' distinct roots begin, and how many there are."""
    graphs, draws, states, nodes, shape = batch.graphs, batch.draws, batch.states, batch.nodes, network.shape
    size = shape.bins.number * shape.widths[-1]
    n_draws, n_roots = 0, 0
    for place in some:
        n_draws += draws.ptr[place + 1] - draws.ptr[place]
    embeddings = take_floats(memory, n_draws * size)
    for place in some:
        graph, begin, end = graphs[place], draws.ptr[place], draws.ptr[place + 1]
        states[place, FLOATS], states[place, INTEGERS] = memory.tops[0], memory.tops[1]
        rooted = take_rooted(shape, end - begin, memory)
        own = merge_roots(plan, graph, draws, begin, end, rooted, memory)
        after, integers = memory.tops[0], memory.tops[1]
        at = embeddings + n_roots * size
        chunk = embed_roots(network, plan, graph, rooted, own, at, most_places, memory)
        _sum_moments(rooted.weights, at, own, network.node_standardizer.shift, batch.moments[share], memory)
        if shape.moments:
            add_node_moments(shape, rooted, own, batch.histograms, _moments_of_nodes(network, place), memory)
        if len(nodes):
            _copy_nodes(rooted, begin, end, at, size, nodes, memory)
        is_kept = chunk.n_roots == own and memory.tops[0] <= batch.keep_below[share]
        states[place, KEPT], states[place, N_PLACES], states[place, ENTRIES] = is_kept, chunk.n_places, chunk.n_entries
        states[place, ROOTS], states[place, FIRST_ROOT] = own, n_roots
        n_roots += own
        if not is_kept:
            memory.tops[0], memory.tops[1] = after, integers
    return embeddings, n_roots


@inner
def _moments_of_nodes(network: Network, place: int) -> int:
    """Where those of a graph begin: they end its embedding."""
    end: int = (place + 1) * len(network.graph_standardizer.shift)
    begin: int = end - 2 * network.shape.widths[-1]
    return begin


@inner
def _embed_graphs(
    some: Any, share: int, plan: Plan, network: Network, batch: Pass, embeddings: int, n_roots: int, memory: Memory
) -> None:
    """f_graph: the wide product for all roots at once, then graph by graph."""
    shape, weights, draws, since = network.shape, network.graph, batch.draws, begin_phase(memory)
    size, stride = shape.bins.number * shape.widths[-1], shape.orders[0] * shape.widths[0]
    embedding_size = len(network.graph_standardizer.shift)
    products = take_floats(memory, n_roots * stride)
    _standardize(network.node_standardizer, n_roots, embeddings, memory)
    multiply(memory.floats, embeddings, n_roots, size, weights.values, weights.matrices[0], stride, memory.floats, products)
    charge(memory, LINEAR, since)
    for place in some:
        n_nodes = plan.node_ptr[batch.graphs[place] + 1] - plan.node_ptr[batch.graphs[place]]
        before = memory.tops[0]
        read, drawn = take_read(shape, n_nodes, memory), _drawn(place, batch, products, stride)
        density = density_of(shape.graph_density, n_nodes)
        if batch.n_views:
            _read_views(network, plan, place, drawn, read, density, batch, memory)
        else:
            to = place * embedding_size
            read_graph(shape, weights, plan, drawn, draws.nodes, draws.counts, read, density, batch.histograms, to, memory)
        batch.states[place, READ] = before
        if batch.keep_below[share] < 0:
            memory.tops[0] = before


@inner
def _drawn(place: int, batch: Pass, products: int, stride: int) -> Drawn:
    draws, states = batch.draws, batch.states
    return Drawn(
        batch.graphs[place], draws.ptr[place], draws.ptr[place + 1], states[place, INTEGERS], states[place, ROOTS],
        products + states[place, FIRST_ROOT] * stride,
    )  # fmt: skip


@inner
def backward(some: Any, share: int, plan: Plan, network: Network, batch: Pass, most_places: int, memory: Memory) -> None:
    """Add the gradients of the parameters, given the slopes of the graphs' histograms and moments."""
    graphs, draws, states, slopes = batch.graphs, batch.draws, batch.states, batch.slopes
    embeddings, gradient = batch.embeddings[share], batch.gradients[share]
    shape, weights, floats = network.shape, network.graph, memory.floats
    size, stride = shape.bins.number * shape.widths[-1], shape.orders[0] * shape.widths[0]
    embedding_size, n_roots = len(network.graph_standardizer.shift), 0
    for place in some:
        n_roots += states[place, ROOTS]
    products, toward = take_floats(memory, n_roots * stride), take_floats(memory, n_roots * size)
    mark, integers = memory.tops[0], memory.tops[1]
    for place in some:
        n_nodes = plan.node_ptr[graphs[place] + 1] - plan.node_ptr[graphs[place]]
        memory.tops[0] = states[place, READ]
        read = take_read(shape, n_nodes, memory)
        memory.tops[0] = mark
        drawn = _drawn(place, batch, products, stride)
        density, at = density_of(shape.graph_density, n_nodes), place * embedding_size
        unread_graph(shape, weights, gradient, plan, drawn, draws.nodes, draws.counts, read, density, slopes, at, memory)

    since = begin_phase(memory)
    accumulate(floats, embeddings, n_roots, size, floats, products, stride, gradient, weights.matrices[0])
    multiply(floats, products, n_roots, stride, weights.values, weights.transposes[0], size, floats, toward)
    charge(memory, LINEAR, since)
    for place in some:
        own = toward + states[place, FIRST_ROOT] * size
        memory.tops[0], memory.tops[1] = states[place, FLOATS], states[place, INTEGERS]
        rooted = take_rooted(shape, draws.ptr[place + 1] - draws.ptr[place], memory)
        at = _moments_of_nodes(network, place)
        learn_roots(
            network, gradient, plan, graphs[place], rooted, states[place], own, slopes, at, most_places, mark, integers, memory
        )
    memory.tops[0], memory.tops[1] = mark, integers
