"""Shapes: what compiled code is told of a network."""

from dataclasses import replace

import numpy as np
import pytest
from engine_truth import SMALL

from phist.engine.shape import padded, shape_of
from phist.nn.network import make_network


def shape(**options):
    return shape_of(make_network(replace(SMALL, **options), 2, seed=0))


@pytest.mark.parametrize(("width", "expected"), [(1, 16), (15, 16), (16, 16), (17, 32), (33, 48)])
def test_widths_are_padded_to_whole_vectors(width, expected):
    assert padded(width) == expected


def test_nothing_needs_no_padding():
    assert padded(0) == 0


def test_reach_is_the_hops_of_all_layers():
    assert shape(orders=(3, 2)).reach == 3
    assert shape(orders=(1, 1)).reach == 0
    assert shape(orders=(4, 1, 3), channels=(2, 2, 2)).reach == 5


def test_widest_is_the_widest_layer_with_its_padding():
    assert shape(channels=(17, 3)).widest == 32
    assert shape(channels=(17, 3)).widths.tolist() == [32, 16]


@pytest.mark.parametrize("node", ["count", "density"])
@pytest.mark.parametrize("graph", ["count", "density"])
def test_levels_count_as_they_are_told(node, graph):
    own = shape(node_histogram=node, graph_histogram=graph)
    assert (own.node_density, own.graph_density) == (node == "density", graph == "density")


@pytest.mark.parametrize(("aggregation", "is_mean"), [("sum", False), ("mean", True)])
def test_siblings_are_one_bin_whatever_the_histograms_would_be(aggregation, is_mean):
    for node, graph in (("count", "density"), ("density", "count")):
        own = shape(aggregation=aggregation, node_histogram=node, graph_histogram=graph)
        assert (own.node_density, own.graph_density, own.bins.number) == (is_mean, is_mean, 1)


@pytest.mark.parametrize("factor", [0.5, 1.0, 3.0])
def test_bins_are_as_wide_as_those_of_the_reference(factor):
    network = make_network(replace(SMALL, kernel="triangle", kernel_width=factor), 2, seed=0)
    assert shape_of(network).bins.width == pytest.approx(factor * 2 / SMALL.bins)
    np.testing.assert_array_equal(shape_of(network).bins.centers, network.f_node.aggregation.centers.numpy())


@pytest.mark.parametrize(("statistics", "joint"), [("joint", True), ("per-root", False)])
def test_statistics_are_joint_or_not(statistics, joint):
    assert shape(statistics=statistics).joint is joint
