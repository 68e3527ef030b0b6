import json
import os
import signal
import subprocess
import sys
import time
from collections import Counter
from pathlib import Path

import pytest

from phist.baselines import registry
from phist.baselines.floors import Majority
from phist.evaluation.records import load_records

PHIST = (sys.executable, "-c", "from phist.cli.app import main; main()")
STUDY = """
name = "small"
protocol = "paper"

[[runs]]
methods = ["majority", "slow"]
datasets = ["{data}"]

[methods.slow]
method = "slow-majority"
"""
# Another process finds the slow method as any installed one; what the built-in methods need is not loaded.
SITE = """
from phist.baselines import registry
registry.BUILT_IN = ("phist.baselines.floors",)
"""
SLOW = """
import time
from phist.baselines.floors import Majority

class SlowMajority(Majority):
    name = "slow-majority"

    def __init__(self, **options):
        super().__init__()
        self.wait = options.get("wait", 0.0)

    def fit(self, task):
        time.sleep(self.wait)
        return super().fit(task)
"""


class SlowMajority(Majority):
    """In this process it does not wait."""

    name = "slow-majority"

    def __init__(self, **options):
        super().__init__()


@pytest.fixture
def study(data, tmp_path):
    path = tmp_path / "small.toml"
    path.write_text(STUDY.format(data=data))
    return path


@pytest.fixture
def slow_study(study):
    study.write_text(study.read_text() + "options = {wait = 0.15}\n")
    return study


@pytest.fixture(autouse=True)
def two_methods(monkeypatch):
    monkeypatch.setattr(registry, "methods", lambda: {method.name: method for method in (Majority, SlowMajority)})


@pytest.fixture
def start(tmp_path_factory):
    """A run in a process of its own that Ctrl-C can reach, whatever this process makes of it."""
    site = tmp_path_factory.mktemp("site")
    (site / "sitecustomize.py").write_text(SITE)
    (site / "slow_methods.py").write_text(SLOW)
    (site / "slow-1.dist-info").mkdir()
    (site / "slow-1.dist-info" / "METADATA").write_text("Metadata-Version: 2.1\nName: slow\nVersion: 1\n")
    (site / "slow-1.dist-info" / "entry_points.txt").write_text("[phist.methods]\nslow-majority = slow_methods:SlowMajority\n")
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join([str(site), os.environ.get("PYTHONPATH", "")])}

    def call(*arguments):
        return subprocess.Popen(
            [*PHIST, "bench", *map(str, arguments)],
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            env=environment,
            preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
            start_new_session=True,
        )

    return call


def lines_in(folder):
    return [json.loads(line) for path in folder.glob("*/*.jsonl") for line in path.read_text().splitlines()]


def wait_for_records(folder, count, process):
    while sum(path.read_bytes().count(b"\n") for path in folder.glob("*/*.jsonl")) < count:
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.005)


@pytest.mark.parametrize("verb", ["run", "status", "methods"])
def test_help_of_every_verb_has_examples(run, verb):
    text = run("bench", verb, "--help").stdout
    assert "Examples:" in text
    assert f"phist bench {verb}" in text


def test_every_method_is_listed_with_its_rule(run):
    listed = {row["name"]: row for row in json.loads(run("bench", "methods", "--json").stdout)}
    assert list(listed) == ["majority", "slow-majority"]
    assert listed["majority"]["selection"] == Majority.selection
    shown = run("bench", "methods").stdout
    assert "floors" in shown and "slow-majority" in shown and Majority.selection in shown


def test_a_study_is_run_and_recorded_beside_its_file(run, study):
    result = run("bench", "run", study, "--jobs", 1)
    assert result.exit_code == 0, result.output
    assert "20 cells, 0 done, 20 to run" in result.stdout
    assert len(load_records(study.parent / "small")) == 20


