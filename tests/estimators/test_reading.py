"""A model reads graphs to predict as it read those that it was fitted to, or says what it ignores."""

import warnings

import networkx as nx
import numpy as np
import pytest
from small_models import quick_classifier, quick_network

from phist import StructuralClassifier, as_graphset
from phist.errors import ModelFileError
from phist.estimators.reading import InputNotice, Reading

CYCLES = [nx.cycle_graph(size, create_using=nx.DiGraph) for size in (5, 6, 7, 8)]
STARS = [nx.DiGraph([(0, leaf) for leaf in range(1, size)]) for size in (5, 6, 7, 8)]
PATHS = [nx.path_graph(size) for size in (4, 5, 6, 7, 8, 9)]


def weighted(graphs, seed=0):
    generator = np.random.default_rng(seed)
    copies = [graph.copy() for graph in graphs]
    for graph in copies:
        nx.set_edge_attributes(graph, {edge: float(generator.uniform(0.5, 4)) for edge in graph.edges}, "weight")
    return copies


@pytest.fixture(scope="module")
def directed():
    graphs = as_graphset(CYCLES + STARS, ["cycle"] * 4 + ["star"] * 4, directed="keep")
    return quick_classifier(members="network").fit(graphs), graphs


@pytest.fixture(scope="module")
def undirected():
    return quick_classifier(members="network").fit(PATHS, [0, 1] * 3)


def test_directed_graphs_are_seen_by_the_random_walk(directed):
    assert directed[0].network_.config.operator == "random-walk"


def test_lists_of_directed_graphs_are_read_as_the_training_graphs_were(directed):
    model, graphs = directed
    np.testing.assert_array_equal(model.predict_proba(CYCLES + STARS), model.predict_proba(graphs))
    symmetric = model.predict_proba([graph.to_undirected() for graph in CYCLES + STARS])
    assert not np.allclose(symmetric, model.predict_proba(graphs))  # so that it matters


def test_a_loaded_model_reads_the_same_way(directed, tmp_path):
    model, graphs = directed
    model.save(tmp_path / "model")
    loaded = StructuralClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(CYCLES + STARS), model.predict_proba(graphs))
    assert loaded.reading_ == model.reading_


def test_an_undirected_model_reads_directed_graphs_as_undirected(undirected):
    expected = undirected.predict_proba([graph.to_undirected() for graph in STARS])
    np.testing.assert_array_equal(undirected.predict_proba(STARS), expected)
    np.testing.assert_array_equal(undirected.predict_proba(as_graphset(STARS, directed="keep")), expected)


@pytest.mark.parametrize("given", [list, as_graphset, lambda graphs: [nx.to_numpy_array(graph) for graph in graphs]])
def test_weights_are_ignored_with_a_notice_by_a_model_without(undirected, given):
    expected = undirected.predict_proba(PATHS)
    with pytest.warns(InputNotice, match="weights"):
        found = undirected.predict_proba(given(weighted(PATHS)))
    np.testing.assert_array_equal(found, expected)


def test_weights_are_used_by_a_model_with():
    graphs = weighted(PATHS)
    model = quick_classifier(members="network").fit(graphs, [0, 1] * 3)
    assert model.reading_.weighted
    np.testing.assert_array_equal(model.predict_proba(graphs), model.predict_proba(as_graphset(graphs)))
    assert not np.allclose(model.predict_proba(graphs), model.predict_proba(weighted(PATHS, seed=1)))


def test_far_larger_graphs_are_noticed(undirected):
    with pytest.warns(InputNotice, match="1 of 2 graphs have more than 4 times"):
        undirected.predict([nx.path_graph(5), nx.path_graph(37)])
    assert undirected.reading_.is_far_larger(as_graphset([nx.path_graph(36), nx.path_graph(37)])).tolist() == [False, True]


def test_graphs_like_those_of_training_are_not_noticed(undirected):
    with warnings.catch_warnings():
        warnings.simplefilter("error", InputNotice)
        undirected.predict(PATHS)


def test_a_preset_by_name_reads_the_same_way(tmp_path):
    graphs = as_graphset(CYCLES + STARS, ["cycle"] * 4 + ["star"] * 4, directed="keep")
    model = quick_network(network={"operator": "random-walk", "channels": (4, 6), "bins": 4, "roots": 6}).fit(graphs)
    np.testing.assert_array_equal(model.predict_proba(CYCLES + STARS), model.predict_proba(graphs))


def test_what_was_read_comes_back_from_its_values():
    reading = Reading(True, False, True, 17)
    assert Reading.from_dict(reading.to_dict()) == reading


@pytest.mark.parametrize(
    "wrong",
    [None, [], {}, {"directed": True}, {"directed": 1, "weighted": False, "loops": False, "largest": 3},
     {"directed": True, "weighted": False, "loops": False, "largest": 3.0},
     {"directed": True, "weighted": False, "loops": False, "largest": True},
     {"directed": True, "weighted": False, "loops": False, "largest": 3, "more": 1}],
)  # fmt: skip
def test_other_values_are_refused(wrong):
    with pytest.raises(ModelFileError, match="graphs were read"):
        Reading.from_dict(wrong)
