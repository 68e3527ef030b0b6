"""The networks that a page carries and computes itself, and what they say together."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phist.estimators.combining import LEAST, at_temperature, softmax
from phist.estimators.ensemble import Ensemble
from phist.explain.page.packing import Packer
from phist.explain.parts import views_of
from phist.explain.readers import LINEAR, Reader
from phist.nn.convolution import ChebyshevConv
from phist.nn.histogram import Aggregation, ProjectiveHistogram
from phist.nn.kernels import Gaussian, RaisedCosine, SmoothRectangle, Triangle, Uniform
from phist.nn.network import StructuralEmbedding, StructuralNetwork
from phist.nn.normalization import RunningStandardizer

MOST_WEIGHTS = 250_000  # numbers of all networks together: a megabyte
KERNELS = (Uniform, SmoothRectangle, Gaussian, Triangle, RaisedCosine)  # those that network.js knows
Array = NDArray[np.float64]


@dataclass(frozen=True)
class Bag:
    """The linear heads of one bag: how much they count, and at which temperature."""

    label: str
    weight: float
    temperature: float


@dataclass(frozen=True)
class Carried:
    """What the page computes.

    Attributes:
        readers: the networks that are carried, in the order of their numbers.
        left_out: how many more the model has.
        bags: how they are combined; weights add up to one.
        temperature: of the whole mixture, one where it is not the model's whole prediction.
        whole: whether this is the model's whole prediction.
        why_not: why no network is carried, or empty.
    """

    readers: list[Reader]
    left_out: int
    bags: list[Bag]
    temperature: float
    whole: bool
    why_not: str

    def probabilities(self, logits: Sequence[Array]) -> Array:
        """What the networks say together, by the logits of each: (graphs, classes)."""
        total = np.zeros_like(logits[0])
        for bag in self.bags:
            own = [rows for rows, reader in zip(logits, self.readers, strict=True) if reader.bag == bag.label]
            mean = softmax(np.mean([np.log(np.maximum(softmax(rows), LEAST)) for rows in own], axis=0))
            total += bag.weight * at_temperature(mean, bag.temperature)
        return at_temperature(total, self.temperature) if self.whole else total


def networks_to_carry(ensemble: Ensemble, readers: Sequence[Reader]) -> Carried:
    """As many of the networks as may be carried; none where the page could not compute them."""
    if not readers:
        return Carried([], 0, [], 1.0, False, "the model has no networks")
    why_not = next(filter(None, (unknown_to_page(reader.trained.network) for reader in readers)), "")
    sizes = [sum(parameter.numel() for parameter in reader.trained.network.parameters()) for reader in readers]
    fitting = int((np.cumsum(sizes) <= MOST_WEIGHTS).sum())
    if not why_not and not fitting:
        why_not = f"its networks have {sizes[0]:,} weights each, and a page carries {MOST_WEIGHTS:,}"
    kept = [] if why_not else list(readers[:fitting])
    used = {candidate.name: candidate for candidate in ensemble.candidates if candidate.weight}
    labels = list(dict.fromkeys(reader.bag for reader in kept))
    linear = {label: used.get(f"{label}/{LINEAR}") for label in labels}
    weights = [0.0 if candidate is None else candidate.weight for candidate in linear.values()]
    total = sum(weights)
    bags = [
        Bag(label, weight / total if total else 1 / len(labels), 1.0 if candidate is None else candidate.temperature)
        for (label, candidate), weight in zip(linear.items(), weights, strict=True)
    ]
    whole = len(kept) == len(readers) and set(used) == {f"{label}/{LINEAR}" for label in labels}
    return Carried(kept, len(readers) - len(kept), bags, ensemble.temperature if whole else 1.0, whole, why_not)


def unknown_to_page(network: StructuralNetwork) -> str:
    """Why the page cannot compute a network, or empty."""
    aggregation = network.f_node.aggregation
    if network.config.convolution != "chebyshev":
        return f"the page does not know {network.config.convolution} convolutions"
    if isinstance(aggregation, ProjectiveHistogram) and type(aggregation.kernel) not in KERNELS:
        return f"the page does not know the kernel {aggregation.kernel.name}"
    return ""


def networks_content(carried: Carried, sizes: Sequence[int], packer: Packer) -> dict[str, Any]:
    """The networks and how they are combined, for JSON; ``sizes``: of the graphs that the page computes."""
    return {
        "networks": [_network(reader, sizes, packer) for reader in carried.readers],
        "bags": [vars(bag) for bag in carried.bags],
        "temperature": carried.temperature,
        "whole": carried.whole,
        "leftOut": carried.left_out,
        "whyNot": carried.why_not,
        "least": LEAST,
    }


def _network(reader: Reader, sizes: Sequence[int], packer: Packer) -> dict[str, Any]:
    network, config = reader.trained.network, reader.trained.network.config
    return {
        "name": reader.name,
        "bag": reader.bag,
        "operator": config.operator,
        "scale": config.operator_scale,
        "statistics": config.statistics,
        "moments": config.moments == "head",
        "epsilon": network.f_node.norm.epsilon,
        "node": _level(network.f_node, packer),
        "graph": _level(network.f_graph, packer),
        "nodeStandard": _standard(network.node_standardizer, packer),
        "graphStandard": _standard(network.graph_standardizer, packer),
        "head": _packed(network.head.state_dict(), packer),
        "slopes": packer.add(reader.slopes, "f4"),
        "base": reader.base.tolist(),
        "meanNodes": reader.mean_nodes,
        "counts": reader.counts,
        "views": _views(reader, sizes, packer),
    }


def _level(level: StructuralEmbedding, packer: Packer) -> dict[str, Any]:
    layers = []
    for convolution in level.convolutions:
        assert isinstance(convolution, ChebyshevConv)
        order, before, after = convolution.weight.shape
        layers.append({"order": order, "in": before, "out": after, **_packed(convolution.state_dict(), packer)})
    return {"layers": layers, **_aggregation(level.aggregation)}


def _aggregation(aggregation: Aggregation) -> dict[str, Any]:
    if not isinstance(aggregation, ProjectiveHistogram):
        return {"kernel": type(aggregation).__name__.removesuffix("Aggregation").lower(), "density": False}
    centres, widths = aggregation.centers.detach().double().tolist(), aggregation.widths.detach().double().tolist()
    return {"kernel": aggregation.kernel.name, "density": aggregation.density, "centres": centres, "widths": widths}


def _standard(standardizer: Any, packer: Packer) -> dict[str, Any] | None:
    if not isinstance(standardizer, RunningStandardizer):
        return None
    scale = (standardizer.variance.double() + standardizer.epsilon).sqrt()
    return {"mean": packer.add(standardizer.mean.cpu().numpy(), "f4"), "scale": packer.add(scale.cpu().numpy(), "f4")}


def _packed(state: Mapping[str, Any], packer: Packer) -> dict[str, Any]:
    return {name: packer.add(tensor.cpu().numpy(), "f4") for name, tensor in state.items()}


def _views(reader: Reader, sizes: Sequence[int], packer: Packer) -> dict[str, Any]:
    """By the size of a graph, for every look at it, how often each node is a root that is embedded, and in each draw."""
    found = {}
    for size in sorted(set(sizes)):
        looks = []
        for views in views_of(reader.trained, np.array([size])):
            rows = np.zeros((1 + len(views.draws), size))
            for row, draws in zip(rows, (views.roots, *views.draws), strict=True):
                row[draws.nodes] = draws.counts
            looks.append(packer.whole(rows))
        found[str(size)] = looks
    return found
