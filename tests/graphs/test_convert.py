import time
from types import SimpleNamespace

import networkx as nx
import numpy as np
import pytest
import scipy.sparse as sp
import torch
from sklearn.model_selection import cross_val_score
from sklearn.neighbors import KNeighborsClassifier

from phist import as_graphset
from phist.errors import GraphInputError

TRIANGLE = [(0, 1), (1, 2), (2, 0)]
MATRIX = np.array([[0, 1, 1], [1, 0, 1], [1, 1, 0]])
REFERENCE = as_graphset((3, TRIANGLE))


def igraph_triangle():
    return pytest.importorskip("igraph").Graph(3, TRIANGLE)


def pyg_triangle():
    torch = pytest.importorskip("torch")
    data = pytest.importorskip("torch_geometric.data").Data
    return data(edge_index=torch.tensor(TRIANGLE).T, num_nodes=3)


KINDS = {
    "networkx": lambda: nx.Graph(TRIANGLE),
    "networkx directed": lambda: nx.DiGraph(TRIANGLE),
    "networkx multigraph": lambda: nx.MultiGraph(TRIANGLE),
    "names": lambda: nx.Graph([("a", (1, 2)), ((1, 2), "c"), ("c", "a")]),
    "numpy": lambda: MATRIX,
    "numpy booleans": lambda: MATRIX.astype(bool),
    "sparse array": lambda: sp.csr_array(MATRIX),
    "sparse matrix": lambda: sp.coo_matrix(MATRIX),
    "edge list": lambda: (3, TRIANGLE),
    "edge array": lambda: (np.int32(3), np.array(TRIANGLE)),
    "edge list with weights": lambda: (3, TRIANGLE, [1, 1, 1]),
    "igraph": igraph_triangle,
    "PyG": pyg_triangle,
    "anything with edge_index": lambda: SimpleNamespace(edge_index=np.array(TRIANGLE).T, num_nodes=3),
    "element": lambda: REFERENCE[0],
}


@pytest.mark.parametrize("make", KINDS.values(), ids=KINDS.keys())
def test_every_kind_of_graph_gives_the_same_set(make):
    assert as_graphset(make()) == REFERENCE


def test_kinds_can_be_mixed_in_a_list():
    mixed = as_graphset([make() for make in KINDS.values()])
    assert all(graph.n_edges == 3 for graph in mixed)


@pytest.mark.parametrize("wrap", [list, tuple, iter, lambda graphs: (graph for graph in graphs)])
def test_any_iterable_of_graphs_is_a_collection(wrap):
    assert len(as_graphset(wrap([nx.path_graph(2), nx.path_graph(3)]))) == 2


def test_an_object_array_of_graphs_is_a_collection():
    graphs = np.empty(2, dtype=object)
    graphs[0], graphs[1] = nx.path_graph(2), nx.path_graph(3)
    assert as_graphset(graphs).node_counts().tolist() == [2, 3]


def test_an_array_with_three_axes_is_a_stack_of_matrices():
    assert len(as_graphset(np.stack([MATRIX, MATRIX]))) == 2


def test_a_pyg_batch_is_a_collection():
    batch = pytest.importorskip("torch_geometric.data").Batch.from_data_list([pyg_triangle(), pyg_triangle()])
    assert len(as_graphset(batch)) == 2


def test_the_label_of_pyg_data_is_kept():
    torch = pytest.importorskip("torch")
    graph = pyg_triangle()
    graph.y = torch.tensor([4])
    assert as_graphset([graph]).labels.tolist() == [4]


def test_several_targets_of_pyg_data_are_no_label():
    graph = SimpleNamespace(edge_index=np.empty((2, 0)), num_nodes=1, y=np.array([1, 2]))
    assert as_graphset(graph).labels is None


def test_edge_weights_of_pyg_data_are_used():
    graph = SimpleNamespace(edge_index=np.array([[0, 1], [1, 0]]), num_nodes=2, edge_weight=np.array([2.0, 2.0]))
    assert as_graphset(graph).weights.tolist() == [2, 2]


# Sets and their elements ----------------------------------------------------------------------------------------------


