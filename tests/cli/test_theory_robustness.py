"""phist theory robustness"""

import json

import pytest

from phist import StructuralClassifier, read_graphs
from phist.graphs.generate import make_trees

QUICK = ("--samples", 8, "--draws", 1)


@pytest.fixture(scope="module")
def answer(model, data):
    from typer.testing import CliRunner

    from phist.cli.app import app

    arguments = ["theory", "robustness", str(model), str(data), "--json", *map(str, QUICK)]
    return CliRunner().invoke(app, arguments)


def test_json_holds_bands_and_shifts(answer):
    content = json.loads(answer.stdout)
    assert content["graphs"] == content["graphs_measured"] == 8
    assert sum(band["energy"] for band in content["bands"]) == pytest.approx(1, abs=1e-4)
    assert [content["bands"][0]["low"], content["bands"][-1]["high"]] == [0, 2]
    assert len(content["shifts"]) == 17
    assert {shift["strength"] for shift in content["shifts"]} == {0, 0.01, 0.05, 0.1, 0.2}
    assert all(0 <= shift["flipped"] <= 1 and 0 <= shift["accuracy"] <= 1 for shift in content["shifts"])


def test_the_same_seed_says_the_same(run, model, data, answer):
    assert run("theory", "robustness", model, data, "--json", *QUICK).stdout == answer.stdout
    assert run("theory", "robustness", model, data, "--json", *QUICK, "--seed", 1).stdout != answer.stdout


def test_accuracy_without_errors_is_that_of_the_model(run, model, data):
    content = json.loads(run("theory", "robustness", model, data, "--json", "--draws", 1).stdout)
    assert content["graphs"] == 40
    expected = StructuralClassifier.load(model).score(read_graphs(data))
    assert content["shifts"][0]["accuracy"] == pytest.approx(expected, abs=1e-6)


def test_tables_are_for_people(run, model, data):
    result = run("theory", "robustness", model, data, *QUICK)
    assert result.exit_code == 0
    for words in ("8 graphs, accuracy", "Bands of the spectrum", "flips if muted", "edge addition", "rewiring", "weight noise"):
        assert words in result.stdout
    assert result.stderr == ""


def test_unlabelled_graphs_are_fine(run, model, unlabelled):
    content = json.loads(run("theory", "robustness", model, unlabelled, "--json", *QUICK).stdout)
    assert all(shift["accuracy"] is None for shift in content["shifts"])


def test_a_picture_is_drawn(run, model, data, tmp_path):
    result = run("theory", "robustness", model, data, "--json", *QUICK, "--out", tmp_path / "new" / "picture.png")
    assert (tmp_path / "new" / "picture.png").stat().st_size > 10_000
    assert (tmp_path / "new" / "picture.svg").exists()
    assert "picture" in result.stderr
    json.loads(result.stdout)


def test_pictures_of_another_kind_are_refused_at_once(refused, model, data, tmp_path):
    assert "try --out" in refused("theory", "robustness", model, data, "--out", tmp_path / "picture.doc")


def test_a_model_that_is_none_is_refused(refused, data, tmp_path):
    assert "no-model" in refused("theory", "robustness", tmp_path / "no-model", data)


def test_directed_graphs_have_no_bands_but_shifts(run, save_jsonl, tmp_path):
    graphs = make_trees(12, n_nodes=8, seed=0)
    data = save_jsonl(tmp_path / "arcs.jsonl", graphs)
    directed = read_graphs(data, directed="keep")
    classifier = StructuralClassifier("low", training={"epochs": 1}, random_state=0).fit(directed)
    classifier.save(tmp_path / "model")
    result = run("theory", "robustness", tmp_path / "model", data, *QUICK, "--out", tmp_path / "picture.png")
    assert result.exit_code == 0, result.output
    assert "Bands of the spectrum: none" in result.stdout
    assert (tmp_path / "picture.png").exists()
