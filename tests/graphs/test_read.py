import json

import networkx as nx
import pytest

from phist import as_graphset, read_graphs
from phist.errors import GraphInputError, MissingExtraError


def write(path, text):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def write_lines(path, *objects):
    return write(path, "".join(json.dumps(content) + "\n" for content in objects))


# Anything --------------------------------------------------------------------------------------------------------------


def test_a_missing_path_is_named(tmp_path):
    with pytest.raises(GraphInputError, match="there is no file or folder"):
        read_graphs(tmp_path / "nowhere")


@pytest.mark.parametrize("name", ["a.zip", "a.jsonl", "a.csv", "a.graphml", "a.edges", "a.parquet"])
def test_an_empty_file_is_named(tmp_path, name):
    with pytest.raises(GraphInputError, match="is empty"):
        read_graphs(write(tmp_path / name, ""))


@pytest.mark.parametrize("name", ["a.jsonl", "a.csv", "a.tsv", "a.edges", "a.txt"])
def test_a_blank_file_is_empty(tmp_path, name):
    with pytest.raises(GraphInputError, match="is empty"):
        read_graphs(write(tmp_path / name, "\n\n"))


def test_an_unknown_ending_is_answered_with_the_known_ones(tmp_path):
    with pytest.raises(GraphInputError, match=r"ends in .docx, which phist does not read; give a TU folder or .zip.*\.jsonl"):
        read_graphs(write(tmp_path / "a.docx", "x"))


def test_a_folder_without_graphs_is_named(tmp_path):
    with pytest.raises(GraphInputError, match="holds no graphs"):
        read_graphs(tmp_path)


@pytest.mark.parametrize("name", ["a.csv", "a.txt"])
def test_bytes_that_are_no_text_are_refused(tmp_path, name):
    (tmp_path / name).write_bytes(b"\xff\xfe\x00\x81")
    with pytest.raises(GraphInputError, match="is not text"):
        read_graphs(tmp_path / name)


def test_a_saved_set_is_read(tmp_path):
    graphs = as_graphset([(2, [(0, 1)]), (1, [])], labels=["a", "b"])
    graphs.save(tmp_path / "set")
    assert read_graphs(tmp_path / "set") == graphs


def test_labels_given_as_a_list_replace_those_of_the_file(tmp_path):
    file = write_lines(tmp_path / "a.jsonl", {"edges": [], "n_nodes": 1, "label": 1})
    assert read_graphs(file, labels=["new"]).labels.tolist() == ["new"]


def test_a_tilde_is_the_home_folder(tmp_path, monkeypatch):
    monkeypatch.setenv("HOME", str(tmp_path))
    write(tmp_path / "a.edges", "0 1\n")
    assert len(read_graphs("~/a.edges")) == 1


# Edge lists and folders --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "text", ["0 1\n1 2\n", "0,1\n1,2", "source,target\n0,1\n1,2\n", "# comment\n0\t1\n% more\n1;2\n", "a b\nb c\n"]
)
def test_an_edge_list_may_be_parted_in_many_ways(tmp_path, text):
    assert read_graphs(write(tmp_path / "a.edges", text)) == as_graphset(nx.path_graph(3))


def test_a_line_with_one_name_declares_a_node(tmp_path):
    assert read_graphs(write(tmp_path / "a.edges", "0 1\n7\n")).n_nodes == 3


def test_nodes_are_numbered_by_size_not_by_letter(tmp_path):
    graphs = read_graphs(write(tmp_path / "a.edges", "10 9\n9 2\n"))
    assert graphs.degrees().tolist() == [1, 2, 1]


def test_what_networkx_writes_is_understood(tmp_path):
    graph = nx.Graph()
    graph.add_weighted_edges_from([(0, 1, 2.5), (1, 2, 1.0)])
    nx.write_edgelist(graph, tmp_path / "a.edgelist")
    assert read_graphs(tmp_path / "a.edgelist") == as_graphset(graph)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("0 1\n1 2 3 4\n", "line 2: '1 2 3 4' is not an edge"),
        ("0 1 x\n", "edge 0-1: 'x' was found where a weight should be"),
        ("0 1 2.0\n1 2\n", "edge 1-2 has no weight while others have"),
        ("# only a comment\n", "lists no edge and no node"),
        ("0 1 {'weight': \n", "not a list of edge attributes"),
        ("0 1 -2\n", "negative weight"),
        ("0 1 nan\n", "non-finite weight"),
    ],
)
def test_a_bad_edge_list_is_named(tmp_path, text, message):
    with pytest.raises(GraphInputError, match=message):
        read_graphs(write(tmp_path / "a.edges", text))