def test_a_set_that_fits_is_returned_as_it_is():
    assert as_graphset(REFERENCE) is REFERENCE


def test_elements_come_back_as_the_set_they_came_from():
    graphs = as_graphset([(3, TRIANGLE), (2, [(0, 1, 2.0)]), (1, [])], labels=["a", "b", "a"], ids=["x", "y", "z"])
    assert as_graphset(list(graphs)) == graphs


def test_elements_without_weights_stay_without():
    assert as_graphset(list(REFERENCE)).weights is None


def test_labels_of_elements_are_left_out_when_one_has_none():
    labelled = as_graphset((1, []), labels=[1])
    assert as_graphset([labelled[0], REFERENCE[0]]).labels is None


def test_labels_given_replace_those_of_a_set():
    assert as_graphset(as_graphset((1, []), labels=["old"]), labels=["new"]).labels.tolist() == ["new"]


def test_labels_can_be_given_by_id():
    assert as_graphset([(1, []), (2, [])], labels={"b": 2, "a": 1}, ids=["a", "b"]).labels.tolist() == [1, 2]


def test_loops_kept_when_read_stay_in_a_set():
    looped = as_graphset((1, [(0, 0)]), self_loops="keep")
    assert as_graphset(list(as_graphset(looped))).n_edges == 1


def test_loops_of_a_set_are_dropped_when_asked():
    assert as_graphset(as_graphset((1, [(0, 0)]), self_loops="keep"), self_loops="drop").n_edges == 0


def test_direction_kept_when_read_stays_in_a_set():
    assert as_graphset(as_graphset(nx.DiGraph([(0, 1)]), directed="keep")).directed


def test_a_directed_set_is_symmetrised_when_asked():
    directed = as_graphset(nx.DiGraph([(0, 1), (1, 2)]), directed="keep")
    assert as_graphset(directed, directed="symmetrise") == as_graphset(nx.path_graph(3))


def test_an_undirected_set_gives_both_arcs_when_direction_is_kept():
    assert as_graphset(REFERENCE, directed="keep").n_edges == 6


def test_weights_of_a_set_are_ignored_when_asked():
    assert as_graphset(as_graphset((2, [(0, 1, 3.0)])), weights="ignore").weights is None


def test_elements_of_directed_and_undirected_sets_can_be_mixed():
    directed = as_graphset(nx.DiGraph([(0, 1)]), directed="keep")
    assert as_graphset([directed[0], REFERENCE[0]]).edge_counts().tolist() == [1, 3]


def test_four_thousand_elements_are_joined_in_no_time():
    graphs = as_graphset([(20, [(i, (i + 1) % 20) for i in range(20)])] * 4000)
    elements = list(graphs)
    start = time.perf_counter()
    joined = as_graphset(elements)
    assert time.perf_counter() - start < 0.5
    assert joined == graphs


class CountNodes(KNeighborsClassifier):
    """A classifier that sees only how many nodes a graph has."""

    def fit(self, X, y):
        return super().fit(as_graphset(X).node_counts()[:, None], y)

    def predict(self, X):
        return super().predict(as_graphset(X).node_counts()[:, None])


def test_cross_validation_may_take_a_set_apart():
    graphs = as_graphset([(1 + i % 2, []) for i in range(40)])
    assert cross_val_score(CountNodes(), graphs, [i % 2 for i in range(40)], cv=4).mean() == 1


# Direction, weights, parallel edges ------------------------------------------------------------------------------------


def test_a_directed_networkx_graph_is_symmetrised_with_the_larger_weight():
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([(0, 1, 2.0), (1, 0, 3.0)])
    assert as_graphset(graph).weights.tolist() == [3, 3]


def test_a_directed_igraph_is_symmetrised():
    graph = pytest.importorskip("igraph").Graph(2, [(0, 1)], directed=True)
    assert as_graphset(graph).n_edges == 1


def test_parallel_edges_of_a_multigraph_add_up():
    assert as_graphset(nx.MultiGraph([(0, 1), (0, 1)])).weights.tolist() == [2, 2]


