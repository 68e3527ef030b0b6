"""Our own methods in the study: what they are, what they choose, and what they tell of it."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from phist.baselines.ours import (
    METHODS,
    Phist,
    PhistDeterministic,
    PhistForest,
    PhistKernel,
    PhistLinear,
    PhistPaper,
    PhistSum,
    _clearly_best,
)

from phist import as_graphset
from phist.errors import ConfigError
from phist.graphs.generate import make_trees
from phist.training.loop import Trainer
from phist.training.presets import make_preset

QUICK = {"engine": "reference", "epochs": 2, "channels": [4, 6], "bins": 4, "roots": 6, "realizations": 2, "trees": 12}
every_method = pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)


def quick(method, **options):
    chosen = QUICK | options
    for name in method.fixed:
        chosen.pop(name, None)
    return method(**({**chosen, "preset": "paper:MUTAG"} if method is PhistPaper else chosen))


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
def test_the_account_is_complete(method, task):
    fitted = quick(method).fit(task)
    account = fitted.account
    assert [row["epoch"] for row in account.history] == [0, 1]
    assert account.history[0].keys() >= {"loss", "accuracy", "learning_rate", "seconds", "validation_accuracy", "validation_loss"}
    assert [trial["head"] for trial in account.tried] == list(method.heads)
    assert account.chosen["engine"] == "reference"
    for part, told in ((task.training, account.training_accuracy), (task.validation, account.validation_accuracy)):
        assert told == (fitted.predict(part).argmax(1) == task.labels_of(part)).mean()


@pytest.mark.parametrize("method", [PhistLinear, PhistForest, PhistKernel])
def test_stars_and_paths_are_told_apart(method, make_fold):
    kinds = [nx.star_graph(size) if graph % 2 else nx.path_graph(size + 1) for graph, size in enumerate(np.arange(60) // 2 % 6 + 4)]
    truth = np.arange(60) % 2
    fitted = quick(method, epochs=20).fit(make_fold(as_graphset(kinds), truth))
    assert (fitted.predict(np.arange(48, 60)).argmax(1) == truth[48:]).mean() > 0.9


@pytest.mark.parametrize(
    ("linear", "forest", "chosen"),
    [
        ("1111000000", "1111000000", "all"),  # as good: the mean
        ("1111110000", "0111000000", "all"),  # two graphs more, as can well be by chance
        ("1111111110", "1111110000", "linear"),
        ("1111111110", "1111111111", "forest"),
        ("", "", "all"),
    ],
)
def test_a_head_alone_is_chosen_where_the_difference_is_clear(linear, forest, chosen):
    mean = "1111000000"[: len(linear)]
    right = {
        name: np.array([mark == "1" for mark in marks], bool)
        for name, marks in (("all", mean), ("linear", linear), ("forest", forest))
    }
    assert _clearly_best(right) == chosen


def test_the_chooser_tells_what_it_chose(task):
    fitted = quick(Phist).fit(task)
    tried = {trial["head"]: trial for trial in fitted.account.tried}
    assert fitted.account.validation_accuracy == tried[fitted.account.chosen["head"]]["validation_accuracy"]
    assert fitted.account.chosen["head"] == fitted._head


def test_the_chooser_has_the_very_heads_it_chooses_from(task):
    tried = {trial["head"]: trial for trial in quick(Phist).fit(task).account.tried}
    for head, method in (("linear", PhistLinear), ("forest", PhistForest), ("kernel", PhistKernel)):
        assert tried[head] == quick(method).fit(task).account.tried[0]


def test_the_mean_is_of_the_probabilities_of_all_heads(task):
    alone = [quick(method).fit(task).predict(np.arange(40)) for method in (PhistLinear, PhistForest, PhistKernel)]
    fitted = quick(Phist, candidates=["all"]).fit(task)
    np.testing.assert_allclose(fitted.predict(np.arange(40)), np.mean(alone, axis=0))
    assert fitted.account.chosen["head"] == "all"


@pytest.mark.parametrize(("method", "wrong"), [(Phist, []), (Phist, ["steam"]), (PhistLinear, ["forest"])])
def test_only_the_chooser_chooses_and_from_heads_it_knows(method, wrong):
    with pytest.raises(ConfigError, match="candidates"):
        method(candidates=wrong)


def test_the_last_epoch_is_kept_by_our_recipe_and_the_lowest_loss_as_printed(task):
    assert quick(PhistLinear, epochs=4).fit(task).account.chosen["epoch"] == 3
    printed = quick(PhistPaper, epochs=6).fit(task).account
    assert printed.chosen["epoch"] == int(np.argmin([row["validation_loss"] for row in printed.history]))


def test_what_is_printed_is_trained_for_600_epochs_without_our_recipe(task):
    from phist.training.presets import make_preset

    printed = make_preset("paper:ENZYMES")
    assert (printed.training.epochs, printed.training.schedule, printed.network.standardize) == (600, "constant", False)
    assert PhistPaper().skip("ENZYMES") is None
    assert "no sizes" in PhistPaper().skip("mine")


def test_ablations_change_the_network(task):
    assert quick(PhistSum).fit(task)._models[0].network_config_.aggregation == "sum"
    assert quick(PhistDeterministic).fit(task)._models[0].network_config_.sampler.kind == "all"


# Killed and resumed ---------------------------------------------------------------------------------------------------


@pytest.fixture
def killed(task, tmp_path, monkeypatch):
    """A task whose cell was killed in the second epoch of the second of two networks."""
    cached = replace(task, cache=tmp_path / "cache")
    with monkeypatch.context() as patch:
        patch.setattr("phist.training.loop.Trainer._validate", dies_at_call(4))
        with pytest.raises(KeyError, match="killed"):
            quick(Phist, ensemble=2).fit(cached)
    return cached


def dies_at_call(number):
    count = iter(range(1, number + 1))

    def validate(trainer, epoch):
        if next(count) == number:
            raise KeyError("killed")
        return None, None

    return validate


def unfinished(task):
    return sorted((task.cache / "unfinished").iterdir())


def test_a_killed_cell_goes_on_where_it_was(task, killed, monkeypatch):
    assert len(unfinished(killed)) == 2
    begun = []
    epoch = Trainer.run_epoch
    monkeypatch.setattr(Trainer, "run_epoch", lambda trainer: begun.append(len(trainer.history.epochs)) or epoch(trainer))
    resumed = quick(Phist, ensemble=2).fit(killed)
    assert begun == [1]  # of four epochs, the last
    assert unfinished(killed) == []
    assert resumed.earlier_seconds > 0
    np.testing.assert_array_equal(resumed.predict(np.arange(40)), quick(Phist, ensemble=2).fit(task).predict(np.arange(40)))


def test_what_another_cell_left_is_left_alone(killed):
    before = [path.read_bytes() for path in unfinished(killed)]
    for other, fold in ((PhistForest, killed), (Phist, replace(killed, seed=1)), (Phist, replace(killed, threads=2))):
        assert quick(other, ensemble=2).fit(fold).earlier_seconds == 0
    assert [path.read_bytes() for path in unfinished(killed)] == before


def test_a_recipe_that_was_changed_since_begins_anew(killed, monkeypatch):
    before = make_preset("auto")
    changed = replace(before, training=replace(before.training, learning_rate=2 * before.training.learning_rate))
    monkeypatch.setattr("phist.training.presets._automatic", lambda graphs: changed)
    assert quick(Phist, ensemble=2).fit(killed).earlier_seconds == 0
    assert len(unfinished(killed)) == 2


def test_a_damaged_checkpoint_costs_time_only(task, killed):
    for path in unfinished(killed):
        path.write_bytes(path.read_bytes()[:100])
    resumed = quick(Phist, ensemble=2).fit(killed)
    assert resumed.earlier_seconds == 0
    np.testing.assert_array_equal(resumed.predict(np.arange(40)), quick(Phist, ensemble=2).fit(task).predict(np.arange(40)))


def test_a_cache_that_cannot_be_written_costs_nothing(task, tmp_path):
    (tmp_path / "file").write_text("no folder")
    assert quick(PhistLinear).fit(replace(task, cache=tmp_path / "file" / "cache")).account.history


def test_options_reach_network_training_and_forest(task):
    options = {"orders": [2, 2], "schedule": "constant", "learning_rate": 0.01, "kernel": "triangle"}
    model = quick(PhistForest, **options).fit(task)._models[0]
    assert model.network_config_.orders == (2, 2)
    assert model.network_config_.kernel == "triangle"
    assert (model.training_config_.schedule, model.training_config_.learning_rate) == ("constant", 0.01)
    assert len(model.forest_.parts[0][1].first) == 13


def test_an_ensemble_is_the_mean_over_seeds(task):
    fitted = quick(PhistLinear, ensemble=2).fit(task)
    one, two = (model.predict_proba(task.graphs) for model in fitted._models)
    assert not np.allclose(one, two)
    np.testing.assert_allclose(fitted.predict(np.arange(40)), (one + two) / 2)
    assert "2 seeds" in fitted.account.notes[0]


def test_another_seed_gives_another_network(make_fold):
    first, second = (quick(PhistLinear).fit(make_fold(make_trees(20, seed=0), seed=seed)).predict(np.arange(20)) for seed in (0, 1))
    assert not np.allclose(first, second)


@every_method
@pytest.mark.parametrize("wrong", [{"colour": 3}, {"ensemble": 0}, {"seed": 1}])
def test_wrong_options_are_refused_before_anything_runs(method, wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        method(**wrong)


def test_awkward_graphs_are_fine(make_fold, make_odd_graphs):
    fitted = quick(Phist).fit(make_fold(make_odd_graphs(), np.arange(20) % 2))
    np.testing.assert_allclose(fitted.predict(np.arange(20)).sum(1), 1.0)


def test_a_class_without_training_graphs_gets_no_share(make_fold):
    labels = np.r_[np.arange(12) % 2, 2, 0, 1, 0, 2, 1, 0, 1]
    fitted = quick(Phist).fit(make_fold(make_trees(20, seed=0), labels))
    assert (fitted.predict(np.arange(20))[:, 2] == 0).all()


def test_threads_are_set_and_given_back(make_fold):
    before = torch.get_num_threads()
    quick(PhistLinear).fit(make_fold(make_trees(20, seed=0), threads=2))
    assert torch.get_num_threads() == before


def test_a_hidden_label_is_refused(make_fold):
    task = make_fold(make_trees(20, seed=0))
    task.labels[task.training[0]] = -1
    with pytest.raises(LookupError, match="hidden"):
        quick(PhistLinear).fit(task)
