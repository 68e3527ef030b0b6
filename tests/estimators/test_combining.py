"""How predictors are tempered and weighed."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.special import softmax

from phist.estimators.combining import (
    COLDEST,
    HOTTEST,
    LEAST,
    PRIOR,
    at_temperature,
    log_loss_of,
    mixture,
    temper,
    weigh,
)


def drawn(n=400, n_classes=3, skill=1.0, seed=0):
    """Probabilities that are calibrated, and classes drawn by them."""
    generator = np.random.default_rng(seed)
    probabilities = softmax(skill * generator.normal(size=(n, n_classes)), axis=1)
    targets = (probabilities.cumsum(1) < generator.random((n, 1))).sum(1).clip(max=n_classes - 1)
    return probabilities, targets


def objective(candidates, weights, targets):
    """The logarithm of what the mixture gives the right classes, and of the prior."""
    given = np.stack([own[np.arange(len(targets)), targets] for own in candidates.values()], axis=1).clip(LEAST)
    return np.log(given @ weights).sum() + PRIOR / len(weights) * np.log(weights).sum()


@pytest.mark.parametrize("power", [0.25, 4.0])
def test_tempering_undoes_what_is_too_sharp_or_too_soft(power):
    probabilities, targets = drawn(4000)
    distorted = probabilities**power / (probabilities**power).sum(1, keepdims=True)
    tempered, temperature = temper(distorted, targets)
    assert temperature == pytest.approx(power, rel=0.15)
    assert log_loss_of(tempered, targets) < log_loss_of(distorted, targets)
    assert log_loss_of(tempered, targets) == pytest.approx(log_loss_of(probabilities, targets), abs=0.01)


@settings(max_examples=30, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 30), st.integers(2, 5))
def test_tempering_never_worsens_the_log_loss(seed, n, n_classes):
    generator = np.random.default_rng(seed)
    probabilities, targets = softmax(3 * generator.normal(size=(n, n_classes)), axis=1), generator.integers(0, n_classes, n)
    tempered, temperature = temper(probabilities, targets)
    np.testing.assert_allclose(tempered.sum(1), 1)
    assert COLDEST <= temperature <= HOTTEST
    assert log_loss_of(tempered, targets) <= log_loss_of(np.maximum(probabilities, LEAST), targets) + 1e-3
    np.testing.assert_allclose(at_temperature(probabilities, temperature), tempered)


def test_certainty_of_a_few_graphs_is_bounded():
    tempered, temperature = temper(np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([0, 1]))
    assert temperature >= COLDEST and np.isfinite(tempered).all()
    assert np.isfinite(log_loss_of(np.array([[1.0, 0.0]]), np.array([1])))


@pytest.mark.parametrize(("n", "least", "most"), [(6, 0.8, 0.97), (6000, 0.99, 1.0)])
def test_a_few_right_answers_make_less_certain_than_many(n, least, most):
    tempered, _ = temper(np.tile([0.8, 0.2], (n, 1)), np.zeros(n, np.int64))
    assert least < tempered[0, 0] < most


@settings(max_examples=20, deadline=None)
@given(st.integers(0, 10**6), st.integers(1, 5), st.integers(1, 60))
def test_weights_are_shares(seed, n_candidates, n):
    candidates = {str(number): drawn(n, seed=seed + number)[0] for number in range(n_candidates)}
    weights = weigh(candidates, drawn(n, seed=seed)[1])
    assert sum(weights.values()) == pytest.approx(1)
    assert all(weight > 0 for weight in weights.values()) and weights.keys() <= candidates.keys()


def test_weights_are_the_best_point_of_the_objective():
    good, targets = drawn(300, skill=2.0)
    candidates = {"good": good, "other": drawn(300, seed=1)[0], "flat": np.full((300, 3), 1 / 3)}
    found = np.array([weigh(candidates, targets).get(name, 0.0) for name in candidates])
    best = objective(candidates, found.clip(1e-9), targets)
    generator = np.random.default_rng(0)
    for weights in (*generator.dirichlet(np.ones(3), 300), *generator.dirichlet(50 * found + 0.1, 300)):
        assert objective(candidates, weights.clip(1e-9), targets) <= best + 0.05
    assert found.argmax() == 0


def test_few_graphs_leave_the_weights_near_equal_and_many_do_not():
    def weight_of_the_better(n):
        good, targets = drawn(n, skill=3.0)
        return weigh({"good": good, "flat": np.full((n, 3), 1 / 3)}, targets)["good"]

    assert 0.5 < weight_of_the_better(5) < 0.7 < 0.9 < weight_of_the_better(3000)


def test_equal_candidates_share_equally():
    probabilities, targets = drawn()
    assert weigh({"a": probabilities, "b": probabilities}, targets) == pytest.approx({"a": 0.5, "b": 0.5})


def test_what_adds_nothing_is_left_out():
    good, targets = drawn(20_000, skill=3.0)
    wrong = np.roll(good, 1, axis=1)
    assert weigh({"good": good, "wrong": wrong}, targets) == {"good": 1.0}


def test_a_mixture_is_the_weighted_mean():
    one, other = drawn(5)[0], drawn(5, seed=1)[0]
    np.testing.assert_allclose(mixture({"a": one, "b": other, "c": one}, {"a": 0.3, "b": 0.7}), 0.3 * one + 0.7 * other)
