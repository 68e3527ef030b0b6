import json
import os
import signal
import subprocess
import sys
import time
from typing import get_args

import numpy as np
import pytest
from safetensors.numpy import load_file

from phist import StructuralClassifier
from phist.cli.options import ENGINES, HEADS
from phist.engine.choice import Engine
from phist.estimators.base import Head
from phist.graphs.generate import make_trees

PHIST = (sys.executable, "-c", "from phist.cli.app import main; main()")
LONG = ("--epochs", "40")


def start(*arguments):
    """A run of its own that Ctrl-C can reach, whatever this process makes of it."""
    return subprocess.Popen(
        [*PHIST, *map(str, arguments)],
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def wait_for(path, process):
    while not path.exists():
        assert process.poll() is None, process.communicate()[0]
        time.sleep(0.002)


def same_weights(one, other):
    first, second = load_file(one / "model.safetensors"), load_file(other / "model.safetensors")
    return first.keys() == second.keys() and all(np.array_equal(first[name], second[name]) for name in first)


def test_fit_shows_the_bounds_before_the_result(run, data, tmp_path):
    text = run("fit", data, "--out", tmp_path / "model", "--epochs", "1").stdout
    assert text.index("floor: always") < text.index("ceiling: ") < text.index("accuracy on held-out graphs")


def test_fit_saves_a_model_with_its_card_and_leaves_no_checkpoint(model):
    assert {path.name for path in model.iterdir()} == {"config.json", "model.safetensors", "card.md", "history.jsonl"}
    assert "held-out accuracy" in (model / "card.md").read_text()
    assert "ceiling" in (model / "card.md").read_text()
    assert [path.name for path in model.parent.iterdir()] == [model.name]


def test_fit_as_json_is_json_alone_in_percent(run, data, tmp_path):
    result = run("fit", data, "--out", tmp_path / "model", "--epochs", "2", "--test-fraction", "0.25", "--json")
    content = json.loads(result.stdout)
    assert content["test"]["graphs"] == 10
    assert content["test"]["interval"][0] <= content["test"]["accuracy"] <= content["test"]["interval"][1]
    assert content["checkup"]["ceiling"] > 50
    assert content["training"]["epochs"] == 2
    assert content["preset"] == "auto"


@pytest.mark.parametrize("head", ["forest", "kernel", "all"])
def test_fit_can_put_a_forest_on_top(run, data, tmp_path, head):
    arguments = ("--out", tmp_path / "model", "--epochs", "1", "--head", head, "--json")
    assert json.loads(run("fit", data, *arguments).stdout)["head"] == head
    assert StructuralClassifier.load(tmp_path / "model").head == head
    assert run("predict", tmp_path / "model", data).exit_code == 0


def test_an_unknown_head_is_refused(run, data, tmp_path):
    result = run("fit", data, "--out", tmp_path / "model", "--head", "steam")
    assert (result.exit_code, "'forest'" in result.stderr) == (2, True)


@pytest.mark.parametrize(("asked", "used"), [("auto", "fused"), ("fused", "fused"), ("reference", "reference")])
def test_the_engine_is_chosen_and_told(run, data, tmp_path, asked, used):
    content = json.loads(run("fit", data, "--out", tmp_path / "m", "--epochs", "1", "--engine", asked, "--json").stdout)
    assert content["training"]["engine"] == used


def test_an_unknown_engine_is_refused(refused, data, tmp_path):
    assert "'fused'" in refused("fit", data, "--out", tmp_path / "model", "--engine", "steam")


def test_the_command_line_knows_every_engine_and_head():
    assert get_args(Engine) == ENGINES
    assert get_args(Head) == HEADS


def test_fit_can_train_on_everything(run, data, tmp_path):
    content = json.loads(run("fit", data, "--out", tmp_path / "m", "--epochs", "1", "--test-fraction", "0", "--json").stdout)
    assert content["test"] is None
    assert StructuralClassifier.load(tmp_path / "m").data_["graphs"] == 40


def test_fit_holds_out_nothing_where_there_is_too_little(run, save_jsonl, tmp_path):
    data = save_jsonl(tmp_path / "few.jsonl", make_trees(6, n_nodes=6, seed=0))
    result = run("fit", data, "--out", tmp_path / "model", "--epochs", "1")
    assert result.exit_code == 0
    assert "none are held out" in result.stdout


def test_equal_seeds_give_equal_models(run, data, tmp_path):
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        run("fit", data, "--out", tmp_path / name, "--epochs", "1", "--seed", seed)
    assert same_weights(tmp_path / "a", tmp_path / "b")
    assert not same_weights(tmp_path / "a", tmp_path / "c")


def test_directed_graphs_can_be_kept(run, tmp_path):
    lines = [{"edges": [[0, 1], [1, 2], [2, end]], "n_nodes": 4, "label": end, "directed": True} for end in (0, 3)]
    (tmp_path / "arcs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines * 6))
    arguments = (tmp_path / "arcs.jsonl", "--out", tmp_path / "model", "--epochs", "1", "--directed", "keep")
    assert run("fit", *arguments).exit_code == 0
    assert StructuralClassifier.load(tmp_path / "model").data_["directed"]
    assert run("predict", tmp_path / "model", tmp_path / "arcs.jsonl").exit_code == 0


def test_ctrl_c_leaves_a_usable_model_and_the_way_to_go_on(data, tmp_path):
    process = start("fit", data, "--out", tmp_path / "model", "--epochs", "100000")
    wait_for(tmp_path / "model.checkpoint", process)
    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=60)
    assert process.returncode == 130, text
    assert "Traceback" not in text
    assert "the best model so far is saved" in text
    assert StructuralClassifier.load(tmp_path / "model").history_.ending == "interrupted"
    assert (tmp_path / "model.checkpoint").exists()


def test_a_killed_run_goes_on_and_ends_with_the_same_weights(run, data, tmp_path):
    process = start("fit", data, "--out", tmp_path / "killed", *LONG)
    wait_for(tmp_path / "killed.checkpoint", process)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert not (tmp_path / "killed").exists()

    resumed = run("fit", data, "--out", tmp_path / "killed", *LONG)
    assert "going on from killed.checkpoint" in resumed.stdout
    assert not (tmp_path / "killed.checkpoint").exists()
    run("fit", data, "--out", tmp_path / "whole", *LONG)
    assert same_weights(tmp_path / "killed", tmp_path / "whole")
