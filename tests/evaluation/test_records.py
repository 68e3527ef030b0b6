import json
import warnings

import numpy as np
import pytest

from phist.baselines.method import Account
from phist.errors import GraphInputError
from phist.evaluation.records import Record, journal_of, load_records, repair_records, write_record


def test_a_record_comes_back_from_its_line(make_record):
    account = Account({"epoch": 7}, [{"C": 1, "accuracy": 0.5}], [{"epoch": 0, "loss": 0.5}], 0.75, 0.5, ["small grid"])
    record = make_record(account=account, engine="fused", seconds=1.5, peak_memory=100.0, versions={"numpy": "2"}, finished="now")
    back = Record.from_line(json.loads(json.dumps(record.to_line(), allow_nan=False)))
    assert back.cell == record.cell
    assert back.account == account
    assert np.array_equal(back.outcome.probabilities, record.outcome.probabilities)
    assert back.to_line() == record.to_line()


def test_accuracy_counts_what_was_predicted(make_record):
    assert make_record().accuracy == pytest.approx(2 / 3)
    assert make_record(status="failed", outcome=None).accuracy is None


def test_a_record_of_hundreds_of_epochs_and_graphs_stays_small(make_record):
    generator = np.random.default_rng(0)
    epochs = [{"epoch": n, "loss": generator.random(), "validation_loss": generator.random()} for n in range(600)]
    shares = generator.dirichlet([1, 1], size=411)
    outcome = type(make_record().outcome)(["0", "1"], list(range(411)), [0] * 411, [1] * 411, shares)
    text = json.dumps(make_record(account=Account(history=epochs), outcome=outcome).to_line(), separators=(",", ":"))
    assert len(text) < 18_000


def test_records_of_a_study_are_kept_by_dataset_and_label(make_cell, tmp_path):
    assert journal_of(tmp_path, make_cell(label="ours")) == tmp_path / "trees" / "ours.jsonl"


def test_load_gives_one_record_for_each_cell(make_cell, make_record, tmp_path):
    for fold in range(3):
        write_record(tmp_path, make_record(make_cell(fold=fold)))
    assert [record.cell.fold for record in load_records(tmp_path)] == [0, 1, 2]
    assert len(load_records(tmp_path, {make_cell(fold=1).hash})) == 1


def test_a_folder_that_is_not_there_is_not_taken_for_an_empty_one(tmp_path):
    with pytest.raises(GraphInputError, match="there is no folder"):
        load_records(tmp_path / "none")
    assert load_records(tmp_path) == []


def test_a_cell_that_is_ok_is_not_written_again(make_record, tmp_path):
    assert write_record(tmp_path, make_record())
    assert not write_record(tmp_path, make_record(seconds=9.0))
    assert [record.seconds for record in load_records(tmp_path)] == [0.0]


def test_a_later_success_takes_the_place_of_a_failure(make_record, tmp_path):
    write_record(tmp_path, make_record(status="failed", outcome=None, reason="no memory"))
    write_record(tmp_path, make_record())
    assert [record.status for record in load_records(tmp_path)] == ["ok"]


def test_lines_that_cannot_be_used_are_warned_of(make_record, tmp_path):
    write_record(tmp_path, make_record())
    path = tmp_path / "trees" / "majority.jsonl"
    path.write_text("damaged\n" + path.read_text())
    with pytest.warns(UserWarning, match=r"majority.jsonl, line 1: .*run its cell again"):
        assert len(load_records(tmp_path)) == 1


@pytest.mark.parametrize("change", [{"fold": 7}, {"dataset": "other"}, {"surprise": 1}])
def test_a_record_whose_cell_was_changed_by_hand_is_not_believed(make_record, tmp_path, change):
    write_record(tmp_path, make_record())
    path = tmp_path / "trees" / "majority.jsonl"
    line = json.loads(path.read_text())
    line["cell"] |= change
    path.write_text(json.dumps(line) + "\n")
    assert len(repair_records(tmp_path)) == 1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert load_records(tmp_path) == []
