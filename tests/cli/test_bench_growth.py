import json

from made_records import make_records, write_records


def test_the_command_prints_and_draws(run, tmp_path):
    records = [record for number in (10, 30) for record in make_records([15] * 10, labelled=number)]
    folder = write_records(tmp_path / "labels", records)
    result = run("bench", "growth", folder, "--figure", tmp_path / "growth")
    assert result.exit_code == 0, result.output
    assert "75.0 ± 0.0" in result.stdout
    assert (tmp_path / "growth-MUTAG.png").stat().st_size > 1000 and "phist" in (tmp_path / "growth-MUTAG.svg").read_text()


def test_the_curves_can_be_had_as_json(run, tmp_path):
    records = [record for number in (10, 30) for record in make_records([15] * 10, labelled=number)]
    content = json.loads(run("bench", "growth", write_records(tmp_path / "labels", records), "--json").stdout)
    (own,) = content["datasets"]
    assert own["dataset"] == "MUTAG"
    assert [(point["labelled"], point["mean"], point["records"]) for point in own["methods"]["phist"]] == [
        (10, 75.0, 10),
        (30, 75.0, 10),
    ]


def test_a_study_of_whole_datasets_has_nothing_that_grows(refused, tmp_path):
    folder = write_records(tmp_path / "paper", make_records([15] * 10))
    assert "nothing that grows" in refused("bench", "growth", folder)
