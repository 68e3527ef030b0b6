"""Our own methods in the study: what they are, what they may be told, and what they tell of themselves."""

from dataclasses import replace

import numpy as np
import pytest

from phist.baselines.phist_methods import (
    METHODS,
    OneNetwork,
    Phist,
    PhistForest,
    PhistKernel,
    PhistLinear,
    PhistNetwork,
    PhistPaper,
    PhistPaperDeterministic,
    PhistPaperSum,
)
from phist.baselines.phist_options import preset_of
from phist.errors import ConfigError
from phist.graphs.generate import make_trees
from phist.training.loop import Trainer

QUICK = {"engine": "reference", "epochs": 2, "channels": [4, 6], "orders": [2, 2], "bins": 4, "roots": 6, "effort": "low"}
every_method = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)


def quick(method, **options):
    chosen = QUICK | options
    for name in method.fixed:
        chosen.pop(name, None)
    if issubclass(method, OneNetwork):
        chosen |= {"preset": "paper:MUTAG" if issubclass(method, PhistPaper) else "MUTAG"}
    return method(**chosen)


@pytest.fixture(scope="module")
def task(make_fold):
    return make_fold(make_trees(40, n_nodes=10, seed=0))


@every_method
def test_probabilities_add_up_and_do_not_change_with_the_same_seed(method, task):
    first, second = (quick(method).fit(task).predict(np.arange(40)) for _ in range(2))
    assert first.shape == (40, 2)
    np.testing.assert_allclose(first.sum(1), 1.0)
    np.testing.assert_array_equal(first, second)


@every_method
def test_the_account_tells_what_was_chosen_and_reached(method, task):
    fitted = quick(method).fit(task)
    fitted.look_back()
    account = fitted.account
    assert [row["epoch"] for row in account.history] == [0, 1]
    assert sum(account.chosen["weights"].values()) == pytest.approx(1, abs=1e-3)
    for part, told in ((task.training, account.training_accuracy), (task.validation, account.validation_accuracy)):
        assert told == (fitted.predict(part).argmax(1) == task.labels_of(part)).mean()


def test_the_estimator_tells_its_own_estimate_and_every_candidate(task):
    account = quick(Phist).fit(task).account
    assert 0 <= account.chosen["out_of_fold"]["accuracy"] <= 1
    assert {trial["name"].partition("/")[0] for trial in account.tried} == {"network", "colours"}  # of low effort


def test_networks_alone_have_no_hand_made_description_beside_them(task):
    account = quick(PhistNetwork).fit(task).account
    assert all(name.startswith("network/") for name in account.chosen["weights"])


def test_the_estimator_learns_from_the_training_part_only(task):
    other_labels = task.labels.copy()
    other_labels[task.validation] = 1 - other_labels[task.validation]
    first, second = (quick(Phist).fit(one).predict(np.arange(40)) for one in (task, replace(task, labels=other_labels)))
    np.testing.assert_array_equal(first, second)


def test_a_class_that_is_missing_in_training_has_a_column_of_zeros(task):
    fewer = task.training[task.labels_of(task.training) < 2]
    wider = replace(task, n_classes=3, training=fewer)
    found = quick(PhistLinear).fit(wider).predict(np.arange(5))
    assert found.shape == (5, 3)
    assert (found[:, 2] == 0).all()


@pytest.mark.parametrize("options", [{"nonsense": 1}, {"epochs": 0}, {"kernel": "foo"}, {"effort": "much"}, {"members": ["x"]}])
def test_options_that_a_fit_would_refuse_do_not_begin_a_study(options):
    with pytest.raises(ConfigError):
        Phist(**options)


def test_a_killed_cell_goes_on_where_it_was(task, tmp_path, monkeypatch):
    cell = replace(task, cache=tmp_path)
    whole = quick(PhistNetwork).fit(cell).predict(np.arange(40))
    run_epoch, calls = Trainer.run_epoch, []

    def dies_in_the_second_epoch(trainer):
        calls.append(len(trainer.history.epochs))
        if len(calls) == 2:
            raise RuntimeError("killed")
        return run_epoch(trainer)

    monkeypatch.setattr(Trainer, "run_epoch", dies_in_the_second_epoch)
    with pytest.raises(RuntimeError, match="killed"):
        quick(PhistNetwork).fit(cell)
    assert list((tmp_path / "unfinished").iterdir())
    again = quick(PhistNetwork).fit(cell)
    assert calls == [0, 1, 1]
    assert again.earlier_seconds > 0
    np.testing.assert_array_equal(again.predict(np.arange(40)), whole)
    assert not list((tmp_path / "unfinished").iterdir())


def test_networks_that_the_whole_estimator_trained_are_not_trained_again_alone(task, tmp_path, monkeypatch):
    alone = quick(PhistNetwork).fit(task).predict(np.arange(40))
    cell = replace(task, cache=tmp_path)
    Phist(**QUICK).fit(cell)
    monkeypatch.setattr(Trainer, "run_epoch", lambda trainer: pytest.fail("an epoch was trained again"))
    after = quick(PhistNetwork).fit(cell)
    assert after.earlier_seconds > 0
    np.testing.assert_array_equal(after.predict(np.arange(40)), alone)
    assert not list((tmp_path / "unfinished").iterdir())


def test_the_three_heads_of_one_network_have_it_trained_once(task, tmp_path, monkeypatch):
    further = PhistForest, PhistKernel
    alone = [quick(method).fit(task).predict(np.arange(40)) for method in further]
    cell = replace(task, cache=tmp_path)
    quick(PhistLinear).fit(cell)
    monkeypatch.setattr(Trainer, "run_epoch", lambda trainer: pytest.fail("an epoch was trained again"))
    for method, expected in zip(further, alone, strict=True):
        after = quick(method).fit(cell)
        assert after.earlier_seconds > 0
        np.testing.assert_array_equal(after.predict(np.arange(40)), expected)
    assert not list((tmp_path / "unfinished").iterdir())


def test_the_paper_has_sizes_for_its_nine_datasets_only():
    assert PhistPaper().skip("imdb_binary") is None
    assert "COX2" in PhistPaper().skip("COX2")
    assert (preset_of("MUTAG", "paper:"), preset_of("COX2", "paper:")) == ("paper:MUTAG", "one")


def test_one_network_stays_one_on_datasets_without_a_preset(task):
    options = {name: value for name, value in QUICK.items() if name != "effort"}
    account = PhistLinear(**options).fit(task).account
    assert account.chosen["weights"] == {"network/linear": 1.0}


def test_a_study_that_trains_for_longer_than_the_preset_says_so(task):
    assert quick(PhistPaper).fit(task).account.notes == ["2 epochs instead of 600"]
    assert quick(PhistLinear, epochs=50).fit(task).account.notes == []


def test_the_estimator_counts_how_often_the_right_class_is_in_its_set(task):
    method = quick(Phist).fit(task)
    method.look_back()
    sets = method.account.chosen["sets"]
    assert sets["promised"] == 0.9 and 0 <= sets["reached"] <= 1 and 0 <= sets["size"] <= 2


@pytest.mark.parametrize(
    ("method", "name", "value"), [(PhistPaperSum, "aggregation", "sum"), (PhistPaperDeterministic, "roots", "all")]
)
def test_ablations_as_printed_change_one_thing(method, name, value, task):
    printed = PhistPaper().parameters(replace(task, dataset="MUTAG"))
    assert method().parameters(replace(task, dataset="MUTAG")) == {**printed, "network": {name: value}}