def test_a_folder_per_class_gives_labels_and_ids(tmp_path):
    write(tmp_path / "ring" / "b.edges", "0 1\n1 2\n2 0\n")
    write(tmp_path / "ring" / "a.csv", "source,target\n0,1\n1,2\n2,3\n3,0\n")
    (tmp_path / "path").mkdir()
    nx.write_graphml(nx.path_graph(4), tmp_path / "path" / "x.graphml")
    nx.write_gml(nx.path_graph(5), tmp_path / "path" / "y.gml")
    write(tmp_path / "readme.md", "not a graph")
    graphs = read_graphs(tmp_path)
    assert graphs.ids.tolist() == ["path/x.graphml", "path/y.gml", "ring/a.csv", "ring/b.edges"]
    assert graphs.labels.tolist() == ["path", "path", "ring", "ring"]
    assert graphs.edge_counts().tolist() == [3, 4, 4, 3]


def test_a_folder_without_classes_takes_labels_from_a_table(tmp_path):
    write(tmp_path / "data" / "a.edges", "0 1\n")
    write(tmp_path / "data" / "b.edges", "0 1\n")
    labels = write(tmp_path / "labels.csv", "graph,label\nb.edges,2\na.edges,1\n")
    assert read_graphs(tmp_path / "data", labels=labels).labels.tolist() == [1, 2]


def test_an_empty_file_in_a_class_is_named(tmp_path):
    write(tmp_path / "ring" / "a.edges", "")
    with pytest.raises(GraphInputError, match=r"a.edges is empty"):
        read_graphs(tmp_path)


# GraphML and GML ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ending", ["graphml", "gml"])
def test_weights_and_direction_come_from_the_file(tmp_path, ending):
    graph = nx.DiGraph()
    graph.add_weighted_edges_from([("a", "b", 2.0), ("b", "c", 0.5)])
    {"graphml": nx.write_graphml, "gml": nx.write_gml}[ending](graph, tmp_path / f"a.{ending}")
    assert read_graphs(tmp_path / f"a.{ending}", directed="keep") == as_graphset(graph, directed="keep")


@pytest.mark.parametrize("name", ["a.graphml", "a.gml"])
@pytest.mark.parametrize("text", ["<graphml>", "nonsense [", "<a/>"])
def test_broken_markup_is_named(tmp_path, name, text):
    with pytest.raises(GraphInputError, match=name):
        read_graphs(write(tmp_path / name, text))


def test_an_empty_graphml_graph_is_refused(tmp_path):
    nx.write_graphml(nx.Graph(), tmp_path / "a.graphml")
    with pytest.raises(GraphInputError, match="has no node"):
        read_graphs(tmp_path / "a.graphml")


# JSONL -----------------------------------------------------------------------------------------------------------------


def test_every_line_is_a_graph(tmp_path):
    file = write_lines(
        tmp_path / "a.jsonl",
        {"edges": [[0, 1], [1, 2]], "n_nodes": 4, "label": "a", "id": "first"},
        {"edges": [["x", "y", 2.0]], "nodes": ["z", "y", "x"], "label": "b", "id": "second"},
    )
    graphs = read_graphs(file)
    assert graphs == as_graphset([(4, [(0, 1), (1, 2)]), (3, [(2, 1, 2.0)])], labels=["a", "b"], ids=["first", "second"])


def test_nodes_are_those_of_the_edges_when_not_given(tmp_path):
    assert read_graphs(write_lines(tmp_path / "a.jsonl", {"edges": [[5, 9], [9, 7]]})).node_counts().tolist() == [3]


def test_weights_may_stand_in_a_list_beside_the_edges(tmp_path):
    beside = read_graphs(write_lines(tmp_path / "a.jsonl", {"edges": [[0, 1], [1, 2]], "weights": [1, 2.5]}))
    assert beside == read_graphs(write_lines(tmp_path / "b.jsonl", {"edges": [[0, 1, 1], [1, 2, 2.5]]}))


def test_directed_true_makes_rows_arcs(tmp_path):
    file = write_lines(tmp_path / "a.jsonl", {"edges": [[0, 1, 1.0], [1, 0, 3.0]], "directed": True})
    assert read_graphs(file).weights.tolist() == [3, 3]


def test_directed_false_gives_both_arcs_where_direction_is_kept(tmp_path):
    file = write_lines(tmp_path / "a.jsonl", {"edges": [[0, 1]], "directed": False})
    assert read_graphs(file, directed="keep").n_edges == 2


