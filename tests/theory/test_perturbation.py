"""Perturbed graphs: what changes, by how much, and what never does."""

import networkx as nx
import numpy as np
import pytest

from phist.errors import ConfigError
from phist.graphs.convert import as_graphset
from phist.theory.perturbation import PERTURBATIONS, add_edges, drop_edges, jitter_weights, rewire_edges

EVERY = pytest.mark.parametrize("perturb", PERTURBATIONS.values(), ids=PERTURBATIONS)
CHANGING_EDGES = pytest.mark.parametrize("perturb", [drop_edges, add_edges, rewire_edges])


def sparse(n_nodes=60, p=0.1, seed=0):
    return nx.gnp_random_graph(n_nodes, p, seed=seed)


def weighted(graph, seed=0):
    rng = np.random.default_rng(seed)
    nx.set_edge_attributes(graph, {edge: float(rng.uniform(0.5, 2)) for edge in graph.edges}, "weight")
    return graph


@pytest.fixture(params=["plain", "weighted", "directed", "loops"])
def graphs(request):
    items = [sparse(), nx.complete_graph(7), nx.empty_graph(4), nx.path_graph(2), sparse(15, 0.5, 1), nx.empty_graph(1)]
    if request.param == "weighted":
        items = [weighted(item) for item in items]
    if request.param == "directed":
        return as_graphset([*items, nx.gnp_random_graph(20, 0.2, seed=2, directed=True)], directed="keep")
    if request.param == "loops":
        items[0].add_edges_from([(0, 0), (5, 5)])
        return as_graphset(items, labels=list("abcdef"), self_loops="keep")
    return as_graphset(items, labels=list("abcdef"))


def edge_sets(graphs):
    return [set(graph.to_networkx().edges) for graph in graphs]


@EVERY
@pytest.mark.parametrize("strength", [0.05, 0.5, 1.0])
def test_nodes_labels_ids_and_direction_stay(perturb, strength, graphs):
    perturbed = perturb(graphs, strength, 0)
    np.testing.assert_array_equal(perturbed.node_counts(), graphs.node_counts())
    assert perturbed.label_list() == graphs.label_list()
    assert perturbed.ids.tolist() == graphs.ids.tolist()
    assert perturbed.directed == graphs.directed


@EVERY
def test_undirected_graphs_stay_symmetric(perturb, graphs):
    for graph in perturb(graphs, 0.5, 0):
        matrix = graph.adjacency().toarray()
        assert graph.directed or np.array_equal(matrix, matrix.T)


@EVERY
def test_strength_zero_changes_nothing(perturb, graphs):
    assert perturb(graphs, 0.0, 0) == graphs


@EVERY
def test_a_seed_decides_and_another_decides_otherwise(perturb, graphs):
    assert perturb(graphs, 0.3, 7) == perturb(graphs, 0.3, 7)
    assert perturb(graphs, 0.3, 7) == perturb(graphs, 0.3, np.random.default_rng(7))
    assert perturb(graphs, 0.3, 7) != perturb(graphs, 0.3, 8)


@EVERY
def test_graphs_without_an_edge_stay_as_they_are(perturb):
    empty = as_graphset([nx.empty_graph(3), nx.empty_graph(1)])
    assert perturb(empty, 1.0, 0) == empty


@CHANGING_EDGES
def test_loops_are_never_made(perturb):
    graphs = as_graphset([sparse(), nx.cycle_graph(9)])
    assert not perturb(graphs, 0.8, 0).loop_counts().any()


def test_dropping_leaves_some_of_the_edges():
    graphs = as_graphset([sparse(), sparse(seed=1)])
    for before, after in zip(edge_sets(graphs), edge_sets(drop_edges(graphs, 0.25, 0)), strict=True):
        assert after < before
        assert abs(len(after) - 0.75 * len(before)) < 1


def test_dropping_all_edges_leaves_none():
    assert drop_edges(as_graphset([sparse(), nx.path_graph(2)]), 1.0, 0).n_edges == 0


def test_shares_that_are_no_whole_number_are_right_on_average():
    rings = as_graphset([nx.cycle_graph(10)] * 2000)
    assert drop_edges(rings, 0.05, 0).edge_counts().mean() == pytest.approx(9.5, abs=0.05)


