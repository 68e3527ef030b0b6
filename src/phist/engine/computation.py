"""Computation: a network on a set of graphs, whichever engine does the work."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from contextlib import AbstractContextManager, nullcontext
from typing import Any, ClassVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from phist.engine.steps import Steps, scale_weights
from phist.graphs.graphset import GraphSet
from phist.nn.batch import Batch
from phist.nn.network import NodeLevel, StructuralNetwork
from phist.nn.sampling import Draws, Roots, Views

Positions = NDArray[np.int64]
Weights = NDArray[np.floating[Any]]


class Computation(ABC):
    """A network and the graphs it is used on; graphs are named by their positions, roots by draws from those graphs."""

    engine: ClassVar[str]

    def __init__(self, network: StructuralNetwork, graphs: GraphSet) -> None:
        self.network = network
        self.graphs = graphs
        self.sizes = graphs.node_counts()

    def scores(self, chosen: Positions, draws: Draws) -> Tensor:
        """Class scores of the chosen graphs, seen from the drawn roots: (graphs, classes)."""
        scores: Tensor = self.network.head(self.graph_embeddings(chosen, draws))
        return scores

    def loss_backward(self, chosen: Positions, draws: Draws, targets: NDArray[np.int64], weights: Weights) -> tuple[float, int]:
        """Cross entropy of the chosen graphs and the number of hits; leaves the gradients in the parameters."""
        device = next(self.network.parameters()).device
        labels = torch.from_numpy(targets).to(device)
        scores = self.scores(chosen, draws)
        loss = weighted_loss(scores, labels, weights)
        self.network.zero_grad(set_to_none=True)
        loss.backward()
        return float(loss.detach()), int((scores.argmax(1) == labels).sum())

    def train(self, steps: Steps, optimizer: torch.optim.AdamW, clip: float | None) -> tuple[float, int]:
        """Take all steps; returns the losses of all graphs, added up, and the hits."""
        total, hits = 0.0, 0
        for step, rate in enumerate(steps.rates.tolist()):
            part = steps.part(step, step + 1)
            loss, own = self.loss_backward(part.graphs, part.draws, part.targets, part.weights)
            for group in optimizer.param_groups:
                group["lr"] = rate
            if clip is not None:
                torch.nn.utils.clip_grad_norm_(self.network.parameters(), clip)
            optimizer.step()
            total, hits = total + loss * len(part.graphs), hits + own
        return total, hits

    @abstractmethod
    def graph_embeddings(self, chosen: Positions, draws: Draws) -> Tensor:
        """Standardised embeddings of the chosen graphs: (graphs, m_graph)."""

    @abstractmethod
    def mean_embeddings(self, chosen: Positions, views: Views) -> Tensor:
        """The mean over several draws of the graph embeddings, their roots embedded once: (graphs, m_graph); no gradients."""

    @abstractmethod
    def both_levels(self, chosen: Positions, views: Views) -> tuple[Tensor, Tensor]:
        """`mean_embeddings`, and `node_embeddings` of the roots, in one pass; no gradients."""

    @abstractmethod
    def node_embeddings(self, chosen: Positions, draws: Draws) -> Tensor:
        """Standardised embeddings of the drawn nodes, one graph after the other: (roots, m_node)."""

    def at_work(self) -> AbstractContextManager[None]:
        """Around many steps: whatever threads there are belong to the engine meanwhile."""
        return nullcontext()

    @abstractmethod
    def batches(self, roots: Any) -> Iterator[Positions]:
        """All graphs, as many at a time as memory allows, when graphs have so many roots: (graphs)."""


class Reference(Computation):
    """By `phist.nn`, on any device."""

    engine = "reference"

    def _batch(self, chosen: Positions) -> Batch:
        parameter = next(self.network.parameters())
        return Batch.from_graphs(self.graphs[chosen], parameter.device, parameter.dtype)

    def graph_embeddings(self, chosen: Positions, draws: Draws) -> Tensor:
        batch = self._batch(chosen)
        return self.network.graph_embeddings(batch, Roots.of(batch, draws))

    def mean_embeddings(self, chosen: Positions, views: Views) -> Tensor:
        return self.both_levels(chosen, views)[0]

    @torch.no_grad()
    def both_levels(self, chosen: Positions, views: Views) -> tuple[Tensor, Tensor]:
        batch = self._batch(chosen)
        roots = Roots.of(batch, views.roots)
        level = self.network.node_level(batch, roots)
        embeddings = level.embeddings * (roots.multiplicity > 0).unsqueeze(-1)
        nodes = embeddings.new_zeros(batch.n_nodes, embeddings.shape[-1])
        nodes = nodes.index_add(0, roots.nodes.flatten(), embeddings.flatten(0, 1))
        drawn = [Roots.of(batch, draws) for draws in views.draws]
        seen = [self.network.read(batch, own, NodeLevel(nodes[own.nodes], level.removed)) for own in drawn]
        return torch.stack(seen).mean(0), level.embeddings[_taken(views.roots, level.embeddings.shape[1])]

    def node_embeddings(self, chosen: Positions, draws: Draws) -> Tensor:
        batch = self._batch(chosen)
        slots = self.network.node_embeddings(batch, Roots.of(batch, draws))
        return slots[_taken(draws, slots.shape[1])]

    def batches(self, roots: Any) -> Iterator[Positions]:
        """Graphs of like size together, so that few slots stay empty."""
        limit = max(1, self.network.config.max_elements // max(self.network.config.channels))
        order = np.argsort(self.sizes, kind="stable")
        start, nodes = 0, 0
        for position, graph in enumerate(order.tolist()):
            nodes += int(self.sizes[graph])
            if position > start and nodes * int(roots[graph]) > limit:
                yield order[start:position]
                start, nodes = position, int(self.sizes[graph])
        if len(order):
            yield order[start:]


def _taken(draws: Draws, n_slots: int) -> Tensor:
    """Which slots hold a root: (graphs, slots)."""
    return torch.from_numpy(np.arange(n_slots) < np.diff(draws.ptr)[:, None])


def weighted_loss(scores: Tensor, targets: Tensor, weights: Weights) -> Tensor:
    """Cross entropy, the mean over graphs weighted by what each counts; zero where none counts."""
    losses = F.cross_entropy(scores, targets, reduction="none")
    scaled = torch.from_numpy(scale_weights(weights)).to(losses)
    total = scaled.sum()
    return (scaled * losses).sum() / torch.where(total > 0, total, 1)