BAD_LINES = {
    "not JSON": ("{", "line 2 is not JSON"),
    "a list": ("[]", "line 2 is not an object with a list of edges"),
    "no edges": ('{"n_nodes": 3}', "line 2 is not an object with a list of edges"),
    "edges in words": ('{"edges": "all"}', "line 2 is not an object with a list of edges"),
    "one end": ('{"edges": [[0]]}', r"line 2: \[0\] is not an edge"),
    "a list as a node": ('{"edges": [[0, [1]]]}', "is not an edge"),
    "half a node": ('{"edges": [[0, 0.5]]}', "is not an edge"),
    "node outside": ('{"edges": [[0, 3]], "n_nodes": 3}', "line 2: 3 does not fit"),
    "a name with n_nodes": ('{"edges": [["a", "b"]], "n_nodes": 3}', "'a' does not fit"),
    "n_nodes in words": ('{"edges": [], "n_nodes": "three"}', "n_nodes='three' is not a whole number"),
    "too many nodes": ('{"edges": [], "n_nodes": 1000000000000000000000000}', "is not a whole number up to 2,147,483,647"),
    "an unnamed node": ('{"edges": [["a", "b"]], "nodes": ["a"]}', "'b', which is not in nodes"),
    "a node twice": ('{"edges": [], "nodes": ["a", "a"]}', "different names"),
    "no node": ('{"edges": []}', "graph 1 has no node"),
    "weights in words": ('{"edges": [[0, 1, "x"]]}', "line 2: 'x' was found where a weight"),
    "some weights": ('{"edges": [[0, 1, 1.0], [1, 2]]}', "some edges have a weight"),
    "too few weights": ('{"edges": [[0, 1], [1, 2]], "weights": [1]}', r"line 2: weights is \[1\]; a list of 2 numbers"),
    "weights twice": ('{"edges": [[0, 1, 2]], "weights": [2]}', "a list of 1 numbers is needed"),
    "one weight for all": ('{"edges": [[0, 1]], "weights": 2}', "weights is 2; a list of 1 numbers"),
    "a list of words": ('{"edges": [[0, 1]], "weights": ["x"]}', "line 2: 'x' was found where a weight"),
    "NaN": ('{"edges": [[0, 1, NaN]]}', "non-finite weight"),
    "infinity": ('{"edges": [[0, 1, Infinity]]}', "non-finite weight"),
    "negative": ('{"edges": [[0, 1, -1]]}', "graph 1 has a negative weight"),
    "direction in words": ('{"edges": [[0, 1]], "directed": "yes"}', "write true or false"),
    "a list as a label": ('{"edges": [[0, 1]], "label": [1]}', "label is a list"),
    "depth": ("[" * 100_000, "line 2 is not JSON"),
    "a missing label": ('{"edges": [[0, 1]]}', "the label of graph 1 is missing"),
}


@pytest.mark.parametrize(("line", "message"), BAD_LINES.values(), ids=BAD_LINES.keys())
def test_a_bad_line_is_named(tmp_path, line, message):
    first = '{"edges": [[0, 1]], "label": 1}' if message.startswith("the label") else '{"edges": [[0, 1]]}'
    with pytest.raises(GraphInputError, match=message):
        read_graphs(write(tmp_path / "a.jsonl", f"{first}\n{line}\n"))


# Tables ----------------------------------------------------------------------------------------------------------------

ROWS = "graph,source,target\n7,a,b\n9,x,y\n7,b,c\n9,z,\n"


def test_a_long_table_is_read_with_a_table_of_labels(tmp_path):
    labels = write(tmp_path / "labels.tsv", "graph\tlabel\n9\ttwo\n7\tone\n")
    graphs = read_graphs(write(tmp_path / "edges.csv", ROWS), labels=str(labels))
    assert graphs == as_graphset([(3, [(0, 1), (1, 2)]), (3, [(0, 1)])], labels=["one", "two"], ids=[7, 9])


def test_labels_of_a_table_can_be_a_mapping(tmp_path):
    assert read_graphs(write(tmp_path / "edges.csv", ROWS), labels={7: "a", 9: "b"}).labels.tolist() == ["a", "b"]


def test_a_table_without_labels_is_unlabelled(tmp_path):
    assert read_graphs(write(tmp_path / "edges.csv", ROWS)).labels is None


def test_the_same_name_in_two_graphs_is_two_nodes(tmp_path):
    graphs = read_graphs(write(tmp_path / "edges.csv", "graph,source,target\n1,a,b\n2,b,a\n"))
    assert graphs.node_counts().tolist() == [2, 2]


