"""Windows: graphs that are too many to be planned at once are read and planned some at a time, in an order that suits a disk."""

from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from phist.engine.choice import choose_engine, compute
from phist.engine.computation import Computation
from phist.engine.fused import Fused
from phist.engine.steps import Steps
from phist.graphs.canonical import in_canonical_order
from phist.graphs.graphset import GraphSet
from phist.nn.network import StructuralNetwork
from phist.nn.sampling import Draws, Views

MOST_AT_ONCE = 1 << 25  # nodes and arcs of graphs that are planned once, which takes about a gigabyte; COLLAB has 25 million
WINDOW = 1 << 21  # nodes and arcs of a window, about; planned anew in every epoch, a tenth of the time of training on it
BLOCK = 256  # graphs that are read together: their neighbours on disk

Positions = NDArray[np.int64]


def is_windowed(graphs: GraphSet) -> bool:
    """Whether graphs are too many to be planned at once; it depends on them alone, not on the machine."""
    return len(graphs.indices) + graphs.n_nodes > MOST_AT_ONCE


def put_in_order(graphs: GraphSet) -> GraphSet:
    """Graphs in canonical order; those that are too many to be planned at once are put into it window by window."""
    return graphs if is_windowed(graphs) else in_canonical_order(graphs).graphs


def take(graphs: GraphSet, positions: Positions) -> GraphSet:
    """Some graphs with their nodes in canonical order, which a set that fits into memory has as a whole."""
    chosen = graphs[positions]
    return in_canonical_order(chosen).graphs if is_windowed(graphs) else chosen


def compute_windowed(network: StructuralNetwork, graphs: GraphSet, engine: str, rows: Positions | None = None) -> Computation:
    """``network`` on ``graphs``, or on some ``rows`` of them: planned at once where they fit, else window by window."""
    if is_windowed(graphs):
        return Windowed(network, graphs, engine, rows)
    return compute(network, graphs if rows is None else graphs[rows], engine)


def order_in_windows(
    n_graphs: int, mean_size: float | None, batch_size: int, generator: np.random.Generator
) -> Iterator[Positions]:
    """The graphs of an epoch in random order, a window at a time.

    Graphs that fit into memory are one window, in any order. Else blocks of neighbours come in random order, as many as make a
    window, whose graphs are shuffled: a disk is read in long stretches.

    Args:
        mean_size: nodes and arcs of a graph on average; ``None`` for graphs that fit into memory.
    """
    if mean_size is None:
        yield generator.permutation(n_graphs)
        return
    window = max(1, int(WINDOW / mean_size) // batch_size) * batch_size  # whole steps
    blocks = generator.permutation(-(-n_graphs // BLOCK))
    order = (blocks[:, None] * BLOCK + np.arange(BLOCK)).ravel()
    order = order[order < n_graphs]
    for begin in range(0, n_graphs, window):
        yield generator.permutation(order[begin : begin + window])


class Windowed(Computation):
    """By another computation, which is made for the graphs that are asked for and forgotten after.

    Args:
        rows: which of the graphs are meant; positions count these. All of them, unless given.
    """

    roots_at_once = Fused.roots_at_once

    def __init__(self, network: StructuralNetwork, graphs: GraphSet, engine: str, rows: Positions | None = None) -> None:
        super().__init__(network, graphs)
        self.rows = rows
        self.sizes = self.sizes if rows is None else self.sizes[rows]
        self._engine = choose_engine(engine, network, graphs)

    @property
    def mean_size(self) -> float:
        """Nodes and arcs of a graph, on average."""
        return (len(self.graphs.indices) + self.graphs.n_nodes) / len(self.graphs)

    def window(self, chosen: Positions) -> Computation:
        """The network on some graphs, numbered from 0 there."""
        return compute(self.network, take(self.graphs, chosen if self.rows is None else self.rows[chosen]), self._engine)

    def scores(self, chosen: Positions, draws: Draws) -> Tensor:
        return self.window(chosen).scores(np.arange(len(chosen)), draws)

    def train(self, steps: Steps, optimizer: torch.optim.AdamW, clip: float | None) -> tuple[float, int]:
        window = self.window(steps.graphs)
        return window.train(replace(steps, graphs=np.arange(len(steps.graphs))), optimizer, clip)

    def graph_embeddings(self, chosen: Positions, draws: Draws) -> Tensor:
        return self.window(chosen).graph_embeddings(np.arange(len(chosen)), draws)

    def mean_embeddings(self, chosen: Positions, views: Views) -> Tensor:
        return self.window(chosen).mean_embeddings(np.arange(len(chosen)), views)

    def both_levels(self, chosen: Positions, views: Views) -> tuple[Tensor, Tensor]:
        return self.window(chosen).both_levels(np.arange(len(chosen)), views)

    def node_embeddings(self, chosen: Positions, draws: Draws) -> Tensor:
        return self.window(chosen).node_embeddings(np.arange(len(chosen)), draws)

    def at_work(self) -> AbstractContextManager[None]:
        if self._engine == "reference":
            return nullcontext()
        return self.window(np.zeros(1, np.int64)).at_work()

    def batches(self, roots: Positions) -> Iterator[Positions]:
        filled = np.cumsum(roots) // self.roots_at_once
        yield from np.split(np.arange(len(self.sizes)), np.flatnonzero(np.diff(filled)) + 1)
