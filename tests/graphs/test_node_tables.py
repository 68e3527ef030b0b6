"""Nodes without edges, which a table of edges does not name: declared by a table of nodes or by their number."""

import pytest

from phist import read_graphs
from phist.errors import GraphInputError

EDGES = "graph,source,target\ng1,0,1\ng1,1,2\ng2,0,1\n"


@pytest.fixture
def edges(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text(EDGES)
    return path


def table(path, text):
    path.write_text(text)
    return path


def test_without_them_isolated_nodes_are_lost(edges):
    assert read_graphs(edges).node_counts().tolist() == [3, 2]


def test_a_table_of_nodes_adds_nodes_and_graphs(edges, tmp_path):
    nodes = table(tmp_path / "nodes.csv", "graph,node\ng1,0\ng1,7\ng3,a\n")
    graphs = read_graphs(edges, nodes=nodes)
    assert graphs.node_counts().tolist() == [4, 2, 1]
    assert graphs.ids.tolist() == ["g1", "g2", "g3"]
    assert graphs.edge_counts().tolist() == [2, 1, 0]


def test_numbers_of_nodes_come_as_a_table_or_a_mapping(edges, tmp_path):
    counts = table(tmp_path / "counts.tsv", "graph\tn_nodes\ng2\t5\ng1\t3\ng3\t2\n")
    by_table = read_graphs(edges, nodes=counts)
    assert by_table == read_graphs(edges, nodes={"g1": 3, "g2": 5, "g3": 2})
    assert by_table.node_counts().tolist() == [3, 5, 2]


def test_weighted_edges_keep_their_weights(tmp_path):
    edges = table(tmp_path / "edges.csv", "graph,source,target,weight\n1,0,1,2.5\n")
    graphs = read_graphs(edges, nodes={1: 3})
    assert graphs.node_counts().tolist() == [3]
    assert graphs.weights.tolist() == [2.5, 2.5]


def test_text_and_parquet_go_together(edges, tmp_path):
    pa, pq = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    pq.write_table(pa.table({"graph": ["g1", "g2"], "n_nodes": [4, 2]}), tmp_path / "counts.parquet")
    assert read_graphs(edges, nodes=tmp_path / "counts.parquet").node_counts().tolist() == [4, 2]
    pq.write_table(pa.table({"graph": [1, 1], "source": [0, 1], "target": [1, None]}), tmp_path / "edges.parquet")
    nodes = table(tmp_path / "nodes.csv", "graph,node\n1,1\n1,2\n")
    assert read_graphs(tmp_path / "edges.parquet", nodes=nodes).node_counts().tolist() == [3]


BAD = {
    "too few": ("graph,n_nodes\ng1,2\ng2,2\n", "graph g1 has an edge that ends at 2, but .* gives it 2 nodes"),
    "a graph left out": ("graph,n_nodes\ng1,3\n", "graph g2 .* gives it 0 nodes"),
    "no number": ("graph,n_nodes\ng1,many\ng2,2\n", "graph g1 has 'many' nodes"),
    "a negative number": ("graph,n_nodes\ng1,-3\n", "graph g1 has -3 nodes"),
    "none": ("graph,n_nodes\ng1,3\ng2,2\ng3,0\n", "graph g3 has no node.*--empty drop"),
    "a huge number": ("graph,n_nodes\ng1,2000000000\ng2,2\n", "2,000,000,002 nodes"),
    "two numbers": ("graph,n_nodes\ng1,3\ng1,4\n", "two numbers"),
    "both": ("graph,node,n_nodes\ng1,1,3\n", "a column node, or else a column n_nodes"),
    "neither": ("graph,count\ng1,1\n", "a column node, or else a column n_nodes"),
    "an empty node": ("graph,node\ng1,\n", "row 1 has no node"),
}


@pytest.mark.parametrize(("text", "message"), BAD.values(), ids=BAD.keys())
def test_what_does_not_fit_is_named(edges, tmp_path, text, message):
    with pytest.raises(GraphInputError, match=message):
        read_graphs(edges, nodes=table(tmp_path / "nodes.csv", text))


def test_a_number_of_nodes_of_any_length_is_a_short_error(edges):
    with pytest.raises(GraphInputError, match="whole number below") as raised:
        read_graphs(edges, nodes={"g1": 10**400, "g2": 2})
    assert len(str(raised.value)) < 400


def test_they_are_for_tables_of_edges_only(tmp_path):
    lines = table(tmp_path / "x.jsonl", '{"edges":[[0,1]]}')
    with pytest.raises(GraphInputError, match="not a table of edges"):
        read_graphs(lines, nodes={0: 3})
    with pytest.raises(GraphInputError, match="is no table"):
        read_graphs(table(tmp_path / "e.csv", EDGES), nodes=tmp_path / "nowhere.csv")
