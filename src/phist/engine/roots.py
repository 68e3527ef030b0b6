"""f_node on the distinct roots of one graph, all at once or in turns as memory allows, forward and backward."""

from typing import Any, NamedTuple

from phist.engine.arena import BALLS, Arena, begin_phase, charge, take_floats, take_integers
from phist.engine.balls import Chunk, lay_chunk, open_chunk
from phist.engine.bins import scale_histogram_backward
from phist.engine.dense import fill
from phist.engine.jit import inner
from phist.engine.node_level import Responses, embed, embed_backward, respond, respond_backward, squash, take_responses
from phist.engine.plan import Plan
from phist.engine.shape import Network, Shape
from phist.engine.simd import LANES, load, single, store
from phist.engine.whitening import add_moments, append_moments, append_moments_backward, finish_moments, whiten_backward
from phist.nn.sampling import Draws

STATES = 8  # what is remembered of a graph between the passes:
KEPT, FLOATS, INTEGERS, N_PAIRS, ENTRIES, ROOTS, FIRST_ROOT, RESPONSES = range(STATES)


class DistinctRoots(NamedTuple):
    """The distinct roots of a graph; where each begins."""

    draw_root: int  # (draws): which root each draw is; twins are one
    rows: int  # (roots): which row of the graph each is
    weights: int  # (roots): draws of each
    whitening: int


@inner
def take_distinct_roots(shape: Shape, n_draws: int, arena: Arena) -> DistinctRoots:
    sets = 1 if shape.joint else n_draws
    return DistinctRoots(
        take_integers(arena, n_draws),
        take_integers(arena, n_draws),
        take_floats(arena, n_draws),
        take_floats(arena, sets * 2 * shape.widths[-1]),
    )


@inner
def merge_roots(plan: Plan, graph: int, draws: Draws, begin: int, end: int, distinct: DistinctRoots, arena: Arena) -> int:
    """Twin roots have the same embedding: keep each once, with the draws of all; returns how many there are."""
    floats, integers, position = arena.floats, arena.integers, arena.position
    first, n_roots = plan.node_ptr[graph], 0
    for draw in range(begin, end):
        row = plan.root_row[first + draws.nodes[draw]]
        if position[row] < 0:
            position[row] = n_roots
            integers[distinct.rows + n_roots] = row
            floats[distinct.weights + n_roots] = single(0.0)
            n_roots += 1
        integers[distinct.draw_root + draw - begin] = position[row]
        floats[distinct.weights + position[row]] += draws.counts[draw]
    for root in range(n_roots):
        position[integers[distinct.rows + root]] = -1
    return n_roots


@inner
def density_of(is_density: bool, n_nodes: int) -> Any:
    return single(1.0) / single(n_nodes) if is_density else single(1.0)


@inner
def _open_chunk(
    shape: Shape, plan: Plan, graph: int, distinct: DistinctRoots, begin: int, n_roots: int, max_pairs: int, arena: Arena
) -> Chunk:
    since = begin_phase(arena)
    chunk = open_chunk(plan, graph, distinct.rows + begin, distinct.weights + begin, n_roots - begin, shape.reach, max_pairs, arena)
    charge(arena, BALLS, since)
    return chunk


@inner
def embed_roots(
    network: Network, plan: Plan, graph: int, distinct: DistinctRoots, n_roots: int, embeddings: int, max_pairs: int, arena: Arena
) -> Chunk:
    """f_node: embeddings of the distinct roots. Returns the last chunk; a single one stays in the arena with its responses."""
    shape = network.shape
    width, n_nodes = shape.widths[-1], plan.node_ptr[graph + 1] - plan.node_ptr[graph]
    size, moments = shape.bins.number * width, 1 + 2 * width
    sets = 1 if shape.joint else n_roots
    for c in range(sets * moments):
        arena.doubles[c] = 0.0
    mark, integers, begin = arena.tops[0], arena.tops[1], 0
    chunk = _open_chunk(shape, plan, graph, distinct, begin, n_roots, max_pairs, arena)
    responses = take_responses(shape, chunk, arena)
    in_turns = chunk.n_roots < n_roots
    for turn in range(2):
        begin = 0
        while begin < n_roots:
            own = 0 if shape.joint else begin
            if begin or (in_turns and turn):
                arena.tops[0], arena.tops[1] = mark, integers
                chunk = _open_chunk(shape, plan, graph, distinct, begin, n_roots, max_pairs, arena)
                responses = take_responses(shape, chunk, arena)
            if turn == 0 or in_turns:
                respond(shape, network.node, plan, chunk, distinct.rows + begin, responses, arena)
            if turn == 0:
                _add_moments(shape, chunk, responses.y, own * moments, arena)
            else:
                density = density_of(shape.node_density, n_nodes)
                squash(shape, chunk, responses, distinct.whitening + own * 2 * width, arena)
                embed(shape, chunk, responses.squashed, embeddings + begin * size, density, arena)
            begin += chunk.n_roots
        if turn == 0:
            for number in range(sets):
                to = distinct.whitening + number * 2 * width
                finish_moments(arena.doubles, number * moments, width, shape.epsilon, arena.floats, to)
    return chunk


