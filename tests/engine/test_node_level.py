"""f_node: embeddings of roots are those of the reference by balls and whole, at once and in turns, whatever is counted."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from engine_truth import (
    SMALL,
    check_close,
    check_engine,
    fused_computation,
    make_graphs,
    outcome,
    random_graphs,
    references,
    settled_network,
    some_draws,
)

from phist.nn.kernels import KERNELS
from phist.nn.sampling import draw_all

BARE = replace(SMALL, standardize=False)
WAYS = [("joint", False), ("joint", True), ("per-root", False)]  # balls have one background only where statistics are joint
EITHER_WAY = pytest.mark.parametrize(("statistics", "by_balls"), WAYS)


@pytest.fixture(scope="module")
def graphs():
    """Sparse, so that balls leave something out; with isolated nodes, components and a graph of one node."""
    return random_graphs([24, 8, 1, 17], seed=2, probability=0.06, weights=0.5)


def node_histograms(config, graphs, by_balls=None):
    """(roots, channels, bins) from every node, not standardised."""
    computation = fused_computation(settled_network(config), graphs, by_balls)
    computation.network.eval()
    found = computation.node_embeddings(np.arange(len(graphs)), draw_all(graphs.node_counts()))
    return found.view(len(found), config.channels[-1], -1).double().numpy()


# Against the reference ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_every_kernel_sees_the_background(graphs, kernel):
    check_engine(replace(SMALL, kernel=kernel), graphs, by_balls=True)


@EITHER_WAY
@pytest.mark.parametrize("node", ["count", "density"])
@pytest.mark.parametrize("graph", ["count", "density"])
def test_counts_and_densities_equal_the_reference(graphs, node, graph, statistics, by_balls):
    config = replace(SMALL, node_histogram=node, graph_histogram=graph, statistics=statistics)
    check_engine(config, graphs, by_balls=by_balls)


@EITHER_WAY
@pytest.mark.parametrize("aggregation", ["sum", "mean"])
def test_siblings_of_the_histogram_equal_the_reference(graphs, aggregation, statistics, by_balls):
    check_engine(replace(SMALL, aggregation=aggregation, statistics=statistics), graphs, by_balls=by_balls)


@EITHER_WAY
@pytest.mark.parametrize("standardize", [True, False])
@pytest.mark.parametrize("training", [True, False])
def test_standardisation_on_and_off_equals_the_reference(graphs, standardize, training, statistics, by_balls):
    config = replace(SMALL, standardize=standardize, statistics=statistics)
    check_engine(config, graphs, training=training, by_balls=by_balls)


@EITHER_WAY
@pytest.mark.parametrize(("channels", "bins"), [((1, 1), 1), ((16, 17), 3), ((33, 7), 15)])
def test_sizes_that_fill_no_vector_equal_the_reference(graphs, channels, bins, statistics, by_balls):
    check_engine(replace(SMALL, channels=channels, bins=bins, statistics=statistics), graphs, by_balls=by_balls)


@EITHER_WAY
@pytest.mark.parametrize("loops", ["drop", "keep"])
def test_loops_and_weights_equal_the_reference(loops, statistics, by_balls):
    graphs = random_graphs([18, 9], seed=6, probability=0.1, weights=1, self_loops=loops)
    check_engine(replace(SMALL, statistics=statistics), graphs, by_balls=by_balls)


# Among themselves -----------------------------------------------------------------------------------------------------


def check_alike(config, graphs, one, other):
    """Two ways to compute the same step differ no more than the engine may differ from the truth."""
    network, draws = settled_network(config), draw_all(graphs.node_counts())
    _, single = references(network, graphs, draws)
    results = [outcome(way(network, graphs), draws) for way in (one, other)]
    check_close(results[0], results[1], single)


@pytest.mark.parametrize("orders", [(3,), (2, 3), (2, 2, 2)])
def test_balls_and_whole_graphs_are_alike(graphs, orders):
    config = replace(SMALL, orders=orders, channels=(4, 5, 6)[: len(orders)])
    check_alike(
        config, graphs,
        lambda network, graphs: fused_computation(network, graphs, by_balls=True),
        lambda network, graphs: fused_computation(network, graphs, by_balls=False),
    )  # fmt: skip


@EITHER_WAY
@pytest.mark.parametrize("max_pairs", [1, 40, 100])
@pytest.mark.parametrize("threads", [1, 2])
def test_roots_in_turns_and_at_once_are_alike(graphs, max_pairs, threads, statistics, by_balls):
    def in_turns(network, graphs):
        computation = fused_computation(network, graphs, by_balls, threads)
        computation.max_pairs = max_pairs
        assert (computation.plan.row_counts**2).max() > max_pairs  # one turn is not enough
        return computation

    check_alike(
        replace(SMALL, statistics=statistics), graphs,
        in_turns, lambda network, graphs: fused_computation(network, graphs, by_balls, threads),
    )  # fmt: skip


# What histograms mean -------------------------------------------------------------------------------------------------


@EITHER_WAY
def test_every_root_counts_every_node_of_its_graph_once(graphs, statistics, by_balls):
    config = replace(BARE, kernel="uniform", node_histogram="count", statistics=statistics)
    found = node_histograms(config, graphs, by_balls)
    sizes = np.repeat(graphs.node_counts(), graphs.node_counts())
    np.testing.assert_allclose(found.sum(axis=2), np.repeat(sizes[:, None], found.shape[1], 1), rtol=1e-6)


@EITHER_WAY
def test_densities_are_counts_over_nodes(graphs, statistics, by_balls):
    counts, densities = (
        node_histograms(replace(BARE, node_histogram=kind, statistics=statistics), graphs, by_balls)
        for kind in ("count", "density")
    )
    sizes = np.repeat(graphs.node_counts(), graphs.node_counts())
    np.testing.assert_allclose(densities * sizes[:, None, None], counts, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("by_balls", [True, False])
def test_mirror_images_have_the_same_embedding(by_balls):
    path = make_graphs([21], [(node, node + 1) for node in range(20)])
    found = node_histograms(BARE, path, by_balls)
    np.testing.assert_allclose(found[::-1], found, atol=1e-5)
    assert abs(found[0] - found[10]).max() > 1e-2  # an end is not the middle


@pytest.mark.parametrize("by_balls", [True, False])
def test_roots_are_told_apart_by_their_own_component(by_balls):
    graphs = make_graphs([9], [(0, 1), (1, 2), (2, 0), (3, 4), (4, 5), (5, 3), (6, 7), (7, 8)])  # two triangles and a path
    found = node_histograms(BARE, graphs, by_balls)
    np.testing.assert_allclose(found[:6], np.repeat(found[:1], 6, 0), atol=1e-5)
    assert abs(found[6] - found[0]).max() > 1e-2 and abs(found[7] - found[6]).max() > 1e-2


def test_roots_with_statistics_of_their_own_do_not_know_each_other(graphs):
    computation = fused_computation(settled_network(replace(BARE, statistics="per-root")), graphs)
    computation.network.eval()
    everything, sizes = np.arange(len(graphs)), graphs.node_counts()
    together, few = draw_all(sizes), some_draws(graphs, count=3)
    first = np.repeat(together.ptr[:-1], np.diff(few.ptr))
    with torch.no_grad():
        expected = computation.node_embeddings(everything, together)[first + few.nodes]
        torch.testing.assert_close(computation.node_embeddings(everything, few), expected, rtol=1e-5, atol=1e-6)
