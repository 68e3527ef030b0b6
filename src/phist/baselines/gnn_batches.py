"""Graphs as the graph neural networks take them: all are prepared once, and a batch is cut out of flat arrays."""

from copy import copy
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from phist.baselines.coarsening import coarsen
from phist.baselines.gnn_classes import Rows, color_classes, single_nodes
from phist.descriptors.profiles import plain
from phist.graphs.arrays import IntArray, ranges, starts_of
from phist.graphs.graphset import GraphSet
from phist.nn.operator import SparseOperator

LARGEST_DEGREE = 40  # nodes of larger degree look alike, as in the paper's experiments

Aggregation = Literal["normalized", "sum", "mean"]


@dataclass(frozen=True)
class Level:
    """The graphs of a batch at one resolution, as rows that stand for one or more nodes each."""

    operator: SparseOperator  # symmetric: of each pair of rows, the weights of all arcs between their nodes
    scale: Tensor  # (rows, 1): makes of its products what one node of a row sees
    sizes: Tensor  # (rows, 1): nodes of a row
    shares: Tensor  # (rows, 1): of its graph's nodes
    graph_of_row: Tensor  # (rows)
    n_graphs: int
    pairs: Tensor | None = None  # (2, rows): the rows at the next finer level that each row stands for

    def pass_messages(self, x: Tensor, onto: Tensor) -> Tensor:
        """To each row of ``onto``, what a node of it gets from its neighbours, and in sums from itself, is added."""
        return torch.addcmul(onto, self.operator(x), self.scale)

    def merge(self, finer: Tensor) -> Tensor:
        """For each row the larger of the signals of the rows it stands for."""
        assert self.pairs is not None, "the finest level merges nothing"
        return torch.maximum(finer[self.pairs[0]], finer[self.pairs[1]])


@dataclass(frozen=True)
class GnnBatch:
    """What a network takes: the degrees that it starts from, and the graphs from fine to coarse."""

    degrees: Tensor  # (rows), `LARGEST_DEGREE` at most
    levels: tuple[Level, ...]


class GnnGraphs:
    """All graphs of a task.

    Args:
        graphs: the graphs; directions, loops and weights do not count.
        aggregation: ``"sum"`` adds neighbours and the node itself, ``"mean"`` averages neighbours, ``"normalized"`` adds
            neighbours and the node itself, divided by the roots of both degrees, loops counted (Kipf and Welling).
        coarsenings: how many times to halve the graphs. Halving tells nodes apart that nothing else does, so that each is
            a row of its own then.
        seed: of the coarsening.
        cache: a folder for what depends on the graphs alone.
    """

    def __init__(
        self,
        graphs: GraphSet,
        aggregation: Aggregation = "mean",
        *,
        coarsenings: int = 0,
        seed: int = 0,
        cache: Path | None = None,
    ) -> None:
        graphs = plain(graphs)
        rows = single_nodes(graphs) if coarsenings else color_classes(graphs, cache)
        self._degrees = np.minimum(rows.degrees, LARGEST_DEGREE).astype(np.int32)
        self._levels = [_PackedLevel(rows, aggregation)]
        generator = np.random.default_rng(seed)
        for _ in range(coarsenings):
            coarsening = coarsen(graphs, generator)
            graphs = coarsening.graphs
            self._levels.append(_PackedLevel(single_nodes(graphs), aggregation, coarsening.pairs))

    def down_to(self, coarsenings: int) -> "GnnGraphs":
        """The same graphs with that many of the coarser levels, so that none is cut out in vain."""
        fewer = copy(self)
        fewer._levels = self._levels[: coarsenings + 1]
        return fewer

    @property
    def n_degrees(self) -> int:
        """One for every degree up to the largest that occurs, `LARGEST_DEGREE` at most."""
        return int(self._degrees.max(initial=0)) + 1

    def batch(self, positions: NDArray[np.int64]) -> GnnBatch:
        """The graphs at ``positions``, side by side."""
        finest = self._levels[0]
        rows = ranges(finest.row_ptr[positions], finest.row_counts[positions])
        levels, finer_counts = [], np.empty(0, np.int64)
        for level in self._levels:
            levels.append(level.select(positions, finer_counts))
            finer_counts = level.row_counts[positions]
        return GnnBatch(torch.from_numpy(self._degrees[rows]), tuple(levels))


