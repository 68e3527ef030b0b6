"""Explanations are measured once, and only where the model is right."""

import json
import sys
from pathlib import Path

import numpy as np
import pytest

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))  # scripts, in no package
import explanations


@pytest.fixture
def degree_model(monkeypatch):
    """A model that is right on houses, explained by degrees, and how often it was made."""
    made = []

    def make(training, seed):
        made.append(len(training))
        return explanations.Explained(
            lambda graphs: np.full(len(graphs), "house", dtype=object),
            {"degree": lambda graph: explanations.Values(graph.degrees().astype(float))},
        )

    monkeypatch.setattr(explanations, "MODELS", {"phist": make})
    monkeypatch.setattr(explanations, "METHODS", {"phist": ("degree",)})
    monkeypatch.setattr(explanations, "TRAINING_GRAPHS", 4)
    return made


def test_what_is_recorded_is_not_measured_again(degree_model):
    records = list(explanations.measure("ba-2motifs", 6, 0, set()))
    assert len(records) == 6 and degree_model == [4]
    done = {(one["set"], one["seed"], one["model"], one["method"], one["graph"]) for one in records}
    assert list(explanations.measure("ba-2motifs", 6, 0, done)) == [] and degree_model == [4]
    assert [one["graph"] for one in explanations.measure("ba-2motifs", 8, 0, done)] == [6, 7]


def test_the_summary_counts_graphs_that_are_classified_correctly(degree_model):
    records = list(explanations.measure("ba-2motifs", 6, 0, set()))
    right = [one["node_auroc"] for one in records if one["label"] == "house"]
    row = next(line for line in explanations.summary(records).splitlines() if "degree" in line)
    assert "3 of 6" in row and f"{np.mean(right):.3f}" in row
    json.dumps(records, allow_nan=False)


def test_a_node_has_the_value_of_its_strongest_edge():
    graphs, _ = explanations.SETS["ba-2motifs"](2, seed=0)
    values = np.arange(graphs[0].n_edges, dtype=float)
    found = explanations.from_edges(graphs[0], values)
    for node in range(graphs[0].n_nodes):
        assert found.nodes[node] == values[(graphs[0].edges() == node).any(1)].max()
