r"""The paper's toy example of structured perturbations: two communities, one edge that joins them, one that breaks two colours.

A bipartite graph's spectrum is symmetric: with S = ±1 the two colours, S L S = 2I - L. Communities therefore show twice, at
the second eigenvalue λ₂ and at its mirror image 2 - λ₂, and only the colours themselves at 2. An edge between the communities
that keeps two colours moves *both* λ₂ and 2 - λ₂: a kernel and its mirror image react to it exactly alike, so being flat over
the bottom of the spectrum is not enough to be robust to it. The kernel here that is meant to be is flat up to 2 - λ₂, and
bends only beyond.

A kernel that is flat at zero is robust for two reasons at once, its flatness and its small amplitude. To tell them apart, one
of the kernels is flat at its greatest amplitude, the other turned upside down: it reacts to both edges nearly as the other does.
"""

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.polynomial import chebyshev
from numpy.typing import NDArray

from phist.errors import ConfigError
from phist.graphs.arrays import IntArray
from phist.graphs.convert import as_graphset
from phist.graphs.graph import Graph
from phist.nn.histogram import ProjectiveHistogram
from phist.theory.robustness import OneLayerEmbedding
from phist.theory.spectral import TOP, FloatArray, PolynomialKernels, laplacian_spectrum

SIDE = 3  # each community is a complete bipartite graph of 3 + 3 nodes
GREEN, BLUE = (5, 8), (0, 1)  # between the communities, of different colours; within one, of the same colour
TERMS = 25  # of the Chebyshev fit: within 2 % of the target everywhere
GAIN = 4.0  # a response of one node then spans several bins
BINS = 8


@dataclass(frozen=True, eq=False)
class ToyExample:
    """Everything a figure of the toy example needs, as plain arrays."""

    positions: FloatArray  # (nodes, 2)
    colors: IntArray  # (nodes): the two colours of the bipartite graph
    edges: IntArray  # (edges, 2)
    green: tuple[int, int]
    blue: tuple[int, int]
    spectrum: FloatArray  # (nodes), before
    spectrum_green: FloatArray  # (nodes), with the edge at its greatest weight
    spectrum_blue: FloatArray
    eigenvalues: FloatArray  # (places) at which kernels are drawn
    kernels: dict[str, FloatArray]  # "flat bottom", "flat bottom, high", "flat top" -> (places)
    weights: FloatArray  # (weights) of the added edge
    changes: dict[tuple[str, str], FloatArray]  # (kernel, "green" or "blue") -> (weights), Frobenius norm of the change


def make_toy_example(weights: NDArray[np.float64] | None = None) -> ToyExample:
    """Two communities, two edges, two kernels: how much the node embeddings change with the weight of the added edge.

    Args:
        weights: of the added edge; 21 from 0 to 2 unless given.
    """
    strengths = np.linspace(0, 2, 21) if weights is None else np.asarray(weights, dtype=np.float64)
    if strengths.ndim != 1 or not len(strengths) or not np.isfinite(strengths).all() or strengths.min() < 0:
        raise ConfigError("the weights of the added edge must be finite numbers, 0 or more; try np.linspace(0, 2, 21)")
    kernels = toy_kernels()
    changes = {
        (name, color): np.array([_change(kernel, edge, weight) for weight in strengths.tolist()])
        for name, kernel in kernels.items()
        for color, edge in (("green", GREEN), ("blue", BLUE))
    }
    places = np.linspace(0, TOP, 401)
    strongest = float(strengths.max())
    return ToyExample(
        positions=_positions(),
        colors=(np.arange(4 * SIDE) // SIDE) % 2,
        edges=_edges(),
        green=GREEN,
        blue=BLUE,
        spectrum=laplacian_spectrum(toy_graph()).values,
        spectrum_green=laplacian_spectrum(toy_graph(GREEN, strongest)).values,
        spectrum_blue=laplacian_spectrum(toy_graph(BLUE, strongest)).values,
        eigenvalues=places,
        kernels={name: kernel(places)[0] for name, kernel in kernels.items()},
        weights=strengths,
        changes=changes,
    )


def toy_graph(edge: tuple[int, int] | None = None, weight: float = 1.0) -> Graph:
    """The two communities, with one more edge where asked for."""
    edges = [(int(a), int(b), 1.0) for a, b in _edges()]
    if edge is not None and weight > 0:
        edges.append((*edge, weight))
    return as_graphset([(4 * SIDE, edges)])[0]


def toy_kernels() -> dict[str, PolynomialKernels]:
    """Polynomial kernels: flat up to 2 - λ₂ and rising to the top, the same upside down, or falling from the bottom and flat."""
    gap = float(laplacian_spectrum(toy_graph()).values[1])
    return {
        "flat bottom": fit_kernel(lambda places: GAIN * _smooth_step((places - (TOP - gap)) / gap)),
        "flat bottom, high": fit_kernel(lambda places: GAIN - GAIN * _smooth_step((places - (TOP - gap)) / gap)),
        "flat top": fit_kernel(lambda places: GAIN * _smooth_step((3 * gap - places) / (3 * gap))),
    }


def fit_kernel(target: Callable[[FloatArray], FloatArray], terms: int = TERMS) -> PolynomialKernels:
    """The polynomial that meets ``target`` on [0, 2] at the Chebyshev points, with so many terms."""
    nodes = np.cos(np.pi * (np.arange(8 * terms) + 0.5) / (8 * terms))
    coefficients = np.asarray(chebyshev.chebfit(nodes, target(1 + nodes), terms - 1), np.float64)
    return PolynomialKernels(coefficients[:, None])


def _change(kernel: PolynomialKernels, edge: tuple[int, int], weight: float) -> float:
    """‖E - Ẽ‖_F over the embeddings of all nodes."""
    embedding = OneLayerEmbedding(kernel.as_convolution(), ProjectiveHistogram(BINS))
    return float(np.linalg.norm(embedding.node_embeddings(toy_graph()) - embedding.node_embeddings(toy_graph(edge, weight))))


def _edges() -> IntArray:
    """Two complete bipartite graphs, and two bridges that keep the colours apart."""
    left = np.array([(a, SIDE + b) for a in range(SIDE) for b in range(SIDE)])
    bridges = np.array([(SIDE + a, 2 * SIDE + a) for a in range(SIDE - 1)])
    return np.concatenate([left, 2 * SIDE + left, bridges])


def _positions() -> FloatArray:
    """Columns of one colour each, the third node of every column in the middle of its height."""
    column = np.repeat([0.0, 1.0, 2.2, 3.2], SIDE)
    height = np.tile([1.0, -1.0, 0.0], 4)
    bulge = np.tile([0.0, 0.0, 1.0], 4) * np.repeat([-0.35, 0.35, -0.35, 0.35], SIDE)
    return np.stack([column + bulge, height], axis=1)


def _smooth_step(places: FloatArray) -> FloatArray:
    """0 up to 0, 1 from 1 on, with two continuous derivatives."""
    t = places.clip(0, 1)
    step: FloatArray = t**3 * (10 - 15 * t + 6 * t**2)
    return step