@inner
def _add_moments(shape: Shape, chunk: Chunk, y: int, moments: int, arena: Arena) -> None:
    """Statistics of the responses, over all pairs or root by root."""
    floats, doubles, width, mark = arena.floats, arena.doubles, shape.widths[-1], arena.tops[0]
    lanes = take_floats(arena, LANES)
    if shape.joint:
        add_moments(floats, y, chunk.n_pairs, width, chunk.multiplicity, chunk.draw_counts, doubles, moments, lanes)
    else:
        n = chunk.n_rows
        for root in range(chunk.n_roots):
            to, at = moments + root * (1 + 2 * width), root * n
            add_moments(floats, y + at * width, n, width, chunk.multiplicity + at, chunk.draw_counts + at, doubles, to, lanes)
            for c in range(2 * LANES):  # what was put behind one root's moments lies where the next one's are
                doubles[to + 1 + 2 * width + c] = 0.0
    arena.tops[0] = mark


@inner
def _count_draws(distinct: DistinctRoots, n_roots: int, arena: Arena) -> Any:
    total = single(0.0)
    for root in range(n_roots):
        total += arena.floats[distinct.weights + root]
    return total


@inner
def add_node_moments(shape: Shape, distinct: DistinctRoots, n_roots: int, result: Any, to: int, arena: Arena) -> None:
    """Mean and standard deviation of f_node's responses, the mean over the roots where each has its own, to ``result[to]``."""
    width, n_draws = shape.widths[-1], _count_draws(distinct, n_roots, arena)
    fill(result, to, 2 * width, single(0.0))
    for number in range(1 if shape.joint else n_roots):
        fraction = single(1.0) if shape.joint else arena.floats[distinct.weights + number] / n_draws
        append_moments(arena.floats, distinct.whitening + number * 2 * width, width, fraction, result, to)


@inner
def embed_roots_backward(
    network: Network,
    gradient: Any,
    plan: Plan,
    graph: int,
    distinct: DistinctRoots,
    state: Any,
    grad_embeddings: int,
    grad_moments: Any,
    grad_at: int,
    max_pairs: int,
    mark: int,
    integers: int,
    arena: Arena,
) -> None:
    """f_node's part of the backward pass for one graph.

    Args:
        grad_embeddings: of its roots' standardised embeddings.
        grad_moments: those of f_node's moments, from ``grad_at`` on.
    """
    shape, floats, n_roots = network.shape, arena.floats, state[ROOTS]
    n_nodes, width = plan.node_ptr[graph + 1] - plan.node_ptr[graph], shape.widths[-1]
    size, density = shape.bins.number * width, density_of(shape.node_density, n_nodes)
    above, integers_above = arena.tops[0], arena.tops[1]
    arena.tops[0], arena.tops[1] = mark, integers
    grad_histograms = take_floats(arena, 2 * n_roots * size)
    for root in range(n_roots):
        for block in range(0, size, LANES):
            at = grad_embeddings + root * size + block
            store(floats, at, load(floats, at) * load(network.node_standardizer.scale, block))
        scale_histogram_backward(
            shape.bins, width, floats, grad_embeddings + root * size, density, floats, grad_histograms + 2 * root * size
        )
    _node_moments_backward(shape, distinct, n_roots, grad_moments, grad_at, arena)
    if state[KEPT]:
        mark, integers = arena.tops[0], arena.tops[1]
        arena.tops[0], arena.tops[1] = above, integers_above
        chunk = lay_chunk(plan, graph, n_roots, n_roots, state[N_PAIRS], state[ENTRIES], shape.reach, max_pairs, arena)
        responses = take_responses(shape, chunk, arena)
        arena.tops[0], arena.tops[1] = mark, integers
        _backward_at_once(network, gradient, plan, chunk, distinct, responses, grad_histograms, n_nodes, arena)
    else:
        _backward_in_turns(network, gradient, plan, graph, distinct, n_roots, max_pairs, grad_histograms, n_nodes, arena)


