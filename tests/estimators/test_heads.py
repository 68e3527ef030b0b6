"""Heads: fitted, used, saved and loaded, each by the same protocol."""

from dataclasses import replace

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier

from phist.errors import ModelFileError
from phist.estimators.heads import HEADS
from phist.estimators.heads.forest import TREES, ForestHead
from phist.estimators.heads.kernel import KernelHead
from phist.estimators.heads.linear import LinearHead
from phist.estimators.trained import Features, TrainedNetwork, n_both_levels, n_node_level
from phist.graphs.generate import make_planted_partitions
from phist.nn.config import NetworkConfig
from phist.nn.network import make_network
from phist.nn.sampling import RootSampler

N_CLASSES = 2
every_head = pytest.mark.parametrize("head", HEADS.values(), ids=HEADS)


@pytest.fixture(scope="module")
def graphs():
    return make_planted_partitions(24, n_nodes=10, seed=0)


@pytest.fixture(scope="module")
def trained():
    config = NetworkConfig(channels=(4, 6), bins=4, sampler=RootSampler(count=6))
    return TrainedNetwork(make_network(config, N_CLASSES, seed=0).eval(), seed=0, engine="reference", progress=False)


@pytest.fixture(scope="module")
def features(trained, graphs):
    return Features(trained, graphs)


@pytest.fixture(scope="module")
def targets(graphs):
    return (graphs.labels == "planted").astype(np.int64)


@pytest.fixture(scope="module")
def fitted(features, targets):
    return {name: head.fit(features, targets, np.ones(24), N_CLASSES, 0, 0.02) for name, head in HEADS.items()}


@every_head
def test_probabilities_add_up(fitted, features, head):
    found = fitted[head.name].predict_proba(features)
    assert found.shape == (24, N_CLASSES) and found.min() >= 0
    np.testing.assert_allclose(found.sum(1), 1)


@every_head
def test_arrays_and_back(fitted, features, trained, head):
    own = fitted[head.name]
    again = head.from_arrays(own.to_arrays(), trained.network, N_CLASSES)
    np.testing.assert_array_equal(again.predict_proba(features), own.predict_proba(features))


@every_head
def test_a_head_sees_what_it_says(features, head):
    assert head.look_at(features) is getattr(features, head.view)
    assert head.describe()


@pytest.mark.parametrize("name", ["forest", "kernel"])
@pytest.mark.parametrize("damage", ["missing", "shape", "kind", "nan"])
def test_damaged_arrays_are_refused(fitted, trained, name, damage):
    arrays = fitted[name].to_arrays()
    for key, array in arrays.items():
        if damage == "nan" and array.dtype.kind != "f":
            continue
        changed = {
            "missing": lambda array: None,
            "shape": lambda array: array[..., None],
            "kind": lambda array: array.astype(np.complex64),
            "nan": lambda array: np.full_like(array, np.nan),
        }[damage](array)
        hostile = {own: value for own, value in {**arrays, key: changed}.items() if value is not None}
        with pytest.raises(ModelFileError, match="save the model again"):
            HEADS[name].from_arrays(hostile, trained.network, N_CLASSES)


@pytest.mark.parametrize("name", ["forest", "kernel"])
def test_a_head_of_other_classes_is_refused(fitted, trained, name):
    with pytest.raises(ModelFileError, match="save the model again"):
        HEADS[name].from_arrays(fitted[name].to_arrays(), trained.network, N_CLASSES + 1)


def test_a_kernel_head_without_a_scale_is_refused(fitted, trained):
    arrays = fitted["kernel"].to_arrays()
    with pytest.raises(ModelFileError, match="scale"):
        KernelHead.from_arrays({**arrays, "scale": np.zeros_like(arrays["scale"])}, trained.network, N_CLASSES)


# What they see ----------------------------------------------------------------------------------------------------------


def test_features_are_sizes_moments_of_nodes_and_embeddings(trained, graphs):
    exact = Features(TrainedNetwork(trained.network, 0, "reference", "exact", progress=False), graphs)
    sizes = np.log1p(np.c_[graphs.node_counts(), graphs.edge_counts()])
    nodes = [np.r_[rows.mean(0), rows.std(0)] for rows in exact.trained.node_embeddings(graphs)]
    np.testing.assert_allclose(exact.node_level, np.c_[sizes, nodes], rtol=1e-4, atol=1e-5)
    np.testing.assert_array_equal(exact.both_levels, np.c_[exact.embeddings, exact.node_level])
    assert exact.node_level.shape[1] == n_node_level(trained.network)
    assert exact.both_levels.shape[1] == n_both_levels(trained.network)


@pytest.mark.parametrize("both", [False, True])
def test_features_are_computed_once_and_parts_are_parts_of_them(trained, graphs, both, monkeypatch):
    looks = []
    for name in ("embeddings", "node_moments", "both_levels"):
        plain = getattr(TrainedNetwork, name)
        monkeypatch.setattr(
            TrainedNetwork, name, lambda own, given, plain=plain, name=name: looks.append(name) or plain(own, given)
        )
    features, chosen = Features(trained, graphs, both=both), np.array([5, 2])
    whole = features.both_levels
    np.testing.assert_array_equal(features.part(chosen).both_levels, whole[chosen])
    np.testing.assert_array_equal(features.part(chosen).node_level, features.node_level[chosen])
    assert sorted(looks) == (["both_levels"] if both else ["embeddings", "node_moments"])


@pytest.mark.parametrize("inference", ["auto", "sampled", "exact"])
def test_levels_that_are_computed_together_are_those_computed_alone(trained, graphs, inference):
    how = replace(trained, inference=inference)
    np.testing.assert_array_equal(Features(how, graphs, both=True).both_levels, Features(how, graphs).both_levels)


def test_the_linear_head_is_the_networks_own_layer(trained, features):
    logits = trained.logits(features.embeddings)
    expected = np.exp(logits) / np.exp(logits).sum(1, keepdims=True)
    np.testing.assert_allclose(LinearHead().predict_proba(features), expected, rtol=1e-5)
    assert LinearHead().to_arrays() == {}


def test_the_forest_head_is_extra_trees_on_both_levels(features, targets):
    weights = np.where(targets, 2.0, 1.0)
    head = ForestHead.fit(features, targets, weights, N_CLASSES, seed=3, share=0.02)
    forest = ExtraTreesClassifier(round(0.02 * TREES), random_state=3).fit(features.both_levels, targets, sample_weight=weights)
    np.testing.assert_allclose(head.predict_proba(features), forest.predict_proba(features.both_levels), atol=1e-12)
