import json

from phist.estimators.validation import CrossValidation

QUICK = ("--effort", "low", "--members", "colours", "--folds", "3")


def test_a_fold_that_was_missing_is_the_one_that_is_told(run, data, tmp_path):
    records = tmp_path / "records.jsonl"
    whole = json.loads(run("validate", data, "--records", records, *QUICK, "--json").stdout)
    lines = records.read_text().splitlines()
    records.write_text("\n".join([lines[0], lines[2]]) + "\n")
    text = run("validate", data, "--records", records, *QUICK).output
    assert "2 of 3 folds are in" in text and "fold 2 of 3" in text
    assert "fold 1 of 3" not in text and "fold 3 of 3" not in text
    again = json.loads(run("validate", data, "--records", records, *QUICK, "--json").stdout)
    assert again == whole


def test_after_ctrl_c_it_says_how_to_go_on(run, data, tmp_path, monkeypatch):
    whole = CrossValidation.run

    def interrupted(self):
        folds = whole(self)
        yield next(folds)
        raise KeyboardInterrupt

    monkeypatch.setattr(CrossValidation, "run", interrupted)
    records = tmp_path / "records.jsonl"
    recorded = run("validate", data, "--records", records, *QUICK)
    assert recorded.exit_code == 130
    assert "1 of 3 folds are in" in recorded.output and "same command" in recorded.output
    assert "nothing was kept" in run("validate", data, *QUICK).output
