"""Shape: a network's configuration, and Weights: its parameters, as compiled code takes them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phist.engine.bins import Bins
from phist.engine.vectors import LANES

Array = NDArray[Any]


class Shape(NamedTuple):
    """What both levels share; widths are padded to whole vectors."""

    orders: Array  # (layers)
    widths: Array  # (layers)
    widest: int
    bins: Bins
    reach: int  # hops from a root to the farthest row it can change
    joint: bool  # whitening statistics over all roots of a graph, or root by root
    epsilon: float
    node_density: bool
    graph_density: bool


class Weights(NamedTuple):
    """The parameters of one level in one flat array, and where each layer's begin."""

    values: Array
    matrices: Array  # (layers): of a (order · width below, width) matrix
    transposes: Array  # (layers): of the same, transposed; gradients have zeros there
    biases: Array  # (layers)


class Standardizer(NamedTuple):
    """(E - shift)·scale, in the order of the engine's histograms."""

    shift: Array
    scale: Array


def padded(width: int) -> int:
    """The next multiple of a vector's length."""
    return -(-width // LANES) * LANES


def layout_weights(shape: Shape, on_embeddings: bool) -> tuple[int, Array, Array, Array]:
    """Length of a level's flat array, and the offsets of its matrices, transposes and biases.

    Args:
        on_embeddings: whether the first matrix takes embeddings, in whose rows the ``order`` products stand side by side, or
            impulses, which have one row a term.
    """
    widths, sizes = shape.widths.tolist(), []
    below = shape.bins.number * widths[-1] if on_embeddings else 1
    for order, before, width in zip(shape.orders.tolist(), [below, *widths], widths, strict=False):
        area = order * before * width
        sizes += [area, area, width]
    offsets = np.concatenate([[0], np.cumsum([padded(size) for size in sizes])]).astype(np.int64)
    return int(offsets[-1]), offsets[0:-1:3].copy(), offsets[1::3].copy(), offsets[2::3].copy()
