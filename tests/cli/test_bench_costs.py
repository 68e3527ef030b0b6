import json

from made_records import make_records, write_records

SECONDS = {"ldp": 1.0, "phist": 2.0, "gcn": 3.0}
RIGHT = {"ldp": 15, "phist": 17, "gcn": 14}


def made_records(methods=tuple(SECONDS)):
    return [record for method in methods for record in make_records([RIGHT[method]] * 10, method=method, seconds=SECONDS[method])]


def test_the_command_prints_and_draws(run, tmp_path):
    folder = write_records(tmp_path / "paper", made_records())
    result = run("bench", "costs", folder, "--figure", tmp_path / "costs")
    assert result.exit_code == 0, result.output
    assert "85.0*" in result.stdout and "70.0 " in result.stdout
    assert (tmp_path / "costs.png").stat().st_size > 1000 and "gcn" in (tmp_path / "costs.svg").read_text()


def test_the_command_says_when_there_is_nothing_to_draw(run, tmp_path):
    folder = write_records(tmp_path / "paper", made_records(methods=("ldp",)))
    result = run("bench", "costs", folder, "--figure", tmp_path / "costs")
    assert result.exit_code == 2 and "nothing to draw" in result.output


def test_every_line_fits_eighty_columns(run, tmp_path):
    folder = write_records(tmp_path / "paper", made_records())
    assert max(map(len, run("bench", "costs", folder).stdout.splitlines())) <= 80


def test_the_command_speaks_json(run, tmp_path):
    folder = write_records(tmp_path / "paper", made_records())
    content = json.loads(run("bench", "costs", folder, "--json", "--figure", tmp_path / "costs").stdout)
    assert [(cost["label"], cost["on_front"]) for cost in content["costs"]] == [("ldp", True), ("phist", True), ("gcn", False)]
    assert content["metric"] == "accuracy"
