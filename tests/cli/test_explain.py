"""phist explain"""

import json

import numpy as np
import pytest

from phist import StructuralClassifier, read_graphs


def test_explain_says_which_nodes_and_edges_matter(run, model, data):
    result = run("explain", model, data, "--graph", "g1", "--graph", "g0")
    assert result.exit_code == 0, result.output
    assert result.stdout.count("  nodes: ") == 2 and "graph g0: " in result.stdout and "node shares cover" in result.stdout


def test_explain_as_json_holds_everything_and_nothing_else(run, model, data):
    content = json.loads(run("explain", model, data, "--graph", "g3", "--json").stdout)["explanations"]
    graph = read_graphs(data)[3]
    (one,) = content
    assert one["graph"] == "g3" and one["label"] == graph.label and one["edges"] == graph.edges().tolist()
    network = one["network"]
    total = np.array(network["base"]) + network["size"] + np.sum(network["shares"], axis=0)
    np.testing.assert_allclose(total, network["logits"], atol=1e-4)
    np.testing.assert_allclose(one["probabilities"], StructuralClassifier.load(model).predict_proba(graph)[0], atol=1e-5)
    assert np.shape(one["deletions"]["edges"]) == (9, 2) and np.shape(one["deletions"]["nodes"]) == (10, 2)


def test_explain_takes_a_target_a_limit_and_a_file(run, model, data, tmp_path):
    options = ["--graph", "g3", "--target", "recursive", "--max-deletions", 2, "--json", "--out", tmp_path / "why.json"]
    result = run("explain", model, data, *options)
    assert result.stdout == ""
    one = json.loads((tmp_path / "why.json").read_text())["explanations"][0]
    assert one["target"] == "recursive"
    assert sum(row[0] is not None for row in one["deletions"]["edges"]) == 2


def test_explain_is_the_same_every_time_and_with_either_engine(run, model, data):
    calls = [("explain", model, data, "--graph", "g3", "--json", *extra) for extra in ((), (), ("--engine", "reference"))]
    first, second, reference = (json.loads(run(*call).stdout)["explanations"][0] for call in calls)
    assert first == second
    np.testing.assert_allclose(first["network"]["shares"], reference["network"]["shares"], atol=1e-3)


@pytest.mark.parametrize(
    ("options", "message"),
    [(("--graph", "g99"), "no graph has the id 'g99'"), (("--target", "oak"), "'oak' is no class of this model")],
)
def test_explain_refuses_what_it_does_not_know(refused, model, data, options, message):
    assert message in refused("explain", model, data, *options)


def test_explain_writes_a_page(run, model, data, tmp_path):
    result = run("explain", model, data, "--graph", "g3", "--out", tmp_path / "why.html")
    assert result.exit_code == 0, result.output
    page = (tmp_path / "why.html").read_text()
    assert page.startswith("<!doctype html>") and "trees.jsonl" in page
    assert "why.html" in result.stderr.replace("\n", "") and "open it in a browser" in " ".join(result.stderr.split())


def test_explain_refuses_a_page_as_json(refused, model, data, tmp_path):
    assert "exclude each other" in refused("explain", model, data, "--json", "--out", tmp_path / "why.html")
