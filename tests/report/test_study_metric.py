"""Tables, ranks, summaries and the page by another metric than accuracy."""

from dataclasses import replace

import numpy as np
import pytest
from made_records import make_record, make_records, write_records

from phist.errors import ConfigError
from phist.evaluation.records import Outcome
from phist.report.comparison import compare
from phist.report.differences import difference_table
from phist.report.html import make_report
from phist.report.payload import make_payload
from phist.report.plan import named_metric
from phist.report.ranks import rank_methods
from phist.report.render import render, to_text
from phist.report.study import load_study, make_study
from phist.report.summary import summary_markdown
from phist.report.tables import leave_out_unmeasured, main_table


def outcome(scores, truth):
    """Predictions of the second class by their scores, which need not be on the right side of one half."""
    scores = np.array(scores)
    return Outcome(["a", "b"], list(range(len(truth))), list(truth), (scores > 0.5).astype(int).tolist(), np.c_[1 - scores, scores])


def scored(scores, truth=(0, 0, 1, 1), **fields):
    return [replace(make_record(fold=fold, **fields), outcome=outcome(scores, truth)) for fold in range(10)]


RANKED = scored([0.1, 0.2, 0.3, 0.4])  # all are taken for the first class, but in the right order
SURE = scored([0.1, 0.2, 0.4, 0.9], method="ldp")  # three of four right, and in the right order
WRONG = scored([0.1, 0.95, 0.4, 0.9], method="ltp")  # two of four right


def entry(study, label, dataset="MUTAG"):
    table = main_table(study)
    row = next(row for row in table.rows if row.label == label)
    return row.entries[table.columns.index(dataset)]


def test_uncalibrated_scores_in_the_right_order_have_a_full_roc_auc():
    assert entry(make_study(RANKED), "phist").mean == 50
    assert entry(make_study(RANKED, metric="roc-auc"), "phist").mean == 100


def test_the_smallest_log_loss_is_the_best():
    study = make_study([*RANKED, *SURE, *WRONG], metric="log-loss")
    best = {row.label for row in main_table(study).rows for entry in row.entries if entry.best}
    assert best == {"ldp"}
    assert next(iter(rank_methods_of_three(study))) == "ldp"


def rank_methods_of_three(study):
    records = [
        replace(make_record(method=result.label, dataset=dataset, fold=fold), outcome=result.records[fold].outcome)
        for result in study.results
        for dataset in ("MUTAG", "ENZYMES", "DD")
        for fold in range(10)
    ]
    return rank_methods(make_study(records, metric="log-loss")).means


def test_a_difference_of_losses_is_positive_where_the_first_is_better():
    study = make_study([*SURE, *scored([0.1, 0.2, 0.3, 0.8], method="ltp")], metric="log-loss")
    assert compare(study.result("ldp", "MUTAG"), study.result("ltp", "MUTAG")).mean > 0
    assert difference_table(study, "ldp").title.startswith("others minus ldp: difference of test log-loss, with")


def test_log_loss_is_shown_with_three_digits_and_no_percent():
    text = to_text(main_table(make_study(SURE, metric="log-loss")))
    expected = -np.log([0.9, 0.8, 0.4, 0.9]).mean()
    assert f"{expected:.3f} ± 0.000" in text
    assert "percent" not in text


def test_published_accuracies_do_not_stand_beside_another_metric():
    table = main_table(make_study(RANKED, metric="balanced-accuracy"))
    assert table.columns == ("MUTAG",)
    assert all(entry.published is None for row in table.rows for entry in row.entries)
    assert "86.7" not in summary_markdown(make_study(RANKED, metric="balanced-accuracy"))


def test_a_fold_for_which_a_metric_is_not_defined_is_missing_from_its_figure():
    records = [*RANKED[:9], replace(RANKED[9], outcome=outcome([0.1, 0.2], [0, 0]))]
    found = entry(make_study(records, metric="roc-auc"), "phist")
    assert (found.mean, found.folds, found.expected, found.best) == (100, 9, 10, False)


def test_a_metric_that_is_nowhere_defined_has_no_figure_and_no_place_in_the_report():
    study = make_study(scored([0.1, 0.2], (0, 0)), metric="roc-auc")
    assert entry(study, "phist").mean is None
    assert study.measured("MUTAG") == []
    assert "phist" in make_report(study)


def test_an_official_split_has_one_record_for_each_seed():
    records = [replace(make_record(protocol="official", seed=seed), outcome=outcome([0.1, 0.9], [0, 1])) for seed in (0, 1)]
    result = make_study(records).result("phist", "MUTAG")
    assert result.expected == 2 and result.complete and result.deviation is None
    assert "on the official test graphs" in main_table(make_study(records)).title


def test_the_report_names_its_metric_and_shows_it_in_every_record():
    study = make_study(RANKED, metric="roc-auc")
    page = make_report(study)
    assert "Test ROC-AUC in percent" in page and "ROC-AUC [%]" in page
    payload = make_payload(study, ["roc-auc"])
    assert (payload["metric"], payload["metrics"]["roc-auc"]["title"]) == ("roc-auc", "ROC-AUC")
    assert payload["records"]["phist"]["MUTAG"][0]["scores"] == {"roc-auc": "100.0 %"}


def test_the_study_file_beside_the_records_names_the_metric(tmp_path):
    folder = write_records(tmp_path / "mine", RANKED)
    assert load_study(folder).metric == "accuracy"
    (tmp_path / "mine.toml").write_text('name = "mine"\nmetric = "roc-auc"\n')
    assert load_study(folder).metric == "roc-auc"
    assert load_study(folder, metric="log-loss").metric == "log-loss"


def test_studies_of_different_metrics_ask_for_a_choice(tmp_path):
    (tmp_path / "one.toml").write_text('metric = "roc-auc"\n')
    with pytest.raises(ConfigError, match="--metric"):
        named_metric(tmp_path / "one", tmp_path / "other")


def test_an_unknown_metric_is_refused():
    with pytest.raises(ConfigError, match="roc-auc"):
        make_study(make_records([18]), metric="f1")


@pytest.mark.parametrize("form", ["text", "markdown", "latex"])
def test_a_method_that_was_published_on_other_datasets_only_has_no_published_row(form):
    table = leave_out_unmeasured(main_table(make_study(make_records([18] * 10, method="wl-subtree", dataset="COX2"))))
    before_legend = render(table, form).partition("Measured:")[0]
    assert "wl-subtree" in before_legend and "published" not in before_legend
