"""The linear head with its loss and gradients, graph by graph."""

import math
from typing import Any

from phist.engine.arena import lower_tops, take_doubles, take_floats, tops_of
from phist.engine.dense import add_times, fill
from phist.engine.jit import inner
from phist.engine.simd import LANES, fma, load_flat, single, splat, store_flat, sum_lanes
from phist.engine.views import stretch


@inner
def take_scores(network: Any, arena: Any) -> tuple[Any, Any]:
    """Space for a standardised embedding and its scores."""
    return take_floats(arena, len(network.graph_standardizer.shift)), take_doubles(arena, network.head.n_classes)


@inner
def head_backward(network: Any, embedding: Any, target: int, weight: float, grad_embedding: Any, gradient: Any, arena: Any) -> Any:
    """Weighted cross entropy of a graph, and whether it is a hit; adds to the head's gradient and fills that of the embedding."""
    head, shift, scale = network.head, network.graph_standardizer.shift, network.graph_standardizer.scale
    tops, size, n_classes = tops_of(arena), len(shift), head.n_classes
    standard, scores = take_scores(network, arena)
    for block in range(0, size, LANES):
        value = (load_flat(embedding, block) - load_flat(shift, block)) * load_flat(scale, block)
        store_flat(standard, block, value)
    best = 0
    for label in range(n_classes):
        row = stretch(head.values, head.matrix + label * size, size)
        scores[label] = head.values[head.bias + label] + _dot(row, standard)
        if scores[label] > scores[best]:
            best = label
    highest, mass = scores[best], 0.0
    for label in range(n_classes):
        mass += math.exp(scores[label] - highest)
    loss = weight * (math.log(mass) + highest - scores[target])
    fill(grad_embedding, single(0.0))
    for label in range(n_classes):
        grad = single(weight * (math.exp(scores[label] - highest) / mass - (label == target)))
        gradient[head.bias + label] += grad
        add_times(stretch(gradient, head.matrix + label * size, size), standard, grad)
        add_times(grad_embedding, stretch(head.values, head.matrix + label * size, size), grad)
    for block in range(0, size, LANES):
        store_flat(grad_embedding, block, load_flat(grad_embedding, block) * load_flat(scale, block))
    lower_tops(arena, tops)
    return loss, best == target


@inner
def _dot(a: Any, b: Any) -> float:
    """The inner product, the sixteen lanes added up in double precision."""
    total = splat(single(0.0))
    for block in range(0, a.n, LANES):
        total = fma(load_flat(a, block), load_flat(b, block), total)
    result: float = sum_lanes(total)
    return result
