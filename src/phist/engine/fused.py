"""Forward and backward over the graphs of a batch that one thread takes.

f_node graph by graph, each in cache from beginning to end; then the one wide product, for all roots at once; then f_graph
graph by graph. The way back takes the same steps in reverse. The head stands between the two: no graph's loss waits for
another graph, so a thread goes all the way there and back without meeting the others.
"""

from typing import Any, NamedTuple

from phist.engine.bins import prepare_slopes
from phist.engine.dense import accumulate, multiply
from phist.engine.graph_level import Drawn, read_graph, take_read, unread_graph
from phist.engine.head import learn_head
from phist.engine.memory import LINEAR, PLACES, Memory, charge, take_floats, take_integers
from phist.engine.node_level import embed, learn, pull, respond, take_responses
from phist.engine.places import Chunk, open_chunk, reopen_chunk
from phist.engine.plan import Plan
from phist.engine.shape import Network, Shape, Standardizer
from phist.engine.signals import begin_share, end_share
from phist.engine.threads import Shares
from phist.engine.vectors import LANES, compiled, cycles, fma, inner, load, single, splat, spread, store
from phist.engine.whitening import add_moments, finish_moments, pull_whitening
from phist.nn.sampling import Draws

STATES = 8  # what is remembered of a graph between the passes:
KEPT, FLOATS, INTEGERS, N_PLACES, ENTRIES, ROOTS, FIRST_ROOT, READ = range(STATES)
FORWARD, BACKWARD, LEARN = range(3)  # what a thread is asked for; LEARN is all the way


class Pass(NamedTuple):
    """What the threads read and fill in one pass over a batch."""

    graphs: Any  # (graphs): by their numbers in the plan
    draws: Draws
    targets: Any  # (graphs): their classes, for the head
    weights: Any  # (graphs): what each counts for in the loss, all together 1
    shares: Shares
    keep_below: Any  # (threads): responses that end below so many floats stay for the way back; below 0 nothing stays
    states: Any  # (graphs, STATES)
    embeddings: Any  # (threads): where those of its roots begin in a thread's memory
    nodes: Any  # unless empty, embeddings of the drawn nodes are all that is asked for
    histograms: Any  # (graphs · bins · width): those of f_graph
    slopes: Any  # likewise
    moments: Any  # (threads, 1 + 2 · bins · width): draws, sums and sums of squares of drawn embeddings less the shift
    losses: Any  # (threads, 2): loss and hits
    gradients: Any  # (threads, parameters)


@compiled
def run_share(
    number: int,
    signals: Any,
    this_round: int,
    asked: int,
    plan: Plan,
    network: Network,
    batch: Pass,
    most_places: int,
    memory: Memory,
) -> None:
    """The graphs of thread ``number``, forward, backward or both; most of the engine's code is compiled here, and once."""
    begin_share(signals, number, this_round)
    share = batch.shares.order[batch.shares.ptr[number] : batch.shares.ptr[number + 1]]
    if asked != BACKWARD:
        batch.embeddings[number] = _forward(share, number, plan, network, batch, most_places, memory)
    if asked == LEARN:
        _learn_heads(share, number, network, batch, memory)
    if asked != FORWARD:
        _backward(share, number, plan, network, batch, most_places, memory)
    end_share(signals, number, this_round)


@inner
def _learn_heads(share: Any, number: int, network: Network, batch: Pass, memory: Memory) -> None:
    size, gradient = len(network.graph_standardizer.shift), batch.gradients[number]
    for place in share:
        loss, is_hit = learn_head(
            network.head, network.graph_standardizer, batch.histograms, place * size, batch.targets[place], batch.weights[place],
            batch.slopes, gradient, memory,
        )  # fmt: skip
        batch.losses[number, 0] += loss
        batch.losses[number, 1] += is_hit


