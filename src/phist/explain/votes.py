"""Root votes: what the embedding of a node adds to the logits, by taking it away (docs/explain.md)."""

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from phist.explain.parts import Signals, slots_at_once
from phist.nn.batch import Batch
from phist.nn.convolution import ChebyshevConv
from phist.nn.functional import chebyshev_terms, impulses
from phist.nn.network import StructuralNetwork
from phist.nn.normalization import MultisetNorm
from phist.nn.sampling import Roots


@torch.no_grad()
def votes_of(network: StructuralNetwork, looks: list[Signals], slopes: NDArray[np.float64]) -> NDArray[np.float64]:
    """The logits less those without each node's own embedding, averaged over draws: (nodes, classes).

    Without it a node stands at the average embedding, which is zero, as nodes do that were not drawn. The moments of f_node are
    left as they are: what a node adds to them is in its share.

    Args:
        slopes: (classes, m_graph): of the logits, by the embedding before standardisation.
    """
    batch = looks[0].batch
    n_draws = sum(len(signals.views.draws) for signals in looks)
    weights = torch.from_numpy(slopes).to(batch.device)
    votes = torch.zeros(batch.n_nodes, len(slopes), dtype=torch.float64, device=batch.device)
    for signals in looks:
        for draws in signals.views.draws:
            signal, roots = signals.of_draw(draws), Roots.of(batch, draws)
            with_all = _logits(network, batch, network.f_graph.convolutions[0](signal, batch), weights)
            for part in roots.split(slots_at_once(network, batch, _width(network))):
                without = _logits(network, batch, _first_layer_without(network, batch, signal, part), weights)
                change = (with_all - without) * (part.multiplicity > 0).unsqueeze(-1)  # (graphs, roots, classes)
                votes.index_add_(0, part.nodes.flatten(), change.flatten(0, 1) / n_draws)
    return votes.cpu().numpy()


def _width(network: StructuralNetwork) -> int:
    """Channels of the widest signal that is held for every root."""
    return 0 if _is_linear(network) else int(network.f_graph.in_channels)


def _is_linear(network: StructuralNetwork) -> bool:
    return isinstance(network.f_graph.convolutions[0], ChebyshevConv)


def _first_layer_without(network: StructuralNetwork, batch: Batch, signal: Tensor, roots: Roots) -> Tensor:
    """The first convolution of f_graph with one root of each graph silenced, a root a slot: (nodes, roots, channels)."""
    convolution = network.f_graph.convolutions[0]
    if not isinstance(convolution, ChebyshevConv):
        silenced = signal.repeat(1, roots.nodes.shape[1], 1)
        silenced[roots.nodes, torch.arange(roots.nodes.shape[1], device=batch.device)] = 0
        result: Tensor = convolution(silenced, batch)
        return result
    # The layer is linear, so that what a root adds to it can be subtracted; that takes a fraction of the time.
    operator = batch.operator(convolution.operator_kind, convolution.scale)
    own = signal.squeeze(1)[roots.nodes]  # (graphs, roots, m_node)
    result = convolution(signal, batch).repeat(1, roots.nodes.shape[1], 1)
    terms = chebyshev_terms(operator, impulses(roots.nodes, batch.n_nodes, batch.dtype), convolution.order)
    for term, weight in zip(terms, convolution.weight, strict=True):
        result -= term * (own @ weight)[batch.graph_of]
    return result


def _logits(network: StructuralNetwork, batch: Batch, first: Tensor, weights: Tensor) -> Tensor:
    """What the head makes of f_graph, slot by slot, from the output of its first convolution: (graphs, slots, classes)."""
    f_graph, response = network.f_graph, first
    for convolution in list(f_graph.convolutions)[1:]:
        response = convolution(F.elu(response), batch)
    norm = MultisetNorm("per-root", f_graph.norm.epsilon)
    alike = response.new_ones(batch.n_graphs, response.shape[1])
    moments = norm.moments(response, batch.graph_of, batch.node_counts, alike)
    seen = f_graph.aggregation(norm(response, batch.graph_of, moments), ptr=batch.node_ptr, dim=0)
    if network.config.moments == "head":
        seen = torch.cat([seen, moments.mean, (moments.variance + norm.epsilon).sqrt()], dim=-1)
    logits: Tensor = seen.double() @ weights[:, : seen.shape[-1]].T
    return logits
