"""Which parts of the Laplacian's spectrum a trained network uses."""

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from phist.errors import ConfigError, GraphInputError
from phist.graphs.graphset import GraphSet
from phist.nn.batch import Batch
from phist.nn.network import StructuralNetwork
from phist.theory.spectral import FloatArray, PolynomialKernels, Spectrum, equal_partition, laplacian_spectrum
from phist.theory.stability import flipped_share, mean_variation

BANDS = 9  # odd, so that the eigenvalue 1, the most frequent of many graphs, lies in the middle of a band
LARGEST = 500  # nodes; the spectra of a hundred such graphs take a few seconds
REALIZATIONS = 3  # draws of roots whose scores are averaged


@dataclass(frozen=True)
class Band:
    """One interval of the spectrum [0, 2], over many graphs."""

    low: float
    high: float
    eigenvalues: float  # share of all eigenvalues that lie here
    energy: float | None  # share of the first layer's response to impulses; None where it has no spectral response
    moved: float  # total variation distance of the probabilities when the network does not see this band of its impulses
    flipped: float  # share of predictions that change then


@dataclass(frozen=True, eq=False)
class GraphSensitivity:
    """What `measure_graph` finds in one graph."""

    eigenvalues: FloatArray  # (bands): share of the graph's eigenvalues
    energy: FloatArray | None  # (bands): mean energy of the response to an impulse
    probabilities: FloatArray  # (bands + 1, classes): with each band muted, and last with none


def measure_graphs(network: StructuralNetwork, graphs: GraphSet, *, seed: int, bands: int = BANDS) -> Iterator[GraphSensitivity]:
    """`measure_graph` for every graph that is not too large, one at a time, so that progress can be shown."""
    check_hearable(graphs)
    network.eval()
    for position in np.flatnonzero(graphs.node_counts() <= LARGEST).tolist():
        yield measure_graph(network, graphs[position : position + 1], seed=seed, bands=bands)


def check_hearable(graphs: GraphSet) -> None:
    """Raise a `GraphInputError` unless some graph has a spectrum that can be computed."""
    if graphs.directed:
        raise GraphInputError('directed graphs have no real spectrum; read them with directed="symmetrise"')
    if not (graphs.node_counts() <= LARGEST).any():
        raise GraphInputError(f"all graphs have more than {LARGEST} nodes, too many for their spectra; give smaller ones too")


@torch.no_grad()
def measure_graph(network: StructuralNetwork, graph: GraphSet, *, seed: int, bands: int = BANDS) -> GraphSensitivity:
    r"""One graph, band by band.

    The energy in band p is :math:`\frac1n \sum_j \|\Pi_p\, g(L)\, \delta_j\|^2 = \frac1n \sum_{\lambda_i \in I_p} \sum_c
    g_c(\lambda_i)^2` for the kernels g of the first layer of f_node. Muting a band feeds f_node the impulses
    :math:`(I - \Pi_p) \delta_j` in place of :math:`\delta_j`; the graph itself stays as it is.
    """
    spectrum = laplacian_spectrum(graph[0])
    edges = equal_partition(bands)
    band_of = np.minimum(np.searchsorted(edges, spectrum.values, side="right") - 1, bands - 1)
    energy = None
    if _is_polynomial(network):
        kernels = PolynomialKernels.of(network.f_node.convolutions[0])  # type: ignore[arg-type]
        power = np.square(kernels(spectrum.values)).sum(axis=0)
        energy = np.bincount(band_of, power, bands) / len(power)
    share = np.bincount(band_of, minlength=bands) / len(band_of)
    return GraphSensitivity(share, energy, _muted_probabilities(network, graph, spectrum, edges, seed))


def summarise_bands(measured: list[GraphSensitivity]) -> list[Band]:
    """The bands over all graphs, each graph weighing the same."""
    if not measured:
        raise ConfigError("no graph was measured; give at least one")
    edges = equal_partition(len(measured[0].eigenvalues))
    share = np.mean([graph.eigenvalues for graph in measured], axis=0)
    energies = [graph.energy for graph in measured if graph.energy is not None]
    energy = np.mean(energies, axis=0) if energies else None
    probabilities = np.stack([graph.probabilities for graph in measured])  # (graphs, bands + 1, classes)
    whole = probabilities[:, -1]
    return [
        Band(
            low=float(edges[band]),
            high=float(edges[band + 1]),
            eigenvalues=float(share[band]),
            energy=None if energy is None else float(energy[band] / max(energy.sum(), np.finfo(float).tiny)),
            moved=mean_variation(whole, probabilities[:, band]),
            flipped=flipped_share(whole, probabilities[:, band]),
        )
        for band in range(len(share))
    ]


def _muted_probabilities(
    network: StructuralNetwork, graph: GraphSet, spectrum: Spectrum, edges: FloatArray, seed: int
) -> NDArray[np.float64]:
    """Probabilities with each band muted and with none: one batch of copies of the graph, each with a filter of its own."""
    pairs = list(pairwise(edges.tolist()))
    device = next(network.parameters()).device
    nothing = np.zeros((graph.n_nodes, graph.n_nodes))
    projectors = np.stack([*(spectrum.projector(low, high) for low, high in pairs), nothing])
    batch = Batch.from_graphs(graph[np.zeros(len(pairs) + 1, np.int64)], device)
    muted = torch.from_numpy(projectors).to(device, batch.dtype)  # (bands + 1, nodes, nodes)

    def mute(module: torch.nn.Module, arguments: tuple[Tensor, Batch]) -> tuple[Tensor, Batch]:
        signals = arguments[0].unflatten(0, muted.shape[:2])[..., 0]
        return (signals - muted @ signals).flatten(0, 1).unsqueeze(-1), arguments[1]

    hook = network.f_node.convolutions[0].register_forward_pre_hook(mute)
    try:
        sampler = network.config.sampler
        scores = [network(batch, sampler.sample_by_size(batch, (seed, draw))) for draw in range(REALIZATIONS)]
    finally:
        hook.remove()
    probabilities: NDArray[np.float64] = torch.stack(scores).mean(0).double().softmax(-1).cpu().numpy()
    return probabilities  # (bands + 1, classes)


def _is_polynomial(network: StructuralNetwork) -> bool:
    return network.config.convolution == "chebyshev" and network.config.operator == "laplacian"
