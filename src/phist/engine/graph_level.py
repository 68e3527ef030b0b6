"""f_graph on one graph: the drawn embeddings to a histogram, and backward.

The wide embeddings are multiplied by the weights first, for all distinct roots of a shard at once; here the narrow
products are put on the drawn nodes and propagated.
"""

from typing import Any, NamedTuple

from phist.engine.arena import HISTOGRAMS, RECURSION, Arena, begin_phase, charge, take_floats
from phist.engine.balls import Chunk
from phist.engine.bins import add_to_histogram, add_to_histogram_backward, scale_histogram, scale_histogram_backward, squash_rows
from phist.engine.dense import add_times, fill
from phist.engine.jit import inner
from phist.engine.layers import BACKWARD, FORWARD, convolve, convolve_backward, terms_on_nodes
from phist.engine.plan import Plan
from phist.engine.shape import Shape, Weights
from phist.engine.simd import LANES, load, single, store
from phist.engine.whitening import add_moments, append_moments, append_moments_backward, finish_moments, whiten_backward


class Drawn(NamedTuple):
    """The nodes drawn from a graph, and the products of their embeddings, named by where they begin in the arena."""

    graph: int
    begin: int  # in the batch's draws
    end: int
    draw_root: int  # (draws): which of the distinct roots each is; twins are one
    n_roots: int
    products: int  # (roots, order · width)


class GraphResponses(NamedTuple):
    """What f_graph computes of a graph and needs in the backward pass; where each begins."""

    x: int
    y: int
    squashed: int
    whitening: int


@inner
def take_graph_responses(shape: Shape, n_nodes: int, arena: Arena) -> GraphResponses:
    strides = 0
    for layer in range(1, len(shape.orders)):
        strides += shape.orders[layer] * shape.widths[layer - 1]
    last = shape.widths[-1]
    return GraphResponses(
        take_floats(arena, n_nodes * strides),
        take_floats(arena, n_nodes * last),
        take_floats(arena, n_nodes * last),
        take_floats(arena, 2 * last),
    )


@inner
def _nodes_as_pairs(plan: Plan, graph: int, arena: Arena) -> Chunk:
    """The nodes of a graph, each once."""
    n_nodes = plan.node_ptr[graph + 1] - plan.node_ptr[graph]
    ones = take_floats(arena, n_nodes)
    fill(arena.floats, ones, n_nodes, single(1.0))
    return Chunk(graph, True, n_nodes, 0, 1, n_nodes, 0, 0, 0, 0, 0, 0, 0, 0, ones, ones)


@inner
def embed_graph(
    shape: Shape,
    weights: Weights,
    plan: Plan,
    drawn: Drawn,
    nodes: Any,
    counts: Any,
    responses: GraphResponses,
    density: Any,
    result: Any,
    to: int,
    arena: Arena,
) -> None:
    """The graph's histogram, to ``result[to]``, and behind it f_graph's moments where they are asked for."""
    floats, mark, since = arena.floats, arena.tops[0], begin_phase(arena)
    order, width, last = shape.orders[0], shape.widths[0], shape.widths[-1]
    stride = order * width
    chunk = _nodes_as_pairs(plan, drawn.graph, arena)
    n_nodes = chunk.n_pairs
    terms = take_floats(arena, n_nodes * stride)
    fill(floats, terms, n_nodes * stride, single(0.0))
    for draw in range(drawn.begin, drawn.end):
        root = arena.integers[drawn.draw_root + draw - drawn.begin]
        add_times(floats, terms + nodes[draw] * stride, floats, drawn.products + root * stride, stride, counts[draw])
    terms_on_nodes(plan, drawn.graph, floats, terms, order, width, BACKWARD)
    charge(arena, RECURSION, since)
    z = responses.y if len(shape.orders) == 1 else take_floats(arena, n_nodes * shape.widest)
    for block in range(0, width, LANES):
        bias = load(weights.values, weights.biases[0] + block)
        for node in range(n_nodes):
            store(floats, z + node * width + block, load(floats, terms + node * stride + block) + bias)
    convolve(shape, weights, plan, chunk, z, responses.x, responses.y, arena)
    _whiten_nodes(shape, chunk, responses, arena)
    since = begin_phase(arena)
    fill(result, to, shape.bins.number * last, single(0.0))
    squash_rows(shape.bins, floats, responses.y, n_nodes, last, responses.whitening, responses.squashed)
    add_to_histogram(shape.bins, floats, responses.squashed, n_nodes, last, chunk.multiplicity, result, to)
    scale_histogram(shape.bins, last, result, to, density)
    if shape.moments:
        moments = to + shape.bins.number * last
        fill(result, moments, 2 * last, single(0.0))
        append_moments(floats, responses.whitening, last, single(1.0), result, moments)
    charge(arena, HISTOGRAMS, since)
    arena.tops[0] = mark


