"""Whatever is wrong: exit code 2, one line that says what was given and what is needed, and nothing written."""

import json
import shutil

import pytest

from phist import StructuralClassifier
from phist.graphs.generate import make_trees


def test_unknown_dataset_names_the_nearest(refused):
    assert "Did you mean MUTAG?" in refused("check", "MUTAGG")


def test_missing_path_is_named(refused, tmp_path):
    assert str(tmp_path / "none.jsonl") in refused("check", tmp_path / "none.jsonl")


def test_damaged_data_name_file_and_line(refused, tmp_path):
    (tmp_path / "bad.jsonl").write_text('{"edges": [[0, 1]]}\n{"edges": [[0,\n')
    assert "line 2" in refused("check", tmp_path / "bad.jsonl")


def test_unlabelled_data_at_fit_point_to_the_option(refused, unlabelled, tmp_path):
    assert "--labels FILE" in refused("fit", unlabelled, "--out", tmp_path / "model")


def test_one_class_is_not_enough(refused, tmp_path):
    (tmp_path / "one.jsonl").write_text('{"edges": [[0, 1]], "label": "a"}\n' * 4)
    assert "two classes are needed" in refused("fit", tmp_path / "one.jsonl", "--out", tmp_path / "model")


def test_unknown_preset_is_reported_before_anything_long(refused, data, tmp_path):
    assert "'paper:'" in refused("fit", data, "--out", tmp_path / "model", "--preset", "MUTAGG")
    assert not (tmp_path / "model").exists()


@pytest.mark.parametrize("share", ["-0.1", "1", "0.01"])
def test_test_fraction_must_leave_every_class_on_both_sides(refused, data, tmp_path, share):
    assert f"--test-fraction {float(share)}" in refused("fit", data, "--out", tmp_path / "model", f"--test-fraction={share}")


@pytest.mark.parametrize("option", ["--directed", "--self-loops", "--weights"])
def test_unknown_reading_choices_list_the_known_ones(refused, data, option):
    assert "choose one of" in refused("check", data, option, "sideways")


def test_output_below_a_file_is_refused_before_training(refused, data, model, tmp_path):
    (tmp_path / "file").write_text("mine")
    for arguments in (
        ("fit", data, "--out", tmp_path / "file" / "model"),
        ("demo", "--out", tmp_path / "file"),
        ("predict", model, data, "--out", tmp_path / "file" / "p.csv"),
        ("embed", model, data, "--out", tmp_path / "file" / "e.npz"),
    ):
        assert "cannot write" in refused(*arguments)


def test_a_folder_of_something_else_is_not_replaced(refused, data, tmp_path):
    (tmp_path / "thesis.tex").write_text("mine")
    assert "choose another name" in refused("fit", data, "--out", tmp_path)
    assert (tmp_path / "thesis.tex").exists()


def test_a_folder_cannot_be_the_output_file(refused, model, data, tmp_path):
    (tmp_path / "results.csv").mkdir()
    assert "it is a folder" in refused("predict", model, data, "--out", tmp_path / "results.csv")


def test_model_folder_without_weights(refused, model, data, tmp_path):
    shutil.copytree(model, tmp_path / "copy")
    (tmp_path / "copy" / "network.safetensors").unlink()
    assert "no network.safetensors" in refused("predict", tmp_path / "copy", data)


def test_foreign_folder_is_no_model(refused, data, tmp_path):
    (tmp_path / "config.json").write_text(json.dumps({"model_type": "bert"}))
    assert "does not describe a phist model" in refused("predict", tmp_path, data)
    assert "there is no folder" in refused("embed", tmp_path / "nowhere", data, "--out", tmp_path / "e.npz")


def test_checkpoint_of_another_run_is_not_continued(refused, run, data, tmp_path):
    checkpoint, quick = tmp_path / "model.checkpoint", ("--effort", "low", "--epochs", "1")
    other = StructuralClassifier("low", training={"epochs": 1}, random_state=0, checkpoint=checkpoint)
    other.fit(make_trees(12, n_nodes=6, seed=0))
    result = run("fit", data, "--out", tmp_path / "model", *quick)
    assert result.exit_code == 2
    assert "phist: " in result.stderr
    assert run("fit", data, "--out", tmp_path / "model", *quick, "--fresh").exit_code == 0


def test_unknown_suffix_lists_those_accepted(refused, model, data, tmp_path):
    assert ".npz, .npy, .csv" in refused("embed", model, data, "--out", tmp_path / "e.xlsx")


def test_demo_without_matplotlib_names_the_extra(refused, tmp_path, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "matplotlib", None)
    assert "phist[report]" in refused("demo", "--out", tmp_path)
