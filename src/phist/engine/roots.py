"""f_node on the distinct roots of one graph, all at once or in turns as memory allows, and the way back."""

from typing import Any, NamedTuple

from phist.engine.bins import prepare_slopes
from phist.engine.dense import fill
from phist.engine.memory import PLACES, Memory, begin_phase, charge, take_floats, take_integers
from phist.engine.node_level import Responses, embed, learn, pull, respond, squash, take_responses
from phist.engine.places import Chunk, lay_chunk, open_chunk
from phist.engine.plan import Plan
from phist.engine.shape import Network, Shape
from phist.engine.vectors import LANES, inner, load, single, store
from phist.engine.whitening import add_moments, add_removed, begin_sums, finish_moments, pull_whitening
from phist.nn.sampling import Draws

STATES = 8  # what is remembered of a graph between the passes:
KEPT, FLOATS, INTEGERS, N_PLACES, ENTRIES, ROOTS, FIRST_ROOT, READ = range(STATES)


class Rooted(NamedTuple):
    """The distinct roots of a graph; where each begins."""

    draw_root: int  # (draws): which root each draw is; twins are one
    roots: int  # (roots): their rows
    weights: int  # (roots): draws of each
    whitening: int


@inner
def take_rooted(shape: Shape, n_draws: int, memory: Memory) -> Rooted:
    sets = 1 if shape.joint else n_draws
    return Rooted(
        take_integers(memory, n_draws), take_integers(memory, n_draws), take_floats(memory, n_draws),
        take_floats(memory, sets * 2 * shape.widths[-1]),
    )  # fmt: skip


@inner
def merge_roots(plan: Plan, graph: int, draws: Draws, begin: int, end: int, rooted: Rooted, memory: Memory) -> int:
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
def density_of(asked: bool, n_nodes: int) -> Any:
    return single(1.0) / single(n_nodes) if asked else single(1.0)


@inner
def _open(
    shape: Shape, plan: Plan, graph: int, rooted: Rooted, begin: int, n_roots: int, most_places: int, memory: Memory
) -> Chunk:
    since = begin_phase(memory)
    chunk = open_chunk(plan, graph, rooted.roots + begin, rooted.weights + begin, n_roots - begin, shape.reach, most_places, memory)
    charge(memory, PLACES, since)
    return chunk


