import json

import pytest
from made_records import make_record, make_records, make_study_records, write_records


@pytest.fixture
def folder(tmp_path):
    return write_records(tmp_path / "paper", make_study_records())


def test_tables_are_printed_as_text(run, folder):
    result = run("bench", "table", folder)
    assert result.exit_code == 0, result.output
    assert "Test accuracy in percent" in result.stdout
    assert "Generalisation error" in result.stdout
    assert "86.7 ± 7.6" in result.stdout


def test_json_is_all_there_is_on_standard_output(run, folder):
    result = run("bench", "table", folder, "--format", "json", "--table", "main", "--table", "ranks")
    assert list(json.loads(result.stdout)) == ["main", "ranks"]
    assert run("bench", "table", folder, "--json", "--table", "main", "--table", "ranks").stdout == result.stdout


def test_differences_are_against_the_chosen_method(run, folder):
    result = run("bench", "table", folder, "--table", "differences", "--against", "gcn")
    assert result.stdout.startswith("gcn minus others")


def test_a_small_study_can_have_a_small_table(run, tmp_path):
    folder = write_records(tmp_path / "own", make_records([15] * 10, method="ltp"))
    assert "wl-subtree" in run("bench", "table", folder).stdout
    text = run("bench", "table", folder, "--measured").stdout
    assert "\nltp " in text and "wl-subtree" not in text and "ENZYMES" not in text


def test_several_folders_make_one_table(run, folder, tmp_path):
    more = write_records(tmp_path / "more", make_records([15] * 10, method="ltp"))
    assert "\nltp " in run("bench", "table", folder, more).stdout


def test_lines_that_cannot_be_read_are_named_on_standard_error(run, folder):
    with (folder / "MUTAG" / "phist.jsonl").open("a") as file:
        file.write("torn\n")
    result = run("bench", "table", folder)
    assert result.exit_code == 0
    assert "phist.jsonl, line 11" in result.stderr and "line 11" not in result.stdout


def test_blocks_are_written_and_checked(run, folder, tmp_path):
    document = tmp_path / "results.md"
    document.write_text("<!-- results:begin main paper -->\n<!-- results:end -->\n")
    stale = run("bench", "table", "--update", document, "--check")
    assert (stale.exit_code, "not current" in stale.stdout) == (1, True)
    assert "updated" in run("bench", "table", "--update", document).stdout
    assert run("bench", "table", "--update", document, "--check").exit_code == 0


def test_mixed_protocols_must_be_told_apart(refused, run, tmp_path):
    folder = write_records(tmp_path / "mixed", [make_record(), make_record("ldp", protocol="fair")])
    assert "--protocol" in refused("bench", "table", folder)
    assert run("bench", "table", folder, "--protocol", "fair").exit_code == 0


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["nowhere"], "no folder nowhere"),
        (["--check"], "--update"),
        (["--table", "everything"], "'everything'"),
        (["--format", "word"], "'word'"),
        (["--update", "nowhere.md"], "nowhere.md"),
    ],
)
def test_what_makes_no_sense_is_refused(refused, arguments, message):
    assert message in refused("bench", "table", *arguments)


def test_a_folder_without_records_is_refused(refused, tmp_path):
    assert "has no records; 'phist bench run' makes them" in refused("bench", "table", tmp_path)


def test_a_protocol_without_records_is_named(refused, folder):
    assert "no records of the protocol 'fair' with --no-duplicates" in refused(
        "bench", "table", folder, "--protocol", "fair", "--no-duplicates"
    )


def test_a_study_in_place_of_its_records_is_refused(refused, tmp_path):
    (tmp_path / "paper.toml").touch()
    assert "paper.toml is a file; give the folder of records" in refused("bench", "table", tmp_path / "paper.toml")


def test_an_unknown_method_to_compare_with_is_refused(refused, folder):
    assert "'other'" in refused("bench", "table", folder, "--table", "differences", "--against", "other")
