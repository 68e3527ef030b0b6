r"""How far node embeddings move when the graph changes: the paper's proposition on structured perturbations, corrected.

The setting is that of the paper's section on robustness: one convolution layer on an impulse, a tanh, a projective histogram,

.. math:: e_j = vec\, phist(\{\tanh([g_1(L) \delta_j]_i, \ldots, [g_d(L) \delta_j]_i) : v_i \in V\})

**The proposition as printed** claims, for kernels within ε of piecewise constant ones with levels α on intervals I_p,

.. math:: \max_j \|e_j - \tilde e_j\|_2 \le 2.83\, \gamma \sqrt{\xi d}
    \big(\epsilon d + \sum_p \alpha_p \|\Pi_{I_p} - \tilde\Pi_{I_p}\|_2\big), \quad \alpha_p = \sum_c |\alpha_{c,p}|

It is false for a histogram of counts: n elements may all move the same way, and the square root of their number is missing
(`star_counterexample`). It holds for densities, and for counts of at most 2d nodes.

**What holds** for any two graphs on the same nodes:

.. math:: \|e_j - \tilde e_j\|_2 \le \Gamma \sqrt{m_j}\, \Big(\sum_c \big(2 \epsilon_c
    + \min_a \sum_p |\alpha_{c,p} - a|\, \|\Pi_{I_p} - \tilde\Pi_{I_p}\|_2\big)^2\Big)^{1/2}

with Γ ≤ γ√ξ the steepness of all bins together and m_j ≤ n the nodes within reach of j in either graph; a density divides
both sides by n.

**Proof.** Let y and ỹ be the responses of one channel and x = tanh y. The vector k of all bins has Lipschitz constant Γ, so
Σ_i ‖k(x_i) - k(x̃_i)‖ ≤ Γ ‖x - x̃‖₁ ≤ Γ √m_j ‖y - ỹ‖₂: tanh has slope at most one, and only nodes within reach differ.
For every number a, y - ỹ = (g(L) - h(L)) δ_j - (g(L̃) - h(L̃)) δ_j + Σ_p (α_p - a)(Π_p - Π̃_p) δ_j, because the projectors of
a partition add up to the identity in both graphs, so that Σ_p (Π_p - Π̃_p) = 0. The first two terms are at most ε each, since
g(L) - h(L) has the eigenvalues g(λ_i) - h(λ_i), and the third at most Σ_p |α_p - a| ‖Π_p - Π̃_p‖₂. Channels are blocks of
the embedding, so their squares add up. ∎
"""

import math
from copy import deepcopy
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import ArrayLike
from scipy.sparse import csr_array, eye_array

from phist.errors import GraphInputError
from phist.graphs.convert import as_graphset
from phist.graphs.graph import Graph
from phist.nn.batch import Batch
from phist.nn.convolution import ChebyshevConv
from phist.nn.functional import impulses
from phist.nn.histogram import ProjectiveHistogram
from phist.theory.lipschitz import bin_overlap, kernel_slope, steepness
from phist.theory.partition import best_partition, response_bound
from phist.theory.spectral import (
    FloatArray,
    PolynomialKernels,
    StepKernels,
    approximate,
    check_partition,
    laplacian_spectrum,
    projector_distances,
)

_ROOTS_AT_ONCE = 64


@dataclass(frozen=True, eq=False)
class OneLayerEmbedding:
    """The node embedding of the paper's robustness section: one convolution layer, a tanh, a projective histogram.

    Args:
        convolution: a Chebyshev layer on the Laplacian with one input channel; a bias is allowed and changes no bound.
        histogram: of counts or of densities.
    """

    convolution: ChebyshevConv
    histogram: ProjectiveHistogram

    @property
    def kernels(self) -> PolynomialKernels:
        """The spectral responses of the convolution."""
        return PolynomialKernels.of(self.convolution)

    @torch.no_grad()
    def node_embeddings(self, graph: Graph) -> FloatArray:
        """e_j of every node, in double precision: (nodes, channels · bins)."""
        convolution = deepcopy(self.convolution).cpu().double()
        batch = Batch.from_graphs(as_graphset([graph]), dtype=torch.float64)
        parts = []
        for roots in torch.arange(graph.n_nodes).split(_ROOTS_AT_ONCE):
            response = convolution(impulses(roots[None], graph.n_nodes, batch.dtype), batch)
            parts.append(self.histogram(torch.tanh(response), ptr=batch.node_ptr, dim=0)[0])
        embeddings: FloatArray = torch.cat(parts).numpy()
        return embeddings


def random_embedding(channels: int, order: int, bins: int, kernel: str, density: bool, seed: int) -> OneLayerEmbedding:
    """An embedding whose convolution is drawn as a network's is, from ``seed`` alone."""
    histogram = ProjectiveHistogram(bins, kernel, density=density)
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(seed)
        return OneLayerEmbedding(ChebyshevConv(1, channels, order), histogram)