@inner
def embed_roots(
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
    responses = take_responses(shape, chunk, memory)
    in_turns = chunk.n_roots < n_roots
    for turn in range(2):
        begin = 0
        while begin < n_roots:
            own = 0 if shape.joint else begin
            if begin or (in_turns and turn):
                memory.tops[0], memory.tops[1] = mark, integers
                chunk = _open(shape, plan, graph, rooted, begin, n_roots, most_places, memory)
                responses = take_responses(shape, chunk, memory)
            if turn == 0 or in_turns:
                respond(shape, network.node, plan, chunk, rooted.roots + begin, responses, memory)
            if turn == 0:
                _measure(shape, chunk, responses.y, own * moments, memory)
            else:
                density = density_of(shape.node_density, n_nodes)
                squash(shape, chunk, responses, rooted.whitening + own * 2 * width, memory)
                embed(shape, chunk, responses.squashed, embeddings + begin * size, density, memory)
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
def _count_draws(rooted: Rooted, n_roots: int, memory: Memory) -> Any:
    total = single(0.0)
    for root in range(n_roots):
        total += memory.floats[rooted.weights + root]
    return total


@inner
def add_node_moments(shape: Shape, rooted: Rooted, n_roots: int, result: Any, to: int, memory: Memory) -> None:
    """Mean and standard deviation of f_node's responses, the mean over the roots where each has its own, to ``result[to]``."""
    width, n_draws = shape.widths[-1], _count_draws(rooted, n_roots, memory)
    fill(result, to, 2 * width, single(0.0))
    for number in range(1 if shape.joint else n_roots):
        share = single(1.0) if shape.joint else memory.floats[rooted.weights + number] / n_draws
        add_removed(memory.floats, rooted.whitening + number * 2 * width, width, share, result, to)


@inner
def learn_roots(
    network: Network, gradient: Any, plan: Plan, graph: int, rooted: Rooted, state: Any, toward: int, grad_moments: Any,
    grad_at: int, most_places: int, mark: int, integers: int, memory: Memory,
) -> None:  # fmt: skip
    """f_node's part of the backward pass for one graph.

    Args:
        toward: slopes of its roots' standardised embeddings.
        grad_moments: those of f_node's moments, from ``grad_at`` on.
    """
    shape, floats, n_roots = network.shape, memory.floats, state[ROOTS]
    n_nodes, width = plan.node_ptr[graph + 1] - plan.node_ptr[graph], shape.widths[-1]
    size, density = shape.bins.number * width, density_of(shape.node_density, n_nodes)
    above, integers_above = memory.tops[0], memory.tops[1]
    memory.tops[0], memory.tops[1] = mark, integers
    slopes = take_floats(memory, 2 * n_roots * size)
    for root in range(n_roots):
        for block in range(0, size, LANES):
            at = toward + root * size + block
            store(floats, at, load(floats, at) * load(network.node_standardizer.scale, block))
        prepare_slopes(shape.bins, width, floats, toward + root * size, density, floats, slopes + 2 * root * size)
    _begin_sums(shape, rooted, n_roots, grad_moments, grad_at, memory)
    if state[KEPT]:
        mark, integers = memory.tops[0], memory.tops[1]
        memory.tops[0], memory.tops[1] = above, integers_above
        chunk = lay_chunk(plan, graph, n_roots, n_roots, state[N_PLACES], state[ENTRIES], shape.reach, most_places, memory)
        responses = take_responses(shape, chunk, memory)
        memory.tops[0], memory.tops[1] = mark, integers
        _learn_at_once(network, gradient, plan, chunk, rooted, responses, slopes, n_nodes, memory)
    else:
        _learn_in_turns(network, gradient, plan, graph, rooted, n_roots, most_places, slopes, n_nodes, memory)


@inner
def _learn_at_once(
    network: Network, gradient: Any, plan: Plan, chunk: Chunk, rooted: Rooted, responses: Responses, slopes: int, n_nodes: int,
    memory: Memory,
) -> None:  # fmt: skip
    """From responses that are in memory."""
    shape = network.shape
    g, begin = take_floats(memory, chunk.n_places * shape.widest), chunk.n_roots - chunk.n_roots  # a zero that is no literal
    pull(shape, chunk, responses, rooted.whitening, slopes, g, begin, memory)
    _hand_back(shape, chunk, rooted, begin, chunk.n_roots, responses.y, n_nodes, g, memory)
    learn(shape, network.node, gradient, plan, chunk, responses, g, memory)


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
    for turn in range(2):
        begin = 0
        while begin < n_roots:
            memory.tops[0], memory.tops[1] = mark, integers
            own = 0 if shape.joint else begin * 2 * width
            chunk = _open(shape, plan, graph, rooted, begin, n_roots, most_places, memory)
            responses = take_responses(shape, chunk, memory)
            respond(shape, network.node, plan, chunk, rooted.roots + begin, responses, memory)
            squash(shape, chunk, responses, rooted.whitening + own, memory)
            g = take_floats(memory, chunk.n_places * shape.widest)
            pull(shape, chunk, responses, rooted.whitening + own, slopes + begin * 2 * size, g, own + turn * ignored, memory)
            if turn:
                _hand_back(shape, chunk, rooted, begin, n_roots, responses.y, n_nodes, g, memory)
                learn(shape, network.node, gradient, plan, chunk, responses, g, memory)
            begin += chunk.n_roots


@inner
def _begin_sums(shape: Shape, rooted: Rooted, n_roots: int, grad_moments: Any, grad_at: int, memory: Memory) -> None:
    """What mean and variance hand back begins with the gradient of the moments that the head sees."""
    sets, width = 1 if shape.joint else n_roots, shape.widths[-1]
    for c in range(sets * 4 * width):
        memory.doubles[c] = 0.0
    if shape.moments:
        n_draws = _count_draws(rooted, n_roots, memory)
        for number in range(sets):
            share, own = single(1.0) if shape.joint else memory.floats[rooted.weights + number] / n_draws, number * 2 * width
            begin_sums(memory.floats, rooted.whitening + own, width, share, grad_moments, grad_at, memory.doubles, own)


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
