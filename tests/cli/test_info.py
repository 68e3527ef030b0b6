import json
import sys

import pytest

import phist
from phist import StructuralClassifier, read_graphs
from phist.engine import compiling
from phist.graphs.datasets import DATASETS


def told(run, *arguments):
    return json.loads(run("info", *arguments, "--json").stdout)


def saved(data, folder, **settings):
    StructuralClassifier(preset="MUTAG", training={"epochs": 1}, random_state=0, **settings).fit(read_graphs(data)).save(folder)
    return folder


def test_versions_are_those_installed(run):
    versions = told(run)["versions"]
    assert versions["phist"] == phist.__version__
    assert versions["python"].startswith(f"{sys.version_info.major}.{sys.version_info.minor}")
    assert versions.keys() >= {"torch", "numpy", "numba"}


def test_every_extra_is_listed_with_its_packages(run):
    extras = told(run)["extras"]
    assert extras.keys() == {"demo", "gnn", "ray", "report", "scale", "serve", "spark", "tables"}
    assert extras["report"].keys() == {"igraph", "matplotlib", "pandas", "scikit-posthocs"}


def test_a_missing_package_comes_with_the_command_that_brings_it(run, monkeypatch):
    monkeypatch.setattr("phist.cli.info._extras", lambda: {"tables": {"pyarrow": None}, "gnn": {"torch-geometric": "2.8"}})
    text = run("info").stdout
    assert "without pyarrow: pip install 'phist[tables]'" in text
    assert "torch-geometric 2.8\n" in text


def test_the_default_network_is_computed_by_the_fused_engine(run):
    assert told(run)["engine"] == {
        "model": None,
        "engine": "fused",
        "reason": "it covers everything this network does, on this device",
    }


def test_a_model_that_the_engine_does_not_cover_says_why(run, data, tmp_path):
    engine = told(run, saved(data, tmp_path / "gin", network={"convolution": "gin"}))["engine"]
    assert engine["engine"] == "reference"
    assert "does not cover convolution='gin'" in engine["reason"]


def test_a_model_can_be_told_which_engine_to_take(run, data, tmp_path):
    engine = told(run, saved(data, tmp_path / "told", engine="reference"))["engine"]
    assert (engine["engine"], engine["reason"]) == ("reference", "the model was told to: engine='reference'")


def test_a_folder_without_a_model_is_refused(refused, tmp_path):
    assert "not a model folder" in refused("info", tmp_path)


def test_nothing_is_compiled_to_find_out_whether_it_is(run, monkeypatch):
    monkeypatch.setattr(compiling, "_is_on_disk", lambda part: False)
    monkeypatch.setattr(compiling, "is_portable", lambda: False)
    monkeypatch.setattr(compiling, "_compile", lambda: pytest.fail("it was compiled"))
    for function in compiling.SLOW:
        monkeypatch.setattr(function, "overloads", {})
    assert told(run)["compiled"]["on_disk"] is False
    assert "not yet; it will be compiled at first use" in run("info").stdout


def test_code_that_only_has_to_be_made_for_this_processor_is_told_apart(run, monkeypatch):
    monkeypatch.setattr(compiling, "is_compiled", lambda: False)
    monkeypatch.setattr(compiling, "is_portable", lambda: True)
    assert "there, but not yet for this processor; it will be compiled at first use, which takes some seconds" in run("info").stdout


def test_vectors_have_a_width(run):
    assert told(run)["vectors"]["bits"] in (128, 256, 512)


def test_the_folder_of_datasets_is_named(run, tmp_path, monkeypatch):
    monkeypatch.setenv("PHIST_DATA", str(tmp_path))
    datasets = told(run)["datasets"]
    assert datasets["PHIST_DATA"] == str(tmp_path)
    assert datasets["found"].keys() == set(DATASETS)


def test_a_folder_of_datasets_that_is_not_there_is_a_finding(run, tmp_path, monkeypatch):
    monkeypatch.setenv("PHIST_DATA", str(tmp_path / "nowhere"))
    result = run("info")
    assert result.exit_code == 0
    assert "not a folder that can be read" in result.stdout


def test_it_reads_well_without_json(run):
    text = run("info").stdout
    assert [line for line in text.splitlines() if not line.startswith(" ")] == [
        "Versions",
        "Extras",
        "Threads",
        "Engine",
        "Datasets",
    ]
