"""f_graph on one graph: the drawn embeddings to a histogram, and backward.

The wide embeddings are multiplied by the weights first, for all distinct roots of a shard at once; here the narrow
products are put on the drawn nodes and propagated.
"""

from typing import Any, NamedTuple

from phist.engine.arena import (
    HISTOGRAMS,
    RECURSION,
    begin_phase,
    charge,
    lower_tops,
    take_doubles,
    take_floats,
    take_matrix,
    tops_of,
)
from phist.engine.balls import Chunk
from phist.engine.bins import (
    Rows,
    add_to_histogram,
    add_to_histogram_backward,
    scale_histogram,
    scale_histogram_backward,
    squash_rows,
)
from phist.engine.dense import add_times, fill
from phist.engine.jit import ONE, inner
from phist.engine.layers import convolve, take_signal
from phist.engine.layers_backward import convolve_backward
from phist.engine.recursion import chebyshev_sum, chebyshev_terms
from phist.engine.simd import LANES, load, load_flat, single, store
from phist.engine.views import matrix, rows_of, stretch, value_of
from phist.engine.whitening import add_moments, append_moments, append_moments_backward, finish_moments, whiten_backward


class Drawn(NamedTuple):
    """The nodes drawn from a graph, and the products of their embeddings."""

    nodes: Any  # (draws)
    counts: Any  # (draws): how often each was drawn
    roots: Any  # (draws): which of the distinct roots each is; twins are one
    products: Any  # (roots, order · width)


class GraphResponses(NamedTuple):
    """What f_graph computes of a graph and needs in the backward pass."""

    x: Any
    y: Any
    squashed: Any
    whitening: Any


class GraphScratch(NamedTuple):
    """What f_graph needs besides while it computes a graph."""

    terms: Any  # (nodes, order · width): of the first layer
    signal: Any  # responses of any layer, or their gradients


class GraphGradients(NamedTuple):
    """What the backward pass of f_graph needs besides."""

    histogram: Any  # (2 · bins, width)
    sums: Any  # (2, width)


@inner
def take_graph_responses(shape: Any, n_nodes: int, arena: Any) -> GraphResponses:
    """Memory for them; at the same tops it is the same."""
    width = shape.widths[-1]
    return GraphResponses(
        take_floats(arena, n_nodes * shape.further_terms),
        take_matrix(arena, n_nodes, width),
        take_matrix(arena, n_nodes, width),
        take_matrix(arena, 2, width),
    )


@inner
def take_graph_scratch(shape: Any, n_nodes: int, arena: Any) -> GraphScratch:
    """Space for it."""
    return GraphScratch(take_matrix(arena, n_nodes, shape.orders[0] * shape.widths[0]), take_signal(shape, n_nodes, arena))


@inner
def take_moments(width: int, n_sets: int, arena: Any) -> tuple[Any, Any]:
    """Doubles for the moments of so many sets of rows, and for those of a part of them."""
    return take_doubles(arena, n_sets * (1 + 2 * width)), take_doubles(arena, 2 * LANES)


@inner
def take_graph_gradients(shape: Any, arena: Any) -> GraphGradients:
    """Space for them."""
    width = shape.widths[-1]
    return GraphGradients(take_matrix(arena, 2 * shape.bins.number, width), take_matrix(arena, 2, width))


@inner
def density_of(is_density: bool, n_nodes: int) -> Any:
    """What the counts of a graph are multiplied with."""
    return single(1.0) / single(n_nodes) if is_density else single(1.0)


@inner
def _rows(nodes: Chunk, responses: GraphResponses) -> Rows:
    return Rows(responses.y, responses.whitening, responses.squashed, nodes.multiplicity)


@inner
def embed_graph(network: Any, nodes: Chunk, drawn: Drawn, responses: GraphResponses, result: Any, arena: Any) -> None:
    """The graph's histogram, (bins, width), and behind it f_graph's moments where they are asked for."""
    tops, since, shape, weights, n_nodes = tops_of(arena), begin_phase(arena), network.shape, network.graph, nodes.n_rows
    width, scratch = shape.widths[0], take_graph_scratch(shape, n_nodes, arena)
    terms = scratch.terms
    fill(terms, single(0.0))
    for draw in range(drawn.nodes.n):
        own = rows_of(drawn.products, drawn.roots[draw], 1)
        add_times(rows_of(terms, drawn.nodes[draw], 1), own, drawn.counts[draw])
    chebyshev_sum(terms, shape.orders[0], nodes.operator)
    charge(arena, RECURSION, since)
    z = matrix(responses.y if len(shape.orders) == 1 else scratch.signal, 0, n_nodes, width)
    biases = stretch(weights.values, weights.biases[0], width)
    for block in range(0, width, LANES):
        bias = load_flat(biases, block)
        for node in range(n_nodes):
            store(z, node, block, load(terms, node, block) + bias)
    convolve(shape, weights, nodes, scratch.signal, responses.x, responses.y, arena)
    _whiten_nodes(shape, nodes, responses, arena)
    since = begin_phase(arena)
    _count_nodes(shape, nodes, responses, result)
    charge(arena, HISTOGRAMS, since)
    lower_tops(arena, tops)


