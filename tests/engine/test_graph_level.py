"""f_graph: from the embeddings of drawn nodes to the embedding of their graph."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from engine_truth import SMALL, check_engine, fused_computation, make_graphs, random_graphs, settled_network, some_draws

from phist.engine.computation import Reference
from phist.nn.kernels import KERNELS
from phist.nn.sampling import Draws, draw_all

BARE = replace(SMALL, standardize=False)
STAR = make_graphs([6], [(0, leaf) for leaf in range(1, 6)])


@pytest.fixture(scope="module")
def graphs():
    return random_graphs([12, 1, 7], seed=3, probability=0.25, weights=0.5)


def draws_of(*nodes_and_counts):
    """Draws from several graphs, each a dictionary from nodes to how often they were drawn."""
    ptr = np.cumsum([0, *map(len, nodes_and_counts)])
    nodes = np.array([node for drawn in nodes_and_counts for node in drawn], np.int32)
    return Draws(ptr, nodes, np.array([count for drawn in nodes_and_counts for count in drawn.values()], np.float32))


def embed(config, graphs, draws, chosen=None, kind=fused_computation):
    computation = kind(settled_network(config), graphs)
    computation.network.eval()
    with torch.no_grad():
        return computation.graph_embeddings(np.arange(len(graphs)) if chosen is None else np.array(chosen), draws)


# Draws ----------------------------------------------------------------------------------------------------------------


DRAWS = {
    "one node each": draws_of({3: 1}, {0: 1}, {6: 1}),
    "one node a thousand times": draws_of({3: 1000, 4: 1}, {0: 1}, {6: 1}),
    "numbers of draws that differ": draws_of({0: 7, 5: 2, 11: 1}, {0: 32}, {1: 3, 2: 3, 3: 1, 6: 25}),
    "in any order": draws_of({11: 1, 0: 2, 5: 1}, {0: 1}, {6: 1, 1: 4}),
}


@pytest.mark.parametrize("statistics", ["joint", "per-root"])
@pytest.mark.parametrize("name", DRAWS)
def test_any_draws_equal_the_reference(graphs, name, statistics):
    check_engine(replace(SMALL, statistics=statistics), graphs, DRAWS[name])


def test_order_of_draws_does_not_matter(graphs):
    one, other = draws_of({0: 2, 5: 1, 11: 3}, {0: 1}, {1: 4, 6: 1}), draws_of({11: 3, 0: 2, 5: 1}, {0: 1}, {6: 1, 1: 4})
    torch.testing.assert_close(embed(SMALL, graphs, one), embed(SMALL, graphs, other), rtol=1e-4, atol=1e-4)


def test_where_a_root_stands_matters_though_its_twins_look_the_same():
    one, other = (embed(BARE, STAR, draws_of(drawn)) for drawn in ({1: 2}, {1: 1, 2: 1}))
    assert (one - other).abs().max() > 1e-2


def test_which_of_the_twins_is_drawn_does_not_matter():
    embeddings = [embed(BARE, STAR, draws_of({leaf: 3, 0: 1})) for leaf in (1, 2, 5)]
    for found in embeddings[1:]:
        torch.testing.assert_close(found, embeddings[0], rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("drawn", [{1: 1}, {5: 1}, {2: 3, 4: 1}, {0: 1, 3: 2}, {leaf: leaf for leaf in range(1, 6)}])
@pytest.mark.parametrize("statistics", ["joint", "per-root"])
def test_twins_that_are_drawn_and_twins_that_are_not_equal_the_reference(drawn, statistics):
    check_engine(replace(SMALL, statistics=statistics), STAR, draws_of(drawn))


# Graphs of a batch ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("chosen", [[2], [2, 0], [1, 1], [0, 2, 0, 1]])
def test_chosen_graphs_come_in_the_order_they_were_chosen(graphs, chosen):
    draws = draw_all(graphs.node_counts()[chosen])
    found, expected = (embed(SMALL, graphs, draws, chosen, kind) for kind in (fused_computation, Reference))
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3)


def test_a_graph_chosen_twice_has_the_same_bits_twice(graphs):
    found = embed(SMALL, graphs, draw_all(graphs.node_counts()[[2, 0, 2]]), [2, 0, 2])
    assert torch.equal(found[0], found[2]) and not torch.equal(found[0], found[1])


def test_a_graph_chosen_twice_with_other_roots_equals_the_reference(graphs):
    draws = draws_of({0: 1, 3: 2}, {5: 1})
    found, expected = (embed(SMALL, graphs, draws, [2, 2], kind) for kind in (fused_computation, Reference))
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3)
    assert (found[0] - found[1]).abs().max() > 1e-2


# What histograms mean -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("kind", "is_density"), [("count", False), ("density", True)])
def test_every_node_of_a_graph_is_counted_once_in_every_channel(graphs, kind, is_density):
    found = embed(replace(BARE, kernel="uniform", graph_histogram=kind), graphs, some_draws(graphs))
    sums = found.view(len(graphs), SMALL.channels[-1], SMALL.bins).sum(2)
    expected = torch.from_numpy(np.ones(3) if is_density else graphs.node_counts().astype(float)).float()
    torch.testing.assert_close(sums, expected[:, None].expand_as(sums))


@pytest.mark.parametrize("kernel", sorted(KERNELS))
@pytest.mark.parametrize("graph", ["count", "density"])
def test_every_kernel_counts_graphs_as_the_reference_does(graphs, kernel, graph):
    found, expected = (
        embed(replace(BARE, kernel=kernel, graph_histogram=graph), graphs, some_draws(graphs), kind=kind)
        for kind in (fused_computation, Reference)
    )
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("aggregation", ["sum", "mean", "max"])
def test_siblings_have_one_number_a_channel(graphs, aggregation):
    found, expected = (
        embed(replace(BARE, aggregation=aggregation), graphs, some_draws(graphs), kind=kind)
        for kind in (fused_computation, Reference)
    )
    assert found.shape == (3, SMALL.channels[-1])
    torch.testing.assert_close(found, expected, rtol=1e-3, atol=1e-3)