def test_what_to_type_next_is_said_and_works(run, study):
    folder = study.parent / "small"
    assert f"phist bench table {folder}" in run("bench", "run", study, "--jobs", 1).stdout.replace("\n", " ")
    assert run("bench", "table", folder).exit_code == 0


def test_records_elsewhere_are_looked_for_there(run, study, tmp_path):
    elsewhere = tmp_path / "out"
    told = run("bench", "run", study, "--jobs", 1, "--out", elsewhere, "--no-duplicates").stdout.replace("\n", " ")
    assert f"phist bench status {study} --out {elsewhere} --no-duplicates" in told
    assert "time left: none" in run("bench", "status", study, "--out", elsewhere, "--no-duplicates").stdout


def test_a_finished_study_has_no_time_left(run, study):
    assert "time left: unknown" in run("bench", "status", study).stdout
    run("bench", "run", study, "--jobs", 1)
    assert "time left: none" in run("bench", "status", study).stdout


def test_what_is_recorded_is_not_run_again(run, study):
    run("bench", "run", study, "--jobs", 1)
    assert "20 done, 0 to run" in run("bench", "run", study, "--jobs", 1).stdout


def test_parts_of_a_study_can_be_run(run, study, tmp_path):
    run("bench", "run", study, "--jobs", 1, "--only-method", "majority", "--out", tmp_path / "out")
    assert {record.cell.label for record in load_records(tmp_path / "out")} == {"majority"}
    run("bench", "run", study, "--jobs", 1, "--shard", "1/4", "--out", tmp_path / "shard")
    assert len(load_records(tmp_path / "shard")) == 5


def test_duplicates_can_be_kept_together(run, study):
    run("bench", "run", study, "--jobs", 1, "--only-method", "majority")
    run("bench", "run", study, "--jobs", 1, "--only-method", "majority", "--no-duplicates")
    records = load_records(study.parent / "small")
    assert Counter(record.cell.no_duplicates for record in records) == {False: 10, True: 10}
    assert "10 ok" in run("bench", "status", study, "--only-method", "majority", "--no-duplicates").stdout


def test_failures_are_listed_and_the_exit_code_tells(run, study, monkeypatch):
    monkeypatch.setattr(SlowMajority, "fit", lambda self, task: 1 / 0)
    result = run("bench", "run", study, "--jobs", 1)
    assert result.exit_code == 1
    assert "10 of 20 cells failed" in result.stderr
    assert "ZeroDivisionError" in result.stderr


def test_a_run_says_what_it_did_as_json(run, study):
    content = json.loads(run("bench", "run", study, "--jobs", 1, "--json").stdout)
    assert (content["study"], content["cells"], content["run"], content["failed"]) == ("small", 20, 20, [])


def test_failed_cells_are_run_again_on_request(run, study, monkeypatch):
    with monkeypatch.context() as broken:
        broken.setattr(SlowMajority, "fit", lambda self, task: 1 / 0)
        run("bench", "run", study, "--jobs", 1)
    assert "0 to run" in run("bench", "run", study, "--jobs", 1).stdout
    assert run("bench", "run", study, "--jobs", 1, "--retry-failed").exit_code == 0
    assert {record.status for record in load_records(study.parent / "small")} == {"ok"}


def test_a_corrupt_line_is_named_with_its_number_and_run_again(run, study):
    run("bench", "run", study, "--jobs", 1)
    path = next((study.parent / "small").glob("*/majority.jsonl"))
    lines = path.read_text().splitlines()
    path.write_text("\n".join([*lines[:4], "damaged", *lines[5:]]) + "\n")
    assert "line 5" in run("bench", "status", study).stdout
    result = run("bench", "run", study, "--jobs", 1)
    assert "line 5" in result.stderr
    assert "19 done, 1 to run" in result.stdout
    assert len(load_records(study.parent / "small")) == 20


def test_status_of_a_folder_that_is_not_there_is_refused(refused, study, tmp_path):
    assert "there is no folder" in refused("bench", "status", study, "--out", tmp_path / "none")


