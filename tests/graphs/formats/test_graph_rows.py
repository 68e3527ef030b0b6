"""Tables with one graph a row: what is read from them, without a copy where that can be, and what is refused."""

import numpy as np
import pyarrow as pa
import pyarrow.parquet as parquet
import pytest

from phist import as_graphset, read_graphs
from phist.errors import GraphInputError
from phist.graphs.formats.graph_rows import pack_table, write_graph_rows
from phist.graphs.generate import make_planted_partitions, make_trees
from phist.graphs.packing import Reading

READING = Reading()


def table(**columns):
    rows = {"n_nodes": [3, 2], "sources": [[0, 1], [0]], "targets": [[1, 2], [1]], **columns}
    return pa.table({name: values for name, values in rows.items() if values is not None})


@pytest.mark.parametrize("graphs", [make_trees(20, n_nodes=9, seed=0), make_planted_partitions(12, seed=0)])
def test_what_was_written_is_read(tmp_path, graphs):
    write_graph_rows(tmp_path / "graphs.parquet", graphs)
    assert read_graphs(tmp_path / "graphs.parquet") == graphs


def test_weights_and_odd_graphs_come_back(tmp_path, make_odd_graphs):
    odd = make_odd_graphs(10)
    write_graph_rows(tmp_path / "odd.parquet", odd)
    assert read_graphs(tmp_path / "odd.parquet") == odd
    weighted = as_graphset([(3, [(0, 1, 2.5), (1, 2, 0.5)]), (2, [(0, 1, 3.0)])])
    write_graph_rows(tmp_path / "weighted.parquet", weighted)
    assert np.array_equal(read_graphs(tmp_path / "weighted.parquet").weights, weighted.weights)


def test_targets_that_are_packed_already_are_not_copied():
    targets = np.array([1, 0, 2, 1, 1, 0], np.int32)
    packed = pa.table(
        {
            "n_nodes": [3, 2],
            "sources": pa.ListArray.from_arrays([0, 4, 6], pa.array(np.array([0, 1, 1, 2, 0, 1], np.int32))),
            "targets": pa.ListArray.from_arrays([0, 4, 6], pa.array(targets)),
        }
    )
    graphs = pack_table(packed, READING)
    assert np.shares_memory(graphs.indices, targets)
    assert graphs == as_graphset([(3, [(0, 1), (1, 2)]), (2, [(0, 1)])])


@pytest.mark.parametrize(
    ("sources", "targets"),
    [
        ([[0, 1], [0]], [[1, 2], [1]]),  # edges, once each
        ([[1, 0, 2, 1], [0, 1]], [[2, 1, 1, 0], [1, 0]]),  # arcs in any order
        ([[0, 0, 1, 1], [0]], [[1, 1, 2, 1], [1]]),  # repeated, and a loop
    ],
)
def test_edges_in_any_order_make_the_same_graphs(sources, targets):
    graphs = pack_table(table(sources=sources, targets=targets), READING)
    assert graphs == as_graphset([(3, [(0, 1), (1, 2)]), (2, [(0, 1)])])


def test_a_slice_of_a_table_is_its_rows():
    graphs = make_trees(10, n_nodes=6, seed=1)
    arc_ptr = graphs.indptr[graphs.node_ptr]
    local = np.concatenate([np.repeat(np.arange(own.n_nodes), np.diff(own.indptr)) for own in graphs]).astype(np.int32)
    rows = pa.table(
        {
            "n_nodes": graphs.node_counts(),
            "sources": pa.LargeListArray.from_arrays(arc_ptr, local),
            "targets": pa.LargeListArray.from_arrays(arc_ptr, graphs.indices),
        }
    )
    part = pack_table(rows.slice(3, 4), READING)
    assert np.array_equal(part.indices, graphs[3:7].indices)
    assert np.array_equal(part.indptr, graphs[3:7].indptr)


def test_ids_and_labels_are_those_of_their_columns(tmp_path):
    parquet.write_table(table(id=["a", "b"], label=[1, 0]), tmp_path / "graphs.parquet")
    graphs = read_graphs(tmp_path / "graphs.parquet")
    assert (graphs.ids.tolist(), graphs.labels.tolist()) == (["a", "b"], [1, 0])


def test_a_row_without_weights_has_ones():
    graphs = pack_table(table(weights=[[2.0, 3.0], None]), READING)
    assert graphs[0].weights.tolist() == [2, 2, 3, 3]
    assert graphs[1].weights.tolist() == [1, 1]


def test_directed_arcs_are_kept_where_that_is_asked_for():
    graphs = pack_table(table(), Reading(directed="keep"))
    assert graphs.directed
    assert len(graphs.indices) == 3


def test_graphs_without_nodes_are_left_out_where_that_is_asked_for():
    graphs = pack_table(table(n_nodes=[3, 0], sources=[[0], []], targets=[[1], []]), Reading(empty="drop"))
    assert graphs.ids.tolist() == [0]


@pytest.mark.parametrize("kind", [pa.int8(), pa.uint8(), pa.int16(), pa.uint32(), pa.int64(), pa.uint64()])
def test_whole_numbers_of_every_width_are_read(kind):
    lists = pa.array([[0, 1], [0]], pa.list_(kind)), pa.array([[1, 2], [1]], pa.large_list(kind))
    graphs = pack_table(table(n_nodes=pa.array([3, 2], kind), sources=lists[0], targets=lists[1]), READING)
    assert graphs == as_graphset([(3, [(0, 1), (1, 2)]), (2, [(0, 1)])])


@pytest.mark.parametrize(
    ("odd", "said"),
    [
        ({"targets": None}, "no column targets"),
        ({"targets": [[1, 3], [1]]}, "row 0 has the edge 1-3, but its nodes are 0 to 2"),
        ({"targets": [[1, -1], [1]]}, "row 0 has the edge 1--1"),
        ({"targets": [[1, 2], [1, 0]]}, "row 1 has 1 sources and 2 targets"),
        ({"targets": [[1, 2], None]}, "row 1 has no targets"),
        ({"targets": [[1, None], [1]]}, "row 0 has nothing in place of a number in targets"),
        ({"targets": [["a", "b"], ["c"]]}, "lists of string"),
        ({"targets": [1, 2]}, "make it lists of numbers"),
        ({"n_nodes": [3, -1]}, "row 1 has n_nodes=-1"),
        ({"n_nodes": [3, None]}, "row 1 has no n_nodes"),
        ({"n_nodes": [3.5, 2.0]}, "cast it to whole numbers"),
        ({"weights": [[1.0], [1.0]]}, "row 0 has 2 sources and 1 weights"),
        ({"weights": [[1.0, -1.0], [1.0]]}, "negative"),
    ],
)
def test_what_is_no_graph_is_refused_with_its_row(odd, said):
    with pytest.raises(GraphInputError, match=said):
        pack_table(table(**odd), READING)


def test_ids_that_are_lists_are_refused(tmp_path):
    parquet.write_table(table(id=[[1], [2]]), tmp_path / "graphs.parquet")
    with pytest.raises(GraphInputError, match="cast it to numbers or text"):
        read_graphs(tmp_path / "graphs.parquet")


def test_a_file_without_rows_is_refused(tmp_path):
    parquet.write_table(table().slice(0, 0), tmp_path / "graphs.parquet")
    with pytest.raises(GraphInputError, match="has no rows"):
        read_graphs(tmp_path / "graphs.parquet")