def test_parallel_edges_of_an_igraph_add_up():
    assert as_graphset(pytest.importorskip("igraph").Graph(2, [(0, 1), (1, 0)])).weights.tolist() == [2, 2]


def test_edges_without_the_weight_others_have_weigh_one():
    graph = nx.Graph([(0, 1, {"weight": 5}), (1, 2)])
    assert as_graphset(graph).weights.tolist() == [5, 5, 1, 1]


def test_weighted_rows_in_either_direction_add_up():
    assert as_graphset((2, [(0, 1, 2.0), (1, 0, 3.0)])).weights.tolist() == [5, 5]


def test_a_list_with_every_row_in_both_directions_has_each_edge_once():
    assert as_graphset((2, [(0, 1, 2.0), (1, 0, 2.0)])).weights.tolist() == [2, 2]


def test_both_directions_are_recognised_within_rounding():
    rows = [(0, 1, 0.1), (0, 1, 0.2), (0, 1, 0.3), (1, 0, 0.3), (1, 0, 0.2), (1, 0, 0.1)]
    assert as_graphset((2, rows)).weights == pytest.approx([0.6, 0.6])


def test_repeated_rows_without_weights_count_once():
    assert as_graphset((2, [(0, 1), (0, 1)])).weights is None


def test_rows_are_arcs_where_direction_is_kept():
    assert as_graphset((2, [(0, 1)]), directed="keep").degrees().tolist() == [1, 0]


def test_undirected_graphs_give_both_arcs_where_direction_is_kept():
    assert as_graphset(nx.path_graph(2), directed="keep").degrees().tolist() == [1, 1]


def test_a_graph_does_not_depend_on_the_weights_of_its_neighbours_in_the_list():
    twice, weighted = (2, [(0, 1), (0, 1), (1, 0)]), (2, [(0, 1, 5.0)])
    assert as_graphset([twice, weighted])[:1] == as_graphset(twice)


def test_a_matrix_symmetric_up_to_rounding_is_symmetric():
    matrix = np.array([[0, 0.3], [0.1 + 0.2, 0]])
    assert as_graphset(matrix).n_edges == 1


def test_the_matrix_given_is_left_as_it_was():
    matrix = sp.csr_array((np.array([0.0, 2.0, 2.0]), (np.array([0, 0, 1]), np.array([0, 1, 0]))), shape=(2, 2))
    as_graphset(matrix)
    assert matrix.nnz == 3


def test_an_asymmetric_matrix_can_be_symmetrised():
    assert as_graphset(np.array([[0, 1], [0, 0]]), directed="symmetrise").n_edges == 1


def test_explicit_zeros_of_a_sparse_matrix_are_no_edges_even_without_weights():
    matrix = sp.csr_array((np.zeros(1), ([0], [0])), shape=(2, 2))
    assert as_graphset(matrix, weights="ignore", self_loops="keep").n_edges == 0


def test_isolated_nodes_are_kept():
    assert as_graphset(nx.empty_graph(5)).n_nodes == 5


# Bad input -------------------------------------------------------------------------------------------------------------

