"""What every node adds to the embedding of its graph: rows that add up to it, column by column (docs/explain.md)."""

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from phist.engine.computation import Computation
from phist.estimators.trained import DRAWS, TrainedNetwork
from phist.graphs.arrays import IntArray
from phist.nn.batch import Batch
from phist.nn.functional import impulses, segment_sum
from phist.nn.histogram import Aggregation, MaxAggregation, MeanAggregation, ProjectiveHistogram
from phist.nn.network import StructuralNetwork
from phist.nn.normalization import Moments, MultisetNorm
from phist.nn.sampling import Draws, Roots, Views, draw_all


@dataclass(frozen=True)
class Parts:
    """Embeddings of graphs before standardisation, node by node.

    Attributes:
        nodes: (nodes, m_graph): the mean over draws; the rows of a graph's nodes add up to its mean embedding.
        roots: (nodes): how much each node counts in the moments of f_node; of the nodes of a graph they add up to one.
        draws: (draws, graphs, m_graph): the embedding of each draw.
    """

    nodes: NDArray[np.float64]
    roots: NDArray[np.float64]
    draws: NDArray[np.float64]


@dataclass(frozen=True)
class Signals:
    """What f_graph is shown of a batch of graphs: the embeddings of their nodes, and which of them each draw has."""

    batch: Batch
    views: Views
    embeddings: Tensor  # (nodes, m_node), standardised; zero for nodes that are not embedded

    def of_draw(self, draws: Draws) -> Tensor:
        """The input of f_graph: the embeddings of the drawn nodes, each as often as it was drawn."""
        nodes = self.numbers(draws)
        signal = torch.zeros_like(self.embeddings)
        counts = torch.from_numpy(draws.counts).to(signal.device, signal.dtype)
        signal[nodes] = self.embeddings[nodes] * counts.unsqueeze(-1)
        return signal.unsqueeze(1)  # (nodes, 1, m_node)

    def numbers(self, draws: Draws) -> Tensor:
        """The drawn nodes, numbered through the batch."""
        first_node = self.batch.node_ptr[:-1].cpu().numpy()
        return torch.from_numpy(np.repeat(first_node, np.diff(draws.ptr)) + draws.nodes).to(self.batch.device)


def views_of(trained: TrainedNetwork, sizes: IntArray) -> list[Views]:
    """The draws over which a model averages its predictions, with the roots that are embedded together for them."""
    sampler = trained.network.config.sampler
    if trained.inference == "exact" or sampler.kind == "all":
        every = draw_all(sizes)
        return [Views(every, [every])]
    if trained.inference == "auto":
        return [sampler.views_by_size(sizes, trained.seed, DRAWS)]
    draws = [sampler.draw_by_size(sizes, (trained.seed, number)) for number in range(DRAWS)]
    return [Views(drawn, [drawn]) for drawn in draws]


@torch.no_grad()
def signals_of(trained: TrainedNetwork, computation: Computation, chosen: IntArray) -> Iterator[Signals]:
    """The chosen graphs as f_graph sees them; f_node is computed by the engine of ``computation``."""
    parameter = next(trained.network.parameters())
    batch = Batch.from_graphs(computation.graphs[chosen], parameter.device, parameter.dtype)
    for views in views_of(trained, computation.sizes[chosen]):
        rows = computation.node_embeddings(chosen, views.roots).to(parameter.device)
        signals = Signals(batch, views, rows.new_zeros(batch.n_nodes, rows.shape[1]))
        signals.embeddings[signals.numbers(views.roots)] = rows
        yield signals


@torch.no_grad()
def parts_of(network: StructuralNetwork, looks: list[Signals]) -> Parts:
    """The parts of the graphs of a batch, averaged over the draws of all ``looks``."""
    batch = looks[0].batch
    n_draws = sum(len(signals.views.draws) for signals in looks)
    nodes = torch.zeros(batch.n_nodes, network.out_channels, dtype=torch.float64, device=batch.device)
    roots = torch.zeros(batch.n_nodes, dtype=torch.float64, device=batch.device)
    embeddings = []
    for signals in looks:
        seen, weights = root_parts(network, batch, signals.views.roots)
        roots += weights * (len(signals.views.draws) / n_draws)
        for draws in signals.views.draws:
            own = _graph_level(network, batch, signals.of_draw(draws))
            own = torch.cat([own, seen], dim=1) if network.config.moments == "head" else own
            nodes += own / n_draws
            embeddings.append(segment_sum(own, batch.graph_of, batch.n_graphs))
    return Parts(nodes.cpu().numpy(), roots.cpu().numpy(), torch.stack(embeddings).cpu().numpy())


