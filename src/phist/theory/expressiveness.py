"""Which pairs of graphs the network tells apart, with random weights, in double precision, by the reference.

Moments only widen what the head sees, so one pass shows both variants: its last columns are the moments.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, cast

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from phist.graphs.graphset import GraphSet
from phist.graphs.packing import pack
from phist.graphs.symmetry import targets_of
from phist.nn.batch import Batch
from phist.nn.config import NetworkConfig
from phist.nn.convolution import ChebyshevConv
from phist.nn.functional import chebyshev_terms
from phist.nn.network import NodeLevel, StructuralNetwork, make_network
from phist.nn.normalization import MultisetNorm, RunningStandardizer
from phist.nn.sampling import RootSampler, all_roots
from phist.theory.pairs import Pair
from phist.theory.rooted_colors import told_apart_by_outer_refinement, told_apart_by_roots

RootsOf = Literal["all", "sampled"]
ROOTS: tuple[RootsOf, ...] = ("all", "sampled")
ORDERS = (3, 4, 6)  # those of the paper's appendix
DRAWS = 64  # of 32 roots, from each copy of a graph
MARGIN = 2.0  # a pair must differ by so many times what copies of the same graph differ by
ROUNDING = 1e-7  # less is rounding, which whitening may have enlarged a hundredfold
CEILINGS = {"node-marked 1-WL": told_apart_by_roots, "with an outer 1-WL": told_apart_by_outer_refinement}
Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Verdict:
    """What becomes of a pair."""

    category: str
    told_apart: dict[str, bool]  # by variant


def variant_name(roots: RootsOf, moments: bool, order: int) -> str:
    """How a variant is called in records."""
    return f"{roots} roots, {'with' if moments else 'without'} moments, order {order}"


def judge_pairs(pairs: Sequence[Pair], orders: Sequence[int] = ORDERS, draws: int = DRAWS, seed: int = 0) -> Iterator[Verdict]:
    """Pair by pair, every variant of the network and both ceilings."""
    networks = [make_network(NetworkConfig(orders=(order, order), moments="head"), 2, seed).double() for order in orders]
    for number, pair in enumerate(pairs):
        told_apart = {name: tells_apart(pair.graphs) for name, tells_apart in CEILINGS.items()}
        rng = np.random.default_rng((seed, number))
        for order, network in zip(orders, networks, strict=True):
            told_apart |= _judge_by_network(network, order, pair.graphs, draws, rng)
        yield Verdict(pair.category, told_apart)


def _judge_by_network(
    network: StructuralNetwork, order: int, pair: GraphSet, draws: int, rng: np.random.Generator
) -> dict[str, bool]:
    copies = [graph for number in range(2) for graph in (pair[[number]], relabelled(pair[[number]], rng))]
    _learn_statistics(network, pair)
    seen = [_embeddings(network, graph, draws, rng) for graph in copies]
    columns = {False: slice(network.f_graph.out_channels), True: slice(None)}
    return {
        variant_name(roots, moments, order): _exceeds_copies([own[roots][:, columns[moments]] for own in seen])
        for roots in ROOTS
        for moments in columns
    }


def _exceeds_copies(seen: list[Floats]) -> bool:
    """Whether the first graph differs from the second by more than each does from a copy of itself.

    Args:
        seen: (draws, columns) of the first graph, a copy of it, the second, a copy of it.
    """
    first, first_copy, second, second_copy = seen
    of_copies = max(_distance(first, first_copy), _distance(second, second_copy))
    return _distance(first, second) > MARGIN * max(of_copies, 1.0)


def _distance(first: Floats, second: Floats) -> float:
    """The largest difference of the means over draws, in standard errors; of what does not vary, in units of rounding."""
    errors = np.sqrt((first.var(0) + second.var(0)) / max(len(first) - 1, 1))
    return float((np.abs(first.mean(0) - second.mean(0)) / np.maximum(errors, ROUNDING)).max())


@torch.no_grad()
def _learn_statistics(network: StructuralNetwork, pair: GraphSet) -> None:
    """Let the standardisers see both graphs, so that they prefer neither."""
    batch = Batch.from_graphs(pair, dtype=torch.float64)
    for module in (network.node_standardizer, network.graph_standardizer):
        cast("RunningStandardizer", module).updates.zero_()
    network.train()
    network.graph_embeddings(batch, all_roots(batch))
    network.eval()


@torch.no_grad()
def _embeddings(network: StructuralNetwork, graph: GraphSet, draws: int, rng: np.random.Generator) -> dict[RootsOf, Floats]:
    """The graph's embedding with all nodes as roots, and with sampled ones draw by draw; every node is embedded once."""
    batch = Batch.from_graphs(graph, dtype=torch.float64)
    drawn = rng.multinomial(RootSampler().count, np.full(graph.n_nodes, 1 / graph.n_nodes), size=draws)
    times = torch.from_numpy(np.concatenate([np.ones((1, graph.n_nodes)), drawn]).T)  # (nodes, 1 + draws)
    seen = read_draws(network, batch, network.node_level(batch, all_roots(batch)), times).numpy()
    return {"all": seen[:1], "sampled": seen[1:]}


def read_draws(network: StructuralNetwork, batch: Batch, nodes: NodeLevel, times: Tensor) -> Tensor:
    """What `StructuralNetwork.read` makes of one graph, for many draws at once, given how often each node was drawn in each.

    The first convolution is linear: it multiplies the wide embeddings by its weights, once, and propagates the narrow products.
    """
    level = network.f_graph
    first, *others = cast("list[ChebyshevConv]", list(level.convolutions))
    operator = batch.operator(network.config.operator, network.config.operator_scale)
    x = first.bias.expand(*times.shape, -1)
    for k, weight in enumerate(first.weight):
        *_, term = chebyshev_terms(operator, times.unsqueeze(-1) * (nodes.embeddings[0] @ weight).unsqueeze(1), k + 1)
        x = x + term  # (nodes, draws, channels)
    for convolution in others:
        x = convolution(F.elu(x), batch)
    norm = MultisetNorm("per-root", level.norm.epsilon)  # a draw is whitened by itself
    moments = norm.moments(x, batch.graph_of, batch.node_counts, times.new_ones(1, times.shape[1]))
    histograms = level.aggregation(norm(x, batch.graph_of, moments), ptr=batch.node_ptr, dim=0)[0]
    standard_deviation = (moments.variance[0] + norm.epsilon).sqrt()
    seen = torch.cat([histograms, moments.mean[0], standard_deviation, nodes.removed.expand(len(histograms), -1)], dim=-1)
    return network.graph_standardizer(seen)  # type: ignore[no-any-return]  # (draws, m_graph)


def relabelled(graph: GraphSet, rng: np.random.Generator) -> GraphSet:
    """A copy of one undirected graph without weights, its nodes in another order."""
    order = rng.permutation(graph.n_nodes)
    source = np.repeat(np.arange(graph.n_nodes), graph.degrees())
    return pack(graph.node_counts(), order[source], order[targets_of(graph)])
