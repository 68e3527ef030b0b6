"""Fits that fail or are interrupted leave a whole model: the one of before, or one of what was ready."""

import numpy as np
import pytest

from phist import StructuralClassifier, StructuralEmbedder, load_estimator
from phist.errors import GraphInputError
from phist.estimators.validation import CrossValidation
from phist.graphs.generate import make_planted_partitions
from phist.training.loop import Trainer

GRAPHS = make_planted_partitions(24, n_nodes=10, seed=0)
OTHER_LABELS = np.array(["x", "y", "z"] * 8)
NETWORK = {"channels": (4, 6), "bins": 4, "roots": 6}


def small(**changes):
    return StructuralClassifier(
        **{"effort": "low", "training": {"epochs": 3}, "network": NETWORK, "random_state": 0, "progress": False, **changes}
    )


@pytest.fixture
def interrupt(monkeypatch):
    """Ctrl-C in the epoch of a number, counted from 1 over all networks."""

    def arrange(number):
        count, plain = iter(range(1, 1000)), Trainer.run_epoch

        def run_epoch(trainer):
            if next(count) == number:
                raise KeyboardInterrupt
            return plain(trainer)

        monkeypatch.setattr(Trainer, "run_epoch", run_epoch)

    return arrange


def test_an_interrupted_fit_is_passed_on_and_leaves_a_model_of_what_was_ready(interrupt, tmp_path):
    interrupt(2)
    model = small()
    with pytest.raises(KeyboardInterrupt, match="can be used and saved"):
        model.fit(GRAPHS)
    assert any("interrupted" in note for note in model.report_.notes)
    model.save(tmp_path / "model")
    np.testing.assert_array_equal(load_estimator(tmp_path / "model").predict_proba(GRAPHS), model.predict_proba(GRAPHS))


def test_an_interrupted_fit_ends_without_the_heads_that_take_long(interrupt):
    interrupt(9)
    model = small(effort="medium", members="network", training={"epochs": 3, "restarts": 1})
    with pytest.raises(KeyboardInterrupt, match="can be used and saved"):
        model.fit(GRAPHS)
    assert model.ensemble_.weights == {"network/linear": 1.0}


def test_an_interrupted_preset_leaves_the_best_epoch(interrupt):
    interrupt(3)
    model = small(preset="one")
    with pytest.raises(KeyboardInterrupt):
        model.fit(GRAPHS)
    assert len(model.histories_[0].epochs) == 2
    assert len(model.predict(GRAPHS)) == len(GRAPHS)


@pytest.mark.parametrize("members", ["network", ("network", "colours")], ids=["nothing ready", "colours ready"])
def test_an_interrupted_refit_never_mixes_two_models(interrupt, members):
    model = small(members=members).fit(GRAPHS)
    before = model.predict(GRAPHS)
    interrupt(1)
    with pytest.raises(KeyboardInterrupt):
        model.fit(GRAPHS, OTHER_LABELS)
    if members == "network":
        assert (model.predict(GRAPHS) == before).all()
    else:
        assert set(model.predict(GRAPHS)) <= set(OTHER_LABELS)


@pytest.mark.parametrize(
    ("kind", "wrong"),
    [(small, {"y": OTHER_LABELS, "sample_weight": [1, 2]}), (StructuralEmbedder, {"y": ["a"] * len(GRAPHS)})],
    ids=["classifier", "embedder"],
)
def test_a_refit_that_fails_leaves_the_model_as_it_was(kind, wrong):
    model = kind(training={"epochs": 2}, network=NETWORK, random_state=0).fit(GRAPHS)
    before = model.transform(GRAPHS)
    with pytest.raises(GraphInputError):
        model.fit(GRAPHS, **wrong)
    np.testing.assert_array_equal(model.transform(GRAPHS), before)
    assert list(model.classes_) == list(GRAPHS.classes)


def test_a_first_fit_that_fails_leaves_no_model():
    model = small()
    with pytest.raises(GraphInputError):
        model.fit(GRAPHS, sample_weight=[1, 2])
    assert not hasattr(model, "classes_")


def test_an_interrupted_validation_stops_and_keeps_nothing_of_the_fold(interrupt, tmp_path):
    file = tmp_path / "records.jsonl"
    interrupt(5)  # in the second fold
    with pytest.raises(KeyboardInterrupt):
        list(CrossValidation(small(), GRAPHS, folds=3, records=file).run())
    assert list(CrossValidation(small(), GRAPHS, folds=3, records=file).results) == [0]
