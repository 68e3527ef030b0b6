from dataclasses import replace

import pytest
from made_records import make_record, make_records, write_records

from phist.report.growth import NO_NUMBERS, growth_markdown, growth_of, growth_tables
from phist.report.order import sort_datasets
from phist.report.study import load_study, make_study


def records(numbers=(100, 30), method="phist"):
    made = [make_records([right] * 10, method=method, labelled=number) for number, right in zip(numbers, (18, 15), strict=True)]
    return [replace(record, prediction_seconds=0.5) for group in made for record in group]


def test_every_number_of_labelled_graphs_is_a_point_of_its_curve():
    (growth,) = growth_of(make_study(records()))
    assert growth.dataset == "MUTAG"
    assert [(point.labelled, point.result.mean) for point in growth.curves["phist"]] == [(30, 75.0), (100, pytest.approx(90.0))]
    assert {point.prediction_seconds for point in growth.curves["phist"]} == {0.5}


def test_whole_datasets_do_not_grow():
    assert growth_of(make_study(make_records([15] * 10))) == []
    assert NO_NUMBERS in growth_markdown(make_study(make_records([15] * 10)))


def test_a_table_has_a_column_for_each_number_and_says_what_was_skipped():
    skipped = make_record("wl-subtree", labelled=100, status="skipped", reason="too large")
    study = make_study(records() + make_records([12] * 10, method="wl-subtree", labelled=30) + [skipped])
    scores, times = growth_tables(study)
    assert scores.columns == times.columns == ("30", "100")
    row = next(row for row in scores.rows if row.label == "wl-subtree")
    assert [entry.absent for entry in row.entries] == [None, "skipped"]


def test_labels_need_no_times():
    assert len(growth_tables(make_study(records()), times=False)) == 1


def test_columns_are_ordered_by_dataset_and_number():
    assert sort_datasets(["NCI1:1000", "NCI1:30", "MUTAG:300", "NCI1"]) == ["MUTAG:300", "NCI1", "NCI1:30", "NCI1:1000"]


def test_a_study_of_some_folds_is_complete_with_these(tmp_path):
    folder = write_records(tmp_path / "mine", make_records([15, 16, 17]))
    assert not load_study(folder).need("phist", "MUTAG").complete
    (tmp_path / "mine.toml").write_text('folds = [0, 1, 2]\n[[runs]]\nmethods = ["phist"]\ndatasets = ["MUTAG"]\n')
    assert load_study(folder).need("phist", "MUTAG").complete
