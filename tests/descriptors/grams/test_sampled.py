"""Graphlets and subsets of nodes: what is drawn, and how often."""

from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from phist import as_graphset
from phist.descriptors.grams.graphlets import graphlet_counts, kinds_of_codes, n_kinds
from phist.descriptors.grams.svm_theta import node_weights, samples_of_sizes, theta_levels


def kind_of(graph):
    """The number of a graph's kind, by the order of pairs that the codes are defined with."""
    nodes = list(graph)
    pairs = [(nodes[a], nodes[b]) for b in range(len(nodes)) for a in range(b)]
    code = sum(1 << place for place, pair in enumerate(pairs) if graph.has_edge(*pair))
    return kinds_of_codes()[len(nodes), code]


def test_every_graph_of_up_to_five_nodes_is_a_kind_of_its_own():
    atlas = [graph for graph in nx.graph_atlas_g() if 1 <= len(graph) <= 5]
    assert sorted(kind_of(graph) for graph in atlas) == list(range(n_kinds()))


@pytest.mark.parametrize("seed", range(5))
def test_a_kind_does_not_depend_on_the_numbering_of_nodes(seed):
    graph = nx.gnp_random_graph(5, 0.5, seed=seed)
    order = np.random.default_rng(seed).permutation(5).tolist()
    assert kind_of(nx.from_numpy_array(nx.to_numpy_array(graph, nodelist=order))) == kind_of(graph)


def test_graphlets_are_drawn_as_often_as_they_should_be():
    graph = nx.gnp_random_graph(8, 0.4, seed=1)
    expected = np.zeros(n_kinds())
    for size in (3, 4, 5):
        subsets = list(combinations(graph, size))
        for nodes in subsets:
            expected[kind_of(nx.induced_subgraph(graph, nodes))] += 1 / len(subsets) / 3
    samples = 100_000
    shares = graphlet_counts(as_graphset([graph])[0], samples, np.random.default_rng(0)) / samples
    deviations = np.sqrt(expected * (1 - expected) / samples)
    assert (np.abs(shares - expected) <= 4 * deviations).all()


@pytest.mark.parametrize("size", [1, 2, 3])
def test_a_tiny_graph_is_its_own_graphlet(size):
    graph = nx.path_graph(size)
    counts = graphlet_counts(as_graphset([graph])[0], 20, np.random.default_rng(0))
    assert counts[kind_of(graph)] == counts.sum() == 20


@pytest.mark.parametrize("graph", [nx.star_graph(9), nx.cycle_graph(7), nx.empty_graph(5), nx.gnp_random_graph(30, 0.2, seed=0)])
def test_node_weights_add_up_to_half_the_nodes(graph):
    assert node_weights(as_graphset([graph])[0]).sum() == pytest.approx(len(graph) / 2)


@pytest.mark.parametrize("n_nodes", [2, 5, 8, 9, 30, 5000])
def test_all_samples_are_given_to_sizes_that_fit(n_nodes):
    drawn = samples_of_sizes(n_nodes, 50)
    assert sum(drawn) == 50
    assert len(drawn) == min(n_nodes, 8) - 1


def test_subsets_of_all_nodes_weigh_what_the_graph_does():
    weights = np.array([0.25, 0.5, 0.75])
    assert theta_levels(weights, 50, np.random.default_rng(0))[1:3].tolist() == [1.5, 0.0]