def _graph_level(network: StructuralNetwork, batch: Batch, signal: Tensor) -> Tensor:
    """What each node adds to the histogram of f_graph and, where the head sees them, to the moments of its responses."""
    f_graph = network.f_graph
    response = f_graph.responses(signal, batch)
    moments = f_graph.norm.moments(response, batch.graph_of, batch.node_counts, response.new_ones(batch.n_graphs, 1))
    elements = f_graph.norm(response, batch.graph_of, moments).squeeze(1)
    parts = aggregation_parts(f_graph.aggregation, elements, batch).double()
    if network.config.moments != "head":
        return parts
    return torch.cat([parts, _moment_parts(f_graph.norm, response.squeeze(1).double(), moments, batch)], dim=1)


def aggregation_parts(aggregation: Aggregation, elements: Tensor, batch: Batch) -> Tensor:
    """What each element adds to the aggregate of its graph: (nodes, out_channels)."""
    alone = aggregation.aggregate(elements, torch.arange(len(elements), device=elements.device), len(elements))
    if isinstance(aggregation, MaxAggregation):
        largest = aggregation.aggregate(elements, batch.graph_of, batch.n_graphs)[batch.graph_of]
        reached = (elements == largest).to(elements.dtype)
        return alone * reached / segment_sum(reached, batch.graph_of, batch.n_graphs)[batch.graph_of]
    if is_mean(aggregation):
        return alone / batch.node_counts[batch.graph_of].unsqueeze(1)
    return alone


def is_mean(aggregation: Aggregation) -> bool:
    """Whether an aggregate does not grow with the number of its elements."""
    density = isinstance(aggregation, ProjectiveHistogram) and aggregation.density
    return density or isinstance(aggregation, MeanAggregation | MaxAggregation)


def _moment_parts(norm: MultisetNorm, response: Tensor, moments: Moments, batch: Batch) -> Tensor:
    """A mean is a sum over nodes; a standard deviation d is too, as d = d² / d, of which d² is a mean of squares."""
    mean = moments.mean.squeeze(1).double()[batch.graph_of]
    standard_deviation = (moments.variance.squeeze(1).double() + norm.epsilon).sqrt()[batch.graph_of]
    count = batch.node_counts[batch.graph_of].unsqueeze(1)
    squares = (response - mean).square() + norm.epsilon
    return torch.cat([response / count, squares / standard_deviation / count], dim=1)  # (nodes, 2 · channels)


def root_parts(network: StructuralNetwork, batch: Batch, draws: Draws) -> tuple[Tensor, Tensor]:
    """What each root adds to the moments that the head sees of f_node, and how much it counts in them.

    Returns:
        (nodes, 2 · channels), empty columns where the head does not see them, and (nodes).
    """
    roots = Roots.of(batch, draws)
    total = roots.multiplicity.double().sum(1, keepdim=True)
    weights = (roots.multiplicity.double() / total).unsqueeze(-1)  # (graphs, roots, 1)
    counted = _at_nodes(weights, roots, batch).squeeze(1)
    if network.config.moments != "head":
        return counted.new_zeros(batch.n_nodes, 0), counted
    mean, variance = _moments_by_root(network, batch, roots)
    epsilon = network.f_node.norm.epsilon
    if network.config.statistics == "joint":
        overall = (weights * mean).sum(1, keepdim=True)
        squares = variance + (mean - overall).square() + epsilon
        standard_deviation = squares / (weights * squares).sum(1, keepdim=True).sqrt()
    else:
        standard_deviation = (variance + epsilon).sqrt()
    return _at_nodes(weights * torch.cat([mean, standard_deviation], dim=-1), roots, batch), counted


def _moments_by_root(network: StructuralNetwork, batch: Batch, roots: Roots) -> tuple[Tensor, Tensor]:
    """Mean and variance of the responses to each root, as many roots at a time as memory allows: (graphs, roots, channels)."""
    norm = MultisetNorm("per-root", network.f_node.norm.epsilon)
    found = []
    for part in roots.split(slots_at_once(network, batch)):
        response = network.f_node.responses(impulses(part.nodes, batch.n_nodes, batch.dtype), batch)
        found.append(norm.moments(response, batch.graph_of, batch.node_counts, part.multiplicity))
    return torch.cat([own.mean for own in found], 1).double(), torch.cat([own.variance for own in found], 1).double()


def slots_at_once(network: StructuralNetwork, batch: Batch, width: int = 0) -> int:
    """How many signals with so many channels, or those of the convolutions, may be held for every node of a batch."""
    return max(1, network.config.max_elements // (batch.n_nodes * max(width, *network.config.channels)))


def _at_nodes(values: Tensor, roots: Roots, batch: Batch) -> Tensor:
    """Values of roots (graphs, roots, columns) at their nodes: (nodes, columns)."""
    rows = values.flatten(0, 1)
    return rows.new_zeros(batch.n_nodes, rows.shape[1]).index_add(0, roots.nodes.flatten(), rows)
