"""Cross-validation whose results a kill does not lose."""

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
