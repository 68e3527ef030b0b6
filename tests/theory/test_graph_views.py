"""Two graphs as multisets of colours, responses and embeddings."""

import networkx as nx
import numpy as np
import pytest
import torch

from phist.errors import ConfigError
from phist.graphs.convert import as_graphset
from phist.nn.config import NetworkConfig
from phist.nn.network import make_network
from phist.theory.graph_views import color_view, network_views

CUBIC = (
    [(0, 1), (0, 7), (0, 9), (1, 5), (1, 10), (2, 3), (2, 6), (2, 7), (3, 8), (3, 11), (4, 8), (4, 9), (4, 10), (5, 8), (5, 11),
     (6, 10), (6, 11), (7, 9)],
    [(0, 2), (0, 6), (0, 7), (1, 5), (1, 10), (1, 11), (2, 4), (2, 9), (3, 6), (3, 8), (3, 11), (4, 8), (4, 11), (5, 7), (5, 10),
     (6, 9), (7, 8), (9, 10)],
)  # fmt: skip


@pytest.fixture(scope="module")
def wl_pair():
    return as_graphset([nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))])


def test_colours_cannot_tell_regular_graphs_apart_but_responses_can(wl_pair):
    colors, (responses, embeddings, graph_embedding) = color_view(wl_pair), network_views(wl_pair, seed=0)
    assert colors.first == colors.second
    assert responses.first != responses.second and embeddings.first != embeddings.second
    assert graph_embedding.first.size == graph_embedding.second.size == 1


def test_equal_responses_do_not_make_equal_node_embeddings():
    """Two cubic graphs: as many pairs of nodes of every kind, shared out differently among the roots."""
    graphs = [nx.Graph(edges) for edges in CUBIC]
    network = make_network(NetworkConfig(orders=(3,), channels=(8,)), 2, seed=0)
    responses, embeddings, graph_embedding = network_views(as_graphset(graphs), network)
    assert responses.first == responses.second
    assert embeddings.first != embeddings.second and graph_embedding.first != graph_embedding.second
    assert "may" in responses.meaning and "no aggregation over nodes and roots" not in responses.meaning


def test_equal_node_embeddings_do_not_make_equal_graph_embeddings():
    """Paths of 7 and 5 nodes against two of 6: ends, their neighbours and inner nodes are as many, but arranged differently."""
    paths = [nx.disjoint_union(nx.path_graph(a), nx.path_graph(b)) for a, b in ((7, 5), (6, 6))]
    network = make_network(NetworkConfig(orders=(2,), channels=(8,)), 2, seed=0)
    _, embeddings, graph_embedding = network_views(as_graphset(paths), network)
    assert embeddings.first == embeddings.second and graph_embedding.first != graph_embedding.second
    assert "f_graph" in embeddings.meaning


@pytest.mark.parametrize("seed", range(3))
def test_all_roots_of_a_hexagon_and_a_complete_graph_give_one_embedding(seed):
    """Every node is alike in both, so that f_graph sees a constant, which whitening makes zero."""
    network = make_network(NetworkConfig(moments="none"), 2, seed)
    views = network_views(as_graphset([nx.cycle_graph(6), nx.complete_graph(6)]), network)
    assert views[1].first != views[1].second
    assert views[2].name == "graph-embedding" and views[2].first == views[2].second
    assert "does not tell the graphs apart" in views[2].meaning


def test_moments_tell_the_hexagon_from_the_complete_graph():
    network = make_network(NetworkConfig(moments="head"), 2, seed=0)
    views = network_views(as_graphset([nx.cycle_graph(6), nx.complete_graph(6)]), network)
    assert views[2].name == "graph-embedding" and views[2].first != views[2].second


def test_views_ignore_the_order_of_the_nodes():
    graph = nx.lollipop_graph(4, 4)
    shuffled = nx.relabel_nodes(graph, dict(enumerate(np.random.default_rng(0).permutation(8).tolist())))
    pair = as_graphset([graph, nx.Graph(sorted(shuffled.edges))])
    assert all(view.first == view.second for view in (color_view(pair), *network_views(pair, seed=0)))


def test_a_given_network_keeps_its_precision(wl_pair):
    network = make_network(NetworkConfig(channels=(3, 4), bins=3), 2, seed=0)
    views = network_views(wl_pair, network)
    assert views[0].first.dimension == 4 and views[1].first.dimension == 12
    assert next(network.parameters()).dtype == torch.float32


def test_large_graphs_and_triples_are_refused(wl_pair):
    with pytest.raises(ConfigError, match="at most 300"):
        color_view(as_graphset([nx.path_graph(301), nx.path_graph(2)]))
    with pytest.raises(ConfigError, match="exactly two"):
        color_view(wl_pair[[0, 1, 1]])
