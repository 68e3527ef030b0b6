"""How far what is seen from r sampled roots is from its limit (section 3.2, implicit regularisation by sampling).

Roots are drawn with replacement. Were the node embeddings e_j fixed, the mean over r of them would be s / √r away from the mean
over all nodes, in the root mean square, with s² = (1/n) Σ_j ‖e_j - ē‖². They are not quite, as f_node whitens by statistics of
the sampled roots. e_G is no mean, but its input is a sum of r drawn impulses with expectation r/n · e_j at node j: its limit is
e_G of that expectation. Both distances are measured here.
"""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from phist.graphs.graphset import GraphSet
from phist.nn.batch import Batch
from phist.nn.network import StructuralNetwork
from phist.nn.sampling import Roots, RootSampler, all_roots
from phist.theory.geometry import check_at_least

ROOTS = (1, 2, 4, 8, 16, 32, 64, 128)
ALIKE = 1e-6  # a graph whose node embeddings spread by less has one embedding, whichever roots are drawn


@dataclass(frozen=True)
class SampledDistance:
    """Distances from the limit with so many roots, root mean squares over draws, averaged over graphs."""

    roots: int
    expected: float  # 1 / √r
    mean: float | None  # of the mean node embedding, in units of s; None where all nodes of all graphs are alike
    graph_embedding: float  # of e_G, in units of the limit's length


def measure_sampling(
    network: StructuralNetwork, graphs: GraphSet, counts: Sequence[int] = ROOTS, *, draws: int = 20, seed: int
) -> Iterator[SampledDistance]:
    """The distances for each number of roots, one result at a time, so that progress can be shown.

    Args:
        network: random or trained; used as in inference.
        graphs: undirected or as the network takes them; each weighs the same.
        counts: numbers of roots.
        draws: of roots, for each graph and number.
        seed: of the draws.
    """
    check_at_least("draws", draws, 1)
    training = network.training
    network.eval()
    try:
        for count in counts:
            sampler = RootSampler(count=check_at_least("roots", count, 1))
            yield _summarise(count, [_distances(network, graphs[[place]], sampler, draws, seed) for place in range(len(graphs))])
    finally:
        network.train(training)


@torch.no_grad()
def _distances(
    network: StructuralNetwork, graph: GraphSet, sampler: RootSampler, draws: int, seed: int
) -> tuple[float | None, float]:
    batch = Batch.from_graphs(graph, next(network.parameters()).device)
    every = all_roots(batch)
    nodes = network.node_level(batch, every)
    embeddings = nodes.embeddings  # (1, nodes, m_node)
    center = embeddings.mean(1)
    spread = float((embeddings[0] - center).square().sum(1).mean().sqrt())
    expected = Roots(every.nodes, every.multiplicity * (sampler.count / batch.n_nodes))
    limit = network.read(batch, expected, nodes)

    copies = Batch.from_graphs(graph[np.zeros(draws, np.int64)], batch.device)  # all draws at once, each from a copy
    roots = sampler.sample(copies, np.random.default_rng((seed, sampler.count)))
    drawn = network.node_level(copies, roots)
    means = (drawn.embeddings * roots.multiplicity.unsqueeze(-1)).sum(1) / sampler.count  # (draws, m_node)
    of_mean = (means - center).norm(dim=1)
    of_graph = (network.read(copies, roots, drawn) - limit).norm(dim=1) / limit.norm().clamp_min(ALIKE)
    return (_root_mean_square(of_mean) / spread if spread > ALIKE else None), _root_mean_square(of_graph)


def _summarise(count: int, found: list[tuple[float | None, float]]) -> SampledDistance:
    means = [mean for mean, _ in found if mean is not None]
    return SampledDistance(
        roots=count,
        expected=count**-0.5,
        mean=float(np.mean(means)) if means else None,
        graph_embedding=float(np.mean([distance for _, distance in found])),
    )


def _root_mean_square(values: Tensor) -> float:
    return float(values.square().mean().sqrt())
