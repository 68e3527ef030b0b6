"""Spectra of graphs in bands: eigenspaces of intervals, polynomial kernels, and their piecewise constant approximation.

The symmetric normalised Laplacian L = I - D^-1/2 A D^-1/2 has its eigenvalues in [0, 2]; an isolated node has eigenvalue 1,
as in the operator scale·(L - I) the network convolves with.
"""

from dataclasses import dataclass
from itertools import pairwise
from typing import Self

import numpy as np
import torch
from numpy.polynomial import chebyshev
from numpy.typing import ArrayLike, NDArray

from phist.errors import ConfigError, GraphInputError
from phist.graphs.graph import Graph
from phist.nn.convolution import ChebyshevConv, GraphConvolution

FloatArray = NDArray[np.float64]

BOTTOM, TOP = 0.0, 2.0  # of every normalised Laplacian's spectrum
MOST_NODES = 2000  # a dense decomposition then takes seconds and 64 MB
GRID = 64  # places per interval looked at beside a polynomial's critical points


@dataclass(frozen=True, eq=False)
class Spectrum:
    """Eigenvalues of a normalised Laplacian in ascending order, and its eigenvectors as columns."""

    values: FloatArray  # (nodes)
    vectors: FloatArray  # (nodes, nodes)

    def eigenvectors(self, low: float, high: float) -> FloatArray:
        """The eigenvectors with eigenvalues in [low, high), or in [low, 2] when ``high`` is 2."""
        inside = (self.values >= low) & ((self.values < high) | (high >= TOP))
        return self.vectors[:, inside]  # (nodes, eigenvalues in the interval)

    def projector(self, low: float, high: float) -> FloatArray:
        """Π_I = Σ_i [λ_i in I] u_i u_iᵀ for the interval I of `eigenvectors`."""
        vectors = self.eigenvectors(low, high)
        return vectors @ vectors.T  # (nodes, nodes)


def laplacian_spectrum(graph: Graph) -> Spectrum:
    """The spectrum of a graph's symmetric normalised Laplacian."""
    if graph.directed:
        raise GraphInputError('spectra need undirected graphs, this one is directed; read it with directed="symmetrise"')
    if graph.n_nodes > MOST_NODES:
        raise GraphInputError(
            f"a graph of {graph.n_nodes:,} nodes was given; a dense spectrum is computed up to {MOST_NODES:,}: take a smaller graph"
        )
    values, vectors = np.linalg.eigh(normalized_laplacian(graph))
    return Spectrum(values.round(10).clip(BOTTOM, TOP), vectors)  # equal eigenvalues must fall on one side of an edge


def normalized_laplacian(graph: Graph) -> FloatArray:
    """L = I - D^-1/2 A D^-1/2 as a dense matrix."""
    adjacency = graph.adjacency().toarray()
    degrees = adjacency.sum(axis=1)
    roots = np.sqrt(np.divide(1, degrees, out=np.zeros_like(degrees), where=degrees > 0))
    laplacian: FloatArray = np.eye(graph.n_nodes) - roots[:, None] * adjacency * roots
    return laplacian


def projector_distance(spectrum: Spectrum, other: Spectrum, low: float, high: float) -> float:
    """‖Π_I - Π̃_I‖₂, the sine of the largest angle between the eigenspaces; 1 as soon as their dimensions differ."""
    ours, theirs = spectrum.eigenvectors(low, high), other.eigenvectors(low, high)
    if ours.shape[1] != theirs.shape[1]:
        return 1.0
    if ours.shape[1] == 0:
        return 0.0
    return float(np.linalg.norm(theirs - ours @ (ours.T @ theirs), ord=2))


def projector_distances(spectrum: Spectrum, other: Spectrum, edges: FloatArray) -> FloatArray:
    """`projector_distance` for every interval of a partition."""
    return np.array([projector_distance(spectrum, other, low, high) for low, high in pairwise(edges.tolist())])  # (intervals)


def equal_partition(intervals: int) -> FloatArray:
    """The edges of so many intervals of equal length on [0, 2]."""
    if intervals < 1:
        raise ConfigError(f"intervals={intervals} was given; at least 1 is needed")
    return np.linspace(BOTTOM, TOP, intervals + 1)  # (intervals + 1)


