"""Equal graphs are asked about once."""

import networkx as nx
import numpy as np
import pytest

from phist import StructuralClassifier
from phist.explain.answers import Answering
from phist.explain.distinct import distinct_graphs
from phist.explain.readers import readers_of
from phist.graphs.canonical import in_canonical_order
from phist.graphs.convert import as_graphset
from phist.graphs.motifs import make_ba_2motifs


@pytest.fixture(scope="module")
def graphs():
    return make_ba_2motifs(12, seed=0)[0]


@pytest.fixture(scope="module")
def model(graphs):
    return StructuralClassifier("low", random_state=0, progress=False, members=("network",)).fit(graphs)


def test_a_graph_without_either_of_two_symmetric_edges_is_one_graph():
    ring = nx.cycle_graph(6)
    parts = [nx.Graph(ring) for _ in range(2)]
    for part, edge in zip(parts, [(0, 1), (3, 4)], strict=True):
        part.remove_edge(*edge)
    first, kind = distinct_graphs(in_canonical_order(as_graphset([*parts, ring])).graphs)
    assert first.tolist() == [0, 2] and kind.tolist() == [0, 0, 1]


def test_weights_and_isolated_nodes_make_graphs_distinct():
    plain, heavy, larger = nx.path_graph(3), nx.path_graph(3), nx.path_graph(3)
    heavy.add_edge(0, 1, weight=2.0)
    larger.add_node(3)
    assert len(distinct_graphs(as_graphset([plain, heavy, larger]))[0]) == 3


def test_a_model_is_asked_about_each_distinct_graph_once(model, graphs, monkeypatch):
    asked = []
    real = model.ensemble_.predict_proba
    monkeypatch.setattr(model.ensemble_, "predict_proba", lambda graphs, seen: asked.append(len(graphs)) or real(graphs, seen))
    answer = Answering(model.ensemble_, readers_of(model)[0])
    twice = answer(graphs[[0, 1, 0]])
    np.testing.assert_array_equal(twice.probabilities[0], twice.probabilities[2])
    assert asked == [2] and len(answer(graphs[[1, 0]]).logits) == 2 and asked == [2]


def test_repeated_graphs_are_explained_as_alone(model, graphs):
    together, alone = model.explain(graphs[[3, 4, 3]]), model.explain(graphs[[3]])[0]
    for one in (together[0], together[2]):
        np.testing.assert_allclose(one.node_shares, alone.node_shares, atol=1e-5)
        np.testing.assert_allclose(one.edge_effects, alone.edge_effects, atol=1e-6)
