"""Cross-validation whose results a kill does not lose."""

import json
import os

import numpy as np
import pytest

from phist import StructuralClassifier
from phist.errors import ConfigError, ModelFileError
from phist.estimators.validation import CrossValidation
from phist.graphs.generate import make_planted_partitions

GRAPHS = make_planted_partitions(24, n_nodes=10, seed=0)
MODEL = StructuralClassifier("low", members=("colours", "profiles"), random_state=0)


def test_every_graph_is_predicted_once_by_a_model_without_it():
    validation = CrossValidation(MODEL, GRAPHS, folds=3)
    results = list(validation.run())
    assert sorted(position for result in results for position in result.positions) == list(range(24))
    found = validation.summary()
    assert found.metrics.n == 24
    assert found.metrics.accuracy == pytest.approx(np.mean(found.accuracies))
    assert all(0 <= estimate <= 1 for estimate in found.estimates)


def test_a_run_goes_on_from_its_file(tmp_path, monkeypatch):
    whole = CrossValidation(MODEL, GRAPHS, folds=3)
    expected = [result.probabilities for result in whole.run()]
    first = CrossValidation(MODEL, GRAPHS, folds=3, records=tmp_path / "records.jsonl")
    next(iter(first.run()))
    again = CrossValidation(MODEL, GRAPHS, folds=3, records=tmp_path / "records.jsonl")
    assert list(again.results) == [0]
    assert [result.probabilities for result in again.run()] == expected


def test_results_of_something_else_are_not_mixed_in(tmp_path):
    file = tmp_path / "records.jsonl"
    next(iter(CrossValidation(MODEL, GRAPHS, folds=3, records=file).run()))
    with pytest.raises(ConfigError, match="another validation"):
        CrossValidation(MODEL, GRAPHS, folds=4, records=file)
    file.write_text("thesis\n")
    with pytest.raises(ModelFileError, match="choose another file"):
        CrossValidation(MODEL, GRAPHS, folds=3, records=file)
    assert file.read_text() == "thesis\n"


@pytest.mark.parametrize("folds", [1, 13, 2.5])
def test_folds_that_cannot_be_are_refused(folds):
    with pytest.raises(ConfigError, match="folds"):
        CrossValidation(MODEL, GRAPHS, folds=folds)


@pytest.fixture(scope="module")
def two_folds(tmp_path_factory):
    file = tmp_path_factory.mktemp("validation") / "records.jsonl"
    list(CrossValidation(MODEL, GRAPHS, folds=2, records=file).run())
    return file.read_text().splitlines()


@pytest.mark.parametrize(
    "change",
    [
        {"positions": [0] * 12},
        {"positions": [10**9]},
        {"positions": "all"},
        {"positions": None},
        {"probabilities": [[0.5, 0.5]]},
        {"probabilities": [[1.0]] * 12},
        {"probabilities": [[2.0, -1.0]] * 12},
        {"probabilities": [[0.1, 0.1]] * 12},
        {"probabilities": [["a", "b"]] * 12},
        {"probabilities": [[float("nan")] * 2] * 12},
        {"probabilities": {}},
        {"fold": 2},
        {"fold": -1},
        {"fold": True},
        {"fold": "0"},
        {"estimate": "good"},
        {"estimate": 1.5},
        {"seconds": None},
        {"run": 3},
        {"thesis": "mine"},
    ],
    ids=str,
)
def test_results_that_cannot_be_are_refused(two_folds, tmp_path, change):
    file = tmp_path / "records.jsonl"
    file.write_text("\n".join([json.dumps({**json.loads(two_folds[0]), **change}), two_folds[1]]))
    with pytest.raises(ModelFileError, match=r"records\.jsonl (is damaged|holds no results)"):
        CrossValidation(MODEL, GRAPHS, folds=2, records=file)


def test_positions_written_as_fractions_are_refused(two_folds, tmp_path):
    file = tmp_path / "records.jsonl"
    first = json.loads(two_folds[0])
    first["positions"] = [float(position) for position in first["positions"]]
    file.write_text("\n".join([json.dumps(first), two_folds[1]]))
    with pytest.raises(ModelFileError, match="has the positions"):
        CrossValidation(MODEL, GRAPHS, folds=2, records=file)


@pytest.mark.parametrize("text", ["[]", "[" * 100_000, "3", "{}", '{"fold": 0}'], ids=lambda text: text[:20])
def test_lines_that_hold_no_result_are_refused(tmp_path, text):
    (tmp_path / "records.jsonl").write_text(text)
    with pytest.raises(ModelFileError, match="holds no results of a validation"):
        CrossValidation(MODEL, GRAPHS, folds=2, records=tmp_path / "records.jsonl")


def test_a_pipe_in_place_of_the_results_is_refused(tmp_path):
    os.mkfifo(tmp_path / "records.jsonl")
    with pytest.raises(ModelFileError, match="a file of at most"):
        CrossValidation(MODEL, GRAPHS, folds=2, records=tmp_path / "records.jsonl")
