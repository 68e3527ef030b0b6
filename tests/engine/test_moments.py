"""The moments that the head sees: the engine computes what the reference does, in values and gradients."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from engine_truth import ODD_GRAPHS, SMALL, check_engine, fused_computation, random_graphs, repeated, settled_network, some_draws

from phist.engine.choice import uncovered
from phist.engine.computation import Reference
from phist.engine.shape import MOMENTS, columns_of
from phist.nn.network import make_network
from phist.nn.sampling import RootSampler, Views, draw_all

SEEN = replace(SMALL, moments="head")
BOTH = pytest.mark.parametrize("statistics", ["joint", "per-root"])


@pytest.fixture(scope="module")
def graphs():
    return random_graphs([6, 1, 9, 13], seed=5, weights=0.5)


def test_the_engine_covers_moments():
    assert uncovered(SEEN) is None


@BOTH
@pytest.mark.parametrize("name", ODD_GRAPHS)
def test_odd_graphs_equal_the_reference(name, statistics):
    check_engine(replace(SEEN, statistics=statistics), ODD_GRAPHS[name])


@BOTH
@pytest.mark.parametrize("name", ODD_GRAPHS)
def test_all_roots_of_odd_graphs_equal_the_reference(name, statistics):
    check_engine(replace(SEEN, statistics=statistics), ODD_GRAPHS[name], draw_all(ODD_GRAPHS[name].node_counts()))


@BOTH
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("standardize", [True, False])
def test_training_and_evaluation_equal_the_reference(graphs, statistics, training, standardize):
    check_engine(replace(SEEN, statistics=statistics, standardize=standardize), graphs, training=training)


@BOTH
def test_roots_drawn_or_named_several_times_equal_the_reference(graphs, statistics):
    draws = some_draws(graphs, count=30)
    check_engine(replace(SEEN, statistics=statistics), graphs, draws)
    check_engine(replace(SEEN, statistics=statistics), graphs, repeated(draws))


@pytest.mark.parametrize("by_balls", [True, False])
@pytest.mark.parametrize("max_elements", [1, 700, 1 << 24])
def test_balls_and_whole_graphs_at_once_and_in_turns_equal_the_reference(by_balls, max_elements):
    graphs = random_graphs([30, 8, 1, 40], seed=2, probability=0.05, weights=0.5)
    check_engine(replace(SEEN, max_elements=max_elements), graphs, by_balls=by_balls)


@pytest.mark.parametrize("max_elements", [1, 700])
def test_roots_in_turns_with_statistics_of_their_own_equal_the_reference(max_elements):
    graphs = random_graphs([30, 8, 1, 12], seed=2, probability=0.1)
    check_engine(replace(SEEN, statistics="per-root", max_elements=max_elements), graphs, draw_all(graphs.node_counts()))


@pytest.mark.parametrize("aggregation", ["sum", "mean"])
def test_siblings_of_the_histogram_equal_the_reference(graphs, aggregation):
    check_engine(replace(SEEN, aggregation=aggregation), graphs)


@pytest.mark.parametrize("channels", [(1, 1), (16, 17), (33, 24)])
def test_any_number_of_channels_equals_the_reference(graphs, channels):
    check_engine(replace(SEEN, channels=channels), graphs)


def test_several_threads_equal_the_reference(graphs):
    check_engine(SEEN, graphs, threads=3)


@BOTH
def test_means_over_draws_equal_the_reference(graphs, statistics):
    network = settled_network(replace(SEEN, statistics=statistics, sampler=RootSampler(count=3))).eval()
    sizes, chosen = graphs.node_counts(), np.arange(len(graphs))
    for views in (
        network.config.sampler.views_by_size(sizes, 0, 2),
        Views(draw_all(sizes), [draw_all(sizes), some_draws(graphs)]),
    ):
        found = fused_computation(network, graphs).mean_embeddings(chosen, views)
        expected = Reference(network.double(), graphs).mean_embeddings(chosen, views).float()
        network.float()
        torch.testing.assert_close(found, expected, rtol=1e-4, atol=1e-3)


def test_first_batch_sets_the_statistics_as_in_the_reference(graphs):
    network, draws, chosen = make_network(SEEN, 3, seed=0), some_draws(graphs), np.arange(len(graphs))
    fused, reference = fused_computation(network, graphs), Reference(network, graphs)
    with torch.no_grad():
        for computation in (fused, reference):
            computation.network.train()
            computation.scores(chosen, draws)
    found, expected = fused.network.graph_standardizer, network.graph_standardizer
    assert len(found.mean) == network.out_channels
    torch.testing.assert_close(found.mean, expected.mean, rtol=1e-4, atol=1e-4)
    torch.testing.assert_close(found.variance, expected.variance, rtol=1e-3, atol=1e-4)


def test_columns_of_an_embedding_are_turned_and_those_of_moments_are_not():
    columns = columns_of(bins=2, channels=3, moments=MOMENTS)
    assert columns[:6].tolist() == [0, 16, 1, 17, 2, 18]
    assert columns[6:].tolist() == [first + channel for first in (32, 48, 64, 80) for channel in range(3)]
