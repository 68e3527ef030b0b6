"""Remarks of the paper without a theorem: flat kernels, why node embeddings are convolved, two layers, sampled roots."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch

from phist.errors import ConfigError, GraphInputError
from phist.graphs.convert import as_graphset
from phist.nn.batch import Batch
from phist.nn.config import NetworkConfig
from phist.nn.network import make_network
from phist.theory.colouring import colouring_views, make_colourings
from phist.theory.comparison import compare_aggregations
from phist.theory.flatness import check_flatness, flatness_counterexample
from phist.theory.root_sampling import measure_sampling
from phist.theory.spectral import laplacian_spectrum, normalized_laplacian
from phist.theory.toy import BLUE, GREEN, toy_graph
from phist.theory.universality import HiddenLayer, study_widths

# Flatness -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("edge", [GREEN, BLUE])
@pytest.mark.parametrize("weight", [0.01, 0.3, 2.0])
@pytest.mark.parametrize(
    "intervals", [((0.0, 0.3), (0.0, 0.9)), ((0.5, 1.2), (0.2, 1.7)), ((1.9, 2.0), (1.2, 2.0)), ((0, 2), (0, 2))]
)
def test_what_is_perturbed_within_leaves_by_no_more_than_davis_and_kahan_allow(edge, weight, intervals):
    check = check_flatness(toy_graph(), toy_graph(edge, weight), *intervals)
    assert check.leak <= check.leak_bound + 1e-9
    assert check.verify()


def test_random_graphs_keep_the_bounds_of_flatness():
    rng = np.random.default_rng(0)
    for seed in range(20):
        before = nx.gnp_random_graph(14, 0.35, seed=seed)
        after = before.copy()
        after.add_edge(*rng.choice(14, 2, replace=False).tolist())
        pair = as_graphset([before, after])
        low, high = np.sort(rng.uniform(0.1, 1.9, 2)).tolist()
        assert check_flatness(pair[0], pair[1], (low + (high - low) / 4, high - (high - low) / 4), (low, high)).verify()


def test_leak_is_the_printed_sum_of_squares():
    before, after, inner, outer = toy_graph(), toy_graph(GREEN, 0.5), (0.0, 0.3), (0.0, 0.9)
    one, other = laplacian_spectrum(before), laplacian_spectrum(after)
    total = sum(
        float(one.vectors[:, i] @ other.vectors[:, j]) ** 2
        for j in range(12) if inner[0] <= other.values[j] < inner[1]
        for i in range(12) if not outer[0] <= one.values[i] < outer[1]
    )  # fmt: skip
    assert check_flatness(before, after, inner, outer).leak_squares == pytest.approx(total)


def test_an_eigenvalue_that_crosses_an_edge_refutes_the_second_half_of_the_remark():
    check = flatness_counterexample()
    assert check.gap > 20 * check.change
    assert check.distance == 1 and check.leak < 0.01 and check.verify()


def test_a_perturbation_within_one_eigenspace_leaves_the_others_alone():
    laplacian = normalized_laplacian(toy_graph())
    spectrum = laplacian_spectrum(toy_graph())
    inside = spectrum.projector(0.5, 1.2)
    noise = np.random.default_rng(0).normal(size=laplacian.shape)
    change = inside @ (noise + noise.T) @ inside
    values, vectors = np.linalg.eigh(laplacian + 0.2 * change / np.linalg.norm(change, ord=2))
    moved = vectors[:, (values >= 0.25) & (values < 1.5)]
    assert np.linalg.norm(spectrum.projector(0.25, 1.5) - moved @ moved.T, ord=2) < 1e-9


def test_tampered_flatness_fails():
    check = check_flatness(toy_graph(), toy_graph(GREEN, 0.5), (0.0, 0.3), (0.0, 0.9))
    for change in ({"leak": 0.0}, {"gap": 5.0}, {"change": 0.0}, {"perturbed": toy_graph(BLUE)}, {"distance": 0.0}):
        assert not replace(check, **change).verify()
    with pytest.raises(ConfigError, match="outer"):
        check_flatness(toy_graph(), toy_graph(GREEN), (0.0, 1.0), (0.2, 0.9))


# Why convolve ---------------------------------------------------------------------------------------------------------


def test_colours_are_aggregated_alike_until_they_are_convolved():
    colours, convolved = colouring_views(*make_colourings(12))
    assert not any(verdict.tells_apart for verdict in compare_aggregations(colours.first, colours.second))
    assert all(verdict.tells_apart and verdict.verify() for verdict in compare_aggregations(convolved.first, convolved.second))


def test_the_network_convolves_colours_as_the_views_do():
    graph, dispersed, clustered = make_colourings(12)
    network = make_network(NetworkConfig(orders=(2,), channels=(6,)), 2, seed=0).double()
    batch = Batch.from_graphs(as_graphset([graph]), dtype=torch.float64)
    one = torch.ones(1, 1, dtype=torch.float64)
    outputs = [network.f_node(torch.from_numpy(colour)[:, None, None], batch, one) for colour in (dispersed, clustered)]
    assert (outputs[0] - outputs[1]).abs().max() > 0.01


def test_colourings_that_are_alike_nearby_need_more_hops():
    """Two black nodes 4 apart on a cycle of 12, and 6 apart: one hop sees the same, three do not."""
    graph, *_ = make_colourings(12)
    near, far = np.zeros(12), np.zeros(12)
    near[[0, 4]] = far[[0, 6]] = 1
    assert [view.first == view.second for view in colouring_views(graph, near, far)] == [True, True]
    assert [view.first == view.second for view in colouring_views(graph, near, far, hops=3)] == [True, False]


def test_colourings_must_be_black_and_white():
    graph, dispersed, _ = make_colourings(6)
    for wrong in (dispersed[:4], 2 * dispersed):
        with pytest.raises(GraphInputError, match="0 or 1"):
            colouring_views(graph, dispersed, wrong)
    with pytest.raises(GraphInputError, match="even"):
        make_colourings(7)


# Two layers -----------------------------------------------------------------------------------------------------------


def test_two_layers_are_a_perceptron_of_diffused_features():
    rng = np.random.default_rng(0)
    terms, channels, hidden, outputs = 3, 2, 5, 4
    shapes = ((terms * channels, hidden), hidden, (hidden, outputs), outputs)
    layer = HiddenLayer(*(rng.normal(size=shape) for shape in shapes))
    first, second = layer.as_convolutions(channels)
    batch = Batch.from_graphs(as_graphset([nx.lollipop_graph(4, 5)]), dtype=torch.float64)
    signal = torch.from_numpy(rng.normal(size=(9, 1, channels)))
    computed = second(torch.nn.functional.elu(first(signal, batch)), batch)[:, 0].detach().numpy()

    scaled = 0.8 * (normalized_laplacian(as_graphset([nx.lollipop_graph(4, 5)])[0]) - np.eye(9))
    x = signal[:, 0].numpy()
    diffused = np.concatenate([x, scaled @ x, 2 * scaled @ scaled @ x - x], axis=1)
    assert np.allclose(computed, layer(diffused))
    with pytest.raises(ConfigError, match="multiple"):
        layer.as_convolutions(4)


def test_wider_layers_come_nearer_and_linear_ones_do_not():
    grid = np.stack(np.meshgrid(*[np.linspace(-1, 1, 21)] * 2), axis=-1).reshape(-1, 2)

    def target(rows):
        return np.sin(3 * rows[:, 0]) * rows[:, 1]

    errors = [found.error for found in study_widths(target, grid, seed=0)]
    linear = np.linalg.lstsq(np.column_stack([grid, np.ones(len(grid))]), target(grid), rcond=None)[0]
    assert errors == sorted(errors, reverse=True) and errors[-1] < 0.01
    assert np.abs(np.column_stack([grid, np.ones(len(grid))]) @ linear - target(grid)).max() > 0.5


# Sampled roots --------------------------------------------------------------------------------------------------------


def test_more_roots_come_nearer_to_the_limit():
    graphs = as_graphset([nx.lollipop_graph(5, 6), nx.barbell_graph(4, 3)])
    network = make_network(NetworkConfig(channels=(4, 4), bins=4), 2, seed=0)
    found = list(measure_sampling(network, graphs, (1, 16, 256), draws=12, seed=0))
    assert [row.expected for row in found] == [1, 0.25, 0.0625]
    assert found[0].mean > 2 * found[1].mean > 4 * found[2].mean
    assert found[0].graph_embedding > found[2].graph_embedding


def test_with_fixed_statistics_the_mean_is_as_far_as_expected():
    graphs = as_graphset([nx.lollipop_graph(5, 6)])
    network = make_network(NetworkConfig(channels=(4, 4), bins=4, statistics="per-root"), 2, seed=0)
    found = list(measure_sampling(network, graphs, (4, 64), draws=200, seed=0))
    assert all(row.mean == pytest.approx(row.expected, rel=0.15) for row in found)


def test_graphs_whose_nodes_are_alike_have_nothing_to_sample():
    network = make_network(NetworkConfig(channels=(4, 4), bins=4), 2, seed=0)
    (row,) = measure_sampling(network, as_graphset([nx.cycle_graph(6)]), (2,), draws=2, seed=0)
    assert row.mean is None
    assert network.training  # as it was before