class Rooted(NamedTuple):
    """The distinct roots of a graph; where each begins."""

    draw_root: int  # (draws): which root each draw is; twins are one
    roots: int  # (roots): their rows
    weights: int  # (roots): draws of each
    whitening: int


@inner
def _take_rooted(shape: Shape, n_draws: int, memory: Memory) -> Rooted:
    sets = 1 if shape.joint else n_draws
    return Rooted(
        take_integers(memory, n_draws), take_integers(memory, n_draws), take_floats(memory, n_draws),
        take_floats(memory, sets * 2 * shape.widths[-1]),
    )  # fmt: skip


@inner
def _merge_roots(plan: Plan, graph: int, draws: Draws, begin: int, end: int, rooted: Rooted, memory: Memory) -> int:
    """Twin roots have the same embedding: keep each once, with the draws of all; returns how many there are."""
    floats, integers, position = memory.floats, memory.integers, memory.position
    first, n_roots = plan.node_ptr[graph], 0
    for draw in range(begin, end):
        row = plan.root_row[first + draws.nodes[draw]]
        if position[row] < 0:
            position[row] = n_roots
            integers[rooted.roots + n_roots] = row
            floats[rooted.weights + n_roots] = single(0.0)
            n_roots += 1
        integers[rooted.draw_root + draw - begin] = position[row]
        floats[rooted.weights + position[row]] += draws.counts[draw]
    for root in range(n_roots):
        position[integers[rooted.roots + root]] = -1
    return n_roots


@inner
def _density(asked: bool, n_nodes: int) -> Any:
    return single(1.0) / single(n_nodes) if asked else single(1.0)


@inner
def _open(
    shape: Shape, plan: Plan, graph: int, rooted: Rooted, begin: int, n_roots: int, most_places: int, memory: Memory
) -> Chunk:
    since = cycles()
    chunk = open_chunk(
        plan, graph, rooted.roots + begin, rooted.weights + begin, n_roots - begin, shape.reach, shape.orders[0] - 1, most_places,
        memory,
    )  # fmt: skip
    charge(memory, PLACES, since)
    return chunk


@inner
def _embed_roots(
    network: Network, plan: Plan, graph: int, rooted: Rooted, n_roots: int, embeddings: int, most_places: int, memory: Memory
) -> Chunk:
    """f_node: embeddings of the distinct roots. Returns the last chunk; a single one stays in memory with its responses."""
    shape = network.shape
    width, n_nodes = shape.widths[-1], plan.node_ptr[graph + 1] - plan.node_ptr[graph]
    size, moments = shape.bins.number * width, 1 + 2 * width
    sets = 1 if shape.joint else n_roots
    for c in range(sets * moments):
        memory.doubles[c] = 0.0
    mark, integers, begin = memory.tops[0], memory.tops[1], 0
    chunk = _open(shape, plan, graph, rooted, begin, n_roots, most_places, memory)
    u, x, y = take_responses(shape, chunk, memory)
    in_turns = chunk.n_roots < n_roots
    for turn in range(2):
        begin = 0
        while begin < n_roots:
            own = 0 if shape.joint else begin
            if begin or (in_turns and turn):
                memory.tops[0], memory.tops[1] = mark, integers
                chunk = _open(shape, plan, graph, rooted, begin, n_roots, most_places, memory)
                u, x, y = take_responses(shape, chunk, memory)
            if turn == 0 or in_turns:
                respond(shape, network.node, plan, chunk, rooted.roots + begin, u, x, y, memory)
            if turn == 0:
                _measure(shape, chunk, y, own * moments, memory)
            else:
                density = _density(shape.node_density, n_nodes)
                embed(shape, chunk, y, rooted.whitening + own * 2 * width, embeddings + begin * size, density, memory)
            begin += chunk.n_roots
        if turn == 0:
            for number in range(sets):
                to = rooted.whitening + number * 2 * width
                finish_moments(memory.doubles, number * moments, width, shape.epsilon, memory.floats, to)
    return chunk


