"""Which nodes are roots: the source of randomness that regularises training (section 3.2)."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any, Literal, NamedTuple, Self, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from phist.checks import finite_number, whole_number
from phist.errors import ConfigError, check_choice, shown
from phist.graphs.arrays import starts_of
from phist.nn.batch import Batch

SamplerKind = Literal["replacement", "all", "oversample"]
MOST_ROOTS = 100_000  # drawn per graph: all draws of an epoch are held in memory
MOST_FACTOR = 1000.0  # draws per node, likewise


class Draws(NamedTuple):
    """The distinct roots of several graphs, one graph after the other."""

    ptr: NDArray[np.int64]  # (graphs + 1): the roots of each graph
    nodes: NDArray[np.int32]  # (roots): numbered within the graph
    counts: NDArray[np.float32]  # (roots): how often each was drawn

    def part(self, begin: int, end: int) -> "Draws":
        """Those of some consecutive graphs."""
        ptr = self.ptr[begin : end + 1]
        roots = slice(ptr[0], ptr[-1])
        return Draws(ptr - ptr[0], self.nodes[roots], self.counts[roots])

    def select(self, chosen: NDArray[np.bool_]) -> "Draws":
        """Those of the graphs that a mask names."""
        n_roots = np.diff(self.ptr)
        own = np.repeat(chosen, n_roots)
        return Draws(starts_of(n_roots[chosen]), self.nodes[own], self.counts[own])


class Views(NamedTuple):
    """Several draws from each graph, and the roots to embed for them, each once."""

    roots: Draws  # with how much each counts in the whitening of its graph
    draws: list[Draws]


@dataclass(frozen=True)
class Roots:
    """The distinct roots of each graph, in slots; a graph with fewer than the batch's most has slots with multiplicity 0."""

    nodes: Tensor  # (graphs, slots), numbered through the batch
    multiplicity: Tensor  # (graphs, slots): how often each was drawn

    @classmethod
    def of(cls, batch: Batch, draws: Draws) -> "Roots":
        """The ``draws`` from the graphs of a batch."""
        counts = np.diff(draws.ptr)
        graph = np.repeat(np.arange(len(counts)), counts)
        slot = np.arange(len(draws.nodes)) - np.repeat(draws.ptr[:-1], counts)
        first_node = batch.node_ptr[:-1].cpu().numpy()

        shape = (len(counts), int(counts.max()))
        nodes = np.broadcast_to(first_node[:, None], shape).copy()
        multiplicity = np.zeros(shape)
        nodes[graph, slot] += draws.nodes
        multiplicity[graph, slot] = draws.counts
        return cls(torch.from_numpy(nodes).to(batch.device), torch.from_numpy(multiplicity).to(batch.device, batch.dtype))

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
        object.__setattr__(self, "count", whole_number("roots", self.count, least=1, most=MOST_ROOTS))
        object.__setattr__(self, "factor", finite_number("factor", self.factor, least=0, most=MOST_FACTOR, above=True))

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """A sampler as read from a file; fields that are unknown or missing are a `ConfigError`."""
        known = {item.name for item in fields(cls)}
        if not isinstance(values, Mapping) or values.keys() != known:
            raise ConfigError(f"sampler={shown(values)} was given; an object with {', '.join(sorted(known))} is needed")
        return cls(**values)

    def draw(self, sizes: NDArray[np.int64], generator: np.random.Generator) -> Draws:
        """Draw the roots of graphs with so many nodes, one graph after the other."""
        if self.kind == "all":
            return draw_all(sizes)
        draws = self._draws(sizes)
        return _distinct(sizes, draws, generator.integers(0, np.repeat(sizes, draws)))

    def draw_by_size(self, sizes: NDArray[np.int64], seed: Sequence[int]) -> Draws:
        """Draw roots that depend on ``seed`` and on a graph's size only, whatever the other graphs are."""
        if self.kind == "all":
            return draw_all(sizes)
        draws = self._draws(sizes)
        drawn = {
            size: np.random.default_rng((*seed, size)).integers(0, size, count)
            for size, count in dict(zip(sizes.tolist(), draws.tolist(), strict=True)).items()
        }
        return _distinct(sizes, draws, np.concatenate([drawn[size] for size in sizes.tolist()]))

    def views_by_size(self, sizes: NDArray[np.int64], seed: int, count: int) -> Views:
        """``count`` draws by `draw_by_size`, whose roots are embedded once.

        Of a graph with no more nodes than all draws together have roots every node is embedded, and counts the same;
        of a larger one the nodes that are drawn, as often as they are.
        """
        draws = [self.draw_by_size(sizes, (seed, number)) for number in range(count)]
        first_node = starts_of(sizes)
        times = np.zeros(first_node[-1], np.float32)
        for drawn in draws:
            times[np.repeat(first_node[:-1], np.diff(drawn.ptr)) + drawn.nodes] += drawn.counts
        times[np.repeat(self.most_views(sizes, count) == sizes, sizes)] = 1
        return Views(_draws_of(times, first_node), draws)

    def most_views(self, sizes: NDArray[np.int64], count: int) -> NDArray[np.int64]:
        """How many roots at most are embedded for so many draws from graphs with so many nodes."""
        return sizes if self.kind == "all" else np.minimum(sizes, count * self._draws(sizes))

    def sample(self, batch: Batch, generator: np.random.Generator) -> Roots:
        """Draw the roots of every graph of a batch."""
        return Roots.of(batch, self.draw(batch.node_counts.cpu().numpy(), generator))

    def sample_by_size(self, batch: Batch, seed: Sequence[int]) -> Roots:
        """`draw_by_size` for the graphs of a batch."""
        return Roots.of(batch, self.draw_by_size(batch.node_counts.cpu().numpy(), seed))

    def most_roots(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        """How many distinct roots graphs with so many nodes can have."""
        return sizes if self.kind == "all" else np.minimum(sizes, self._draws(sizes))

    def _draws(self, sizes: NDArray[np.int64]) -> NDArray[np.int64]:
        if self.kind == "replacement":
            return np.full(len(sizes), self.count)
        draws: NDArray[np.int64] = np.ceil(self.factor * sizes).astype(np.int64)
        return draws


def draw_all(sizes: NDArray[np.int64]) -> Draws:
    """Every node of every graph, once."""
    ptr = starts_of(sizes)
    nodes = (np.arange(ptr[-1]) - np.repeat(ptr[:-1], sizes)).astype(np.int32)
    return Draws(ptr, nodes, np.ones(len(nodes), np.float32))


def all_roots(batch: Batch) -> Roots:
    """Every node of every graph as a root, once."""
    return Roots.of(batch, draw_all(batch.node_counts.cpu().numpy()))


def _distinct(sizes: NDArray[np.int64], draws: NDArray[np.int64], drawn: NDArray[np.int64]) -> Draws:
    """Keep each distinct root once with its multiplicity: one drawn twice then costs as much as one drawn once."""
    first_node = starts_of(sizes)
    return _draws_of(np.bincount(np.repeat(first_node[:-1], draws) + drawn, minlength=first_node[-1]), first_node)


def _draws_of(times: NDArray[np.generic], first_node: NDArray[np.int64]) -> Draws:
    """From how often each node was drawn, one graph after the other."""
    nodes = np.flatnonzero(times)
    ptr = np.searchsorted(nodes, first_node)
    local = nodes - np.repeat(first_node[:-1], np.diff(ptr))
    return Draws(ptr, local.astype(np.int32), times[nodes].astype(np.float32))