def test_status_counts_what_is_done_and_missing(run, study):
    run("bench", "run", study, "--jobs", 1, "--shard", "1/2")
    text = run("bench", "status", study).stdout
    assert "10 ok, 0 skipped, 0 failed, 10 missing" in text
    content = json.loads(run("bench", "status", study, "--json").stdout)
    assert content["totals"] == {"ok": 10, "skipped": 0, "failed": 0, "missing": 10}
    assert {row["method"] for row in content["rows"]} == {"majority", "slow"}


def test_bad_input_is_one_line(refused, study, tmp_path):
    assert "there is no study" in refused("bench", "run", tmp_path / "none.toml")
    assert "such as 2/4" in refused("bench", "run", study, "--shard", "5/4")
    assert "is not in this study" in refused("bench", "run", study, "--only-method", "ldp")
    assert "--address" in refused("bench", "run", study, "--backend", "dask")
    assert "backend='slurm'" in refused("bench", "run", study, "--backend", "slurm")


def is_running(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] not in "ZX"
    except FileNotFoundError:
        return False


def children_of(pid):
    return [int(child) for task in Path(f"/proc/{pid}/task").iterdir() for child in (task / "children").read_text().split()]


def test_a_killed_study_takes_its_workers_with_it_and_goes_on_where_it_was(run, start, slow_study):
    folder = slow_study.parent / "small"
    process = start("run", slow_study, "--jobs", 2)
    wait_for_records(folder, 3, process)
    workers = children_of(process.pid) if sys.platform == "linux" else []
    process.kill()
    process.wait()
    end = time.monotonic() + 20
    while any(map(is_running, workers)):
        assert time.monotonic() < end
        time.sleep(0.01)
    before = {line["hash"] for line in lines_in(folder)}
    assert 3 <= len(before) < 20

    assert run("bench", "run", slow_study, "--jobs", 1).exit_code == 0
    after = Counter(line["hash"] for line in lines_in(folder))
    assert len(after) == 20
    assert set(after.values()) == {1}
    assert before <= set(after)


def test_kills_and_doubled_runs_neither_lose_nor_double_a_record_and_change_no_result(run, start, slow_study, tmp_path):
    folder = slow_study.parent / "small"
    assert run("bench", "run", slow_study, "--jobs", 1, "--out", tmp_path / "undisturbed").exit_code == 0
    for _ in range(2):
        before = {line["hash"] for line in lines_in(folder)}
        process = start("run", slow_study, "--jobs", 2)
        wait_for_records(folder, len(before) + 1, process)
        process.kill()
        process.wait()
        assert before < {line["hash"] for line in lines_in(folder)}
    doubled = [start("run", slow_study, "--jobs", 2) for _ in range(2)]
    assert [process.wait() for process in doubled] == [0, 0]
    found, expected = (
        sorted((line["hash"], str(line["outcome"])) for line in lines_in(place)) for place in (folder, tmp_path / "undisturbed")
    )
    assert found == expected


def test_two_shards_are_the_whole_study_and_share_its_files(run, study):
    for shard in ("1/2", "2/2"):
        assert run("bench", "run", study, "--jobs", 1, "--shard", shard).exit_code == 0
    hashes = [line["hash"] for line in lines_in(study.parent / "small")]
    assert len(hashes) == len(set(hashes)) == 20


def test_ctrl_c_keeps_what_is_recorded_and_says_how_to_go_on(start, slow_study):
    process = start("run", slow_study, "--jobs", 2)
    wait_for_records(slow_study.parent / "small", 2, process)
    os.killpg(process.pid, signal.SIGINT)
    text, _ = process.communicate(timeout=60)
    assert process.returncode == 130, text
    assert "Traceback" not in text
    assert "Type the same command to go on" in text
    assert len(lines_in(slow_study.parent / "small")) < 20