def check_partition(edges: ArrayLike) -> FloatArray:
    """The edges of a partition of [0, 2] as an array, or an error."""
    values = np.asarray(edges, dtype=np.float64)
    if values.ndim != 1 or len(values) < 2 or values[0] != BOTTOM or values[-1] != TOP or not (np.diff(values) > 0).all():
        raise ConfigError(f"edges={values.tolist()} do not part [0, 2]; they must rise from 0 to 2: try equal_partition(8)")
    return values


@dataclass(frozen=True, eq=False)
class PolynomialKernels:
    r"""Spectral responses of a convolution's channels.

    .. math:: g_c(\lambda) = \sum_k W_{k,c}\, T_k\big(scale \cdot (\lambda - 1)\big)
    """

    coefficients: FloatArray  # (terms, channels)
    scale: float = 1.0

    @classmethod
    def of(cls, convolution: GraphConvolution) -> Self:
        """The kernels of a Chebyshev layer with one input channel; its bias belongs to no eigenvalue and is left out."""
        if not isinstance(convolution, ChebyshevConv) or convolution.operator_kind != "laplacian":
            raise ConfigError(
                f"a {type(convolution).__name__} has no polynomial response on the Laplacian's spectrum; "
                'take a network with convolution="chebyshev" and operator="laplacian"'
            )
        weight = convolution.weight.detach().cpu().double().numpy()
        if weight.shape[1] != 1:
            raise ConfigError(f"the layer has {weight.shape[1]} input channels; kernels of impulses have 1: take the first layer")
        return cls(weight[:, 0], convolution.scale)

    def __call__(self, eigenvalues: ArrayLike) -> FloatArray:
        places = self.scale * (np.asarray(eigenvalues, dtype=np.float64) - 1)
        return np.asarray(chebyshev.chebval(places, self.coefficients), np.float64)  # (channels, eigenvalues)

    def extremes(self, edges: FloatArray) -> tuple[FloatArray, FloatArray]:
        """Least and greatest response of each channel in each closed interval: at its ends, on a grid, at critical points."""
        low, high = edges[:-1, None], edges[1:, None]
        grid = low + (high - low) * np.linspace(0, 1, GRID)  # (intervals, places)
        channels = self.coefficients.shape[1]
        critical = 1 + self._critical_points()[:, None] / self.scale  # (channels, 1, critical points)
        places = np.concatenate([np.broadcast_to(grid, (channels, *grid.shape)), critical.clip(low, high)], axis=2)
        responses = chebyshev.chebval(self.scale * (places - 1), self.coefficients[:, :, None, None], tensor=False)
        return responses.min(axis=2), responses.max(axis=2)  # (channels, intervals) each

    def _critical_points(self) -> FloatArray:
        """Real parts of the zeros of each derivative: a place more than needed does no harm to a maximum."""
        slopes = chebyshev.chebder(self.coefficients)
        rows = [np.real(chebyshev.chebroots(chebyshev.chebtrim(slope))) for slope in slopes.T]
        width = max(len(row) for row in rows)
        return np.stack([np.pad(row, (0, width - len(row))) for row in rows])  # (channels, critical points)

    def as_convolution(self) -> ChebyshevConv:
        """A convolution layer, in double precision, with these kernels and no bias."""
        terms, channels = self.coefficients.shape
        with torch.random.fork_rng(devices=[]):
            layer = ChebyshevConv(1, channels, terms, scale=self.scale).double()
        layer.weight.data.copy_(torch.from_numpy(self.coefficients[:, None]))
        layer.bias.data.zero_()
        return layer


@dataclass(frozen=True, eq=False)
class StepKernels:
    r"""Piecewise constant kernels near given ones.

    .. math:: h_c(\lambda) = \sum_p \alpha_{c,p} [\lambda \in I_p], \quad |g_c - h_c| \le \epsilon_c \text{ on } [0, 2]
    """

    edges: FloatArray  # (intervals + 1)
    levels: FloatArray  # (channels, intervals)
    errors: FloatArray  # (channels)


def approximate(kernels: PolynomialKernels, edges: ArrayLike) -> StepKernels:
    """The best piecewise constant approximation for a partition: in every interval the middle of the kernel's range."""
    partition = check_partition(edges)
    least, greatest = kernels.extremes(partition)
    return StepKernels(partition, (least + greatest) / 2, ((greatest - least) / 2).max(axis=1))
