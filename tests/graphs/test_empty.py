"""Graphs without nodes, which some collections hold: an error that names the option, or left out and counted."""

import json

import networkx as nx
import pytest
from typer.testing import CliRunner

from phist import check_graphs, read_graphs
from phist.cli.app import app
from phist.errors import ConfigError, GraphInputError
from phist.graphs.datasets import load_graphs

LINES = '{"edges":[[0,1]],"label":"a"}\n{"edges":[],"label":"b"}\n{"edges":[[0,1],[1,2]],"label":"b"}\n'


def tu(folder, indicator="1\n1\n3\n3\n", labels="5\n6\n7\n"):
    for name, content in {"A": "1, 2\n3, 4\n", "graph_indicator": indicator, "graph_labels": labels}.items():
        (folder / f"X_{name}.txt").write_text(content)
    return folder


def jsonl(folder):
    (folder / "x.jsonl").write_text(LINES)
    return folder / "x.jsonl"


def per_class(folder):
    for place, graph in (("a/0.gml", nx.path_graph(2)), ("b/0.gml", nx.Graph()), ("b/1.gml", nx.path_graph(3))):
        (folder / place).parent.mkdir(exist_ok=True)
        nx.write_gml(graph, folder / place)
    return folder


@pytest.mark.parametrize("write", [tu, jsonl, per_class])
def test_the_error_names_the_option(tmp_path, write):
    with pytest.raises(GraphInputError, match=r'graph 1.* has no node.*empty="drop" \(--empty drop\)'):
        read_graphs(write(tmp_path))


@pytest.mark.parametrize(
    ("write", "labels", "ids"),
    [(tu, [5, 7], [0, 2]), (jsonl, ["a", "b"], [0, 2]), (per_class, ["a", "b"], ["a/0.gml", "b/1.gml"])],
)
@pytest.mark.parametrize("read", [read_graphs, load_graphs])
def test_the_others_keep_their_labels_and_ids(tmp_path, write, labels, ids, read):
    graphs = read(write(tmp_path), empty="drop")
    assert graphs.n_dropped == 1
    assert graphs.label_list() == labels
    assert graphs.ids.tolist() == ids
    assert graphs.node_counts().tolist()[0] == 2


def test_the_last_graphs_of_a_tu_set_may_be_empty(tmp_path):
    folder = tu(tmp_path, labels="5\n6\n7\n8\n8\n")
    with pytest.raises(GraphInputError, match=r"has 5 labels.*--empty drop"):
        read_graphs(folder)
    assert read_graphs(folder, empty="drop").n_dropped == 3


def test_a_graph_that_only_the_labels_name_is_empty(tmp_path):
    (tmp_path / "x.csv").write_text("graph,source,target\n1,a,b\n")
    (tmp_path / "labels.csv").write_text("graph,label\n1,p\n2,q\n")
    with pytest.raises(GraphInputError, match=r"graph 2 of .* has no node.*--empty drop"):
        read_graphs(tmp_path / "x.csv", tmp_path / "labels.csv")
    graphs = read_graphs(tmp_path / "x.csv", tmp_path / "labels.csv", empty="drop")
    assert (graphs.label_list(), graphs.n_dropped) == (["p"], 1)


def test_a_set_of_empty_graphs_only_is_an_error(tmp_path):
    (tmp_path / "x.jsonl").write_text('{"edges":[]}')
    with pytest.raises(GraphInputError, match="no graph has a node"):
        read_graphs(tmp_path / "x.jsonl", empty="drop")


def test_another_word_is_refused(tmp_path):
    with pytest.raises(ConfigError, match="empty='keep'"):
        read_graphs(jsonl(tmp_path), empty="keep")


def test_the_count_is_that_of_the_whole_set(tmp_path):
    graphs = read_graphs(jsonl(tmp_path), empty="drop", self_loops="drop", weights="ignore")
    assert check_graphs(graphs).empty_graphs == 1
    assert "1 graphs, left out" in check_graphs(graphs).summary()
    assert graphs[:1].n_dropped == 0


def test_phist_check_counts_them(tmp_path):
    path = str(jsonl(tmp_path))
    assert "graphs without nodes: 1" in CliRunner().invoke(app, ["check", path]).output
    assert json.loads(CliRunner().invoke(app, ["check", path, "--json"]).stdout)["empty_graphs"] == 1
    refused = CliRunner().invoke(app, ["check", path, "--empty", "error"])
    assert refused.exit_code == 2
