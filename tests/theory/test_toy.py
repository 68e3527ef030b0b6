"""The toy example says what the paper says it says, where that is possible."""

import networkx as nx
import numpy as np
import pytest

from phist.errors import ConfigError
from phist.theory.spectral import laplacian_spectrum
from phist.theory.toy import BLUE, GREEN, fit_kernel, make_toy_example, toy_graph, toy_kernels


@pytest.fixture(scope="module")
def example():
    return make_toy_example(np.linspace(0, 2, 9))


def test_the_graph_has_two_colours_until_the_blue_edge_comes():
    assert nx.is_bipartite(toy_graph().to_networkx())
    assert nx.is_bipartite(toy_graph(GREEN).to_networkx())
    assert not nx.is_bipartite(toy_graph(BLUE).to_networkx())


def test_the_green_edge_weakens_the_communities_and_the_blue_one_the_colours(example):
    assert example.spectrum_green[1] > 1.5 * example.spectrum[1]
    assert example.spectrum_green[-1] == pytest.approx(2)
    assert example.spectrum_blue[1] == pytest.approx(example.spectrum[1], abs=0.02)
    assert example.spectrum_blue[-1] < 1.97


def test_the_kernel_flat_at_the_bottom_is_robust_to_the_green_edge(example):
    green, blue = example.changes["flat bottom", "green"], example.changes["flat bottom", "blue"]
    assert (4 * green[1:] < blue[1:]).all()


def test_the_kernel_flat_at_the_top_is_robust_to_the_blue_edge(example):
    green, blue = example.changes["flat top", "green"], example.changes["flat top", "blue"]
    assert (4 * blue[1:] < green[1:]).all()


def test_each_edge_is_seen_by_the_other_kernel(example):
    for edge, robust, sensitive in (("green", "flat bottom", "flat top"), ("blue", "flat top", "flat bottom")):
        assert (4 * example.changes[robust, edge][1:] < example.changes[sensitive, edge][1:]).all()


def test_changes_begin_at_zero_and_grow_with_the_weight(example):
    for change in example.changes.values():
        assert change[0] == 0
        assert (np.diff(change) > 0).all()


def test_kernels_are_flat_where_they_should_be(example):
    bottom, top = example.kernels["flat bottom"], example.kernels["flat top"]
    assert np.ptp(bottom[example.eigenvalues < 2 - example.spectrum[1]]) < 0.04 * np.ptp(bottom)
    assert np.ptp(top[example.eigenvalues > 3 * example.spectrum[1]]) < 0.01 * np.ptp(top)


def test_a_kernel_and_its_mirror_image_react_alike_to_an_edge_that_keeps_two_colours():
    kernel = toy_kernels()["flat top"]
    mirrored = fit_kernel(lambda places: kernel(2 - places)[0])
    changes = []
    for curve in (kernel, mirrored):
        matrices = []
        for graph in (toy_graph(), toy_graph(GREEN)):
            spectrum = laplacian_spectrum(graph)
            matrices.append((spectrum.vectors * curve(spectrum.values)[0]) @ spectrum.vectors.T)
        changes.append(np.linalg.norm(matrices[1] - matrices[0]))
    assert changes[0] == pytest.approx(changes[1])


def test_arrays_fit_together(example):
    assert example.positions.shape == (12, 2)
    assert len(example.colors) == len(example.spectrum) == 12
    assert example.edges.max() < 12
    assert all(len(curve) == len(example.eigenvalues) for curve in example.kernels.values())
    assert all(len(change) == len(example.weights) for change in example.changes.values())
    assert all(example.colors[a] != example.colors[b] for a, b in example.edges)


@pytest.mark.parametrize("weights", [[], [-1.0], [np.nan], [[1.0]]])
def test_weights_that_are_none_are_refused(weights):
    with pytest.raises(ConfigError, match="finite numbers, 0 or more"):
        make_toy_example(np.array(weights))