@inner
def _whiten_nodes(shape: Any, nodes: Chunk, responses: GraphResponses, arena: Any) -> None:
    moments, own = take_moments(shape.widths[-1], ONE, arena)
    for c in range(moments.n):
        moments[c] = 0.0
    add_moments(responses.y, nodes.multiplicity, nodes.draw_counts, moments, own)
    finish_moments(moments, shape.epsilon, responses.whitening)


@inner
def _count_nodes(shape: Any, nodes: Chunk, responses: GraphResponses, result: Any) -> None:
    bins, width, rows = value_of(shape.bins), shape.widths[-1], _rows(nodes, responses)
    histogram = matrix(result, 0, bins.number, width)
    fill(histogram, single(0.0))
    squash_rows(bins, rows)
    add_to_histogram(bins, rows, histogram)
    scale_histogram(bins, histogram, density_of(shape.graph_density, nodes.n_rows))
    if shape.moments:
        moments = matrix(result, bins.number * width, 2, width)
        fill(moments, single(0.0))
        append_moments(responses.whitening, single(1.0), moments)


@inner
def embed_graph_backward(
    network: Any, gradient: Any, nodes: Chunk, drawn: Drawn, responses: GraphResponses, grad_embedding: Any, arena: Any
) -> None:
    """Adds to the gradient of f_graph's parameters but the first matrix; the products are replaced by their gradients."""
    tops, shape, n_nodes = tops_of(arena), network.shape, nodes.n_rows
    width, scratch = shape.widths[0], take_graph_scratch(shape, n_nodes, arena)
    _count_nodes_backward(shape, nodes, responses, grad_embedding, scratch.signal, arena)
    convolve_backward(shape, network.graph, gradient, nodes, responses.x, scratch.signal, arena)

    since, terms, grad_z = begin_phase(arena), scratch.terms, matrix(scratch.signal, 0, n_nodes, width)
    for node in range(n_nodes):
        for block in range(0, width, LANES):
            store(terms, node, block, load(grad_z, node, block))
    chebyshev_terms(terms, shape.orders[0], nodes.transposed)
    fill(drawn.products, single(0.0))
    for draw in range(drawn.nodes.n):
        own = rows_of(drawn.products, drawn.roots[draw], 1)
        add_times(own, rows_of(terms, drawn.nodes[draw], 1), drawn.counts[draw])
    charge(arena, RECURSION, since)
    lower_tops(arena, tops)


@inner
def _count_nodes_backward(
    shape: Any, nodes: Chunk, responses: GraphResponses, grad_embedding: Any, signal: Any, arena: Any
) -> None:
    """From the gradient of the graph's embedding to that of the last layer's responses, at the beginning of ``signal``."""
    bins, n_nodes, width, since, tops = value_of(shape.bins), nodes.n_rows, shape.widths[-1], begin_phase(arena), tops_of(arena)
    grads, grad_y = take_graph_gradients(shape, arena), matrix(signal, 0, n_nodes, width)
    fill(grads.sums, single(0.0))
    if shape.moments:
        grad_moments = matrix(grad_embedding, bins.number * width, 2, width)
        append_moments_backward(responses.whitening, single(1.0), grad_moments, grads.sums)
    density = density_of(shape.graph_density, n_nodes)
    scale_histogram_backward(bins, matrix(grad_embedding, 0, bins.number, width), density, grads.histogram)
    add_to_histogram_backward(bins, _rows(nodes, responses), grads.histogram, grad_y, grads.sums)
    charge(arena, HISTOGRAMS, since)
    inverse = single(1.0) / single(n_nodes)
    whiten_backward(responses.y, responses.whitening, nodes.draw_counts, inverse, grads.sums, grad_y)
    lower_tops(arena, tops)