@inner
def _measure(shape: Shape, chunk: Chunk, y: int, moments: int, memory: Memory) -> None:
    """Statistics of the responses, over all places or root by root."""
    floats, doubles, width, mark = memory.floats, memory.doubles, shape.widths[-1], memory.tops[0]
    lanes = take_floats(memory, LANES)
    if shape.joint:
        add_moments(floats, y, chunk.n_places, width, chunk.members, chunk.shares, doubles, moments, lanes)
    else:
        n = chunk.n_rows
        for root in range(chunk.n_roots):
            to, at = moments + root * (1 + 2 * width), root * n
            add_moments(floats, y + at * width, n, width, chunk.members + at, chunk.shares + at, doubles, to, lanes)
            for c in range(2 * LANES):  # what was put behind one root's moments lies in the next one's place
                doubles[to + 1 + 2 * width + c] = 0.0
    memory.tops[0] = mark


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
def _forward(share: Any, number: int, plan: Plan, network: Network, batch: Pass, most_places: int, memory: Memory) -> int:
    """Embed some graphs of a batch; returns where the embeddings of their roots begin."""
    graphs, draws, states, nodes, keep_below = batch.graphs, batch.draws, batch.states, batch.nodes, batch.keep_below[number]
    standardizer, moments = network.node_standardizer, batch.moments[number]
    shape = network.shape
    size, stride = shape.bins.number * shape.widths[-1], shape.orders[0] * shape.widths[0]
    n_draws, n_roots = 0, 0
    for place in share:
        n_draws += draws.ptr[place + 1] - draws.ptr[place]
    embeddings = take_floats(memory, n_draws * size)
    for place in share:
        graph, begin, end = graphs[place], draws.ptr[place], draws.ptr[place + 1]
        states[place, FLOATS], states[place, INTEGERS] = memory.tops[0], memory.tops[1]
        rooted = _take_rooted(shape, end - begin, memory)
        own = _merge_roots(plan, graph, draws, begin, end, rooted, memory)
        after, integers = memory.tops[0], memory.tops[1]
        at = embeddings + n_roots * size
        chunk = _embed_roots(network, plan, graph, rooted, own, at, most_places, memory)
        _sum_moments(rooted.weights, at, own, standardizer.shift, moments, memory)
        if len(nodes):
            _copy_nodes(rooted, begin, end, at, size, nodes, memory)
        is_kept = chunk.n_roots == own and memory.tops[0] <= keep_below
        states[place, KEPT], states[place, N_PLACES], states[place, ENTRIES] = is_kept, chunk.n_places, chunk.n_entries
        states[place, ROOTS], states[place, FIRST_ROOT] = own, n_roots
        n_roots += own
        if not is_kept:
            memory.tops[0], memory.tops[1] = after, integers
    if len(nodes):
        return embeddings

    since = cycles()
    products = take_floats(memory, n_roots * stride)
    _standardize(standardizer, n_roots, embeddings, memory)
    multiply(
        memory.floats, embeddings, n_roots, size, network.graph.values, network.graph.matrices[0], stride, memory.floats, products
    )
    charge(memory, LINEAR, since)
    for place in share:
        graph, n_nodes = graphs[place], plan.node_ptr[graphs[place] + 1] - plan.node_ptr[graphs[place]]
        states[place, READ] = memory.tops[0]
        read = take_read(shape, n_nodes, memory)
        drawn = Drawn(
            graph, draws.ptr[place], draws.ptr[place + 1], states[place, INTEGERS], states[place, ROOTS],
            products + states[place, FIRST_ROOT] * stride,
        )  # fmt: skip
        density = _density(shape.graph_density, n_nodes)
        read_graph(
            shape, network.graph, plan, drawn, draws.nodes, draws.counts, read, density, batch.histograms, place * size, memory
        )
        if keep_below < 0:
            memory.tops[0] = states[place, READ]
    return embeddings


