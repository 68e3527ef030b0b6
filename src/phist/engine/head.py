"""The linear head with its loss and gradients, graph by graph."""

from typing import Any

import numpy as np

from phist.engine.arena import Arena, take_floats
from phist.engine.jit import inner
from phist.engine.shape import Head, Standardizer
from phist.engine.simd import LANES, fma, load, single, splat, store


@inner
def head_backward(
    head: Head,
    standardizer: Standardizer,
    graph_embeddings: Any,
    at: int,
    target: int,
    weight: float,
    grad_graph_embeddings: Any,
    gradient: Any,
    arena: Arena,
) -> Any:
    """Weighted cross entropy of the graph whose embedding begins at ``at``, and whether it is a hit.

    Adds to the head's gradient; the gradient of the embedding goes to ``grad_graph_embeddings[at]``.
    """
    floats, mark, size = arena.floats, arena.tops[0], len(standardizer.shift)
    embedding, lanes = take_floats(arena, size), take_floats(arena, LANES)
    for block in range(0, size, LANES):
        value = (load(graph_embeddings, at + block) - load(standardizer.shift, block)) * load(standardizer.scale, block)
        store(floats, embedding + block, value)
        store(grad_graph_embeddings, at + block, splat(single(0.0)))
    scores, best = np.empty(head.n_classes), 0
    for label in range(head.n_classes):
        scores[label] = head.values[head.bias + label] + _dot(
            head.values, head.matrix + label * size, floats, embedding, size, lanes
        )
        if scores[label] > scores[best]:
            best = label
    highest, mass = scores[best], 0.0
    for label in range(head.n_classes):
        mass += np.exp(scores[label] - highest)
    loss = weight * (np.log(mass) + highest - scores[target])
    for label in range(head.n_classes):
        grad = single(weight * (np.exp(scores[label] - highest) / mass - (label == target)))
        gradient[head.bias + label] += grad
        row = head.matrix + label * size
        for block in range(0, size, LANES):
            store(gradient, row + block, fma(splat(grad), load(floats, embedding + block), load(gradient, row + block)))
            store(
                grad_graph_embeddings,
                at + block,
                fma(splat(grad), load(head.values, row + block), load(grad_graph_embeddings, at + block)),
            )
    for block in range(0, size, LANES):
        store(grad_graph_embeddings, at + block, load(grad_graph_embeddings, at + block) * load(standardizer.scale, block))
    arena.tops[0] = mark
    return loss, best == target


@inner
def _dot(a: Any, a_at: int, b: Any, b_at: int, size: int, lanes: int) -> float:
    """The inner product, the sixteen lanes added up in double precision; ``lanes`` is where they may be put in ``b``."""
    total = splat(single(0.0))
    for block in range(0, size, LANES):
        total = fma(load(a, a_at + block), load(b, b_at + block), total)
    store(b, lanes, total)
    result = 0.0
    for lane in range(LANES):
        result += b[lanes + lane]
    return result
