import sys

import numpy as np
import pytest

from phist import StructuralClassifier, as_graphset
from phist.drawing import plot_history, plot_plane, plot_responses, save_figure
from phist.drawing.responses import RootResponse, by_class, choose_examples, most_telling_channel, root_response
from phist.errors import ConfigError, GraphInputError, MissingExtraError
from phist.graphs.generate import make_trees
from phist.nn.batch import Batch
from phist.nn.sampling import all_roots

TREES = make_trees(24, n_nodes=9, seed=0)


@pytest.fixture(scope="module")
def classifier():
    return StructuralClassifier(preset="MUTAG", training={"epochs": 2}, random_state=0).fit(TREES)


def test_root_response_is_what_the_network_computes(classifier):
    network = classifier.network_
    batch = Batch.from_graphs(TREES[:1])
    embeddings = network._node_histograms(batch, all_roots(batch))[0][0]
    for root in range(TREES[0].n_nodes):
        drawn = root_response(network, TREES[0], root)
        np.testing.assert_allclose(drawn.histogram.ravel(), embeddings[root].detach(), atol=1e-5)
        assert np.abs(drawn.elements).max() <= 1


def test_the_root_is_the_node_of_highest_degree(classifier):
    star = as_graphset([(5, [(3, 0), (3, 1), (3, 2), (3, 4)])])[0]
    assert root_response(classifier.network_, star).root == 3


def test_a_large_graph_costs_few_roots(classifier):
    path = as_graphset([(500, [(node, node + 1) for node in range(499)])])[0]
    assert root_response(classifier.network_, path).elements.shape[0] == 500


def test_examples_are_chosen_among_some_graphs_of_the_most_frequent_classes():
    graphs = as_graphset([(3, [(0, 1)])] * 210, labels=["d"] * 2 + ["a"] * 100 + ["b"] * 100 + ["c"] * 8)
    assert [(own.classes, len(own)) for own in by_class(graphs)] == [(["a"], 60), (["b"], 60), (["c"], 8)]


def test_the_telling_channel_separates_classes_not_two_graphs():
    generator = np.random.default_rng(0)
    first, second = generator.uniform(0, 0.1, (2, 20, 4, 5))
    first[0, 1] = [9, 0, 0, 0, 0]  # an outlier in channel 1
    second[:, 2] += 0.3  # a shift of the class in channel 2
    assert most_telling_channel([first, second]) == 2


def test_the_typical_graph_is_near_its_class_and_the_atypical_one_near_another():
    def responses(*values):
        return [RootResponse(None, 0, None, np.array([[value, 0.0]])) for value in values]

    rows = choose_examples([responses(0.0, 0.1, 0.7), responses(1.0, 0.9, 0.2)], channel=0)
    assert [row.typical.histogram[0, 0] for row in rows] == [0.1, 0.9]
    assert [row.atypical.histogram[0, 0] for row in rows] == [0.7, 0.2]


@pytest.mark.parametrize("labelled", [True, False])
def test_responses_have_a_row_for_each_class(classifier, labelled):
    graphs = TREES if labelled else TREES.with_labels(None)
    assert len(plot_responses(classifier, graphs).axes) == (6 if labelled else 3)


def test_responses_draw_degenerate_graphs(classifier, tmp_path):
    graphs = as_graphset([(1, []), (4, [(0, 1)])], labels=["point", "apart"])
    save_figure(plot_responses(classifier, graphs), tmp_path / "responses")
    assert (tmp_path / "responses.png").stat().st_size > 1000


def test_responses_need_histograms():
    summing = StructuralClassifier(preset="MUTAG", training={"epochs": 1}, network={"aggregation": "sum"}, random_state=0).fit(
        TREES
    )
    with pytest.raises(ConfigError, match='aggregation="histogram"'):
        plot_responses(summing, TREES)


def test_plane_is_that_of_the_background():
    generator = np.random.default_rng(0)
    background = generator.normal(size=(30, 4)) * [10, 5, 0.1, 0.1]
    figure = plot_plane(background[:6], [*"aabbcc"], [True] * 5 + [False], background=background)
    texts = [text.get_text() for text in figure.axes[0].get_legend().get_texts()]
    assert texts == ["training graphs", "class a (2)", "class b (2)", "class c (2)", "misclassified (1)"]


@pytest.mark.parametrize(("shape", "labels"), [((5, 3), 4), ((5,), 5), ((1, 3), 1)])
def test_plane_refuses_what_does_not_fit(shape, labels):
    with pytest.raises(GraphInputError):
        plot_plane(np.ones(shape), ["a"] * labels)


def test_history_marks_the_kept_epoch(classifier):
    figure = plot_history(classifier.histories_[0])
    texts = [text.get_text() for text in figure.axes[1].get_legend().get_texts()]
    assert f"kept: epoch {classifier.histories_[0].best + 1}" in texts


def test_equal_figures_are_equal_files(classifier, tmp_path):
    for name in "ab":
        written = save_figure(plot_history(classifier.histories_[0]), tmp_path / name)
        assert [path.suffix for path in written] == [".png", ".svg"]
    assert (tmp_path / "a.svg").read_bytes() == (tmp_path / "b.svg").read_bytes()
    assert (tmp_path / "a.png").read_bytes() == (tmp_path / "b.png").read_bytes()


def test_missing_matplotlib_names_the_extra(classifier, monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib.figure", None)
    with pytest.raises(MissingExtraError, match=r"phist\[report\]"):
        plot_history(classifier.histories_[0])