class _PackedLevel:
    """All graphs at one resolution, with everything at hand that a selection needs."""

    def __init__(self, rows: Rows, aggregation: Aggregation, pairs: IntArray | None = None) -> None:
        self.row_ptr, self.row_counts, self.pairs = rows.row_ptr, np.diff(rows.row_ptr), pairs
        indptr, self.indices, self.values = _arcs(rows, aggregation)
        self.arc_ptr, self.arcs_of_row = indptr[rows.row_ptr], np.diff(indptr)
        self.arc_counts = np.diff(self.arc_ptr)
        neighbours = np.maximum(rows.degrees, 1) if aggregation == "mean" else 1
        self.scale = _column(1 / (rows.sizes * neighbours))
        self.sizes = _column(rows.sizes)
        nodes = np.add.reduceat(np.append(rows.sizes, 0), rows.row_ptr[:-1]) * (self.row_counts > 0)
        self.shares = _column(rows.sizes / np.repeat(nodes, self.row_counts))

    def select(self, positions: NDArray[np.int64], finer_counts: IntArray) -> Level:
        """The graphs at ``positions``, which have ``finer_counts`` rows at the next finer level."""
        counts, arc_counts = self.row_counts[positions], self.arc_counts[positions]
        rows, arcs = ranges(self.row_ptr[positions], counts), ranges(self.arc_ptr[positions], arc_counts)
        row_ptr = starts_of(self.arcs_of_row[rows]).astype(np.int32)
        columns = self.indices[arcs] + np.repeat(starts_of(counts)[:-1].astype(np.int32), arc_counts)
        pairs = None if self.pairs is None else self.pairs[:, rows] + np.repeat(starts_of(finer_counts)[:-1], counts)
        matrix = torch.from_numpy(row_ptr), torch.from_numpy(columns), torch.from_numpy(self.values[arcs])
        return Level(
            SparseOperator(*matrix, symmetric=True),
            scale=torch.from_numpy(self.scale[rows]),
            sizes=torch.from_numpy(self.sizes[rows]),
            shares=torch.from_numpy(self.shares[rows]),
            graph_of_row=torch.from_numpy(np.repeat(np.arange(len(positions)), counts)),
            n_graphs=len(positions),
            pairs=None if pairs is None else torch.from_numpy(pairs),
        )


def _arcs(rows: Rows, aggregation: Aggregation) -> tuple[IntArray, NDArray[np.int32], NDArray[np.float32]]:
    """Rows of arcs with their weights: loops included where a node counts itself."""
    if aggregation == "mean":
        return rows.indptr, rows.indices.astype(np.int32), rows.counts.astype(np.float32)
    row_of_arc = np.repeat(np.arange(len(rows.sizes)), np.diff(rows.indptr))
    within = np.arange(len(rows.sizes)) - np.repeat(rows.row_ptr[:-1], np.diff(rows.row_ptr))
    ends = row_of_arc - within[row_of_arc] + rows.indices
    values = rows.counts.astype(np.float64)
    scales = 1 / np.sqrt(rows.degrees + 1) if aggregation == "normalized" else np.ones(len(rows.sizes))
    indptr = rows.indptr + np.arange(len(rows.indptr))
    indices = np.insert(rows.indices, rows.indptr[:-1], within)
    values = np.insert(values * scales[row_of_arc] * scales[ends], rows.indptr[:-1], rows.sizes * scales**2)
    return indptr, indices.astype(np.int32), values.astype(np.float32)


def _column(values: NDArray[np.float64] | IntArray) -> NDArray[np.float32]:
    return values.astype(np.float32)[:, None]
