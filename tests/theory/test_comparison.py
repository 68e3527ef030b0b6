"""Which aggregation tells two multisets apart, with what proves it."""

from dataclasses import replace
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phist.theory.comparison import compare_aggregations
from phist.theory.multiset import Multiset
from phist.theory.projective import make_counterexample

few = settings(max_examples=40, deadline=None)


def verdicts(first, second, **options):
    found = compare_aggregations(first, second, **options)
    assert all(verdict.verify() for verdict in found)
    return {verdict.aggregation: verdict for verdict in found}


def test_equal_multisets_are_told_apart_by_none():
    found = verdicts(Multiset([[1.0], [2.0]]), Multiset([[2.0], [1.0]]))
    assert not any(verdict.tells_apart for verdict in found.values())
    assert "equal" in found["sum"].reason


def test_mean_is_blind_to_size_and_max_to_multiplicities():
    found = verdicts(Multiset([[0.1], [0.6]]), Multiset([[0.1], [0.6]], [3, 3]))
    assert [name for name, verdict in found.items() if verdict.tells_apart] == ["sum", "histogram"]
    found = verdicts(Multiset([[0.1], [0.6]]), Multiset([[0.1], [0.6]], [1, 3]))
    assert [name for name, verdict in found.items() if verdict.tells_apart] == ["mean", "sum", "histogram"]


def test_figure_one_needs_a_projection():
    example = make_counterexample(2, 2)
    found = verdicts(example.first, example.second, bins=2)["histogram"]
    assert found.tells_apart and not found.as_is and found.projection is not None


def test_one_bin_sees_the_size_only():
    assert not verdicts(Multiset([[0.1]]), Multiset([[0.2]]), bins=1)["histogram"].tells_apart
    assert verdicts(Multiset([[0.1]]), Multiset([[0.1]], [2]), bins=1)["histogram"].tells_apart


@few
@given(seed=st.integers(0, 9999), bins=st.integers(1, 5))
def test_every_verdict_holds(seed, bins):
    rng = np.random.default_rng(seed)
    found = verdicts(Multiset(rng.integers(0, 2, (3, 2))), Multiset(rng.integers(0, 2, (3, 2))), bins=bins, seed=seed)
    assert all(verdict.verify() for verdict in found.values())


def test_tampered_verdicts_fail():
    found = verdicts(Multiset([[0.1], [0.6]]), Multiset([[0.1], [0.7]]))
    equal = verdicts(Multiset([[0.1]]), Multiset([[0.1]]))["mean"]
    for name, verdict in found.items():
        assert not replace(verdict, vector=np.array([0.1])).verify(), name
        assert not replace(verdict, tells_apart=False).verify()
        assert not replace(verdict, as_is=not verdict.as_is).verify()
        assert not replace(verdict, projection=verdict.projection._replace(weights=verdict.projection.weights * 0)).verify()
    assert not replace(equal, tells_apart=True).verify()


# Whole numbers --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("many", [2**27, 2**40, 2**53 - 2])
def test_mean_is_told_proportional_in_whole_numbers(many):
    """n(n + 2) and (n + 1)^2 differ by one, which double precision no longer sees."""
    points = [[0.0], [1.0]]
    found = verdicts(Multiset(points, [many, many + 1]), Multiset(points, [many + 1, many + 2]))["mean"]
    assert found.tells_apart
    double = verdicts(Multiset(points, [many // 2, many // 2 + 1]), Multiset(points, [many // 2 * 2, many // 2 * 2 + 2]))["mean"]
    assert not double.tells_apart and "proportional" in double.reason


@pytest.mark.parametrize("many", [40_000, 10**7, 2**50])
def test_true_verdicts_verify_however_many_elements_there_are(many):
    points = [[0.0], [1.0]]
    found = verdicts(Multiset(points, [many, 1]), Multiset(points, [many + 1, 1]))
    assert [name for name, verdict in found.items() if verdict.tells_apart] == ["mean", "sum", "histogram"]


@few
@given(counts=st.lists(st.integers(1, 2**53), min_size=4, max_size=4))
def test_verdicts_agree_with_fractions(counts):
    a, b, c, d = counts
    found = verdicts(Multiset([[0.0], [1.0]], [a, b]), Multiset([[0.0], [1.0]], [c, d]))
    assert found["mean"].tells_apart == (Fraction(a, a + b) != Fraction(c, c + d))
    assert found["sum"].tells_apart == found["histogram"].tells_apart == ((a, b) != (c, d))
    assert not found["max"].tells_apart


def test_rounding_of_large_sums_is_not_taken_for_a_difference():
    rng = np.random.default_rng(0)
    rows, counts = rng.normal(size=(200, 3)), rng.integers(1, 2**45, 200)
    first = Multiset(rows, counts)
    second = Multiset(np.concatenate([rows, rows[:1]]), np.concatenate([counts, [1]]))
    found = verdicts(first, second)
    assert found["sum"].tells_apart and not found["sum"].as_is
