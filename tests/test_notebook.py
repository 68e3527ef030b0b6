"""What notebooks show: tables that hold what the text holds, and nothing that data could inject."""

import pytest

from phist import StructuralClassifier, as_graphset, check_graphs
from phist.graphs.generate import make_trees
from phist.notebook import html_table


@pytest.fixture(scope="module")
def graphs():
    return make_trees(30, n_nodes=10, seed=0)


@pytest.fixture(scope="module")
def model(graphs):
    return StructuralClassifier("low", training={"epochs": 2}, random_state=0, progress=False).fit(graphs)


def test_a_table_escapes_what_is_in_its_cells():
    assert "<script>" not in html_table("<script>", [("<script>",)], ("<script>",), "<script>")


def test_the_last_cell_of_a_short_row_spans_the_rest_of_the_table():
    shown = html_table("title", [("a sentence",), ("name", 1, 2)])
    assert 'colspan="3">a sentence' in shown
    assert shown.count('colspan="1"') == 3


def test_a_graph_set_shows_sizes_and_classes(graphs):
    shown = graphs._repr_html_()
    assert repr(graphs) in shown
    assert "recursive (15), uniform (15)" in shown


def test_a_graph_set_shows_labels_as_text():
    assert "<b>" not in as_graphset([(2, [(0, 1)])], labels=["<b>"])._repr_html_()


def test_an_empty_selection_can_be_shown(graphs):
    assert "GraphSet(0 graphs" in graphs[:0]._repr_html_()


def test_a_checkup_shows_its_lines(graphs):
    shown = check_graphs(graphs)._repr_html_()
    assert "1-WL ceiling" in shown
    assert "floors" in shown


def test_a_fitted_model_shows_its_report_and_an_unfitted_one_does_not(model):
    assert model.report_.verdict in model._repr_mimebundle_()["text/html"]
    assert model.report_.verdict in model._repr_html_()
    assert "What predicts" not in StructuralClassifier()._repr_html_()


def test_an_explanation_shows_its_text_and_a_picture(model, graphs):
    pytest.importorskip("matplotlib")
    explanation = model.explain(graphs[:1])[0]
    shown = explanation._repr_html_()
    assert str(explanation).splitlines()[0] in shown
    assert "<svg" in shown


def test_an_explanation_of_a_large_graph_is_shown_without_a_picture(model):
    path = as_graphset([(300, [(node, node + 1) for node in range(299)])])
    assert "<svg" not in model.explain(path, nodes=False, edges=False, votes=False)[0]._repr_html_()
