import json

import pytest
from made_records import make_record, make_records, write_records


@pytest.fixture
def folders(tmp_path):
    before = make_records([10, 12] * 5) + make_records([12] * 10, method="ldp")
    after = make_records([14, 15] * 5) + make_records([12] * 9, method="gcn")
    return write_records(tmp_path / "a", before), write_records(tmp_path / "b", after)


def test_means_differences_and_what_only_one_has_are_shown(run, folders):
    result = run("bench", "diff", *folders)
    assert result.exit_code == 0, result.output
    assert "+17.5 [" in result.stdout
    assert "only in A" in result.stdout and "only in B" in result.stdout
    assert "[9/10]" in result.stdout


def test_json_holds_the_same(run, folders):
    content = json.loads(run("bench", "diff", *folders, "--json").stdout)
    change = next(change for change in content["changes"] if change["method"] == "phist")
    assert change["repeated"] == {"otherwise": 35, "tested": 200}
    assert change["difference"]["mean"] == pytest.approx(17.5)
    assert change["difference"]["paired"] is True
    assert {change["method"]: change["a"] is None for change in content["changes"]} == {"phist": False, "ldp": False, "gcn": True}


def test_a_study_that_was_repeated_to_the_letter_shows_it(run, folders):
    shown = run("bench", "diff", folders[0], folders[0]).stdout
    assert "0 of 200" in shown
    assert "35 of 200" in run("bench", "diff", *folders).stdout


def test_other_cells_are_no_repetition(run, tmp_path):
    seeds = [write_records(tmp_path / str(seed), make_records([10] * 10, seed=seed)) for seed in (0, 1)]
    assert "otherwise" not in run("bench", "diff", *seeds).stdout


def test_other_protocols_are_told(run, tmp_path):
    folders = [
        write_records(tmp_path / protocol, [make_record(fold=fold, protocol=protocol, split=protocol) for fold in range(3)])
        for protocol in ("paper", "fair")
    ]
    assert "protocol fair" in run("bench", "diff", *folders).stdout


def test_what_incomplete_means_is_said_where_something_is(run, folders):
    assert "[n/m]" in run("bench", "diff", *folders).stdout
    assert "[n/m]" not in run("bench", "diff", folders[0], folders[0]).stdout


def test_a_folder_without_records_is_refused(refused, folders, tmp_path):
    (tmp_path / "empty").mkdir()
    assert "empty has no records" in refused("bench", "diff", folders[0], tmp_path / "empty")


def test_folders_in_which_everything_failed_are_told(run, tmp_path):
    folder = write_records(tmp_path / "failed", [make_record(status="failed", reason="no memory")])
    assert "neither" in run("bench", "diff", folder, folder).stdout


def test_a_missing_folder_is_refused(refused, folders, tmp_path):
    assert "no folder" in refused("bench", "diff", folders[0], tmp_path / "none")
