"""Graphs as the graph neural networks take them: all are prepared once, and a batch is cut out of flat arrays."""

from copy import copy
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from phist.baselines.coarsening import coarsen
from phist.descriptors.profiles import plain
from phist.graphs.arrays import IntArray, ranges, starts_of
from phist.graphs.graphset import GraphSet
from phist.graphs.packing import Reading, pack
from phist.graphs.symmetry import targets_of
from phist.nn.operator import SparseOperator

LARGEST_DEGREE = 40  # nodes of larger degree look alike, as in the paper's experiments


@dataclass(frozen=True)
class Level:
    """The graphs of a batch at one resolution."""

    operator: SparseOperator  # adjacency, symmetric; weighted where the network asks for it
    inverse_degrees: Tensor  # (nodes, 1); one where there are no neighbours
    graph_of_node: Tensor  # (nodes)
    n_graphs: int
    pairs: Tensor | None = None  # (2, nodes): the nodes at the next finer level that each node stands for

    def sum(self, x: Tensor) -> Tensor:
        """For each node the weighted sum of its neighbours' signals."""
        return self.operator(x)

    def mean(self, x: Tensor) -> Tensor:
        """For each node the mean of its neighbours' signals, zero where it has none."""
        return self.operator(x) * self.inverse_degrees

    def merge(self, finer: Tensor) -> Tensor:
        """For each node the larger of the signals of the nodes it stands for."""
        assert self.pairs is not None, "the finest level merges nothing"
        return torch.maximum(finer[self.pairs[0]], finer[self.pairs[1]])


@dataclass(frozen=True)
class GnnBatch:
    """What a network takes: a one-hot degree for every node, and the graphs from fine to coarse."""

    features: Tensor  # (nodes, degrees)
    levels: tuple[Level, ...]


class GnnGraphs:
    """All graphs of a task.

    Args:
        graphs: the graphs; directions, loops and weights do not count.
        normalized: whether arcs, and a loop at every node, weigh 1 / sqrt(degree * degree), loops counted, as in Kipf and
            Welling's convolution.
        coarsenings: how many times to halve the graphs.
        seed: of the coarsening.
    """

    def __init__(self, graphs: GraphSet, *, normalized: bool = False, coarsenings: int = 0, seed: int = 0) -> None:
        graphs = plain(graphs)
        self._degrees = np.minimum(graphs.degrees(), LARGEST_DEGREE)
        self._one_hot = torch.eye(self.n_features)
        self._levels = [_weighted_level(graphs) if normalized else _PackedLevel(graphs)]
        generator = np.random.default_rng(seed)
        for _ in range(coarsenings):
            coarsening = coarsen(graphs, generator)
            graphs = coarsening.graphs
            self._levels.append(_PackedLevel(graphs, pairs=coarsening.pairs))

    def down_to(self, coarsenings: int) -> "GnnGraphs":
        """The same graphs with that many of the coarser levels, so that none is cut out in vain."""
        fewer = copy(self)
        fewer._levels = self._levels[: coarsenings + 1]
        return fewer

    @property
    def n_features(self) -> int:
        """One for every degree up to the largest that occurs, `LARGEST_DEGREE` at most."""
        return int(self._degrees.max(initial=0)) + 1

    def batch(self, positions: NDArray[np.int64]) -> GnnBatch:
        """The graphs at ``positions``, side by side."""
        finest = self._levels[0]
        nodes = ranges(finest.node_ptr[positions], finest.node_counts[positions])
        levels, sizes = [], np.empty(0, np.int64)
        for level in self._levels:
            levels.append(level.select(positions, finer_sizes=sizes))
            sizes = level.node_counts[positions]
        return GnnBatch(self._one_hot[torch.from_numpy(self._degrees[nodes])], tuple(levels))


class _PackedLevel:
    """All graphs at one resolution, with everything at hand that a selection needs."""

    def __init__(self, graphs: GraphSet, values: NDArray[np.float32] | None = None, pairs: IntArray | None = None) -> None:
        self.node_ptr, self.node_counts, self.degrees = graphs.node_ptr, graphs.node_counts(), graphs.degrees()
        self.arc_ptr, self.indices = graphs.indptr[graphs.node_ptr], graphs.indices
        self.arc_counts = np.diff(self.arc_ptr)
        self.values = np.ones(len(graphs.indices), np.float32) if values is None else values
        self.pairs = pairs

    def select(self, positions: NDArray[np.int64], finer_sizes: IntArray) -> Level:
        """The graphs at ``positions``, which have ``finer_sizes`` nodes at the next finer level."""
        counts, arc_counts = self.node_counts[positions], self.arc_counts[positions]
        nodes = ranges(self.node_ptr[positions], counts)
        arcs = ranges(self.arc_ptr[positions], arc_counts)
        degrees = self.degrees[nodes]
        columns = self.indices[arcs] + np.repeat(starts_of(counts)[:-1], arc_counts)
        pairs = None if self.pairs is None else self.pairs[:, nodes] + np.repeat(starts_of(finer_sizes)[:-1], counts)
        row_ptr, values = torch.from_numpy(starts_of(degrees)), torch.from_numpy(self.values[arcs])
        return Level(
            SparseOperator(row_ptr, torch.from_numpy(columns), values, symmetric=True),
            inverse_degrees=torch.from_numpy((1 / np.maximum(degrees, 1)).astype(np.float32)[:, None]),
            graph_of_node=torch.from_numpy(np.repeat(np.arange(len(positions)), counts)),
            n_graphs=len(positions),
            pairs=None if pairs is None else torch.from_numpy(pairs),
        )


def _weighted_level(graphs: GraphSet) -> _PackedLevel:
    """Graphs with a loop at every node, every arc divided by the roots of its ends' degrees."""
    nodes = np.arange(graphs.n_nodes)
    source, target = np.repeat(nodes, graphs.degrees()), targets_of(graphs)
    looped = pack(graphs.node_counts(), np.append(source, nodes), np.append(target, nodes), reading=Reading("symmetrise", "keep"))
    scales = 1 / np.sqrt(looped.degrees())
    values = np.repeat(scales, looped.degrees()) * scales[targets_of(looped)]
    return _PackedLevel(looped, values.astype(np.float32))
