"""Heads: fitted, used, saved and loaded, each by the same protocol."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

from phist.errors import ModelFileError
from phist.estimators.heads import HEADS, kernel
from phist.estimators.heads.forest import TREES, ForestHead
from phist.estimators.heads.kernel import RIDGES, KernelHead
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


def test_features_are_computed_once_and_parts_are_parts_of_them(trained, graphs, monkeypatch):
    looks = []
    for name in ("embeddings", "node_moments"):
        plain = getattr(TrainedNetwork, name)
        monkeypatch.setattr(
            TrainedNetwork, name, lambda own, given, plain=plain, name=name: looks.append(name) or plain(own, given)
        )
    features, chosen = Features(trained, graphs), np.array([5, 2])
    whole = features.both_levels
    np.testing.assert_array_equal(features.part(chosen).both_levels, whole[chosen])
    np.testing.assert_array_equal(features.part(chosen).node_level, features.node_level[chosen])
    assert sorted(looks) == ["embeddings", "node_moments"]


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


# The kernel head --------------------------------------------------------------------------------------------------------


def drawn(n=60, n_features=5, n_classes=3, seed=0):
    generator = np.random.default_rng(seed)
    targets = generator.integers(0, n_classes, n)
    rows = generator.normal(size=(n, n_features)) + targets[:, None] * np.linspace(0, 1, n_features)
    return SimpleNamespace(node_level=rows.astype(np.float32)), targets, generator.uniform(0.5, 2, n)


def chosen(table, rows):
    return SimpleNamespace(node_level=table.node_level[rows])


def standardised(head, table):
    return ((table.node_level - head.centre) / head.scale).astype(np.float64)


def ridge_by_leaving_out(head, table, targets, weights):
    """The ridge with the least error when every graph is left out and everything is fitted again."""
    rows, indicators = standardised(head, table), np.eye(3)[targets] - head.prior
    errors = []
    for ridge in RIDGES:
        missed = []
        for graph in range(len(rows)):
            rest = np.arange(len(rows)) != graph
            machine = KernelRidge(alpha=ridge / weights.mean(), kernel="rbf", gamma=1 / rows.shape[1])
            machine.fit(rows[rest], indicators[rest], sample_weight=(weights / weights.mean() ** 2)[rest])
            missed.append(indicators[graph] - machine.predict(rows[graph : graph + 1])[0])
        errors.append(np.average(np.square(missed).sum(1), weights=weights))
    return RIDGES[int(np.argmin(errors))]


@pytest.mark.parametrize("seed", range(2))
def test_it_is_kernel_ridge_regression_with_the_ridge_that_leaving_out_chooses(seed):
    table, targets, weights = drawn(40, seed=seed)
    head = KernelHead.fit(table, targets, weights, 3, seed=0)
    rows, indicators, counts = standardised(head, table), np.eye(3)[targets], weights / weights.mean()
    np.testing.assert_allclose(head.prior, np.average(indicators, axis=0, weights=weights), rtol=1e-6)
    machine = KernelRidge(alpha=ridge_by_leaving_out(head, table, targets, weights), kernel="rbf", gamma=1 / 5)
    machine.fit(rows, indicators - head.prior, sample_weight=counts)
    expected = np.maximum(head.prior + machine.predict(rows), 1e-3)
    np.testing.assert_allclose(head.predict_proba(table), expected / expected.sum(1, keepdims=True), atol=1e-5)


def test_far_from_all_graphs_no_class_is_certain():
    table, targets, weights = drawn()
    far = SimpleNamespace(node_level=100 * table.node_level)
    found = KernelHead.fit(table, targets, weights, 3, seed=0).predict_proba(far)
    np.testing.assert_allclose(found.sum(1), 1)
    assert found.min() > 0


def test_a_graph_that_counts_twice_is_as_good_as_two(monkeypatch):
    monkeypatch.setattr(kernel, "RIDGES", (0.3,))  # of two equal graphs one is left in, which is another choice of ridge
    table, targets, _ = drawn(40)
    twice = np.arange(40) < 15
    again = np.r_[np.arange(40), np.flatnonzero(twice)]
    values, similar = np.eye(3)[targets], rbf_kernel(table.node_level.astype(np.float64))
    weighted = kernel._ridge_regression(similar.copy(), values, np.where(twice, 2.0, 1.0))
    repeated = kernel._ridge_regression(similar[np.ix_(again, again)], values[again], np.ones(len(again)))
    np.testing.assert_allclose(similar @ weighted, similar[:, again] @ repeated, atol=1e-9)


def test_graphs_that_count_nothing_are_left_out():
    table, targets, weights = drawn()
    weights[::2] = 0
    odd = np.arange(1, 60, 2)
    head = KernelHead.fit(table, targets, weights, 3, seed=0)
    expected = KernelHead.fit(chosen(table, odd), targets[odd], weights[odd], 3, seed=0)
    np.testing.assert_array_equal(head.predict_proba(table), expected.predict_proba(table))


def test_features_that_are_all_alike_say_nothing():
    table, targets, weights = drawn()
    plain = KernelHead.fit(table, targets, weights, 3, seed=0).predict_proba(table).argmax(1)
    wider = SimpleNamespace(node_level=np.c_[table.node_level, np.full((60, 2), 7, np.float32)])
    found = KernelHead.fit(wider, targets, weights, 3, seed=0).predict_proba(wider)
    assert np.isfinite(found).all()
    assert (found.argmax(1) == plain).mean() > 0.9


def test_of_many_graphs_some_are_compared_with(monkeypatch):
    monkeypatch.setattr(kernel, "MOST_GRAPHS", 25)
    heads = [KernelHead.fit(*drawn(), 3, seed=seed) for seed in (0, 0, 1)]
    assert [len(head.rows) for head in heads] == [25, 25, 25]
    np.testing.assert_array_equal(heads[0].rows, heads[1].rows)
    assert not np.array_equal(heads[0].rows, heads[2].rows)


def test_rows_in_parts_are_rows_at_once(monkeypatch):
    table, targets, weights = drawn()
    head = KernelHead.fit(table, targets, weights, 3, seed=0)
    whole = head.predict_proba(table)
    monkeypatch.setattr(kernel, "_AT_ONCE", 7)
    np.testing.assert_allclose(head.predict_proba(table), whole, rtol=1e-12)
