"""A model reads graphs as those of its training were read."""

import warnings

import networkx as nx
import numpy as np
import pytest

from phist import StructuralClassifier, as_graphset
from phist.errors import ModelFileError
from phist.estimators.reading import InputNotice, Reading

PATHS = as_graphset([nx.path_graph(size) for size in range(2, 8)])


def weighted(graph, weight):
    copy = graph.copy()
    nx.set_edge_attributes(copy, weight, "weight")
    return copy


def test_arcs_that_were_kept_in_training_are_kept_in_lists_of_graphs():
    arcs = [nx.DiGraph([(0, 1), (1, 2)])]
    kept = as_graphset(arcs, directed="keep")
    assert Reading.of(kept).read(arcs) == kept


def test_a_directed_set_given_to_an_undirected_model_is_symmetrised():
    kept = as_graphset([nx.DiGraph([(0, 1), (1, 2)])], directed="keep")
    assert Reading.of(PATHS).read(kept) == as_graphset([nx.path_graph(3)])


@pytest.mark.parametrize("given", [lambda graph: [graph], lambda graph: as_graphset([graph])], ids=["networkx", "GraphSet"])
def test_weights_unknown_in_training_are_ignored_and_that_is_said(given):
    with pytest.warns(InputNotice, match="edge weights"):
        assert Reading.of(PATHS).read(given(weighted(nx.path_graph(4), 2.5))) == as_graphset([nx.path_graph(4)])


def test_weights_known_in_training_are_used():
    graphs = as_graphset([weighted(nx.path_graph(4), 2.5)])
    assert Reading.of(graphs).read(graphs) == graphs


def test_loops_are_kept_only_where_training_had_some():
    looped = nx.path_graph(3)
    looped.add_edge(0, 0)
    with_loops = as_graphset([looped], self_loops="keep")
    assert Reading.of(with_loops).read([looped]).loop_counts().any()
    assert not Reading.of(PATHS).read(with_loops).loop_counts().any()


def test_graphs_far_larger_than_any_in_training_are_noticed():
    with pytest.warns(InputNotice, match="1 of 2 graphs have more than 4 times as many nodes"):
        Reading.of(PATHS).read([nx.path_graph(5), nx.path_graph(40)])


def test_graphs_as_in_training_are_read_without_a_word():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert Reading.of(PATHS).read(PATHS) == PATHS


@pytest.mark.parametrize(
    "values", [[], {}, {"directed": 0, "weighted": False, "loops": False, "largest": 3}, {**Reading.of(PATHS).to_dict(), "more": 1}]
)
def test_a_reading_that_is_none_is_refused(values):
    with pytest.raises(ModelFileError):
        Reading.from_dict(values)


def test_a_loaded_model_reads_as_it_did_before(tmp_path):
    cycles = [nx.cycle_graph(5, create_using=nx.DiGraph) for _ in range(6)]
    stars = [nx.DiGraph([(0, leaf) for leaf in range(1, 5)]) for _ in range(6)]
    graphs = as_graphset(cycles + stars, ["cycle"] * 6 + ["star"] * 6, directed="keep")
    settings = {"network": {"channels": (3, 4), "bins": 3, "roots": 4}, "training": {"epochs": 2}}
    model = StructuralClassifier("low", random_state=0, engine="reference", members="network", **settings).fit(graphs)
    model.save(tmp_path / "model")
    again = StructuralClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(cycles + stars), model.predict_proba(graphs))


def test_the_graphs_of_a_directed_set_are_read_as_the_set_is():
    kept = as_graphset([nx.DiGraph([(0, 1), (1, 2)])] * 2, directed="keep")
    assert Reading.of(PATHS).read(list(kept)) == Reading.of(PATHS).read(kept)
