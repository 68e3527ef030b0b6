"""The kernel head: a ridge regression whose ridge is chosen by leaving graphs out."""

from types import SimpleNamespace

import numpy as np
import pytest
from sklearn.kernel_ridge import KernelRidge
from sklearn.metrics.pairwise import rbf_kernel

from phist.errors import ModelFileError
from phist.estimators.heads import kernel as kernel_head
from phist.estimators.heads.kernel import RIDGES, KernelHead


def seen(rows):
    """Features of graphs of which nothing is looked at but the level of nodes."""
    return SimpleNamespace(node_level=rows)


def drawn(n=60, n_features=6, n_classes=3, seed=0):
    generator = np.random.default_rng(seed)
    targets = generator.integers(0, n_classes, n)
    features = generator.normal(size=(n, n_features)) + targets[:, None] * np.linspace(0, 1, n_features)
    return features.astype(np.float32), targets, generator.uniform(0.5, 2, n).astype(np.float32)


def standardised(head, features):
    return ((features - head.centre) / head.scale).astype(np.float64)


def ridge_by_leaving_out(head, features, targets, weights):
    """The ridge with the least error when every graph is left out and everything is fitted again."""
    rows, indicators = standardised(head, features), np.eye(3)[targets] - head.prior
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


@pytest.mark.parametrize("seed", range(3))
def test_it_is_kernel_ridge_regression_with_the_ridge_that_leaving_out_chooses(seed):
    features, targets, weights = drawn(seed=seed)
    head = KernelHead.fit(seen(features), targets, weights, 3, seed=0)
    rows, indicators, counts = standardised(head, features), np.eye(3)[targets], weights / weights.mean()
    np.testing.assert_allclose(head.prior, np.average(indicators, axis=0, weights=weights), rtol=1e-6)
    machine = KernelRidge(alpha=ridge_by_leaving_out(head, features, targets, weights), kernel="rbf", gamma=1 / 6)
    machine.fit(rows, indicators - head.prior, sample_weight=counts)
    expected = np.maximum(head.prior + machine.predict(rows), 1e-3)
    np.testing.assert_allclose(head.predict_proba(seen(features)), expected / expected.sum(1, keepdims=True), atol=1e-5)


def test_probabilities_add_up_and_are_never_zero():
    features, targets, weights = drawn()
    found = KernelHead.fit(seen(features), targets, weights, 3, seed=0).predict_proba(seen(100 * features))
    np.testing.assert_allclose(found.sum(1), 1)
    assert found.min() > 0


def test_a_graph_that_counts_twice_is_as_good_as_two(monkeypatch):
    monkeypatch.setattr(kernel_head, "RIDGES", (0.3,))  # of two equal graphs one is left in, which is another choice of ridge
    features, targets, _ = drawn(40)
    twice = np.arange(40) < 15
    again = np.r_[np.arange(40), np.flatnonzero(twice)]
    values, similar = np.eye(3)[targets], rbf_kernel(features.astype(np.float64))
    weighted = kernel_head._ridge_regression(similar.copy(), values, np.where(twice, 2.0, 1.0), seed=0)
    repeated = kernel_head._ridge_regression(similar[np.ix_(again, again)], values[again], np.ones(len(again)), seed=0)
    np.testing.assert_allclose(similar @ weighted, similar[:, again] @ repeated, atol=1e-9)


def test_graphs_that_count_nothing_are_left_out():
    features, targets, weights = drawn()
    weights[::2] = 0
    head, expected = (
        KernelHead.fit(seen(features[kept]), targets[kept], weights[kept], 3, seed=0)
        for kept in (np.arange(60), np.arange(1, 60, 2))
    )
    np.testing.assert_array_equal(head.predict_proba(seen(features)), expected.predict_proba(seen(features)))


def test_features_that_are_all_alike_say_nothing():
    features, targets, weights = drawn()
    plain = KernelHead.fit(seen(features), targets, weights, 3, seed=0).predict_proba(seen(features)).argmax(1)
    features = np.c_[features, np.full((60, 2), 7, np.float32)]
    found = KernelHead.fit(seen(features), targets, weights, 3, seed=0).predict_proba(seen(features))
    assert np.isfinite(found).all()
    assert (found.argmax(1) == plain).mean() > 0.9


def test_of_many_graphs_some_are_compared_with(monkeypatch):
    monkeypatch.setattr(kernel_head, "MOST_GRAPHS", 25)
    heads = [KernelHead.fit(seen(drawn()[0]), *drawn()[1:], 3, seed=seed) for seed in (0, 0, 1)]
    assert [len(head.rows) for head in heads] == [25, 25, 25]
    np.testing.assert_array_equal(heads[0].rows, heads[1].rows)
    assert not np.array_equal(heads[0].rows, heads[2].rows)


def test_rows_in_parts_are_rows_at_once_to_the_last_bit():
    features, targets, weights = drawn(n=150, n_features=200)
    head = KernelHead.fit(seen(features), targets, weights, 3, seed=0)
    parts = [head.predict_proba(seen(features[begin : begin + 1])) for begin in range(len(features))]
    np.testing.assert_array_equal(np.concatenate(parts), head.predict_proba(seen(features)))


# On disk --------------------------------------------------------------------------------------------------------------

NETWORK = SimpleNamespace(f_node=SimpleNamespace(out_channels=2))  # whose level of nodes has six columns


def test_a_head_comes_back_from_its_arrays():
    features, targets, weights = drawn()
    head = KernelHead.fit(seen(features), targets, weights, 3, seed=0)
    again = KernelHead.from_arrays(head.to_arrays(), NETWORK, 3)
    np.testing.assert_array_equal(again.predict_proba(seen(features)), head.predict_proba(seen(features)))


@pytest.mark.parametrize(
    ("name", "hostile"),
    [
        ("rows", None),
        ("rows", np.zeros((60, 7), np.float32)),
        ("rows", np.float32(1)),
        ("rows", np.full((60, 6), np.nan, np.float32)),
        ("coefficients", np.zeros((59, 3))),
        ("coefficients", np.zeros((60, 3), np.float32)),
        ("prior", np.zeros(4)),
        ("scale", np.zeros(6, np.float32)),
        ("centre", np.full(6, np.inf, np.float32)),
    ],
)
def test_hostile_arrays_are_refused(name, hostile):
    features, targets, weights = drawn()
    arrays = {**KernelHead.fit(seen(features), targets, weights, 3, seed=0).to_arrays(), name: hostile}
    with pytest.raises(ModelFileError, match=name):
        KernelHead.from_arrays({key: array for key, array in arrays.items() if array is not None}, NETWORK, 3)


def test_of_many_graphs_some_choose_the_ridge_and_all_are_learnt_from(monkeypatch):
    features, targets, weights = drawn(60)
    asked = []
    choose = kernel_head._best_ridge
    monkeypatch.setattr(kernel_head, "_best_ridge", lambda similar, *rest: asked.append(len(similar)) or choose(similar, *rest))
    monkeypatch.setattr(kernel_head, "ENOUGH_FOR_RIDGE", 25)
    head = KernelHead.fit(seen(features), targets, weights, 3, seed=0)
    assert (asked, len(head.coefficients)) == ([25], 60)
    assert (head.coefficients != 0).all()
