import pytest

from phist.progress import is_silenced


def test_quiet_prints_results_only(run, data):
    loud, quiet = run("check", data), run("check", data, "--quiet")
    assert quiet.stdout == loud.stdout
    assert quiet.stderr == ""


def test_quiet_fit_shows_the_verdict_and_no_notes(run, data, tmp_path):
    result = run("fit", data, "--out", tmp_path / "model", "--effort", "low", "--epochs", "1", "--quiet")
    assert result.exit_code == 0, result.output
    assert result.stderr == ""
    assert "Fitting" not in result.stdout
    assert "Next:" not in result.stdout
    assert "verdict" in result.stdout.lower() or "%" in result.stdout


def test_quiet_predict_leaves_standard_error_empty(run, model, data):
    assert run("predict", model, data).stderr != ""
    quiet = run("predict", model, data, "-q")
    assert quiet.stderr == ""
    assert quiet.stdout.startswith("graph,predicted")


def test_quiet_still_reports_errors(refused, tmp_path):
    assert "missing" in refused("check", tmp_path / "missing.jsonl", "--quiet")


def test_quiet_ends_with_the_command(run, data):
    run("check", data, "--quiet")
    assert not is_silenced()


def test_verbose_tells_the_time_and_the_traceback(run, data, tmp_path):
    assert "phist check: " in run("check", data, "--verbose").stderr
    failed = run("check", tmp_path / "missing.jsonl", "--verbose")
    assert failed.exit_code == 2
    assert "Traceback" in failed.stderr


@pytest.mark.parametrize("option", ["--quiet", "--verbose"])
def test_json_stays_json(run, data, option):
    import json

    assert json.loads(run("check", data, "--json", option).stdout)["n_graphs"] == 40