@inner
def _backward(share: Any, number: int, plan: Plan, network: Network, batch: Pass, most_places: int, memory: Memory) -> None:
    """Add the gradients of the parameters, given the slopes of the graphs' histograms."""
    graphs, draws, states, slopes = batch.graphs, batch.draws, batch.states, batch.slopes
    embeddings, gradient = batch.embeddings[number], batch.gradients[number]
    shape, weights, floats = network.shape, network.graph, memory.floats
    size, stride = shape.bins.number * shape.widths[-1], shape.orders[0] * shape.widths[0]
    n_roots = 0
    for place in share:
        n_roots += states[place, ROOTS]
    products, toward = take_floats(memory, n_roots * stride), take_floats(memory, n_roots * size)
    mark, integers = memory.tops[0], memory.tops[1]
    for place in share:
        graph, n_nodes = graphs[place], plan.node_ptr[graphs[place] + 1] - plan.node_ptr[graphs[place]]
        memory.tops[0] = states[place, READ]
        read = take_read(shape, n_nodes, memory)
        memory.tops[0] = mark
        drawn = Drawn(
            graph, draws.ptr[place], draws.ptr[place + 1], states[place, INTEGERS], states[place, ROOTS],
            products + states[place, FIRST_ROOT] * stride,
        )  # fmt: skip
        density = _density(shape.graph_density, n_nodes)
        unread_graph(shape, weights, gradient, plan, drawn, draws.nodes, draws.counts, read, density, slopes, place * size, memory)

    since = cycles()
    accumulate(floats, embeddings, n_roots, size, floats, products, stride, gradient, weights.matrices[0])
    multiply(floats, products, n_roots, stride, weights.values, weights.transposes[0], size, floats, toward)
    charge(memory, LINEAR, since)
    for place in share:
        own = toward + states[place, FIRST_ROOT] * size
        memory.tops[0], memory.tops[1] = states[place, FLOATS], states[place, INTEGERS]
        rooted = _take_rooted(shape, draws.ptr[place + 1] - draws.ptr[place], memory)
        _learn_roots(network, gradient, plan, graphs[place], rooted, states[place], own, most_places, mark, integers, memory)
    memory.tops[0], memory.tops[1] = mark, integers


@inner
def _learn_roots(
    network: Network, gradient: Any, plan: Plan, graph: int, rooted: Rooted, state: Any, toward: int, most_places: int, mark: int,
    integers: int, memory: Memory,
) -> None:  # fmt: skip
    """f_node's part of the backward pass for one graph; ``toward`` are the slopes of its roots' standardised embeddings."""
    shape, floats, n_roots = network.shape, memory.floats, state[ROOTS]
    n_nodes, width = plan.node_ptr[graph + 1] - plan.node_ptr[graph], shape.widths[-1]
    size, density = shape.bins.number * width, _density(shape.node_density, n_nodes)
    above, integers_above = memory.tops[0], memory.tops[1]
    memory.tops[0], memory.tops[1] = mark, integers
    slopes = take_floats(memory, 2 * n_roots * size)
    for root in range(n_roots):
        for block in range(0, size, LANES):
            at = toward + root * size + block
            store(floats, at, load(floats, at) * load(network.node_standardizer.scale, block))
        prepare_slopes(shape.bins, width, floats, toward + root * size, density, floats, slopes + 2 * root * size)
    if state[KEPT]:
        mark, integers = memory.tops[0], memory.tops[1]
        memory.tops[0], memory.tops[1] = above, integers_above
        chunk = reopen_chunk(plan, graph, n_roots, state[N_PLACES], state[ENTRIES], memory)
        u, x, y = take_responses(shape, chunk, memory)
        memory.tops[0], memory.tops[1] = mark, integers
        _learn_at_once(network, gradient, plan, chunk, rooted, u, x, y, slopes, n_nodes, memory)
    else:
        _learn_in_turns(network, gradient, plan, graph, rooted, n_roots, most_places, slopes, n_nodes, memory)