@pytest.mark.parametrize("separator", [";", "\t"])
def test_a_csv_may_be_parted_otherwise(tmp_path, separator):
    assert len(read_graphs(write(tmp_path / "edges.csv", ROWS.replace(",", separator)))) == 2


def test_columns_may_come_in_any_order_and_case(tmp_path):
    graphs = read_graphs(write(tmp_path / "edges.csv", "Target,Weight,Extra,Graph,Source\nb,2.5,?,1,a\n"))
    assert graphs.weights.tolist() == [2.5, 2.5]


def test_ids_with_leading_zeros_stay_text(tmp_path):
    assert read_graphs(write(tmp_path / "edges.csv", "graph,source,target\n007,a,b\n7,a,b\n")).ids.tolist() == ["007", "7"]


def test_parquet_reads_like_csv(tmp_path):
    pyarrow, parquet = pytest.importorskip("pyarrow"), pytest.importorskip("pyarrow.parquet")
    columns = {"graph": [7, 9, 7, 9], "source": ["a", "x", "b", "z"], "target": ["b", "y", "c", None]}
    parquet.write_table(pyarrow.table(columns), tmp_path / "edges.parquet")
    parquet.write_table(pyarrow.table({"graph": [7, 9], "label": ["one", "two"]}), tmp_path / "labels.parquet")
    graphs = read_graphs(tmp_path / "edges.parquet", labels=tmp_path / "labels.parquet")
    assert graphs == read_graphs(write(tmp_path / "edges.csv", ROWS), labels=["one", "two"])


def test_broken_parquet_is_named(tmp_path):
    pytest.importorskip("pyarrow")
    with pytest.raises(GraphInputError, match="cannot be read as Parquet"):
        read_graphs(write(tmp_path / "edges.parquet", "nonsense"))


def test_parquet_without_pyarrow_names_the_extra(tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "pyarrow.parquet", None)
    with pytest.raises(MissingExtraError, match=r"phist\[tables\]"):
        read_graphs(write(tmp_path / "edges.parquet", "x"))


BAD_TABLES = {
    "missing columns": ("graph,from,to\n1,a,b\n", "has no column source and no column target .it has graph, from, to"),
    "no rows": ("graph,source,target\n", "has no rows"),
    "no graph": ("graph,source,target\n1,a,b\n,a,b\n", "row 2 has no graph"),
    "no source": ("graph,source,target\n1,,b\n", "row 1 has no source"),
    "ragged": ("graph,source,target\n1,a\n", "row 1 has 2 fields, the header has 3"),
    "a weight in words": ("graph,source,target,weight\n1,a,b,x\n", "row 1: 'x' was found where a weight"),
    "no weight": ("graph,source,target,weight\n1,a,b,\n", "row 1: '' was found where a weight"),
    "negative": ("graph,source,target,weight\n1,a,b,-1\n", r"graph 0 \(1\) has a negative weight"),
    "an open quote": ('graph,source,target\n1,"a,b\n', "is not a table"),
}


@pytest.mark.parametrize(("text", "message"), BAD_TABLES.values(), ids=BAD_TABLES.keys())
def test_a_bad_table_is_named(tmp_path, text, message):
    with pytest.raises(GraphInputError, match=message):
        read_graphs(write(tmp_path / "edges.csv", text))


BAD_LABELS = {
    "a graph without rows": ("graph,label\n7,a\n9,b\n11,c\n12,d\n", "graph 11 and 1 more of .* has no node.*empty target"),
    "a graph without label": ("graph,label\n7,a\n", "graph 9 has no label"),
    "two labels": ("graph,label\n7,a\n9,b\n7,c\n", "gives graph 7 two labels"),
    "an empty label": ("graph,label\n7,a\n9,\n", "has no label for graph 9"),
    "missing columns": ("graph,class\n7,a\n", "has no column label"),
}


@pytest.mark.parametrize(("text", "message"), BAD_LABELS.values(), ids=BAD_LABELS.keys())
def test_bad_labels_are_named(tmp_path, text, message):
    with pytest.raises(GraphInputError, match=message):
        read_graphs(write(tmp_path / "edges.csv", ROWS), labels=write(tmp_path / "labels.csv", text))


def test_a_missing_table_of_labels_is_named(tmp_path):
    with pytest.raises(GraphInputError, match="there is no table of labels"):
        read_graphs(write(tmp_path / "edges.csv", ROWS), labels="labels.csv")


def test_labels_that_are_no_table_are_refused(tmp_path):
    with pytest.raises(GraphInputError, match="is not a table"):
        read_graphs(write(tmp_path / "edges.csv", ROWS), labels="one")