@inner
def _whiten_nodes(shape: Shape, chunk: Chunk, responses: GraphResponses, arena: Arena) -> None:
    width, doubles = shape.widths[-1], arena.doubles
    for c in range(1 + 2 * width):
        doubles[c] = 0.0
    lanes, first = take_floats(arena, LANES), chunk.n_background
    add_moments(arena.floats, responses.y, chunk.n_pairs, width, chunk.multiplicity, chunk.draw_counts, doubles, first, lanes)
    finish_moments(doubles, first, width, shape.epsilon, arena.floats, responses.whitening)


@inner
def embed_graph_backward(
    shape: Shape,
    weights: Weights,
    gradient: Any,
    plan: Plan,
    drawn: Drawn,
    nodes: Any,
    counts: Any,
    responses: GraphResponses,
    density: Any,
    grad_embedding: Any,
    grad_at: int,
    arena: Arena,
) -> None:
    """Adds to the gradient of f_graph's parameters but the first matrix; the products are replaced by their gradients."""
    floats, mark = arena.floats, arena.tops[0]
    order, width, last = shape.orders[0], shape.widths[0], shape.widths[-1]
    stride = order * width
    chunk = _nodes_as_pairs(plan, drawn.graph, arena)
    n_nodes = chunk.n_pairs
    grad_y, sums = take_floats(arena, n_nodes * shape.widest), take_floats(arena, 2 * last)
    grad_histogram = take_floats(arena, 2 * shape.bins.number * last)
    since = begin_phase(arena)
    fill(floats, sums, 2 * last, single(0.0))
    if shape.moments:
        append_moments_backward(
            floats, responses.whitening, last, single(1.0), grad_embedding, grad_at + shape.bins.number * last, floats, sums
        )
    scale_histogram_backward(shape.bins, last, grad_embedding, grad_at, density, floats, grad_histogram)
    add_to_histogram_backward(
        shape.bins,
        floats,
        responses.y,
        responses.squashed,
        n_nodes,
        last,
        responses.whitening,
        chunk.multiplicity,
        grad_histogram,
        grad_y,
        sums,
    )
    charge(arena, HISTOGRAMS, since)
    whiten_backward(
        floats, responses.y, n_nodes, last, responses.whitening, chunk.draw_counts, single(1.0) / single(n_nodes), sums, grad_y
    )
    convolve_backward(shape, weights, gradient, plan, chunk, responses.x, grad_y, arena)

    since = begin_phase(arena)
    terms = take_floats(arena, n_nodes * stride)
    for node in range(n_nodes):
        for block in range(0, width, LANES):
            store(floats, terms + node * stride + block, load(floats, grad_y + node * width + block))
    terms_on_nodes(plan, drawn.graph, floats, terms, order, width, FORWARD)
    fill(floats, drawn.products, drawn.n_roots * stride, single(0.0))
    for draw in range(drawn.begin, drawn.end):
        root = arena.integers[drawn.draw_root + draw - drawn.begin]
        add_times(floats, drawn.products + root * stride, floats, terms + nodes[draw] * stride, stride, counts[draw])
    charge(arena, RECURSION, since)
    arena.tops[0] = mark
