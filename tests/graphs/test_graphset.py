import pickle
import subprocess
import sys

import networkx as nx
import numpy as np
import pytest

from phist import as_graphset
from phist.errors import GraphInputError
from phist.graphs.arrays import blocks
from phist.graphs.graphset import GraphSet


@pytest.fixture
def graphs():
    """A path, a cycle, a lone node and a star."""
    shapes = [nx.path_graph(3), nx.cycle_graph(4), nx.empty_graph(1), nx.star_graph(5)]
    return as_graphset(shapes, labels=["path", "cycle", "dot", "star"], ids=["p", "c", "d", "s"])


def test_length_is_the_number_of_graphs(graphs):
    assert len(graphs) == 4


def test_nodes_are_counted_for_each_graph(graphs):
    assert graphs.node_counts().tolist() == [3, 4, 1, 6]


def test_undirected_edges_are_counted_once(graphs):
    assert graphs.edge_counts().tolist() == [2, 4, 0, 5]


def test_a_loop_is_one_edge():
    looped = as_graphset([(2, [(0, 0), (0, 1)]), (1, [(0, 0)]), (1, [])], self_loops="keep")
    assert looped.edge_counts().tolist() == [2, 1, 0]


def test_an_element_counts_its_edges_like_its_set(graphs):
    assert [graph.n_edges for graph in graphs] == graphs.edge_counts().tolist()


def test_arcs_are_counted_one_by_one_where_direction_is_kept():
    assert as_graphset(nx.DiGraph([(0, 1), (1, 0), (1, 2)]), directed="keep").n_edges == 3


def test_a_number_selects_a_graph_with_its_label_and_id(graphs):
    assert (graphs[1].n_nodes, graphs[1].label, graphs[1].id) == (4, "cycle", "c")


def test_a_negative_number_counts_from_the_end(graphs):
    assert graphs[-1].label == "star"


def test_a_number_outside_is_an_index_error(graphs):
    with pytest.raises(IndexError, match="graph 4 was asked for, the set has 4"):
        graphs[4]


@pytest.mark.parametrize("key", [slice(1, 3), slice(None, None, -1), slice(3, 1), slice(-2, None)])
def test_a_slice_selects_like_a_list(graphs, key):
    assert graphs[key].labels.tolist() == graphs.labels.tolist()[key]


def test_a_mask_selects_where_it_is_true(graphs):
    assert graphs[graphs.node_counts() > 3].ids.tolist() == ["c", "s"]


def test_positions_select_in_their_order_and_may_repeat(graphs):
    assert graphs[[3, 0, 3, -1]].ids.tolist() == ["s", "p", "s", "s"]


def test_an_empty_list_selects_no_graph(graphs):
    assert len(graphs[[]]) == 0


def test_a_mask_of_another_length_is_an_index_error(graphs):
    with pytest.raises(IndexError, match="the mask has 2 entries, the set has 4"):
        graphs[np.array([True, False])]


def test_a_position_outside_is_an_index_error(graphs):
    with pytest.raises(IndexError, match="graph 9"):
        graphs[[0, 9]]


def test_a_name_is_no_selection(graphs):
    with pytest.raises(IndexError, match="a number, a slice, a mask"):
        graphs["path"]


def test_iteration_gives_every_graph_in_order(graphs):
    assert [graph.id for graph in graphs] == ["p", "c", "d", "s"]


def test_sets_of_equal_content_are_equal(graphs):
    assert graphs == graphs[[0, 1, 2, 3]]


def test_sets_with_other_labels_are_not_equal(graphs):
    assert graphs != graphs.with_labels(["a", "b", "c", "d"])


def test_a_set_is_not_equal_to_something_else(graphs):
    assert graphs != "graphs"


def test_weights_of_one_are_no_weights():
    assert as_graphset((2, [(0, 1, 1.0)])) == as_graphset((2, [(0, 1)]))


def test_a_set_cannot_be_a_key(graphs):
    with pytest.raises(TypeError, match="unhashable"):
        hash(graphs)


def test_the_arrays_cannot_be_written_to(graphs):
    with pytest.raises(ValueError, match="read-only"):
        graphs.indices[0] = 1


def test_attributes_cannot_be_replaced(graphs):
    with pytest.raises(AttributeError):
        graphs.labels = None


def test_labels_given_as_an_array_are_copied():
    labels = np.array([0, 1])
    graphs = as_graphset([(1, []), (2, [])], labels=labels)
    labels[0] = 7
    assert graphs.labels.tolist() == [0, 1]


def test_the_fingerprint_ignores_ids(graphs):
    assert as_graphset(graphs, ids=[9, 8, 7, 6]).fingerprint() == graphs.fingerprint()


