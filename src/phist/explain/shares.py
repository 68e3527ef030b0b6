"""Node shares: the logits of graphs as a base, an effect of size and one number for each node (docs/explain.md)."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from phist.engine.choice import compute
from phist.explain.channels import BinEffect, ChannelEffect, bin_effects, channel_effects, histogram_of, strongest
from phist.explain.parts import Parts, parts_of, signals_of
from phist.explain.readers import Reader
from phist.explain.votes import votes_of
from phist.graphs.arrays import IntArray
from phist.graphs.graphset import GraphSet

NODES_AT_ONCE = 1 << 14  # of graphs that are explained together: some tens of megabytes
Array = NDArray[np.float64]


@dataclass(frozen=True)
class NodeShares:
    """One graph as its networks see it, all in centred logits.

    Attributes:
        base: (classes): of the average training graph.
        size: (classes): of more or fewer ordinary nodes than that has.
        shares: (nodes, classes): of each node, zero for an ordinary one.
        votes: (nodes, classes): of each node's embedding as a root, or ``None`` where nobody asked for them.
        draws: (draws, classes): the logits of each draw of roots; their mean is the sum of all the above but the votes.
        bins, channels: those with the largest effects on the target, the largest first.
        histograms: (channels, bins) of each network by name, in standard deviations from the usual.
    """

    base: Array
    size: Array
    shares: Array
    votes: Array | None
    draws: Array
    bins: tuple[BinEffect, ...]
    channels: tuple[ChannelEffect, ...]
    histograms: dict[str, NDArray[np.float32]]

    def at(self, places: IntArray) -> "NodeShares":
        """The same of nodes that stand at ``places``."""
        votes = None if self.votes is None else self.votes[places]
        bins = tuple(replace(one, fill=one.fill[places]) for one in self.bins)
        return replace(self, shares=self.shares[places], votes=votes, bins=bins)

    @property
    def logits(self) -> Array:
        """Of the classes, as the networks say: (classes)."""
        mean: Array = self.draws.mean(0)
        return mean


def node_shares(
    readers: Sequence[Reader], graphs: GraphSet, targets: IntArray, votes: bool = True, most_bins: int = 12
) -> Iterator[NodeShares]:
    """The shares of every graph in turn; graphs are taken in batches, so that memory is bounded.

    Args:
        targets: the class of each graph for which bins and channels are ordered.
    """
    for chosen in batches(graphs.node_counts(), NODES_AT_ONCE):
        yield from _of_batch(readers, graphs[chosen], targets[chosen], votes, most_bins)


def batches(sizes: IntArray, most: int) -> Iterator[IntArray]:
    """Positions of consecutive graphs with at most so many nodes together, or one graph with more."""
    start, nodes = 0, 0
    for position, size in enumerate(sizes.tolist()):
        if position > start and nodes + size > most:
            yield np.arange(start, position)
            start, nodes = position, 0
        nodes += size
    if len(sizes):
        yield np.arange(start, len(sizes))


def _of_batch(
    readers: Sequence[Reader], graphs: GraphSet, targets: IntArray, with_votes: bool, most_bins: int
) -> Iterator[NodeShares]:
    n_classes, sizes = len(readers[0].base), graphs.node_counts()
    size, shares = np.zeros((len(graphs), n_classes)), np.zeros((graphs.n_nodes, n_classes))
    votes = np.zeros_like(shares) if with_votes else None
    draws: Array = np.zeros((1, len(graphs), n_classes))
    bins: list[list[BinEffect]] = [[] for _ in range(len(graphs))]
    channels: list[list[ChannelEffect]] = [[] for _ in range(len(graphs))]
    histograms: list[dict[str, NDArray[np.float32]]] = [{} for _ in range(len(graphs))]
    for reader in readers:
        computation = compute(reader.trained.network, graphs, reader.trained.engine)
        with computation.at_work():
            looks = list(signals_of(reader.trained, computation, np.arange(len(graphs))))
            parts = parts_of(reader.trained.network, looks)
            if votes is not None:
                votes += votes_of(reader.trained.network, looks, reader.slopes)
        size += reader.size_effects(sizes)
        shares += (parts.nodes - reader.usual_parts(np.repeat(sizes, sizes), parts.roots)) @ reader.slopes.T
        draws = draws + reader.base + (parts.draws - reader.usual) @ reader.slopes.T
        for graph, own in enumerate(_by_graph(parts, graphs)):
            bins[graph] = strongest(bins[graph] + bin_effects(reader, own, targets[graph], most_bins), most_bins)
            channels[graph] = strongest(channels[graph] + channel_effects(reader, own, targets[graph]), most_bins)
            histograms[graph][reader.name] = histogram_of(reader, own)
    base: Array = np.sum([reader.base for reader in readers], axis=0)
    for graph, (begin, end) in enumerate(zip(graphs.node_ptr, graphs.node_ptr[1:], strict=False)):
        own_votes = None if votes is None else votes[begin:end]
        yield NodeShares(
            base, size[graph], shares[begin:end], own_votes, draws[:, graph], tuple(bins[graph]), tuple(channels[graph]),
            histograms[graph],
        )  # fmt: skip


def _by_graph(parts: Parts, graphs: GraphSet) -> Iterator[Parts]:
    for graph, (begin, end) in enumerate(zip(graphs.node_ptr, graphs.node_ptr[1:], strict=False)):
        yield Parts(parts.nodes[begin:end], parts.roots[begin:end], parts.draws[:, [graph]])