BAD = {
    "no graph": ([], "no graph was given"),
    "no graph in an array": (np.empty((0, 2, 2)), "no graph was given"),
    "no graph in a set": (REFERENCE[:0], "no graph was given"),
    "no node": ([nx.path_graph(2), nx.Graph()], "graph 1 has no node"),
    "no node in a matrix": (np.empty((0, 0)), "graph 0 has no node"),
    "not square": (np.zeros((2, 3)), r"shape \(2, 3\); an adjacency matrix must be square"),
    "not symmetric": (np.array([[0, 1], [0, 0]]), r"entry \(0, 1\) is 1, entry \(1, 0\) is 0.*directed="),
    "not symmetric, sparse": (sp.csr_array([[0, 1], [0, 0]]), "not symmetric"),
    "complex": (sp.csr_array([[0, 1j], [1j, 0]]), "real numbers"),
    "NaN": (np.array([[0, np.nan], [np.nan, 0]]), "non-finite weight"),
    "infinite": (np.array([[0, np.inf], [np.inf, 0]]), "non-finite weight"),
    "negative": (np.array([[0, -1], [-1, 0]]), "negative weight"),
    "node outside": ([(2, [(0, 1)]), (2, [(0, 1), (1, 2)])], r"graph 1 has the edge 1-2 \(row 1\), but its nodes are 0 to 1"),
    "node below": ((2, [(0, -1)]), "has the edge 0--1"),
    "half a node": ((2, [(0.5, 1)]), "ends at node 0.5"),
    "names in an edge list": ((2, [("a", "b")]), "not numbers"),
    "ragged": ((2, [(0, 1), (1,)]), "different lengths"),
    "four columns": ((2, [(0, 1, 1, 1)]), "edges of shape"),
    "weights twice": ((2, [(0, 1, 1.0)], [1.0]), "give them once"),
    "weights short": ((2, [(0, 1)], [1.0, 2.0]), "1 edges and 2 weights"),
    "too many nodes": ((2**40, []), "are the most"),
    "edges without a node count": ([(0, 1), (1, 2)], "edges of shape"),
    "a path": ("MUTAG", "load_dataset"),
    "a number": (5, "a int was given"),
    "a dictionary": ({"a": 1}, "a dict was given"),
    "a flat array": (np.zeros(4), "neither an adjacency matrix"),
    "a list of numbers": ([1, 2], "graph 0 is a int, which is not a graph phist knows; give a networkx"),
    "weights in words": (nx.Graph([(0, 1, {"weight": "heavy"})]), "weight 'heavy' on edge 0-1"),
    "PyG without nodes": (SimpleNamespace(edge_index=np.zeros((2, 1)), num_nodes=None), "set num_nodes"),
    "PyG transposed": (SimpleNamespace(edge_index=np.zeros((3, 2)), num_nodes=3), r"must be \(2, edges\)"),
}


@pytest.mark.parametrize(("graphs", "message"), BAD.values(), ids=BAD.keys())
def test_bad_input_is_named(graphs, message):
    with pytest.raises(GraphInputError, match=message):
        as_graphset(graphs)


def test_labels_of_the_wrong_number_are_refused():
    with pytest.raises(GraphInputError, match="2 labels were given for 1 graphs"):
        as_graphset((1, []), labels=[1, 2])


def test_ids_of_the_wrong_number_are_refused():
    with pytest.raises(GraphInputError, match="1 ids were given for 2 graphs"):
        as_graphset([(1, []), (1, [])], ids=["a"])


def test_a_graph_is_named_by_its_id_where_it_has_one():
    with pytest.raises(GraphInputError, match=r"graph 0 \(first\) has no node"):
        as_graphset(nx.Graph(), ids=["first"])


def test_bad_weights_in_a_set_made_by_hand_are_refused():
    from dataclasses import replace

    with pytest.raises(GraphInputError, match="non-finite weight"):
        as_graphset(replace(REFERENCE, weights=np.full(6, np.nan)))


# Weights that are ignored ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("weight", ["heavy", float("nan"), None, [1, 2]], ids=["text", "not a number", "missing", "a list"])
def test_weights_that_are_ignored_may_be_anything(weight):
    heavy, path = nx.path_graph(3), as_graphset([nx.path_graph(3)])
    nx.set_edge_attributes(heavy, weight, "weight")
    assert as_graphset([heavy], weights="ignore") == path
    assert as_graphset([(3, [(0, 1), (1, 2)], [weight, weight])], weights="ignore") == path


def test_weights_of_tensors_without_a_type_in_numpy_are_read():
    data = SimpleNamespace(
        edge_index=torch.tensor([[0, 1], [1, 0]]), num_nodes=2, edge_weight=torch.full((2,), 2.0, dtype=torch.bfloat16)
    )
    assert as_graphset([data]).weights.tolist() == [2, 2]


class DataWithoutEdges:
    """What PyG's Data is like where only features, or an ``adj_t``, were given."""

    num_nodes = 2

    @property
    def edge_index(self):
        return None


def test_data_without_edge_index_is_refused():
    with pytest.raises(GraphInputError, match="has no edge_index; set it"):
        as_graphset([DataWithoutEdges()])
