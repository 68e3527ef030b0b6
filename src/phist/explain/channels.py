"""Channels and bins of f_graph in the order of their effects, with the nodes and graphs that fill them."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

import numpy as np
from numpy.typing import NDArray

from phist.errors import ConfigError, shown
from phist.explain.parts import Parts
from phist.explain.readers import Reader
from phist.nn.histogram import ProjectiveHistogram

if TYPE_CHECKING:
    from phist.explain.explanation import Explanation


@dataclass(frozen=True)
class BinEffect:
    """One bin of a channel's histogram in one graph.

    Attributes:
        network: its name.
        channel: counted from 0.
        bin: of the channel, counted from 0.
        centre: of the bin on [-1, 1], ``None`` where the network does not aggregate by histograms.
        effect: on the target's logit: what its value adds, compared with the usual value.
        value, usual: of the bin, in this graph and on average in training.
        fill: (nodes): what each node adds to the value.
    """

    network: str
    channel: int
    bin: int
    centre: float | None
    effect: float
    value: float
    usual: float
    fill: NDArray[np.float32]

    @property
    def nodes(self) -> list[int]:
        """The nodes in the order in which they fill the bin, the fullest first."""
        order: list[int] = np.argsort(-self.fill, kind="stable").tolist()
        return order

    def to_dict(self, most_nodes: int = 5) -> dict[str, Any]:
        """Plain values, with the nodes that fill it most.

        Args:
            most_nodes: how many of these nodes to name.
        """
        named = {name: getattr(self, name) for name in ("network", "channel", "bin", "centre", "effect", "value", "usual")}
        return named | {"nodes": self.nodes[:most_nodes]}


@dataclass(frozen=True)
class ChannelEffect:
    """What all bins of a channel, and the moments of its responses, add to the target's logit.

    Attributes:
        network: its name.
        channel: counted from 0.
        effect: of all bins and moments together.
        bins: (bins): the effect of each.
        moments: of the mean and the standard deviation of the channel's responses, where the head sees them.
    """

    network: str
    channel: int
    effect: float
    bins: NDArray[np.float64]
    moments: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values."""
        return {**vars(self), "bins": self.bins.tolist()}


Effect = TypeVar("Effect", BinEffect, ChannelEffect)


def strongest(effects: Iterable[Effect], most: int) -> list[Effect]:
    """Those with the largest effects in either direction, the largest first."""
    return sorted(effects, key=lambda one: -abs(one.effect))[:most]


def bin_effects(reader: Reader, parts: Parts, target: int, most: int) -> list[BinEffect]:
    """The bins of one network and one graph that have the largest effects."""
    channels, bins = _shape(reader)
    effects, values = _column_effects(reader, parts, target)
    aggregation = reader.trained.network.f_graph.aggregation
    centres = aggregation.centers.tolist() if isinstance(aggregation, ProjectiveHistogram) else [None]
    chosen = np.argsort(-np.abs(effects[: channels * bins]), kind="stable")[:most]
    return [
        BinEffect(
            network=reader.name,
            channel=column // bins,
            bin=column % bins,
            centre=centres[column % bins],
            effect=float(effects[column]),
            value=float(values[column]),
            usual=float(reader.usual[column]),
            fill=parts.nodes[:, column].astype(np.float32),
        )
        for column in chosen.tolist()
    ]


def channel_effects(reader: Reader, parts: Parts, target: int) -> list[ChannelEffect]:
    """All channels of one network and one graph."""
    channels, bins = _shape(reader)
    effects, _ = _column_effects(reader, parts, target)
    histogram = effects[: channels * bins].reshape(channels, bins)
    moments = np.zeros(channels)
    if len(effects) > channels * bins:
        begin = channels * bins
        moments = effects[begin : begin + 2 * channels].reshape(2, channels).sum(0)
    totals = histogram.sum(1) + moments
    return [
        ChannelEffect(reader.name, number, float(totals[number]), histogram[number], float(moments[number]))
        for number in range(channels)
    ]


def graphs_that_fill(
    explanations: "Sequence[Explanation]", network: str, channel: int, bin: int, k: int = 5
) -> list[tuple[Any, float]]:
    """Of several explained graphs the ids of those in which a bin is fullest, and by how many standard deviations.

    Args:
        explanations: of the graphs to choose from.
        network: its name, as in `ChannelEffect`.
        channel: counted from 0.
        bin: of the channel, counted from 0.
        k: how many graphs to name.
    """
    found = []
    for explanation in explanations:
        histograms = {} if explanation.network is None else explanation.network.histograms
        if network not in histograms:
            raise ConfigError(f"network {shown(network)} is none of those explained, which are {shown(list(histograms))}")
        found.append((explanation.graph.id, float(histograms[network][channel, bin])))
    return sorted(found, key=lambda pair: -pair[1])[:k]


def histogram_of(reader: Reader, parts: Parts) -> NDArray[np.float32]:
    """Of one network and one graph, in standard deviations from the usual: (channels, bins)."""
    values: NDArray[np.float64] = (parts.draws.mean((0, 1)) - reader.usual) / reader.scale
    return values[: reader.n_histogram].reshape(_shape(reader)).astype(np.float32)


def _shape(reader: Reader) -> tuple[int, int]:
    channels = reader.trained.network.config.channels[-1]
    return channels, reader.n_histogram // channels


def _column_effects(reader: Reader, parts: Parts, target: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    values: NDArray[np.float64] = parts.draws.mean((0, 1))
    return reader.slopes[target] * (values - reader.usual), values