@inner
def _backward_at_once(
    network: Network,
    gradient: Any,
    plan: Plan,
    chunk: Chunk,
    distinct: DistinctRoots,
    responses: Responses,
    grad_histograms: int,
    n_nodes: int,
    arena: Arena,
) -> None:
    """From responses that are in the arena."""
    shape = network.shape
    grad_y, begin = take_floats(arena, chunk.n_pairs * shape.widest), chunk.n_roots - chunk.n_roots  # a zero that is no literal
    embed_backward(shape, chunk, responses, distinct.whitening, grad_histograms, grad_y, begin, arena)
    _whiten_backward(shape, chunk, distinct, begin, chunk.n_roots, responses.y, n_nodes, grad_y, arena)
    respond_backward(shape, network.node, gradient, plan, chunk, responses, grad_y, arena)


@inner
def _backward_in_turns(
    network: Network,
    gradient: Any,
    plan: Plan,
    graph: int,
    distinct: DistinctRoots,
    n_roots: int,
    max_pairs: int,
    grad_histograms: int,
    n_nodes: int,
    arena: Arena,
) -> None:
    """Chunk by chunk, computing responses again: once for the gradients of mean and variance, once for those of the parameters."""
    shape = network.shape
    width, size = shape.widths[-1], shape.bins.number * shape.widths[-1]
    mark, integers = arena.tops[0], arena.tops[1]
    ignored = (1 if shape.joint else n_roots) * 2 * width
    for turn in range(2):
        begin = 0
        while begin < n_roots:
            arena.tops[0], arena.tops[1] = mark, integers
            own = 0 if shape.joint else begin * 2 * width
            chunk = _open_chunk(shape, plan, graph, distinct, begin, n_roots, max_pairs, arena)
            responses = take_responses(shape, chunk, arena)
            respond(shape, network.node, plan, chunk, distinct.rows + begin, responses, arena)
            squash(shape, chunk, responses, distinct.whitening + own, arena)
            grad_y = take_floats(arena, chunk.n_pairs * shape.widest)
            embed_backward(
                shape,
                chunk,
                responses,
                distinct.whitening + own,
                grad_histograms + begin * 2 * size,
                grad_y,
                own + turn * ignored,
                arena,
            )
            if turn:
                _whiten_backward(shape, chunk, distinct, begin, n_roots, responses.y, n_nodes, grad_y, arena)
                respond_backward(shape, network.node, gradient, plan, chunk, responses, grad_y, arena)
            begin += chunk.n_roots


@inner
def _node_moments_backward(
    shape: Shape, distinct: DistinctRoots, n_roots: int, grad_moments: Any, grad_at: int, arena: Arena
) -> None:
    """The gradients of mean and variance begin with that of the moments that the head sees."""
    sets, width = 1 if shape.joint else n_roots, shape.widths[-1]
    for c in range(sets * 4 * width):
        arena.doubles[c] = 0.0
    if shape.moments:
        n_draws = _count_draws(distinct, n_roots, arena)
        for number in range(sets):
            fraction, own = single(1.0) if shape.joint else arena.floats[distinct.weights + number] / n_draws, number * 2 * width
            append_moments_backward(
                arena.floats, distinct.whitening + own, width, fraction, grad_moments, grad_at, arena.doubles, own
            )


@inner
def _whiten_backward(
    shape: Shape, chunk: Chunk, distinct: DistinctRoots, begin: int, n_roots: int, y: int, n_nodes: int, grad_y: int, arena: Arena
) -> None:
    """The gradient of the responses, through mean and variance too."""
    floats, width, mark = arena.floats, shape.widths[-1], arena.tops[0]
    part = take_floats(arena, 2 * width)
    if shape.joint:
        total = 0.0
        for root in range(n_roots):
            total += floats[distinct.weights + root] * n_nodes
        for c in range(2 * width):
            floats[part + c] = arena.doubles[c]
        whiten_backward(floats, y, chunk.n_pairs, width, distinct.whitening, chunk.draw_counts, single(1.0 / total), part, grad_y)
    else:
        for root in range(chunk.n_roots):
            own, at = (begin + root) * 2 * width, root * chunk.n_rows
            for c in range(2 * width):
                floats[part + c] = arena.doubles[own + c]
            inverse = single(1.0) / (single(n_nodes) * floats[distinct.weights + begin + root])
            whiten_backward(
                floats,
                y + at * width,
                chunk.n_rows,
                width,
                distinct.whitening + own,
                chunk.draw_counts + at,
                inverse,
                part,
                grad_y + at * width,
            )
    arena.tops[0] = mark
