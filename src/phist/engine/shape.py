"""Shape: a network's configuration, and Network: its parameters and statistics too, as compiled code takes them."""

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from phist.engine.bins import Bins, make_bins
from phist.engine.simd import LANES
from phist.nn.histogram import ProjectiveHistogram
from phist.nn.network import StructuralNetwork

Array = NDArray[Any]
MOMENTS = 4  # mean and standard deviation of f_graph's responses, then of f_node's


class Shape(NamedTuple):
    """What both levels have in common; widths are padded to whole vectors."""

    orders: Array  # (layers)
    widths: Array  # (layers)
    widest: int
    further_terms: int  # numbers of a pair in the terms of all layers but the first
    widest_terms: int  # and in those of the one that has the most
    bins: Bins
    reach: int  # hops from a root to the farthest row it can change
    joint: bool  # whitening statistics over all roots of a graph, or root by root
    epsilon: float
    node_density: bool
    graph_density: bool
    moments: int  # that a graph's embedding has of each channel, behind its bins: MOMENTS or none


class Weights(NamedTuple):
    """The parameters of one level, and where each layer's begin."""

    values: Array  # of the whole network
    matrices: Array  # (layers): of a (order · width below, width) matrix
    transposes: Array  # (layers): of the same, transposed; gradients have nothing there
    biases: Array  # (layers)


class Head(NamedTuple):
    """The linear head, and where it begins among the network's parameters."""

    values: Array
    n_classes: int
    matrix: int  # (classes, (bins + moments) · width)
    bias: int


class Standardizer(NamedTuple):
    """(E - shift)·scale, in the order of the engine's embeddings."""

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


def columns_of(bins: int, channels: int, moments: int = 0) -> Array:
    """Where each column of an embedding stands in the engine.

    Torch has the bins of the first channel, of the second, and so on; the engine has all channels of the first bin, padded,
    of the second, and so on. Moments come last in both, each with all its channels.
    """
    rows = np.arange((bins + moments) * padded(channels)).reshape(bins + moments, -1)[:, :channels]
    return np.concatenate([rows[:bins].T.ravel(), rows[bins:].ravel()])


def shape_of(network: StructuralNetwork) -> Shape:
    """A network's configuration as compiled code takes it."""
    config, aggregation = network.config, network.f_node.aggregation
    widths = [padded(width) for width in config.channels]
    further = [order * width for order, width in zip(config.orders[1:], widths, strict=False)]
    if isinstance(aggregation, ProjectiveHistogram):
        width = config.kernel_width * aggregation.kernel.natural_width(config.bins)
        bins = make_bins(config.kernel, aggregation.centers.numpy(), width)
        densities = (config.node_histogram == "density", config.graph_histogram == "density")
    else:
        bins = make_bins("maximum" if config.aggregation == "max" else "identity", np.zeros(1, np.float32), 1.0)
        densities = (config.aggregation == "mean", config.aggregation == "mean")
    return Shape(
        orders=np.array(config.orders, np.int64),
        widths=np.array(widths, np.int64),
        widest=max(widths),
        further_terms=sum(further),
        widest_terms=max(further, default=0),
        bins=bins,
        reach=sum(order - 1 for order in config.orders),
        joint=config.statistics == "joint",
        epsilon=network.f_node.norm.epsilon,
        node_density=densities[0],
        graph_density=densities[1],
        moments=MOMENTS if config.moments == "head" else 0,
    )
