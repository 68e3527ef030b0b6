import json

import pytest

STUDY = """
name = "small"
protocol = "paper"
folds = [0, 1]

[generated.FOREST]
family = "trees"
arguments = { n_graphs = 40, n_nodes = 12, seed = 0 }

[[runs]]
methods = ["size-only", "majority"]
datasets = ["FOREST"]
"""


@pytest.fixture
def study(run, tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(STUDY)
    assert run("bench", "run", path, "--jobs", 1).exit_code == 0
    return path


def lines_of(study, method="majority"):
    path = study.parent / "small" / "FOREST" / f"{method}.jsonl"
    return path, [json.loads(line) for line in path.read_text().splitlines()]


def test_a_cell_comes_out_the_same_and_its_record_stays(run, study):
    path, lines = lines_of(study)
    before = path.read_bytes()
    result = run("bench", "repeat", study, lines[0]["hash"][:10])
    assert result.exit_code == 0, result.output
    assert "0 of 4 test graphs are classified otherwise" in result.stdout
    assert path.read_bytes() == before


def test_a_cell_that_comes_out_otherwise_ends_with_code_one(run, study):
    path, lines = lines_of(study)
    lines[0]["outcome"]["predicted"][0] ^= 1
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    result = run("bench", "repeat", study, lines[0]["hash"], "--json")
    assert result.exit_code == 1
    assert json.loads(result.stdout)["changed_predictions"] == 1


def test_a_cell_without_a_record_is_run_and_said_to_have_none(run, study):
    path, lines = lines_of(study)
    path.unlink()
    result = run("bench", "repeat", study, lines[0]["hash"])
    assert result.exit_code == 0 and "recorded: no record" in result.stdout


@pytest.mark.parametrize("given", ["ffffffffffffffff", ""])
def test_a_hash_that_is_of_no_cell_or_of_many_is_refused(refused, study, given):
    assert "hash that begins with" in refused("bench", "repeat", study, given)
