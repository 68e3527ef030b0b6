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
from phist.cli.options import EFFORTS, ENGINES
from phist.engine.choice import Engine
from phist.estimators.effort import EffortName
from phist.graphs.generate import make_trees
from phist.training.checkpoint_files import checkpoint_files

PHIST = (sys.executable, "-c", "from phist.cli.app import main; main()")
QUICK = ("--effort", "low", "--epochs", "1")
LONG = ("--effort", "low", "--epochs", "40")


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
    first, second = load_file(one / "network.safetensors"), load_file(other / "network.safetensors")
    return first.keys() == second.keys() and all(np.array_equal(first[name], second[name]) for name in first)


def test_fit_ends_with_the_verdict_and_the_accuracy_on_graphs_kept_apart(run, data, tmp_path):
    text = run("fit", data, "--out", tmp_path / "model", *QUICK, "--test-fraction", "0.25").stdout
    verdict = json.loads((tmp_path / "model" / "report.json").read_text())["verdict"]
    assert " ".join(verdict.split()) in " ".join(text.split())
    assert text.index("10 are held out") < text.index("out of fold") < text.index("accuracy on held-out graphs")


def test_fit_saves_a_model_with_its_card_and_leaves_no_checkpoint(run, data, tmp_path):
    run("fit", data, "--out", tmp_path / "model", *QUICK, "--test-fraction", "0.25", "--members", "network")
    files = {"calibration.safetensors", "neighbours.safetensors", "network.safetensors", "training.safetensors"}
    files |= {"config.json", "card.md", "history.jsonl", "report.json"}
    assert {path.name for path in (tmp_path / "model").iterdir()} == files
    assert "held-out accuracy" in (tmp_path / "model" / "card.md").read_text()
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_fit_as_json_is_json_alone(run, data, tmp_path):
    result = run("fit", data, "--out", tmp_path / "model", "--effort", "low", "--epochs", "2", "--test-fraction", "0.25", "--json")
    content = json.loads(result.stdout)
    assert content["test"]["graphs"] == 10
    assert content["test"]["interval"][0] <= content["test"]["accuracy"] <= content["test"]["interval"][1]
    assert content["report"] == json.loads((tmp_path / "model" / "report.json").read_text())
    assert content["training"]["epochs"] == [2]
    assert content["preset"] == "auto"


def test_a_preset_by_name_trains_one_network_under_the_heads_given(run, data, tmp_path):
    arguments = ("--out", tmp_path / "model", "--preset", "MUTAG", "--epochs", "1", "--heads", "forest,kernel", "--json")
    content = json.loads(run("fit", data, *arguments).stdout)
    assert (content["report"], content["training"]["networks"]) == (None, 1)
    assert StructuralClassifier.load(tmp_path / "model").ensemble_.weights.keys() == {"network/forest", "network/kernel"}
    assert run("predict", tmp_path / "model", data).exit_code == 0


def test_members_are_those_asked_for(run, data, tmp_path):
    result = run("fit", data, "--out", tmp_path / "model", *QUICK, "--members", "colours,profiles", "--json")
    names = {candidate["name"].partition("/")[0] for candidate in json.loads(result.stdout)["report"]["candidates"]}
    assert names == {"colours", "profiles"}


@pytest.mark.parametrize(("option", "known"), [("--heads", "'forest'"), ("--members", "'colours'"), ("--effort", "'low'")])
def test_an_unknown_head_member_or_effort_is_refused(refused, data, tmp_path, option, known):
    assert known in refused("fit", data, "--out", tmp_path / "model", option, "steam")


@pytest.mark.parametrize("engine", ["fused", "reference"])
def test_the_engine_that_was_asked_for_is_kept(run, data, tmp_path, engine):
    assert run("fit", data, "--out", tmp_path / "m", *QUICK, "--engine", engine).exit_code == 0
    assert StructuralClassifier.load(tmp_path / "m").engine == engine


