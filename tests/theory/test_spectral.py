"""Spectra, eigenspaces of intervals, polynomial kernels and their steps."""

from itertools import pairwise

import numpy as np
import pytest
import torch

from phist.errors import ConfigError, GraphInputError
from phist.graphs.convert import as_graphset
from phist.nn.batch import Batch
from phist.nn.convolution import CayleyConv, ChebyshevConv
from phist.theory import spectral
from phist.theory.spectral import (
    PolynomialKernels,
    approximate,
    check_partition,
    equal_partition,
    laplacian_spectrum,
    projector_distance,
    projector_distances,
)

RING = (6, [(node, (node + 1) % 6) for node in range(6)])
PATH = (6, [(node, node + 1) for node in range(5)])


def graph_of(*items):
    return as_graphset(list(items))[0]


def kernels(terms=5, channels=3, scale=0.8, seed=0):
    return PolynomialKernels(np.random.default_rng(seed).normal(size=(terms, channels)), scale)


def test_spectrum_of_a_ring_is_known():
    expected = np.sort(1 - np.cos(2 * np.pi * np.arange(6) / 6))
    np.testing.assert_allclose(laplacian_spectrum(graph_of(RING)).values, expected, atol=1e-9)


def test_an_isolated_node_has_eigenvalue_one_as_in_the_operator():
    assert laplacian_spectrum(graph_of((1, []))).values.tolist() == [1.0]


def test_spectrum_belongs_to_the_operator_of_a_batch():
    graphs = as_graphset([(5, [(0, 1, 2.0), (1, 2, 0.5), (2, 0, 1.0)])])  # weights, and two isolated nodes
    spectrum = laplacian_spectrum(graphs[0])
    rebuilt = 0.8 * (spectrum.vectors * (spectrum.values - 1)) @ spectrum.vectors.T
    operator = Batch.from_graphs(graphs, dtype=torch.float64).operator("laplacian", 0.8)
    np.testing.assert_allclose(rebuilt, operator(torch.eye(5, dtype=torch.float64)).numpy(), atol=1e-9)


def test_projectors_of_a_partition_add_up_to_the_identity():
    spectrum = laplacian_spectrum(graph_of(RING))
    edges = equal_partition(7)
    total = sum(spectrum.projector(low, high) for low, high in pairwise(edges))
    np.testing.assert_allclose(total, np.eye(6), atol=1e-12)


def test_equal_eigenvalues_fall_on_one_side_of_an_edge():
    star = laplacian_spectrum(graph_of((9, [(0, leaf) for leaf in range(1, 9)])))
    assert star.eigenvectors(1.0, 1.5).shape[1] == 7
    assert star.eigenvectors(0.5, 1.0).shape[1] == 0


@pytest.mark.parametrize("interval", [(0.0, 0.4), (0.4, 1.2), (1.2, 2.0), (0.0, 2.0)])
def test_distance_is_the_norm_of_the_projectors_difference(interval):
    ring, path = laplacian_spectrum(graph_of(RING)), laplacian_spectrum(graph_of(PATH))
    expected = np.linalg.norm(ring.projector(*interval) - path.projector(*interval), ord=2)
    assert projector_distance(ring, path, *interval) == pytest.approx(expected, abs=1e-12)


def test_distances_of_a_graph_to_itself_vanish():
    ring = laplacian_spectrum(graph_of(RING))
    np.testing.assert_allclose(projector_distances(ring, ring, equal_partition(5)), 0, atol=1e-12)


def test_kernels_are_what_the_layer_does_to_eigenvectors():
    layer = kernels().as_convolution()
    graphs = as_graphset([PATH])
    spectrum = laplacian_spectrum(graphs[0])
    signals = torch.from_numpy(spectrum.vectors)[:, :, None]  # every eigenvector a root of its own
    with torch.no_grad():
        responses = layer(signals, Batch.from_graphs(graphs, dtype=torch.float64)).numpy()  # (nodes, roots, channels)
    expected = spectrum.vectors[:, :, None] * kernels()(spectrum.values).T
    np.testing.assert_allclose(responses, expected, atol=1e-9)


def test_a_layer_and_its_kernels_are_one_thing():
    np.testing.assert_array_equal(PolynomialKernels.of(kernels().as_convolution()).coefficients, kernels().coefficients)


@pytest.mark.parametrize("terms", [1, 2, 3, 8, 20])
@pytest.mark.parametrize("intervals", [1, 3, 16])
def test_steps_stay_within_their_error(terms, intervals):
    curves = kernels(terms, scale=1.0, seed=terms)
    steps = approximate(curves, equal_partition(intervals))
    places = np.random.default_rng(1).uniform(0, 2, 20_000)
    interval = np.minimum(np.searchsorted(steps.edges, places, side="right") - 1, intervals - 1)
    deviation = np.abs(curves(places) - steps.levels[:, interval]).max(axis=1)
    assert (deviation <= steps.errors + 1e-12).all()
    np.testing.assert_allclose(deviation, steps.errors, rtol=0.02, atol=1e-12)  # and the error is no larger than need be


def test_critical_points_between_grid_places_count():
    bump = PolynomialKernels(np.array([[0.0], [0.0], [1.0]]))  # 2(λ - 1)² - 1, least at 1
    steps = approximate(bump, [0.0, 0.99999, 2.0])
    assert steps.errors[0] == pytest.approx(1.0, abs=1e-12)


def test_finer_partitions_approximate_better():
    errors = [approximate(kernels(), equal_partition(intervals)).errors.max() for intervals in (1, 4, 16, 64)]
    assert errors == sorted(errors, reverse=True)


@pytest.mark.parametrize("edges", [[0.0], [0.0, 1.0], [0.0, 1.5, 1.0, 2.0], [0.0, 1.0, 1.0, 2.0], [[0.0, 2.0]]])
def test_edges_that_do_not_part_the_spectrum_are_refused(edges):
    with pytest.raises(ConfigError, match=r"they must rise from 0 to 2"):
        check_partition(edges)


def test_a_partition_needs_an_interval():
    with pytest.raises(ConfigError, match="at least 1"):
        equal_partition(0)


def test_large_graphs_are_refused_before_memory_runs_out(monkeypatch):
    monkeypatch.setattr(spectral, "MOST_NODES", 5)
    with pytest.raises(GraphInputError, match=r"6 nodes was given; a dense spectrum is computed up to 5"):
        laplacian_spectrum(graph_of(RING))


def test_directed_graphs_are_refused():
    with pytest.raises(GraphInputError, match="directed"):
        laplacian_spectrum(as_graphset([(2, [(0, 1)])], directed="keep")[0])


@pytest.mark.parametrize("layer", [CayleyConv(1, 2, 3), ChebyshevConv(1, 2, 3, operator="random-walk")])
def test_layers_without_a_polynomial_response_are_refused(layer):
    with pytest.raises(ConfigError, match="no polynomial response"):
        PolynomialKernels.of(layer)


def test_layers_on_several_channels_are_refused():
    with pytest.raises(ConfigError, match="take the first layer"):
        PolynomialKernels.of(ChebyshevConv(4, 2, 3))
