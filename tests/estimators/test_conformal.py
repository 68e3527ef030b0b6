"""Prediction sets: they contain the right class as often as they promise."""

import numpy as np
import pytest
from scipy.special import softmax

from phist.errors import ConfigError
from phist.estimators.conformal import thresholds_of


def drawn(n, generator):
    """Predictions of three classes, one of them rare and often missed."""
    targets = generator.choice(3, n, p=[0.6, 0.3, 0.1])
    scores = generator.normal(size=(n, 3)) + np.eye(3)[targets] * np.array([2.5, 1.5, 0.2])[targets][:, None]
    return softmax(scores, axis=1), targets


def coverages(n_calibration, coverage, by_class, rounds=150):
    """Of each round: how often the right class is in the set, of all graphs and by class."""
    generator = np.random.default_rng(0)
    found = []
    for _ in range(rounds):
        least = thresholds_of(*drawn(n_calibration, generator), coverage, by_class)
        probabilities, targets = drawn(2000, generator)
        inside = probabilities[np.arange(2000), targets] >= least[targets]
        found.append([inside.mean(), *(inside[targets == number].mean() for number in range(3))])
    return np.array(found)


@pytest.mark.parametrize("coverage", [0.5, 0.8, 0.9])
@pytest.mark.parametrize("n", [20, 300])
def test_sets_contain_the_right_class_as_often_as_promised(coverage, n):
    mean = coverages(n, coverage, by_class=False)[:, 0].mean()
    assert coverage - 0.01 < mean < coverage + 1 / (n + 1) + 0.015


def test_sets_by_class_keep_the_promise_for_each_class():
    overall, by_class = (coverages(300, 0.8, chosen).mean(0)[1:] for chosen in (False, True))
    assert overall.min() < 0.7  # of the rare class, without asking for more
    assert (by_class > 0.79).all()


def test_more_coverage_takes_lower_thresholds():
    calibration = drawn(200, np.random.default_rng(0))
    thresholds = [thresholds_of(*calibration, coverage, False)[0] for coverage in (0.5, 0.9, 0.99)]
    assert thresholds == sorted(thresholds, reverse=True)


def test_too_few_graphs_put_every_class_in_every_set():
    calibration = drawn(8, np.random.default_rng(0))
    assert (thresholds_of(*calibration, 0.9, False) == 0).all()


def test_a_class_without_graphs_is_in_every_set():
    probabilities, targets = drawn(200, np.random.default_rng(0))
    seen = targets < 2
    assert thresholds_of(probabilities[seen], targets[seen], 0.8, True)[2] == 0


@pytest.mark.parametrize("coverage", [0, 1, -0.1, 1.5, float("nan"), "most", None, True])
def test_coverage_is_a_share(coverage):
    with pytest.raises(ConfigError, match="coverage"):
        thresholds_of(*drawn(20, np.random.default_rng(0)), coverage, False)
