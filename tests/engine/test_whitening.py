"""Moments of weighted rows against numpy."""

import numba
import numpy as np
import pytest

from phist.engine import whitening
from phist.engine.simd import LANES
from phist.engine.views import matrix, stretch

WIDTH = 32


@numba.njit
def add_moments(floats, n, doubles):
    y, end, size = matrix(floats, 0, n, WIDTH), n * WIDTH, 1 + 2 * WIDTH
    moments, own = stretch(doubles, 0, size), stretch(doubles, size, 2 * LANES)
    whitening.add_moments(y, stretch(floats, end, n), stretch(floats, end + n, n), moments, own)


def moments_of(parts, weights):
    """Weight, mean and variance of rows that come in parts."""
    doubles = np.zeros(1 + 2 * WIDTH + 2 * LANES)
    for rows, (multiplicity, shards) in zip(parts, weights, strict=True):
        n = len(rows)
        floats = np.concatenate([rows.ravel(), multiplicity, shards]).astype(np.float32)
        add_moments(floats, n, doubles)
    return doubles[0], doubles[1 : 1 + WIDTH], doubles[1 + WIDTH : 1 + 2 * WIDTH] / doubles[0]


def some_rows(n, seed=0, mean=0.0):
    rng = np.random.default_rng(seed)
    rows = (mean + rng.standard_normal((n, WIDTH))).astype(np.float32)
    return rows, (rng.integers(1, 5, n).astype(float), rng.integers(0, 3, n).astype(float))


def check(parts, weights, found):
    rows = np.concatenate(parts).astype(np.float64)
    weight = np.concatenate([multiplicity * shards for multiplicity, shards in weights])
    mean = weight @ rows / weight.sum()
    assert found[0] == weight.sum()
    np.testing.assert_allclose(found[1], mean, rtol=1e-6, atol=1e-6)
    np.testing.assert_allclose(found[2], weight @ (rows - mean) ** 2 / weight.sum(), rtol=1e-5)


@pytest.mark.parametrize("n", [1, 2, 255, 256, 257, 700])
def test_moments_equal_numpy(n):
    rows, (multiplicity, shards) = some_rows(n)
    weights = (multiplicity, shards + 1)
    check([rows], [weights], moments_of([rows], [weights]))


def test_moments_of_parts_are_those_of_all_rows():
    parts, weights = zip(*(some_rows(n, seed=n, mean=n) for n in (5, 300, 1, 40)), strict=True)
    check(parts, weights, moments_of(parts, weights))


def test_rows_without_weight_count_for_nothing():
    (rows, weights), (other, (multiplicity, _)) = some_rows(9), some_rows(4, seed=1)
    unseen = (multiplicity, np.zeros(4))
    assert_same(moments_of([other, rows], [unseen, weights]), moments_of([rows], [weights]))


def assert_same(found, expected):
    for one, other in zip(found, expected, strict=True):
        np.testing.assert_array_equal(one, other)


def test_equal_rows_have_their_own_value_as_mean_and_no_variance():
    rows = np.full((700, WIDTH), 1.3, np.float32)
    _, mean, variance = moments_of([rows], [(np.full(700, 3.0), np.full(700, 7.0))])
    assert (mean == np.float64(np.float32(1.3))).all() and (variance == 0).all()


def test_variance_of_rows_nearly_alike_keeps_its_digits():
    rng = np.random.default_rng(0)
    rows = (1000 + 0.01 * rng.standard_normal((2000, WIDTH))).astype(np.float32)
    _, mean, variance = moments_of([rows], [(np.ones(2000), np.ones(2000))])
    np.testing.assert_allclose(mean, rows.astype(np.float64).mean(0), rtol=1e-9)
    np.testing.assert_allclose(variance, rows.astype(np.float64).var(0), rtol=1e-4)