@inner
def _learn_at_once(
    network: Network, gradient: Any, plan: Plan, chunk: Chunk, rooted: Rooted, u: int, x: int, y: int, slopes: int, n_nodes: int,
    memory: Memory,
) -> None:  # fmt: skip
    """From responses that are in memory."""
    shape = network.shape
    _clear_sums(shape, chunk.n_roots, memory)
    g, begin = take_floats(memory, chunk.n_places * shape.widest), chunk.n_roots - chunk.n_roots  # a zero that is no literal
    pull(shape, chunk, y, rooted.whitening, slopes, g, begin, memory)
    _hand_back(shape, chunk, rooted, begin, chunk.n_roots, y, n_nodes, g, memory)
    learn(shape, network.node, gradient, plan, chunk, u, x, g, memory)


@inner
def _learn_in_turns(
    network: Network, gradient: Any, plan: Plan, graph: int, rooted: Rooted, n_roots: int, most_places: int, slopes: int,
    n_nodes: int, memory: Memory,
) -> None:  # fmt: skip
    """Chunk by chunk, computing responses again: once for what the statistics hand back, once to learn."""
    shape = network.shape
    width, size = shape.widths[-1], shape.bins.number * shape.widths[-1]
    mark, integers = memory.tops[0], memory.tops[1]
    ignored = (1 if shape.joint else n_roots) * 2 * width
    _clear_sums(shape, n_roots, memory)
    for turn in range(2):
        begin = 0
        while begin < n_roots:
            memory.tops[0], memory.tops[1] = mark, integers
            own = 0 if shape.joint else begin * 2 * width
            chunk = _open(shape, plan, graph, rooted, begin, n_roots, most_places, memory)
            u, x, y = take_responses(shape, chunk, memory)
            respond(shape, network.node, plan, chunk, rooted.roots + begin, u, x, y, memory)
            g = take_floats(memory, chunk.n_places * shape.widest)
            pull(shape, chunk, y, rooted.whitening + own, slopes + begin * 2 * size, g, own + turn * ignored, memory)
            if turn:
                _hand_back(shape, chunk, rooted, begin, n_roots, y, n_nodes, g, memory)
                learn(shape, network.node, gradient, plan, chunk, u, x, g, memory)
            begin += chunk.n_roots


@inner
def _clear_sums(shape: Shape, n_roots: int, memory: Memory) -> None:
    for c in range((1 if shape.joint else n_roots) * 4 * shape.widths[-1]):
        memory.doubles[c] = 0.0


@inner
def _hand_back(
    shape: Shape, chunk: Chunk, rooted: Rooted, begin: int, n_roots: int, y: int, n_nodes: int, g: int, memory: Memory
) -> None:
    """Slopes of the responses, with what mean and variance hand back."""
    floats, width, mark = memory.floats, shape.widths[-1], memory.tops[0]
    part = take_floats(memory, 2 * width)
    if shape.joint:
        total = 0.0
        for root in range(n_roots):
            total += floats[rooted.weights + root] * n_nodes
        for c in range(2 * width):
            floats[part + c] = memory.doubles[c]
        pull_whitening(floats, y, chunk.n_places, width, rooted.whitening, chunk.shares, single(1.0 / total), part, g)
    else:
        for root in range(chunk.n_roots):
            own, at = (begin + root) * 2 * width, root * chunk.n_rows
            for c in range(2 * width):
                floats[part + c] = memory.doubles[own + c]
            inverse = single(1.0) / (single(n_nodes) * floats[rooted.weights + begin + root])
            pull_whitening(
                floats,
                y + at * width,
                chunk.n_rows,
                width,
                rooted.whitening + own,
                chunk.shares + at,
                inverse,
                part,
                g + at * width,
            )
    memory.tops[0] = mark
