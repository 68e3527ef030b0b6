import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from phist.errors import ConfigError
from phist.evaluation.statistics import (
    average_ranks,
    critical_difference,
    friedman_test,
    mean_and_deviation,
    paired_difference,
    smallest_signed_rank_p,
)

accuracies = st.lists(st.integers(0, 100).map(lambda percent: percent / 100), min_size=10, max_size=10)
RANDOM = np.random.default_rng(0)


@given(accuracies)
def test_deviation_is_that_of_a_sample(values):
    mean, deviation = mean_and_deviation(values)
    assert mean == pytest.approx(np.mean(values))
    assert deviation == pytest.approx(stats.tstd(values), abs=1e-12)


def test_a_single_value_has_no_deviation():
    assert mean_and_deviation([0.7]) == (0.7, 0.0)


@settings(max_examples=50)
@given(accuracies, accuracies)
def test_without_correction_it_is_the_paired_t_test(first, second):
    found = paired_difference(first, second)
    if found.low == found.high:
        return
    expected = stats.ttest_rel(first, second)
    interval = expected.confidence_interval(0.95)
    assert found.p == pytest.approx(expected.pvalue, abs=1e-9)
    assert (found.low, found.high) == pytest.approx((interval.low, interval.high))


def test_the_correction_widens_the_interval_as_printed():
    first, second = RANDOM.random(100), RANDOM.random(100)
    plain, corrected = paired_difference(first, second), paired_difference(first, second, test_to_training=1 / 8)
    assert corrected.mean == plain.mean
    assert (corrected.high - corrected.low) / (plain.high - plain.low) == pytest.approx(np.sqrt((0.01 + 1 / 8) / 0.01))


def test_the_corrected_p_value_by_hand():
    found = paired_difference([0.3, 0.1, 0.2], [0.0, 0.0, 0.0], test_to_training=0.5)
    statistic = 0.2 / np.sqrt(0.01 * (1 / 3 + 0.5))
    assert found.p == pytest.approx(2 * stats.t.sf(statistic, 2))


def test_the_corrected_test_seldom_finds_a_difference_that_is_not_there():
    """Two methods of equal quality, with the dependence between folds that the correction is for."""
    found = [_spurious(np.random.default_rng(seed), test_to_training=1 / 8) for seed in range(200)]
    plain = [_spurious(np.random.default_rng(seed), test_to_training=0.0) for seed in range(200)]
    assert np.mean(found) < 0.1 < np.mean(plain)


def _spurious(generator, test_to_training):
    shared, own = generator.normal(size=1) * np.sqrt(0.1), generator.normal(size=30) * np.sqrt(0.9)
    return paired_difference(shared + own, np.zeros(30), test_to_training=test_to_training).is_clear


@given(accuracies, accuracies)
def test_the_other_way_round_only_the_sign_changes(first, second):
    one, other = paired_difference(first, second), paired_difference(second, first)
    assert (one.mean, one.low, one.high) == pytest.approx((-other.mean, -other.high, -other.low))
    assert one.p == pytest.approx(other.p)


def test_equal_differences_have_an_interval_without_width():
    assert paired_difference([0.5, 0.6], [0.5, 0.6]).p == 1
    always = paired_difference([0.7, 0.8, 0.9], [0.6, 0.7, 0.8])
    assert always.p == 0
    assert always.low == always.high == pytest.approx(0.1)
    assert always.is_clear


@pytest.mark.parametrize(
    ("first", "second", "settings"),
    [
        ([1], [1], {}),
        ([1, 2], [1], {}),
        ([1, np.nan], [1, 2], {}),
        ([1, 2], [1, 3], {"confidence": 1}),
        ([1, 2], [1, 3], {"test_to_training": -1}),
    ],
)
def test_what_cannot_be_compared_is_refused(first, second, settings):
    with pytest.raises(ConfigError):
        paired_difference(first, second, **settings)


def test_ranks_sum_to_what_they_must():
    ranks = average_ranks(RANDOM.random((9, 5)))
    assert ranks.sum() == pytest.approx(15)


def test_the_best_method_everywhere_has_rank_one():
    assert average_ranks([[1, 3, 2], [4, 6, 5]]).tolist() == [3, 1, 2]


def test_friedman_is_that_of_scipy():
    scores = RANDOM.random((9, 4))
    expected = stats.friedmanchisquare(*scores.T)
    assert friedman_test(scores) == pytest.approx((expected.statistic, expected.pvalue))
    assert friedman_test(np.ones((3, 3))) == (0.0, 1.0)


@pytest.mark.parametrize(("methods", "printed"), [(2, 1.960), (5, 2.728), (10, 3.164)])
def test_critical_differences_are_those_of_the_printed_table(methods, printed):
    quantile = critical_difference(methods, 1) / np.sqrt(methods * (methods + 1) / 6)
    assert quantile == pytest.approx(printed, abs=1e-3)


def test_no_signed_rank_test_goes_below_its_smallest_p():
    assert stats.wilcoxon(np.arange(1, 10)).pvalue == pytest.approx(smallest_signed_rank_p(9))


@pytest.mark.parametrize("scores", [[], [1, 2], [[1, np.nan]]])
def test_a_table_with_holes_is_refused(scores):
    with pytest.raises(ConfigError, match="full table"):
        average_ranks(scores)


def test_two_methods_are_too_few_for_friedman():
    with pytest.raises(ConfigError, match="three or more"):
        friedman_test([[1, 2], [3, 4]])
