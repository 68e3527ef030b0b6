"""What networkx says about a graph is what the packed set says."""

import networkx as nx
import numpy as np
import pytest

from phist import as_graphset, load_dataset

GRAPHS = {
    "karate": nx.karate_club_graph(),
    "petersen": nx.petersen_graph(),
    "directed": nx.gnp_random_graph(12, 0.2, seed=1, directed=True),
    "scale-free multigraph": nx.scale_free_graph(15, seed=2),
    "disconnected": nx.disjoint_union(nx.cycle_graph(3), nx.empty_graph(4)),
    "words": nx.relabel_nodes(nx.path_graph(4), dict(enumerate("wxyz"))),
    "les miserables": nx.les_miserables_graph(),
    "loops": nx.Graph([(0, 0), (0, 1), (1, 1)]),
}


@pytest.fixture(params=GRAPHS.values(), ids=GRAPHS.keys())
def graph(request):
    return request.param


def test_arcs_and_weights_are_those_of_networkx(graph):
    packed = as_graphset(graph, directed="keep", self_loops="keep")[0].adjacency().toarray()
    assert np.array_equal(packed, nx.to_numpy_array(graph, weight="weight"))


def test_symmetrising_takes_the_larger_entry_of_the_matrix(graph):
    matrix = nx.to_numpy_array(graph, weight="weight")
    packed = as_graphset(graph, self_loops="keep")[0].adjacency().toarray()
    assert np.array_equal(packed, np.maximum(matrix, matrix.T))


def test_loops_go_and_nothing_else(graph):
    simple = nx.Graph(graph)
    simple.remove_edges_from(list(nx.selfloop_edges(simple)))
    packed = as_graphset(graph)
    assert (packed.n_nodes, packed.n_edges) == (len(simple), simple.number_of_edges())


def test_degrees_are_those_of_networkx(graph):
    simple = nx.Graph(graph)
    simple.remove_edges_from(list(nx.selfloop_edges(simple)))
    assert as_graphset(graph).degrees().tolist() == [degree for _, degree in simple.degree()]


def test_a_graph_survives_the_way_to_networkx_and_back(graph):
    packed = as_graphset(graph, directed="keep", self_loops="keep")
    assert as_graphset(packed[0].to_networkx(), directed="keep", self_loops="keep") == packed


def test_real_graphs_survive_the_way_to_networkx_and_back(dataset_folder):
    graphs = load_dataset("ENZYMES")
    assert as_graphset([graph.to_networkx() for graph in graphs], labels=graphs.labels) == graphs