@pytest.mark.parametrize("p", [0.05, 0.6], ids=["by rejection", "from all"])
@pytest.mark.parametrize("directed", [None, "keep"])
def test_adding_keeps_the_edges_and_adds_as_many_as_asked_for(p, directed):
    graphs = as_graphset([sparse(40, p)], directed=directed)
    before, after = edge_sets(graphs)[0], edge_sets(add_edges(graphs, 0.3, 0))[0]
    assert before < after
    assert abs(len(after) - 1.3 * len(before)) < 1


def test_adding_to_a_complete_graph_is_legal_and_idle():
    complete = as_graphset([nx.complete_graph(6)])
    assert add_edges(complete, 1.0, 0) == complete


def test_adding_stops_when_the_graph_is_complete():
    assert add_edges(as_graphset([nx.path_graph(4)]), 50.0, 0).n_edges == 6


def test_added_edges_are_drawn_uniformly():
    paths = as_graphset([nx.path_graph(4)] * 6000)
    added = np.array([sorted(edges - {(0, 1), (1, 2), (2, 3)})[0] for edges in edge_sets(add_edges(paths, 1 / 3, 0))])
    _, counts = np.unique(added, axis=0, return_counts=True)
    assert len(counts) == 3
    assert (np.abs(counts - 2000) < 150).all()


def test_added_edges_weigh_as_much_as_others_of_their_graph():
    graphs = as_graphset([(9, [(0, 1, 2.5), (1, 2, 2.5)]), (9, [(0, 1, 4.0), (2, 3, 4.0)])])
    first, second = add_edges(graphs, 1.0, 0)
    assert set(first.weights) == {2.5}
    assert set(second.weights) == {4.0}


def test_rewiring_keeps_every_degree(graphs):
    rewired = rewire_edges(graphs, 0.7, 0)
    np.testing.assert_array_equal(rewired.degrees(), graphs.degrees())
    for before, after in zip(graphs, rewired, strict=True):
        incoming = [np.bincount(graph.indices, minlength=graph.n_nodes) for graph in (before, after)]
        np.testing.assert_array_equal(*incoming)


@pytest.mark.parametrize("fraction", [0.1, 0.5])
def test_rewiring_moves_as_many_edges_as_asked_for(fraction):
    graphs = as_graphset([sparse(200, 0.05)])
    before, after = edge_sets(graphs)[0], edge_sets(rewire_edges(graphs, fraction, 0))[0]
    assert len(before - after) == pytest.approx(fraction * len(before), abs=0.1 * fraction * len(before) + 2)


def test_rewiring_a_graph_that_allows_none_is_legal_and_idle():
    stuck = as_graphset([nx.complete_graph(6), nx.star_graph(5), nx.path_graph(2)])
    assert rewire_edges(stuck, 1.0, 0) == stuck


def test_rewiring_keeps_the_weights():
    graphs = as_graphset([weighted(sparse())])
    assert sorted(rewire_edges(graphs, 0.5, 0).weights) == pytest.approx(sorted(graphs.weights))


def test_jitter_keeps_the_edges_and_moves_weights_by_about_its_strength():
    graphs = as_graphset([weighted(sparse(200, 0.2))])
    shaken = jitter_weights(graphs, 0.1, 0)
    np.testing.assert_array_equal(shaken.indices, graphs.indices)
    assert np.log(shaken.weights / graphs.weights).std() == pytest.approx(0.1, rel=0.05)
    assert (shaken.weights > 0).all()


@EVERY
@pytest.mark.parametrize("strength", [-0.1, float("nan"), float("inf")])
def test_strengths_out_of_range_are_refused(perturb, strength):
    with pytest.raises(ConfigError, match=r"strength of .* was given; it must be"):
        perturb(as_graphset([nx.path_graph(3)]), strength, 0)


@pytest.mark.parametrize("perturb", [drop_edges, rewire_edges])
def test_no_more_than_all_edges_can_go(perturb):
    with pytest.raises(ConfigError, match="between 0 and 1"):
        perturb(as_graphset([nx.path_graph(3)]), 1.5, 0)