@dataclass(frozen=True, eq=False)
class RobustnessBounds:
    """What the proposition promises for one graph and one perturbation of it, beside what happened."""

    actual: float  # max_j ‖e_j - ẽ_j‖₂
    sound: float
    printed: float  # as printed, for counts and densities alike
    steps: StepKernels
    distances: FloatArray  # (intervals): ‖Π_I - Π̃_I‖₂
    slope: float  # γ
    overlap: int  # ξ
    steepness: float  # Γ
    reach: int  # max_j m_j

    @property
    def looseness(self) -> float:
        """The sound bound as a multiple of the actual change; infinite where nothing changed."""
        return self.sound / self.actual if self.actual > 0 else math.inf


def robustness_bounds(
    embedding: OneLayerEmbedding, graph: Graph, perturbed: Graph, edges: ArrayLike | None = None
) -> RobustnessBounds:
    """Evaluate the proposition, as printed and corrected, beside the actual change.

    Args:
        embedding: the network.
        graph, perturbed: two undirected graphs on the same nodes.
        edges: the partition of [0, 2]; left out, `best_partition` chooses one.
    """
    _check_same_nodes(graph, perturbed)
    spectra = laplacian_spectrum(graph), laplacian_spectrum(perturbed)
    partition = best_partition(embedding.kernels, *spectra) if edges is None else check_partition(edges)
    steps = approximate(embedding.kernels, partition)
    distances = projector_distances(*spectra, partition)
    slope, overlap, steep = kernel_slope(embedding.histogram), bin_overlap(embedding.histogram), steepness(embedding.histogram)
    reach = largest_reach(graph, perturbed, embedding.convolution.order - 1)
    share = 1 / graph.n_nodes if embedding.histogram.density else 1.0
    return RobustnessBounds(
        actual=embedding_change(embedding, graph, perturbed),
        sound=share * sound_bound(steps, distances, steep, reach),
        printed=printed_bound(steps, distances, slope, overlap),
        steps=steps,
        distances=distances,
        slope=slope,
        overlap=overlap,
        steepness=steep,
        reach=reach,
    )


def embedding_change(embedding: OneLayerEmbedding, graph: Graph, perturbed: Graph) -> float:
    """max_j ‖e_j - ẽ_j‖₂."""
    _check_same_nodes(graph, perturbed)
    change = embedding.node_embeddings(graph) - embedding.node_embeddings(perturbed)
    return float(np.linalg.norm(change, axis=1).max())


def printed_bound(steps: StepKernels, distances: FloatArray, slope: float, overlap: int) -> float:
    """2.83 γ √(ξd) (εd + Σ_p α_p ‖Π_p - Π̃_p‖₂), which counts may exceed."""
    channels = len(steps.levels)
    amplitudes = np.abs(steps.levels).sum(axis=0)  # (intervals)
    spread = float(steps.errors.max()) * channels + float(amplitudes @ distances)
    return 2.83 * slope * math.sqrt(overlap * channels) * spread


def sound_bound(steps: StepKernels, distances: FloatArray, steepness: float, reach: int) -> float:
    """Γ √m ‖2ε_c + min_a Σ_p |α_cp - a| ‖Π_p - Π̃_p‖₂‖ over channels, for counts; a density has an n-th of it."""
    return steepness * math.sqrt(reach) * response_bound(steps, distances)


def largest_reach(graph: Graph, perturbed: Graph, hops: int) -> int:
    """max_j m_j: the most nodes within ``hops`` of one node, in either graph."""
    balls = _balls(graph, hops) + _balls(perturbed, hops)
    return int(np.diff(balls.tocsr().indptr).max())


def star_counterexample(nodes: int = 50, intervals: int = 201) -> RobustnessBounds:
    r"""The printed bound exceeded: a star against the same nodes without an edge, and the kernel g(λ) = 1 - λ.

    The impulse at the hub answers 1/√(n-1) at every leaf, and 0 without edges. Two triangular bins have slope 1 there, so the
    histogram moves by √2 (n-1) tanh(1/√(n-1)), which grows as √n; the printed bound stays near 8, whatever n.

    >>> bounds = star_counterexample()
    >>> bounds.printed < bounds.actual <= bounds.sound
    True
    """
    star, empty = as_graphset([(nodes, [(0, leaf) for leaf in range(1, nodes)]), (nodes, [])])
    kernels = PolynomialKernels(np.array([[0.0], [-1.0]]))  # -T_1(λ - 1)
    embedding = OneLayerEmbedding(kernels.as_convolution(), ProjectiveHistogram(2, "triangle"))
    return robustness_bounds(embedding, star, empty, np.linspace(0, 2, intervals + 1))


def _balls(graph: Graph, hops: int) -> csr_array:
    """A matrix that is positive where one node is within ``hops`` of another."""
    step = eye_array(graph.n_nodes, format="csr") + graph.adjacency()
    step.data[:] = 1
    balls = eye_array(graph.n_nodes, format="csr")
    for _ in range(hops):
        balls = csr_array(balls @ step)
        balls.data[:] = 1
    return balls


def _check_same_nodes(graph: Graph, perturbed: Graph) -> None:
    if graph.n_nodes != perturbed.n_nodes:
        raise GraphInputError(
            f"graphs of {graph.n_nodes} and {perturbed.n_nodes} nodes were given; "
            "a perturbation keeps the nodes: give isolated nodes to the smaller one"
        )