def test_the_fingerprint_sees_labels(graphs):
    assert graphs.with_labels(None).fingerprint() != graphs.fingerprint()


def test_the_fingerprint_sees_an_edge(graphs):
    assert as_graphset((3, [(0, 1)])).fingerprint() != as_graphset((3, [(0, 2)])).fingerprint()


def test_the_fingerprint_does_not_depend_on_the_width_of_numbers():
    wide = as_graphset((2, [(0, 1)]))
    narrow = GraphSet(wide.node_ptr.astype(np.int32), wide.indptr.astype(np.int32), wide.indices.astype(np.int64))
    assert narrow.fingerprint() == wide.fingerprint()


def test_classes_are_sorted(graphs):
    assert graphs.classes == ["cycle", "dot", "path", "star"]


def test_classes_that_cannot_be_compared_stay_in_order_of_appearance():
    assert as_graphset([(1, [])] * 3, labels=["b", 2, "b"]).classes == ["b", 2]


def test_a_set_without_labels_has_no_classes(graphs):
    assert graphs.with_labels(None).classes == []


def test_concatenated_sets_keep_order_labels_and_ids(graphs):
    assert GraphSet.concatenate([graphs[:1], graphs[1:]]) == graphs


def test_concatenation_fills_missing_weights_with_ones():
    joined = GraphSet.concatenate([as_graphset((2, [(0, 1)])), as_graphset((2, [(0, 1, 2.5)]))])
    assert joined.weights.tolist() == [1, 1, 2.5, 2.5]


def test_concatenation_of_directed_and_undirected_sets_is_refused(graphs):
    with pytest.raises(GraphInputError, match="cannot be joined"):
        GraphSet.concatenate([graphs, as_graphset(graphs, directed="keep")])


def test_concatenation_of_nothing_is_refused():
    with pytest.raises(GraphInputError, match="no graph set was given"):
        GraphSet.concatenate([])


def test_labels_of_the_wrong_number_are_refused(graphs):
    with pytest.raises(GraphInputError, match="3 labels were given for 4 graphs"):
        graphs.with_labels([1, 2, 3])


def test_a_graph_without_nodes_is_named():
    with pytest.raises(GraphInputError, match=r"graph 1 \(b\) has no node"):
        GraphSet(np.array([0, 1, 1]), np.array([0, 0]), np.empty(0, np.int32), ids=np.array(["a", "b"]))


def test_the_representation_says_what_is_inside(graphs):
    assert repr(graphs) == "GraphSet(4 graphs, 14 nodes, 11 edges, 4 classes)"


def test_a_set_survives_pickling_for_other_processes(graphs):
    assert pickle.loads(pickle.dumps(graphs)) == graphs


def test_a_set_out_of_a_pickle_cannot_be_written_to(graphs):
    assert not pickle.loads(pickle.dumps(graphs)).indices.flags.writeable


def test_blocks_of_arcs_cover_every_row_once(monkeypatch):
    monkeypatch.setattr("phist.graphs.arrays._BLOCK", 4)
    starts = np.array([0, 3, 3, 9, 10, 10, 15])
    covered = [row for block in blocks(starts) for row in range(block.start, block.stop)]
    assert covered == list(range(6))


def test_loops_are_counted_alike_in_small_blocks(monkeypatch):
    looped = as_graphset([(3, [(0, 0), (0, 1), (1, 2), (2, 2)]), (1, [(0, 0)])], self_loops="keep")
    whole = looped.loop_counts().tolist()
    monkeypatch.setattr("phist.graphs.arrays._BLOCK", 2)
    assert looped.loop_counts().tolist() == whole == [1, 0, 1, 1]


def test_graphs_are_read_without_torch():
    code = "import sys, phist.graphs.datasets, phist.graphs.formats.compiled; sys.exit('torch' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


def test_edges_of_a_graph_come_once_and_in_order():
    graph = as_graphset([(4, [(2, 0), (1, 2), (3, 3), (1, 0)])], self_loops="keep")[0]
    assert graph.edges().tolist() == [[0, 1], [0, 2], [1, 2], [3, 3]]
    directed = as_graphset([(3, [(2, 0), (0, 2), (1, 0)])], directed="keep")[0]
    assert directed.edges().tolist() == [[0, 2], [1, 0], [2, 0]]
    assert as_graphset([(2, [])])[0].edges().shape == (0, 2)


def test_a_graph_is_named_in_one_line():
    graphs = as_graphset([(3, [(0, 1), (1, 2)])], labels=["path"])
    assert repr(graphs[0]) == "Graph(3 nodes, 2 edges, id=0, label='path')"
    arcs = as_graphset([(2, [(0, 1)], [0.5])], directed="keep")
    assert repr(arcs[0]) == "Graph(2 nodes, 1 edges, id=0, directed, weighted)"
