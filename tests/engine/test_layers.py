"""Layers: any number of any size, by balls and whole, and activations far from zero on either side."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from engine_truth import (
    SMALL,
    check_close,
    check_engine,
    fused_computation,
    outcome,
    random_graphs,
    references,
    settled_network,
    some_draws,
)

from phist.engine.layers_backward import MOST_APART
from phist.nn.sampling import draw_all

WAYS = pytest.mark.parametrize(("statistics", "by_balls"), [("joint", False), ("joint", True), ("per-root", False)])
STACKS = {  # orders and channels of each layer
    "one": ((4,), (5,)),
    "one without neighbours": ((1,), (3,)),
    "two": ((3, 2), (4, 5)),
    "three": ((2, 3, 2), (3, 6, 4)),
    "three of other widths": ((2, 2, 2), (17, 1, 20)),
    "three, none but the last with neighbours": ((1, 1, 4), (4, 4, 4)),
    "three, none but the first with neighbours": ((4, 1, 1), (4, 4, 4)),
}


@pytest.fixture(scope="module")
def graphs():
    return random_graphs([20, 1, 13], seed=7, probability=0.08, weights=0.5)


@WAYS
@pytest.mark.parametrize("name", STACKS)
def test_layers_equal_the_reference(graphs, name, statistics, by_balls):
    orders, channels = STACKS[name]
    check_engine(replace(SMALL, orders=orders, channels=channels, statistics=statistics), graphs, by_balls=by_balls)


@pytest.mark.parametrize("by_balls", [True, False])
@pytest.mark.parametrize("channels", [(17, 5, 4), (4, 17, 5)])
def test_more_pairs_than_have_terms_and_gradients_apart_equal_the_reference(channels, by_balls):
    graphs = random_graphs([290, 9], seed=7, probability=0.01, weights=0.5)
    assert graphs.node_counts()[0] ** 2 > MOST_APART
    draws = draw_all(graphs.node_counts())
    check_engine(replace(SMALL, orders=(2, 3, 2), channels=channels, bins=3), graphs, draws, by_balls=by_balls)


@WAYS
@pytest.mark.parametrize("shift", [-3.0, 3.0])
def test_activations_on_either_side_equal_the_reference(graphs, shift, statistics, by_balls):
    network = settled_network(replace(SMALL, statistics=statistics))
    with torch.no_grad():
        for level in (network.f_node, network.f_graph):
            level.convolutions[0].bias.add_(shift)
    check_network(network, graphs, by_balls)


@pytest.mark.parametrize("by_balls", [True, False])
def test_steep_layers_equal_the_reference(graphs, by_balls):
    network = settled_network(SMALL)
    with torch.no_grad():
        for level in (network.f_node, network.f_graph):
            level.convolutions[0].weight.mul_(8)
    check_network(network, graphs, by_balls)


def check_network(network, graphs, by_balls):
    draws = some_draws(graphs)
    truth, single = references(network, graphs, draws)
    check_close(outcome(fused_computation(network, graphs, by_balls), draws), truth, single)


@pytest.mark.parametrize("by_balls", [True, False])
@pytest.mark.parametrize("layer", [0, 1])
def test_every_layer_of_f_node_learns(graphs, by_balls, layer):
    found = outcome(fused_computation(settled_network(SMALL), graphs, by_balls), some_draws(graphs))
    assert np.abs(found[f"gradient of f_node.convolutions.{layer}.weight"]).max() > 1e-4


def test_bias_ahead_of_a_whitening_changes_nothing(graphs):
    network, results = settled_network(SMALL), []
    for _ in range(2):
        results.append(outcome(fused_computation(network, graphs), some_draws(graphs), training=False))
        with torch.no_grad():
            network.f_node.convolutions[-1].bias.add_(0.5)
            network.f_graph.convolutions[-1].bias.add_(0.5)
    np.testing.assert_allclose(results[1]["scores"], results[0]["scores"], rtol=1e-3, atol=1e-3)


def test_bias_ahead_of_an_activation_matters(graphs):
    network, results = settled_network(SMALL), []
    for _ in range(2):
        results.append(outcome(fused_computation(network, graphs), some_draws(graphs), training=False))
        with torch.no_grad():
            network.f_node.convolutions[0].bias.add_(0.5)
    assert np.abs(results[1]["scores"] - results[0]["scores"]).max() > 1e-2
