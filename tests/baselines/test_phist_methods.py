"""Our own methods in the study: what they are, what they choose, and what they tell of it."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch

from phist import as_graphset
from phist.baselines.phist_methods import (
    METHODS,
    Phist,
    PhistDeterministic,
    PhistForest,
    PhistHigh,
    PhistKernel,
    PhistLinear,
    PhistLow,
    PhistNetwork,
    PhistPaper,
    PhistSum,
)
from phist.baselines.phist_options import estimator_parameters, preset_of
from phist.errors import ConfigError
from phist.graphs.generate import make_trees
from phist.training.loop import Trainer

QUICK = {"engine": "reference", "epochs": 2, "channels": [4, 6], "bins": 4, "roots": 6}
ENSEMBLES = (Phist, PhistNetwork, PhistLow)
ONE_NETWORK = (PhistLinear, PhistForest, PhistKernel, PhistPaper, PhistSum, PhistDeterministic)
every_method = pytest.mark.parametrize("method", [*ENSEMBLES, *ONE_NETWORK], ids=lambda method: method.name)


def quick(method, **options):
    """With small networks; one network has the sizes of a dataset of the appendix."""
    chosen = {**QUICK, **({} if method in ENSEMBLES else {"preset": "paper:MUTAG" if method is PhistPaper else "MUTAG"}), **options}
    return method(**{name: value for name, value in chosen.items() if name not in method.fixed})


@pytest.fixture(scope="module")
def task(make_fold):
    return make_fold(make_trees(40, n_nodes=10, seed=0))


@pytest.fixture(scope="module")
def fitted(task):
    return {method: quick(method).fit(task) for method in (*ENSEMBLES, *ONE_NETWORK)}


def test_every_method_is_registered_once():
    assert set(METHODS) == {*ENSEMBLES, *ONE_NETWORK, PhistHigh}
    assert len({method.name for method in METHODS}) == len(METHODS)


@every_method
def test_probabilities_add_up(fitted, method):
    found = fitted[method].predict(np.arange(40))
    assert found.shape == (40, 2)
    np.testing.assert_allclose(found.sum(1), 1.0)


@pytest.mark.parametrize("method", [PhistLow, PhistKernel])
def test_the_same_seed_gives_the_same_answers(fitted, task, method):
    np.testing.assert_array_equal(quick(method).fit(task).predict(np.arange(40)), fitted[method].predict(np.arange(40)))


@every_method
def test_the_account_is_complete(fitted, task, method):
    own, account = fitted[method], fitted[method].account
    assert [row["epoch"] for row in account.history] == [0, 1]
    assert account.history[0].keys() >= {"loss", "accuracy", "learning_rate", "seconds", "validation_accuracy", "validation_loss"}
    assert sum(account.chosen["weights"].values()) == pytest.approx(1, abs=1e-3)
    for part, told in ((task.training, account.training_accuracy), (task.validation, account.validation_accuracy)):
        assert told == (own.predict(part).argmax(1) == task.labels_of(part)).mean()


@pytest.mark.parametrize("method", ENSEMBLES)
def test_the_estimator_tells_what_it_tried_and_how_good_it_thinks_it_is(fitted, method):
    account = fitted[method].account
    assert {trial["name"] for trial in account.tried} >= account.chosen["weights"].keys()
    assert 0 <= account.chosen["out_of_fold"]["accuracy"] <= 1
    assert account.chosen["epochs"] == 2 and account.chosen["looks"][0]["epochs"] == 2


def test_the_methods_are_what_their_names_say(fitted):
    def kinds(method):
        return {trial["name"].partition("/")[0] for trial in fitted[method].account.tried}

    assert kinds(Phist) == kinds(PhistLow) == {"network", "colours", "profiles"}
    assert kinds(PhistNetwork) == {"network"}
    assert [len(fitted[method]._model.networks_) for method in (Phist, PhistNetwork, PhistLow)] == [5, 5, 1]
    assert PhistHigh()._options() == {"effort": "high"}


@pytest.mark.parametrize(("method", "head"), [(PhistLinear, "linear"), (PhistForest, "forest"), (PhistKernel, "kernel")])
def test_one_network_is_used_under_the_head_of_its_name(fitted, method, head):
    assert fitted[method].account.chosen["weights"] == {f"network/{head}": 1.0}


def test_ablations_change_the_network(fitted):
    assert fitted[PhistSum]._model.network_.config.aggregation == "sum"
    assert fitted[PhistDeterministic]._model.network_.config.sampler.kind == "all"


def test_what_is_printed_is_the_papers(fitted):
    assert not fitted[PhistPaper]._model.network_.config.standardize
    assert PhistPaper().skip("ENZYMES") is None
    assert "no sizes" in PhistPaper().skip("mine")


def test_the_last_epoch_is_kept_by_our_recipe_and_the_lowest_loss_as_printed(task):
    assert quick(PhistLinear, epochs=4).fit(task).account.chosen["epoch"] == 3
    printed = quick(PhistPaper, epochs=6).fit(task).account
    assert printed.chosen["epoch"] == int(np.argmin([row["validation_loss"] for row in printed.history]))


def test_stars_and_paths_are_told_apart(make_fold):
    kinds = [nx.star_graph(size) if graph % 2 else nx.path_graph(size + 1) for graph, size in enumerate(np.arange(60) // 2 % 6 + 4)]
    truth = np.arange(60) % 2
    fitted = quick(PhistLow).fit(make_fold(as_graphset(kinds), truth))
    assert (fitted.predict(np.arange(48, 60)).argmax(1) == truth[48:]).mean() > 0.9


# Options ----------------------------------------------------------------------------------------------------------------


def test_options_reach_network_and_training(task):
    options = {"orders": [2, 2], "schedule": "constant", "learning_rate": 0.01, "kernel": "triangle"}
    member = quick(PhistLinear, **options).fit(task)._model._members()[0]
    assert (member.preset.network.orders, member.preset.network.kernel) == ((2, 2), "triangle")
    assert (member.preset.training.schedule, member.preset.training.learning_rate) == ("constant", 0.01)


def test_options_are_sorted_into_the_parameters_that_have_them():
    found = estimator_parameters("phist", {"effort": "low", "members": ["network"], "roots": 8, "channels": [4, 6], "epochs": 3})
    assert found == {
        "effort": "low",
        "members": ("network",),
        "network": {"roots": 8, "channels": (4, 6)},
        "training": {"epochs": 3},
    }


@pytest.mark.parametrize("method", METHODS, ids=lambda method: method.name)
@pytest.mark.parametrize("wrong", [{"colour": 3}, {"seed": 1}, {"epochs": 0}, {"kernel": "foo"}, {"engine": "warp"}])
def test_wrong_options_are_refused_before_anything_runs(method, wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        method(**wrong)


@pytest.mark.parametrize(
    ("dataset", "prefix", "preset"),
    [("ENZYMES", "", "ENZYMES"), ("imdb_multi", "", "IMDB-MULTI"), ("MUTAG", "paper:", "paper:MUTAG"), ("mine", "", "auto")],
)
def test_presets_go_by_the_dataset(dataset, prefix, preset):
    assert preset_of(dataset, prefix) == preset


# Killed and resumed -----------------------------------------------------------------------------------------------------


@pytest.fixture
def killed(task, tmp_path, monkeypatch):
    """A task whose cell was killed in the second epoch of its third network."""
    cached = replace(task, cache=tmp_path / "cache")
    with monkeypatch.context() as patch:
        patch.setattr(Trainer, "run_epoch", dies_at_call(6))
        with pytest.raises(KeyError, match="killed"):
            quick(PhistNetwork, heads="linear").fit(cached)
    return cached


def dies_at_call(number):
    count, plain = iter(range(1, number)), Trainer.run_epoch

    def run_epoch(trainer):
        if next(count, None) is None:
            raise KeyError("killed")
        return plain(trainer)

    return run_epoch


def unfinished(task):
    return sorted((task.cache / "unfinished").iterdir())


def answers(task):
    own = quick(PhistNetwork, heads="linear").fit(task)
    return own, own.predict(np.arange(40))


def test_a_killed_cell_goes_on_where_it_was(task, killed, monkeypatch):
    assert len(unfinished(killed)) == 5  # three networks, two of them at the end of their cycle
    expected = answers(task)[1]
    begun, epoch = [], Trainer.run_epoch
    monkeypatch.setattr(Trainer, "run_epoch", lambda trainer: begun.append(len(trainer.history.epochs)) or epoch(trainer))
    resumed, found = answers(killed)
    assert begun == [1, 0, 1, 0, 1]  # of ten epochs the last five
    assert unfinished(killed) == []
    assert resumed.earlier_seconds > 0
    np.testing.assert_array_equal(found, expected)


def test_what_another_cell_left_is_left_alone(killed):
    before = [path.read_bytes() for path in unfinished(killed)]
    for other, fold in ((PhistLow, killed), (PhistNetwork, replace(killed, seed=1)), (PhistNetwork, replace(killed, threads=2))):
        assert quick(other, heads="linear").fit(fold).earlier_seconds == 0
    assert [path.read_bytes() for path in unfinished(killed)] == before


def cut(path):
    path.write_bytes(path.read_bytes()[:100])


def make_of_another_run(path):
    content = path.read_bytes()
    run = content[content.index(b'\\"run\\": \\"') + 11 :][:20]
    path.write_bytes(content.replace(run, b"0" * 20))


@pytest.mark.parametrize("damage", [cut, make_of_another_run])
@pytest.mark.parametrize("chosen", [slice(None), slice(0, 1), slice(1, 2)], ids=["all", "a network", "the end of a cycle"])
def test_a_checkpoint_that_cannot_be_used_costs_time_only(task, killed, damage, chosen):
    for path in unfinished(killed)[chosen]:
        damage(path)
    found, expected = answers(killed)[1], answers(task)[1]
    np.testing.assert_array_equal(found, expected)
    assert unfinished(killed) == []


def test_a_cache_that_cannot_be_written_costs_nothing(task, tmp_path):
    (tmp_path / "file").write_text("no folder")
    assert quick(PhistLinear).fit(replace(task, cache=tmp_path / "file" / "cache")).account.history


# Awkward tasks ----------------------------------------------------------------------------------------------------------


def test_another_seed_gives_another_network(make_fold):
    first, second = (quick(PhistLinear).fit(make_fold(make_trees(20, seed=0), seed=seed)).predict(np.arange(20)) for seed in (0, 1))
    assert not np.allclose(first, second)


def test_awkward_graphs_are_fine(make_fold, make_odd_graphs):
    fitted = quick(PhistLow).fit(make_fold(make_odd_graphs(), np.arange(20) % 2))
    np.testing.assert_allclose(fitted.predict(np.arange(20)).sum(1), 1.0)


@pytest.mark.parametrize("method", [PhistLow, PhistLinear])
def test_a_class_without_training_graphs_gets_no_share(make_fold, method):
    labels = np.r_[np.arange(12) % 2, 2, 0, 1, 0, 2, 1, 0, 1]
    fitted = quick(method).fit(make_fold(make_trees(20, seed=0), labels))
    assert (fitted.predict(np.arange(20))[:, 2] == 0).all()


def test_nothing_to_predict_is_no_row(fitted):
    assert fitted[PhistLow].predict(np.arange(0)).shape == (0, 2)


def test_threads_are_set_and_given_back(make_fold):
    before = torch.get_num_threads()
    quick(PhistLinear).fit(make_fold(make_trees(20, seed=0), threads=2))
    assert torch.get_num_threads() == before


def test_a_hidden_label_is_refused(make_fold):
    task = make_fold(make_trees(20, seed=0))
    task.labels[task.training[0]] = -1
    with pytest.raises(LookupError, match="hidden"):
        quick(PhistLinear).fit(task)
