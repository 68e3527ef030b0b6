"""The forest head of the classifier: grown, used, saved and loaded."""

import json

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import NotFittedError

from phist import StructuralClassifier, StructuralEmbedder
from phist.errors import ConfigError, ModelFileError
from phist.estimators.features import Features
from phist.estimators.forest import ForestConfig, fold_numbers, forest_features
from phist.graphs.generate import make_planted_partitions
from phist.testing import graph_estimator_checks

FILE = "forest.safetensors"
both_ways = pytest.mark.parametrize("folds", [1, 2])


def small(folds=1, trees=15, **changes):
    shape = {"engine": "reference", "max_epochs": 2, "channels": (4, 6), "bins": 4, "roots": 6, "random_state": 0}
    return StructuralClassifier(**{**shape, "head": "forest", "forest": {"trees": trees, "folds": folds}, **changes})


@pytest.fixture(scope="module")
def graphs():
    return make_planted_partitions(40, n_nodes=16, seed=0)


@pytest.fixture(scope="module")
def fitted(graphs):
    return {folds: small(folds).fit(graphs[:30]) for folds in (1, 2)}


@pytest.mark.parametrize("check", list(graph_estimator_checks()), ids=lambda check: check.__name__)
def test_conforms(check):
    check(small(2))


def test_probabilities_are_those_of_extra_trees_on_the_embeddings(fitted, graphs):
    model = fitted[1]
    labels = np.searchsorted(model.classes_.astype(str), graphs.labels[:30].astype(str))
    features = forest_features(Features(model, graphs), ForestConfig())
    forest = ExtraTreesClassifier(15, random_state=model.seed_).fit(features[:30], labels)
    np.testing.assert_allclose(model.predict_proba(graphs), forest.predict_proba(features), atol=1e-12)


def test_trees_see_both_levels_and_the_sizes(fitted, graphs):
    model = fitted[1]
    sizes = np.log1p(np.c_[graphs.node_counts(), graphs.edge_counts()])
    nodes = [np.r_[rows.mean(0), rows.std(0)] for rows in model.node_embeddings(graphs)]
    features = forest_features(Features(model, graphs), ForestConfig())
    np.testing.assert_allclose(features, np.c_[model.transform(graphs), sizes, nodes], rtol=1e-5, atol=1e-6)
    np.testing.assert_array_equal(forest_features(Features(model, graphs), ForestConfig(nodes=False)), features[:, : -2 * 24])


def test_trees_may_see_graphs_only(graphs, tmp_path):
    model = small(forest={"trees": 5, "nodes": False}).fit(graphs)
    model.save(tmp_path / "model")
    again = StructuralClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(again.predict_proba(graphs), model.predict_proba(graphs))
    assert not again.forest_.config.nodes
    assert max(trees.feature.max() for _, trees in again.forest_.parts) < 24 + 2


def test_of_several_forests_each_has_a_network_that_has_not_seen_a_fold(fitted):
    networks = [estimator.network_ for estimator, _ in fitted[2].forest_.parts]
    assert len(networks) == 2
    assert [estimator.data_["graphs"] for estimator, _ in fitted[2].forest_.parts] == [15, 15]
    assert not torch.equal(networks[0].head.weight, networks[1].head.weight)


def test_the_linear_head_stays_at_hand(fitted, graphs):
    linear = small(head="linear").fit(graphs[:30])
    switched = small().fit(graphs[:30]).set_params(head="linear")
    np.testing.assert_array_equal(switched.predict_proba(graphs), linear.predict_proba(graphs))


def test_an_estimator_that_is_not_fitted_says_so(graphs):
    with pytest.raises(NotFittedError):
        small().predict(graphs)


def test_a_forest_does_not_outlive_the_next_fit(graphs):
    model = small().fit(graphs).set_params(head="linear").fit(graphs)
    assert not hasattr(model, "forest_")


def test_the_decision_is_finite_where_a_forest_is_certain(fitted, graphs):
    decision = fitted[1].decision_function(graphs)
    assert np.isfinite(decision).all()
    assert ((decision > 0) == (fitted[1].predict(graphs) == fitted[1].classes_[1])).all()


