"""Shape: a network's configuration, and Network: its parameters and statistics too, as compiled code takes them."""

from typing import Any, NamedTuple

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
    """The parameters of one level, and where each layer's begin."""

    values: Array  # of the whole network
    matrices: Array  # (layers): of a (order · width below, width) matrix
    transposes: Array  # (layers): of the same, transposed; gradients have zeros there
    biases: Array  # (layers)


class Head(NamedTuple):
    """The linear head, and where it begins among the network's parameters."""

    values: Array
    n_classes: int
    matrix: int  # (classes, bins · width)
    bias: int


class Standardizer(NamedTuple):
    """(E - shift)·scale, in the order of the engine's histograms."""

    shift: Array
    scale: Array


class Network(NamedTuple):
    """Both levels, what lies between them, and what follows."""

    shape: Shape
    node: Weights
    graph: Weights
    head: Head
    node_standardizer: Standardizer
    graph_standardizer: Standardizer


def padded(width: int) -> int:
    """The next multiple of a vector's length."""
    return -(-width // LANES) * LANES
