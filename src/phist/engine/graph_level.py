"""f_graph on one graph: the drawn embeddings to a histogram, and the way back.

The wide embeddings are multiplied by the weights first, for all distinct roots of a share at once; here the narrow
products are put on the drawn nodes and propagated.
"""

from typing import Any, NamedTuple

from phist.engine.bins import add_places, prepare_slopes, pull_places, scale_histograms, squash_places
from phist.engine.dense import add_times, fill
from phist.engine.layers import BACK, FORTH, climb, descend, spread_over_nodes
from phist.engine.memory import HISTOGRAMS, RECURSION, Memory, begin_phase, charge, take_floats
from phist.engine.places import Chunk
from phist.engine.plan import Plan
from phist.engine.shape import Shape, Weights
from phist.engine.vectors import LANES, inner, load, single, store
from phist.engine.whitening import add_moments, add_removed, begin_sums, finish_moments, pull_whitening


class Drawn(NamedTuple):
    """The nodes drawn from a graph, and the products of their embeddings, named by where they begin in memory."""

    graph: int
    begin: int  # in the batch's draws
    end: int
    draw_root: int  # (draws): which of the distinct roots each is; twins are one
    n_roots: int
    products: int  # (roots, order · width)


class Read(NamedTuple):
    """What f_graph computes of a graph and needs on the way back; where each begins."""

    x: int
    y: int
    squashed: int
    whitening: int


@inner
def take_read(shape: Shape, n_nodes: int, memory: Memory) -> Read:
    strides = 0
    for layer in range(1, len(shape.orders)):
        strides += shape.orders[layer] * shape.widths[layer - 1]
    last = shape.widths[-1]
    return Read(
        take_floats(memory, n_nodes * strides), take_floats(memory, n_nodes * last),
        take_floats(memory, n_nodes * last), take_floats(memory, 2 * last),
    )  # fmt: skip


@inner
def _nodes_as_places(plan: Plan, graph: int, memory: Memory) -> Chunk:
    """The nodes of a graph, each once."""
    n_nodes = plan.node_ptr[graph + 1] - plan.node_ptr[graph]
    ones = take_floats(memory, n_nodes)
    fill(memory.floats, ones, n_nodes, single(1.0))
    return Chunk(graph, True, n_nodes, 0, 1, n_nodes, 0, 0, 0, 0, 0, 0, 0, 0, ones, ones)


@inner
def read_graph(
    shape: Shape, weights: Weights, plan: Plan, drawn: Drawn, nodes: Any, counts: Any, read: Read, density: Any, result: Any,
    to: int, memory: Memory,
) -> None:  # fmt: skip
    """The graph's histogram, to ``result[to]``, and behind it f_graph's moments where they are asked for."""
    floats, mark, since = memory.floats, memory.tops[0], begin_phase(memory)
    order, width, last = shape.orders[0], shape.widths[0], shape.widths[-1]
    stride = order * width
    chunk = _nodes_as_places(plan, drawn.graph, memory)
    n_nodes = chunk.n_places
    terms = take_floats(memory, n_nodes * stride)
    fill(floats, terms, n_nodes * stride, single(0.0))
    for draw in range(drawn.begin, drawn.end):
        root = memory.integers[drawn.draw_root + draw - drawn.begin]
        add_times(floats, terms + nodes[draw] * stride, floats, drawn.products + root * stride, stride, counts[draw])
    spread_over_nodes(plan, drawn.graph, floats, terms, order, width, BACK)
    charge(memory, RECURSION, since)
    z = read.y if len(shape.orders) == 1 else take_floats(memory, n_nodes * shape.widest)
    for block in range(0, width, LANES):
        bias = load(weights.values, weights.biases[0] + block)
        for node in range(n_nodes):
            store(floats, z + node * width + block, load(floats, terms + node * stride + block) + bias)
    climb(shape, weights, plan, chunk, z, read.x, read.y, memory)
    _whiten_nodes(shape, chunk, read, memory)
    since = begin_phase(memory)
    fill(result, to, shape.bins.number * last, single(0.0))
    squash_places(shape.bins, floats, read.y, n_nodes, last, read.whitening, read.squashed)
    add_places(shape.bins, floats, read.squashed, n_nodes, last, chunk.members, result, to)
    scale_histograms(shape.bins, last, result, to, density)
    if shape.moments:
        moments = to + shape.bins.number * last
        fill(result, moments, 2 * last, single(0.0))
        add_removed(floats, read.whitening, last, single(1.0), result, moments)
    charge(memory, HISTOGRAMS, since)
    memory.tops[0] = mark


@inner
def _whiten_nodes(shape: Shape, chunk: Chunk, read: Read, memory: Memory) -> None:
    width, doubles = shape.widths[-1], memory.doubles
    for c in range(1 + 2 * width):
        doubles[c] = 0.0
    lanes, first = take_floats(memory, LANES), chunk.n_below
    add_moments(memory.floats, read.y, chunk.n_places, width, chunk.members, chunk.shares, doubles, first, lanes)
    finish_moments(doubles, first, width, shape.epsilon, memory.floats, read.whitening)


@inner
def unread_graph(
    shape: Shape, weights: Weights, gradient: Any, plan: Plan, drawn: Drawn, nodes: Any, counts: Any, read: Read, density: Any,
    slope: Any, slope_at: int, memory: Memory,
) -> None:  # fmt: skip
    """Adds to the gradient of f_graph's parameters but the first matrix; the products are replaced by their slopes."""
    floats, mark = memory.floats, memory.tops[0]
    order, width, last = shape.orders[0], shape.widths[0], shape.widths[-1]
    stride = order * width
    chunk = _nodes_as_places(plan, drawn.graph, memory)
    n_nodes = chunk.n_places
    g, sums = take_floats(memory, n_nodes * shape.widest), take_floats(memory, 2 * last)
    slopes = take_floats(memory, 2 * shape.bins.number * last)
    since = begin_phase(memory)
    fill(floats, sums, 2 * last, single(0.0))
    if shape.moments:
        begin_sums(floats, read.whitening, last, single(1.0), slope, slope_at + shape.bins.number * last, floats, sums)
    prepare_slopes(shape.bins, last, slope, slope_at, density, floats, slopes)
    pull_places(shape.bins, floats, read.y, read.squashed, n_nodes, last, read.whitening, chunk.members, slopes, g, sums)
    charge(memory, HISTOGRAMS, since)
    pull_whitening(floats, read.y, n_nodes, last, read.whitening, chunk.shares, single(1.0) / single(n_nodes), sums, g)
    descend(shape, weights, gradient, plan, chunk, read.x, g, memory)

    since = begin_phase(memory)
    terms = take_floats(memory, n_nodes * stride)
    for node in range(n_nodes):
        for block in range(0, width, LANES):
            store(floats, terms + node * stride + block, load(floats, g + node * width + block))
    spread_over_nodes(plan, drawn.graph, floats, terms, order, width, FORTH)
    fill(floats, drawn.products, drawn.n_roots * stride, single(0.0))
    for draw in range(drawn.begin, drawn.end):
        root = memory.integers[drawn.draw_root + draw - drawn.begin]
        add_times(floats, drawn.products + root * stride, floats, terms + nodes[draw] * stride, stride, counts[draw])
    charge(memory, RECURSION, since)
    memory.tops[0] = mark
