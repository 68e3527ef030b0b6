import numpy as np
import pytest

from phist.errors import ConfigError
from phist.estimators.conformal import thresholds_of


def exchangeable(n, seed):
    """Probabilities of three classes, the first rare and hard, and classes drawn by other probabilities."""
    generator = np.random.default_rng(seed)
    targets = generator.choice(3, n, p=[0.1, 0.45, 0.45])
    scores = generator.normal(size=(n, 3)) + 1.5 * np.eye(3)[targets] * (targets > 0)[:, None]
    powers = np.exp(scores)
    return powers / powers.sum(1, keepdims=True), targets


@pytest.mark.parametrize("coverage", [0.5, 0.9])
@pytest.mark.parametrize("by_class", [False, True])
def test_sets_hold_the_right_class_as_often_as_promised(coverage, by_class):
    least = thresholds_of(*exchangeable(2000, seed=0), coverage, by_class)
    probabilities, targets = exchangeable(20000, seed=1)
    hits = (probabilities >= least)[np.arange(20000), targets]
    groups = [targets == number for number in range(3)] if by_class else [np.ones(20000, dtype=bool)]
    for group in groups:
        assert coverage - 0.05 < hits[group].mean() < coverage + 0.06


def test_a_promise_for_all_is_none_for_a_hard_class():
    least = thresholds_of(*exchangeable(2000, seed=0), 0.9, by_class=False)
    probabilities, targets = exchangeable(20000, seed=1)
    assert (probabilities >= least)[np.arange(20000), targets][targets == 0].mean() < 0.85


def test_too_few_graphs_promise_nothing_less_than_every_class():
    assert (thresholds_of(*exchangeable(5, seed=0), 0.9, by_class=False) == 0).all()


@pytest.mark.parametrize("coverage", [0.0, 1.0, 90])
def test_a_coverage_that_is_no_share_is_refused(coverage):
    with pytest.raises(ConfigError, match="coverage"):
        thresholds_of(*exchangeable(50, seed=0), coverage, by_class=False)
