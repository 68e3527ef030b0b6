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


@pytest.fixture(scope="module")
def wl_pair():
    return as_graphset([nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))])


def test_colours_cannot_tell_regular_graphs_apart_but_responses_can(wl_pair):
    colors, (responses, embeddings) = color_view(wl_pair), network_views(wl_pair, seed=0)
    assert colors.first == colors.second
    assert responses.first != responses.second and embeddings.first != embeddings.second


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
