import json

from made_records import make_study_records, write_records


def test_the_report_is_one_file(run, tmp_path):
    folder = write_records(tmp_path / "paper", make_study_records())
    result = run("bench", "report", folder, "-o", tmp_path / "new" / "report.html")
    assert result.exit_code == 0, result.output
    assert "150 records" in result.stdout
    page = (tmp_path / "new" / "report.html").read_text()
    assert page.startswith("<!doctype html>")
    for section in ("summary", "results", "differences", "ranks", "time", "folds", "training", "generalisation"):
        assert f'<section id="{section}">' in page


def test_what_was_written_can_be_had_as_json(run, refused, tmp_path):
    folder = write_records(tmp_path / "paper", make_study_records())
    content = json.loads(run("bench", "report", folder, "-o", tmp_path / "report.html", "--json").stdout)
    assert (content["records"], content["bytes"]) == (150, (tmp_path / "report.html").stat().st_size)
    assert "both write to standard output" in refused("bench", "report", folder, "-o", "-", "--json")


def test_where_the_method_to_compare_has_no_records_the_first_is_compared(run, tmp_path):
    folder = write_records(tmp_path / "paper", make_study_records(methods=("ldp", "gcn")))
    assert run("bench", "report", folder, "-o", tmp_path / "report.html").exit_code == 0
    assert '"against":"gcn"' in (tmp_path / "report.html").read_text()


def test_a_place_that_cannot_be_written_is_refused(refused, tmp_path):
    assert "it is a folder" in refused("bench", "report", tmp_path, "-o", tmp_path)


def test_records_are_not_replaced_by_their_report(refused, tmp_path):
    folder = write_records(tmp_path / "paper", make_study_records())
    file = sorted(folder.glob("*/*.jsonl"))[0]
    before = file.read_bytes()
    assert "it is what is read" in refused("bench", "report", folder, "-o", file)
    assert file.read_bytes() == before