def test_class_weights_reach_the_forest(graphs):
    few = graphs[np.r_[0:40:2, 1:7:2]]
    plain, heavy = (small(class_weight=weight).fit(few).forest_.parts[0][1].share[0, 1] for weight in (None, {"rewired": 50.0}))
    assert heavy > plain


@pytest.mark.parametrize("folds", [2, 3, 5])
def test_folds_share_every_class_and_single_graphs_are_in_none(folds):
    targets = np.r_[np.zeros(11, int), np.ones(7, int), 2]
    numbers = fold_numbers(targets, folds, seed=0)
    counts = np.stack([np.bincount(numbers[targets == target], minlength=folds) for target in (0, 1)])
    assert (np.ptp(counts, axis=1) <= 1).all()
    assert numbers[-1] == -1


@pytest.mark.parametrize("wrong", [{"trees": 0}, {"folds": 0}, {"folds": 1.5}, {"nodes": 3}, {"colour": 3}])
def test_wrong_forests_are_refused_before_training(graphs, wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        small(forest=wrong).fit(graphs)


def test_unknown_heads_are_refused(graphs):
    with pytest.raises(ConfigError, match="head"):
        small(head="steam").fit(graphs)
    with pytest.raises(ConfigError, match="head"):
        StructuralEmbedder(head="forest", max_epochs=1).fit(graphs)


# On disk --------------------------------------------------------------------------------------------------------------


@pytest.fixture
def folder(fitted, tmp_path):
    fitted[2].save(tmp_path / "model")
    return tmp_path / "model"


@both_ways
def test_a_loaded_model_answers_the_same(fitted, graphs, folds, tmp_path):
    fitted[folds].save(tmp_path / "model")
    loaded = StructuralClassifier.load(tmp_path / "model")
    np.testing.assert_array_equal(loaded.predict_proba(graphs), fitted[folds].predict_proba(graphs))
    loaded.save(tmp_path / "again")
    assert (tmp_path / "again" / FILE).read_bytes() == (tmp_path / "model" / FILE).read_bytes()


def test_the_card_names_the_head(folder):
    assert "forests of 15 extra trees" in (folder / "card.md").read_text()


def test_a_missing_forest_is_named(folder):
    (folder / FILE).unlink()
    with pytest.raises(ModelFileError, match=FILE):
        StructuralClassifier.load(folder)


def test_a_pickled_forest_is_not_opened(folder):
    torch.save({"0.trees.first": torch.zeros(1)}, folder / FILE)
    with pytest.raises(ModelFileError, match="cannot be read"):
        StructuralClassifier.load(folder)


@pytest.mark.parametrize(
    "hostile",
    [
        {"0.trees.left": torch.zeros(3, dtype=torch.int32)},
        {"0.trees.first": None},
        {"1.network.head.bias": torch.zeros(2, 2)},
        {"1.network.head.bias": torch.zeros(10**6)},
        {"1.network.head.bias": None},
        {"1.network.head.weight": torch.zeros(2, 7)},
        {"1.seed": None},
        {"1.seed": torch.tensor(-1)},
        {"1.seed": torch.tensor([1, 2])},
        {"7.trees.left": torch.zeros(3, dtype=torch.int32)},
        {"nonsense": torch.zeros(3)},
    ],
    ids=lambda hostile: next(iter(hostile)),
)
def test_hostile_forests_are_refused(folder, hostile):
    state = {**load_file(folder / FILE), **hostile}
    save_file({name: tensor for name, tensor in state.items() if tensor is not None}, folder / FILE)
    with pytest.raises(ModelFileError):
        StructuralClassifier.load(folder)


def test_a_forest_of_another_network_is_refused(folder):
    config = json.loads((folder / "config.json").read_text())
    config["settings"]["classes"] = ["a", "b", "c"]
    (folder / "config.json").write_text(json.dumps(config))
    with pytest.raises(ModelFileError, match="3 classes"):
        StructuralClassifier.load(folder)