def test_an_unknown_engine_is_refused(refused, data, tmp_path):
    assert "'fused'" in refused("fit", data, "--out", tmp_path / "model", "--engine", "steam")


def test_the_command_line_knows_every_engine_and_effort():
    assert get_args(Engine) == ENGINES
    assert get_args(EffortName) == EFFORTS


def test_fit_learns_from_everything_unless_told_otherwise(run, data, tmp_path):
    content = json.loads(run("fit", data, "--out", tmp_path / "m", *QUICK, "--json").stdout)
    assert content["test"] is None
    assert StructuralClassifier.load(tmp_path / "m").data_["graphs"] == 40


def test_a_few_graphs_are_enough_to_fit(run, save_jsonl, tmp_path):
    data = save_jsonl(tmp_path / "few.jsonl", make_trees(6, n_nodes=6, seed=0))
    result = run("fit", data, "--out", tmp_path / "model", *QUICK)
    assert result.exit_code == 0, result.output
    assert (tmp_path / "model" / "report.json").exists()


def test_equal_seeds_give_equal_models(run, data, tmp_path):
    for name, seed in (("a", 3), ("b", 3), ("c", 4)):
        run("fit", data, "--out", tmp_path / name, *QUICK, "--members", "network", "--seed", seed)
    assert same_weights(tmp_path / "a", tmp_path / "b")
    assert not same_weights(tmp_path / "a", tmp_path / "c")


def test_directed_graphs_can_be_kept(run, tmp_path):
    lines = [{"edges": [[0, 1], [1, 2], [2, end]], "n_nodes": 4, "label": end, "directed": True} for end in (0, 3)]
    (tmp_path / "arcs.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines * 6))
    arguments = (tmp_path / "arcs.jsonl", "--out", tmp_path / "model", *QUICK, "--directed", "keep")
    assert run("fit", *arguments).exit_code == 0
    assert StructuralClassifier.load(tmp_path / "model").data_["directed"]
    assert run("predict", tmp_path / "model", tmp_path / "arcs.jsonl").exit_code == 0


def test_ctrl_c_leaves_a_usable_model_and_the_way_to_go_on(data, tmp_path):
    process = start("fit", data, "--out", tmp_path / "model", "--preset", "MUTAG", "--epochs", "100000")
    wait_for(tmp_path / "model.checkpoint", process)
    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=600)
    assert process.returncode == 130, text
    assert "Traceback" not in text
    assert "what was ready is saved" in text
    assert StructuralClassifier.load(tmp_path / "model").ensemble_.members[0].bag.ending == "interrupted"
    assert (tmp_path / "model.checkpoint").exists()


def test_ctrl_c_before_a_network_is_ready_leaves_the_members_that_are(data, tmp_path):
    process = start("fit", data, "--out", tmp_path / "model", "--effort", "low", "--epochs", "100000")
    wait_for(tmp_path / "model.checkpoint.0", process)
    process.send_signal(signal.SIGINT)
    text, _ = process.communicate(timeout=600)
    assert process.returncode == 130, text
    assert "Traceback" not in text
    assert StructuralClassifier.load(tmp_path / "model").networks_ == []
    assert checkpoint_files(tmp_path / "model.checkpoint")


def test_a_killed_run_goes_on_and_ends_with_the_same_weights(run, data, tmp_path):
    arguments = (*LONG, "--members", "network")
    process = start("fit", data, "--out", tmp_path / "killed", *arguments)
    wait_for(tmp_path / "killed.checkpoint.0", process)
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()
    assert not (tmp_path / "killed").exists()

    resumed = run("fit", data, "--out", tmp_path / "killed", *arguments)
    assert "resuming from killed.checkpoint" in resumed.stdout
    assert checkpoint_files(tmp_path / "killed.checkpoint") == []
    run("fit", data, "--out", tmp_path / "whole", *arguments)
    assert same_weights(tmp_path / "killed", tmp_path / "whole")
