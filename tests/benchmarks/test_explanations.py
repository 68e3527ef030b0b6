"""Explanations are measured once, and only where the model is right."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))  # scripts, in no package
import explained_models
import explanation_tables
import explanations

from phist.graphs.motifs import make_ba_2motifs


@pytest.fixture
def degree_model(monkeypatch):
    """A model that says house of every graph with a triangle's worth of edges, explained by degrees; and how often it was made."""
    made = []

    def make(training, seed):
        made.append(len(training))
        logits = lambda graphs: np.outer(graphs.edge_counts() - graphs.node_counts() + 0.5, [-1.0, 1.0])  # noqa: E731
        by_degree = lambda graphs, run: [explained_models.Values(np.diff(graph.indptr).astype(float)) for graph in graphs]  # noqa: E731
        return explained_models.Explained(["cycle", "house"], logits, {"shares": by_degree})

    monkeypatch.setattr(explanations, "MODELS", {"phist": make})
    for module in (explanations, explanation_tables):
        monkeypatch.setattr(module, "METHODS", {"phist": ("shares",)})
    small = {"ba-2motifs": lambda seed: explanations._parts(make_ba_2motifs(10, seed=seed), 4)}
    monkeypatch.setattr(explanations, "SETS", small)
    return made


def test_what_is_recorded_is_not_measured_again(degree_model):
    records = list(explanations.measure("ba-2motifs", 1, set()))
    assert [len(record["graphs"]) for record in records] == [6] and degree_model == [4]
    assert list(explanations.measure("ba-2motifs", 1, {("ba-2motifs", 1, "shares")})) == [] and degree_model == [4]
    json.dumps(records, allow_nan=False)


def test_tables_count_graphs_that_are_classified_correctly(degree_model):
    records = list(explanations.measure("ba-2motifs", 1, set()))
    right = [graph["node_auroc"] for graph in records[0]["graphs"] if graph["right"]]
    row = next(line for line in explanation_tables.all_tables(records).splitlines() if "shares" in line)
    assert f"{len(right)} of 6" in row and f"{np.mean(right):.3f}" in row and "| 1.00 |" in row


def test_a_set_is_as_large_as_the_truth_and_its_deletion_is_compared_with_it(degree_model):
    (graph, *_) = next(explanations.measure("ba-2motifs", 1, set()))["graphs"]
    assert set(graph) >= {"plus", "minus", "drop", "truth_drop", "is_truth"}
    mask = explanations.strongest(np.array([0.1, 0.9, 0.5]), 2)
    assert mask.tolist() == [False, True, True]


def test_methods_that_repeat_themselves_agree_fully():
    graphs, _ = make_ba_2motifs(4, seed=0)
    same = lambda graphs, run: [explained_models.Values(np.arange(graph.n_nodes)) for graph in graphs]  # noqa: E731
    turned = lambda graphs, run: [explained_models.Values((-1.0) ** run * np.arange(graph.n_nodes)) for graph in graphs]  # noqa: E731
    assert explanations.repeats(same, graphs) == 1
    assert explanations.repeats(turned, graphs) < 0.1


def test_a_node_has_the_value_of_its_strongest_edge():
    graphs, _ = make_ba_2motifs(2, seed=0)
    values = np.arange(graphs[0].n_edges, dtype=float)
    found = explained_models.from_edges(graphs[0], values)
    for node in range(graphs[0].n_nodes):
        assert found.nodes[node] == values[(graphs[0].edges() == node).any(1)].max()


def test_tables_are_written_between_the_marks_of_the_document(degree_model, tmp_path, monkeypatch):
    monkeypatch.setattr(explanation_tables, "SUMMARY", tmp_path / "summary.md")
    monkeypatch.setattr(explanation_tables, "DOCUMENT", tmp_path / "explain.md")
    (tmp_path / "explain.md").write_text("before\n<!-- explanations:begin -->\nold\n<!-- explanations:end -->\nafter\n")
    explanation_tables.write_tables(list(explanations.measure("ba-2motifs", 1, set())))
    text = (tmp_path / "explain.md").read_text()
    assert "old" not in text and "| shares |" in text and text.startswith("before") and text.endswith("after\n")
