import json

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
