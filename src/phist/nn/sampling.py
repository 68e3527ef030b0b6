"""Which nodes are roots: the source of randomness that regularises training (section 3.2)."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from phist.errors import ConfigError, check_choice
from phist.graphs.arrays import starts_of
from phist.nn.batch import Batch

SamplerKind = Literal["replacement", "all", "oversample"]


@dataclass(frozen=True)
class Roots:
    """The distinct roots of each graph, in slots; a graph with fewer than the batch's most has slots with multiplicity 0."""

    nodes: Tensor  # (graphs, slots), numbered through the batch
    multiplicity: Tensor  # (graphs, slots): how often each was drawn

    def split(self, slots: int) -> list["Roots"]:
        """The same roots, at most ``slots`` at a time."""
        return [Roots(*pair) for pair in zip(self.nodes.split(slots, dim=1), self.multiplicity.split(slots, dim=1), strict=True)]


@dataclass(frozen=True)
class RootSampler:
    """How roots are drawn.

    Args:
        kind: ``"replacement"``: ``count`` draws with replacement from each graph (the paper). ``"all"``: every node once,
            nothing random. ``"oversample"``: draws with replacement in proportion to the graph's size, ``factor`` per node
            on average, so that small graphs see each node several times.
        count: draws per graph for ``"replacement"``.
        factor: draws per node for ``"oversample"``.
    """

    kind: SamplerKind = "replacement"
    count: int = 32  # the paper's choice for all sets but DD
    factor: float = 2.0

    def __post_init__(self) -> None:
        check_choice("sampler", self.kind, get_args(SamplerKind))
        if self.count < 1:
            raise ConfigError(f"roots={self.count} was given; at least 1 root per graph is needed")
        if not self.factor > 0:
            raise ConfigError(f"oversampling factor {self.factor} was given; it must be positive")

    def sample(self, batch: Batch, generator: np.random.Generator) -> Roots:
        """Draw the roots of every graph of the batch, one graph after the other."""
        if self.kind == "all":
            return all_roots(batch)
        sizes = batch.node_counts.cpu().numpy()
        draws = self._draws(sizes)
        return _distinct(batch, sizes, draws, generator.integers(0, np.repeat(sizes, draws)))

    def sample_by_size(self, batch: Batch, seed: Sequence[int]) -> Roots:
        """Draw roots that depend on ``seed`` and on a graph's size only, whatever else is in the batch."""
        if self.kind == "all":
            return all_roots(batch)
        sizes = batch.node_counts.cpu().numpy()
        draws = self._draws(sizes)
        drawn = {
            size: np.random.default_rng((*seed, size)).integers(0, size, count)
            for size, count in dict(zip(sizes.tolist(), draws.tolist(), strict=True)).items()
        }
        return _distinct(batch, sizes, draws, np.concatenate([drawn[size] for size in sizes.tolist()]))

    def _draws(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        if self.kind == "replacement":
            return np.full(len(sizes), self.count)
        draws: NDArray[np.int64] = np.ceil(self.factor * sizes).astype(np.int64)
        return draws


def all_roots(batch: Batch) -> Roots:
    """Every node of every graph as a root, once."""
    counts = batch.node_counts
    slots = torch.arange(int(counts.max()), device=batch.device)
    present = slots < counts[:, None]
    nodes = batch.node_ptr[:-1, None] + torch.where(present, slots, 0)
    return Roots(nodes, present.to(batch.dtype))


def _distinct(batch: Batch, sizes: NDArray[np.int64], draws: NDArray[np.int64], drawn: NDArray[np.int64]) -> Roots:
    """Keep each distinct root once with its multiplicity: one drawn twice then costs as much as one drawn once."""
    first_node = starts_of(sizes)[:-1]
    nodes, multiplicity = np.unique(np.repeat(first_node, draws) + drawn, return_counts=True)
    graph = np.searchsorted(first_node, nodes, side="right") - 1
    slot = np.arange(len(nodes)) - np.searchsorted(graph, graph)

    shape = (len(sizes), int(slot.max()) + 1)
    node_table = np.broadcast_to(first_node[:, None], shape).copy()
    multiplicity_table = np.zeros(shape)
    node_table[graph, slot] = nodes
    multiplicity_table[graph, slot] = multiplicity
    return Roots(torch.from_numpy(node_table).to(batch.device), torch.from_numpy(multiplicity_table).to(batch.device, batch.dtype))
