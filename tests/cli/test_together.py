"""phist fit on several processes, on many files, and on graphs that exceed memory."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
from safetensors.numpy import load_file

from phist import StructuralClassifier
from phist.graphs.formats.graph_rows import write_graph_rows
from phist.graphs.generate import make_planted_partitions
from phist.training import windows

GRAPHS = make_planted_partitions(60, seed=0)
SETTINGS = ("--effort", "low", "--members", "network", "--seed", "0")


@pytest.fixture
def graphs(tmp_path):
    write_graph_rows(tmp_path / "graphs.parquet", GRAPHS)
    return tmp_path / "graphs.parquet"


@pytest.fixture
def lake(tmp_path):
    (tmp_path / "lake").mkdir()
    for number, begin in enumerate(range(0, 60, 20)):
        write_graph_rows(tmp_path / "lake" / f"{number}.parquet", GRAPHS[begin : begin + 20])
    return tmp_path / "lake"


def torchrun(processes, *words, restarts=0):
    """Start ``phist fit`` on some processes."""
    command = [sys.executable, "-m", "torch.distributed.run", "--nproc-per-node", processes, "--max-restarts", restarts]
    command += ["--monitor-interval", 0.2, "-m", "phist", "fit", *words, *SETTINGS]
    environment = {**os.environ, "OMP_NUM_THREADS": "1"}
    return subprocess.Popen(
        [str(word) for word in command], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )


def finish(process):
    out, error = process.communicate(timeout=900)
    assert process.returncode == 0, error
    return out


def weights(model):
    return {name: array.tobytes() for name, array in load_file(Path(model) / "network.safetensors").items()}


def workers_of(process):
    """The processes that torchrun has started, by rank."""
    found = Path(f"/proc/{process.pid}/task/{process.pid}/children").read_text().split()
    return [int(pid) for pid in found]


def test_one_process_of_torchrun_is_a_plain_fit_to_the_last_bit(run, graphs, tmp_path):
    assert run("fit", graphs, "--out", tmp_path / "plain", *SETTINGS, "--epochs", 2, "--threads", 1).exit_code == 0
    finish(torchrun(1, graphs, "--out", tmp_path / "one", "--epochs", 2))
    assert weights(tmp_path / "one") == weights(tmp_path / "plain")


@pytest.mark.clusters
@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks for child processes in /proc")
def test_a_killed_process_costs_an_epoch_and_changes_no_bit(graphs, tmp_path):
    finish(torchrun(2, graphs, "--out", tmp_path / "whole", "--epochs", 30))
    process = torchrun(2, graphs, "--out", tmp_path / "killed", "--epochs", 30, "--fresh", restarts=2)
    checkpoint, begin = tmp_path / "killed.checkpoint.0", time.monotonic()
    while not checkpoint.exists() and process.poll() is None and time.monotonic() < begin + 600:
        time.sleep(0.005)
    os.kill(workers_of(process)[1], signal.SIGKILL)
    out = finish(process)
    assert out.count("resuming from") == 1
    assert weights(tmp_path / "killed") == weights(tmp_path / "whole")
    assert not list(tmp_path.glob("*.checkpoint*"))


def test_files_of_a_folder_are_fitted_as_one_set_and_the_copy_is_removed(run, lake, graphs, tmp_path):
    for data, out in ((lake, "many"), (graphs, "one")):
        assert run("fit", data, "--out", tmp_path / out, *SETTINGS, "--epochs", 2).exit_code == 0
    assert weights(tmp_path / "many") == weights(tmp_path / "one")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["graphs.parquet", "lake", "many", "one"]


def test_a_pattern_of_files_is_fitted_too(run, lake, tmp_path):
    result = run("fit", lake / "*.parquet", "--out", tmp_path / "model", *SETTINGS, "--epochs", 1)
    assert "Fitting to 60 graphs" in result.stdout


def test_a_table_of_labels_beside_many_files_is_refused(refused, lake, tmp_path):
    assert "--labels is for graphs that are read at once" in refused("fit", lake, "--out", tmp_path / "m", "--labels", "table.csv")


def test_files_without_labels_are_refused(refused, lake, tmp_path):
    for file in lake.iterdir():
        write_graph_rows(file, GRAPHS[:20].with_labels(None))
    assert "have no labels" in refused("fit", lake, "--out", tmp_path / "model")


def test_the_batch_size_is_that_of_the_training(run, graphs, tmp_path):
    run("fit", graphs, "--out", tmp_path / "model", *SETTINGS, "--epochs", 1, "--batch-size", 30)
    (member,) = StructuralClassifier.load(tmp_path / "model")._members()
    assert member.preset.training.batch_size == 30


def test_graphs_that_exceed_memory_have_a_model_and_a_note(run, lake, tmp_path, monkeypatch):
    monkeypatch.setattr(windows, "MOST_AT_ONCE", 1000)
    result = run("fit", lake, "--out", tmp_path / "model", "--effort", "low")
    assert result.exit_code == 0, result.output
    assert "do not fit into memory" in " ".join(result.stdout.split())
    assert run("predict", tmp_path / "model", lake / "0.parquet").exit_code == 0
