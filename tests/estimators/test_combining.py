"""Temperatures and weights: what makes one prediction of several."""

import numpy as np
import pytest

from phist.estimators.combining import PRIOR, at_temperature, log_loss_of, mixture, temper, weigh


def answers(sureness, n=400, right=0.7, seed=0):
    """Two classes; a predictor that gives ``sureness`` to its choice and is right as often as ``right``."""
    generator = np.random.default_rng(seed)
    targets = generator.integers(0, 2, n)
    chosen = np.where(generator.random(n) < right, targets, 1 - targets)
    return np.where(np.eye(2)[chosen] > 0, sureness, 1 - sureness), targets


@pytest.mark.parametrize("sureness", [0.55, 0.99])
def test_tempering_makes_probabilities_as_sure_as_they_are_right(sureness):
    probabilities, targets = answers(sureness)
    tempered, temperature = temper(probabilities, targets)
    right = (probabilities.argmax(1) == targets).mean()
    assert tempered.max() == pytest.approx(right, abs=0.01)
    assert (temperature > 1) == (sureness > right)
    np.testing.assert_array_equal(at_temperature(probabilities, temperature), tempered)


def test_tempering_never_raises_the_loss_and_keeps_the_answers():
    generator = np.random.default_rng(0)
    probabilities, targets = generator.dirichlet(np.ones(4), 50), generator.integers(0, 4, 50)
    tempered, _ = temper(probabilities, targets)
    assert log_loss_of(tempered, targets) <= log_loss_of(probabilities, targets) + 1e-9
    assert (tempered.argmax(1) == probabilities.argmax(1)).all()


def test_certain_and_wrong_is_dear_but_finite():
    probabilities, targets = np.array([[1.0, 0.0], [0.0, 1.0]]), np.array([1, 1])
    assert np.isfinite(log_loss_of(probabilities, targets))
    assert np.isfinite(temper(probabilities, targets)[0]).all()


def test_weights_are_shares_and_the_better_predictor_has_the_larger():
    good, targets = answers(0.9, right=0.9)
    weights = weigh({"good": good, "idle": np.full_like(good, 0.5)}, targets)
    assert sum(weights.values()) == pytest.approx(1)
    assert weights["good"] > 0.8


def test_weights_are_where_the_labels_are_most_probable():
    tables = {name: answers(0.8, right=right, seed=seed)[0] for seed, (name, right) in enumerate({"a": 0.9, "b": 0.8}.items())}
    targets = answers(0.8, seed=0)[1]
    weights = weigh(tables, targets)

    def objective(share):
        mixed = mixture(tables, {"a": share, "b": 1 - share})
        return np.log(mixed[np.arange(len(targets)), targets]).sum() + PRIOR / 2 * (np.log(share) + np.log(1 - share))

    grid = np.linspace(0.01, 0.99, 99)
    assert weights["a"] == pytest.approx(grid[np.argmax([objective(share) for share in grid])], abs=0.011)


def test_few_graphs_leave_weights_nearly_equal():
    good, targets = answers(0.9, right=0.9)
    few = {"good": good[:4], "idle": np.full((4, 2), 0.5)}
    assert weigh(few, targets[:4])["idle"] > 0.35


def test_a_predictor_that_adds_nothing_is_dropped():
    targets = np.arange(5000) % 2
    always, never = (np.where(np.eye(2)[targets] > 0, given, 1 - given) for given in (0.9, 0.3))
    assert list(weigh({"always": always, "never": never}, targets)) == ["always"]
