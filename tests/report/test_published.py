import pytest

from phist.graphs.catalog import dataset_facts
from phist.report.published import Figure, load_published


def test_all_baselines_and_the_papers_own_rows_are_there():
    labels = {row.label for row in load_published().accuracy.values()}
    assert len(labels) == 14 + 3


def test_every_row_has_all_nine_datasets_but_the_deterministic_one():
    published = load_published()
    assert len(published.datasets) == 9
    for name, row in published.accuracy.items():
        assert set(published.datasets) - set(row.figures) == (
            {"DD", "COLLAB", "REDDIT-BINARY"} if name == "phist-deterministic" else set()
        )


def test_datasets_have_the_names_that_phist_knows():
    for dataset in load_published().datasets:
        assert dataset_facts(dataset).name == dataset


@pytest.mark.parametrize(
    ("method", "dataset", "figure"),
    [
        ("wl-subtree", "MUTAG", Figure(75.9, 8.6)),
        ("svm-theta", "COLLAB", Figure(52.0, 0.1)),
        ("gin-eps", "REDDIT-BINARY", Figure(90.3, 3.0)),
        ("sage-no-jk", "MUTAG", Figure(80.4, 15.5)),
        ("phist", "ENZYMES", Figure(42.0, 7.2)),
        ("phist-sum", "NCI1", Figure(74.4, 1.6)),
    ],
)
def test_figures_are_those_that_were_printed(method, dataset, figure):
    assert load_published().accuracy[method].figures[dataset] == figure


def test_the_generalisation_error_is_given_for_both_variants():
    rows = load_published().generalisation
    assert rows["phist-paper"].figures["ENZYMES"] == Figure(22.8)
    assert rows["phist-deterministic"].figures["ENZYMES"] == Figure(62.6)
