import json

import pytest

from phist import StructuralClassifier
from phist.graphs.datasets import find_dataset


def skip_without(name):
    """Asked by a fixture, as the tests have a cache of their own by then."""
    if find_dataset(name).kind == "download":
        pytest.skip(f"{name} is not on this machine")


@pytest.fixture
def mutag():
    skip_without("MUTAG")


@pytest.fixture
def enzymes():
    skip_without("ENZYMES")


@pytest.fixture
def only_mutag(monkeypatch):
    """A machine without PHIST_DATA, where the demo takes what is installed with it."""
    from phist.graphs import datasets

    real = datasets.find_dataset
    absent = type("Found", (), {"kind": "download"})()
    monkeypatch.setattr(datasets, "find_dataset", lambda name: absent if name == "ENZYMES" else real(name))


@pytest.mark.usefixtures("mutag")
def test_demo_leaves_model_metrics_and_pictures(run, tmp_path, only_mutag):
    result = run("demo", "--out", tmp_path / "demo", "--effort", "low")
    assert result.exit_code == 0, result.output
    assert f"MUTAG, from {find_dataset('MUTAG').source}: " in result.stdout
    assert result.stdout.index("ceiling") < result.stdout.index("accuracy on held-out graphs") < result.stdout.index("Next:")
    metrics = json.loads((tmp_path / "demo" / "metrics.json").read_text())
    assert metrics["report"]["verdict"] in (tmp_path / "demo" / "model" / "card.md").read_text()
    assert metrics["report"]["verdict"] in result.stdout
    assert metrics["test"]["graphs"] == 38
    assert StructuralClassifier.load(tmp_path / "demo" / "model").data_["graphs"] == 150
    for name in ("responses", "plane", "history"):
        assert (tmp_path / "demo" / f"{name}.png").read_bytes().startswith(b"\x89PNG")
        assert "<svg" in (tmp_path / "demo" / f"{name}.svg").read_text()
    last = result.stdout.strip().splitlines()[-1]
    assert last.startswith("Open this page") and (tmp_path / "demo" / "page.html").read_text().startswith("<!doctype html>")


@pytest.mark.usefixtures("enzymes")
def test_demo_takes_enzymes_where_it_is_and_beats_the_floors(run, tmp_path):
    result = run("demo", "--out", tmp_path / "demo", "--effort", "low", "--json")
    metrics = json.loads(result.stdout)
    assert metrics["data"] == "ENZYMES"
    assert metrics["report"]["verdict"].startswith("It beats the best floor")
