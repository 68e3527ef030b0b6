import numpy as np
import pytest
from made_records import make_record, make_records, write_records

from phist.baselines import registry
from phist.errors import ConfigError, GraphInputError
from phist.report.order import METHODS, family_of
from phist.report.study import history_curve, load_study, make_study


def test_a_result_has_mean_and_deviation_over_folds():
    result = make_study(make_records([10, 20])).result("phist", "MUTAG")
    assert result.mean == 75.0
    assert result.deviation == pytest.approx(np.std([50, 100], ddof=1))


def test_a_single_fold_has_no_deviation():
    assert make_study(make_records([10])).result("phist", "MUTAG").deviation is None


def test_folds_are_averaged_over_seeds_first():
    records = [make_record(fold=0, right=10), make_record(fold=0, right=20, seed=1), make_record(fold=1, right=20)]
    assert make_study(records).result("phist", "MUTAG").values == {(0, 0): 75.0, (0, 1): 100.0}


@pytest.mark.parametrize(("count", "complete"), [(9, False), (10, True)])
def test_a_result_is_complete_with_ten_folds(count, complete):
    assert make_study(make_records([10] * count)).result("phist", "MUTAG").complete is complete


def test_shuffles_of_other_methods_are_expected_of_all():
    others = make_records([10] * 10, method="ldp", protocol="repeated") + make_records(
        [10], method="ldp", protocol="repeated", repeat=1
    )
    study = make_study(make_records([10] * 10, protocol="repeated") + others)
    assert study.result("phist", "MUTAG").expected == 20


def test_the_gap_is_training_minus_test_accuracy():
    result = make_study([make_record(right=15, training=0.9)]).result("phist", "MUTAG")
    assert result.gaps == {(0, 0): pytest.approx(15.0)}


def test_failed_and_skipped_cells_are_kept_apart():
    study = make_study(
        [make_record(status="failed", reason="no memory"), make_record(dataset="DD", status="skipped", reason="too large")]
    )
    assert [record.reason for record in study.result("phist", "MUTAG").failed] == ["no memory"]
    assert study.result("phist", "DD").skipped == "too large"
    assert study.measured("MUTAG") == []


def test_records_made_with_other_options_are_left_out_and_counted():
    old = make_records([20] * 10, options={"epochs": 5}, finished="2025")
    result = make_study(old + make_records([10] * 10)).result("phist", "MUTAG")
    assert (result.mean, len(result.records), result.left_out) == (50.0, 10, 10)


def test_protocols_are_never_mixed():
    records = [make_record(), make_record(protocol="fair")]
    with pytest.raises(ConfigError, match="--protocol"):
        make_study(records)
    assert make_study(records, protocol="fair").setting == ("fair", False)


def test_splits_with_and_without_duplicates_are_never_mixed():
    records = [make_record(), make_record(no_duplicates=True)]
    with pytest.raises(ConfigError, match="--no-duplicates"):
        make_study(records)
    assert make_study(records, no_duplicates=True).setting == ("paper", True)


def test_several_folders_make_one_study(tmp_path):
    write_records(tmp_path / "one", make_records([10] * 3))
    write_records(tmp_path / "two", make_records([10] * 3, method="ldp"))
    study = load_study(tmp_path / "one", tmp_path / "two")
    assert study.labels == ["phist", "ldp"]


def test_a_folder_that_is_not_there_is_an_error(tmp_path):
    with pytest.raises(GraphInputError, match="there is no folder"):
        load_study(tmp_path / "none")


def test_a_record_that_is_in_two_folders_counts_once(tmp_path):
    folders = [write_records(tmp_path / name, make_records([10] * 3)) for name in ("one", "two")]
    assert len(load_study(*folders).records) == 3


def test_rows_stand_by_family_and_columns_as_in_the_paper():
    records = [
        make_record(method, dataset) for method in ("mine", "majority", "gcn", "phist") for dataset in ("own", "NCI1", "MUTAG")
    ]
    study = make_study(records)
    assert study.labels == ["phist", "gcn", "majority", "mine"]
    assert study.datasets == ["MUTAG", "NCI1", "own"]


@pytest.mark.parametrize("module", registry.BUILT_IN)
def test_families_are_those_of_the_methods(module):
    for method in pytest.importorskip(module).METHODS:
        assert method.name in METHODS
        assert family_of(method.name) == method.family


@pytest.mark.parametrize("first", [0, 1])
def test_epochs_are_counted_from_one(first):
    history = [{"epoch": first + number, "loss": 0.5} for number in range(3)]
    assert history_curve(history, "loss") == [(1.0, 0.5), (2.0, 0.5), (3.0, 0.5)]


def test_epochs_without_a_measure_are_passed_over():
    assert history_curve([{"loss": 1.0}, {"loss": None}, {"loss": 0.5}], "loss") == [(1.0, 1.0), (3.0, 0.5)]


def test_failed_records_of_other_options_are_not_counted():
    old = make_record(status="failed", options={"epochs": 5}, reason="mistyped", finished="2025")
    assert make_study([old, *make_records([10] * 10)]).result("phist", "MUTAG").left_out == 0
