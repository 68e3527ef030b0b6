"""Products of matrices against numpy, for widths and depths of every kind."""

import numba
import numpy as np
import pytest

from phist.engine import dense
from phist.engine.simd import LANES
from phist.engine.views import matrix, stretch

SHAPES = [(1, 1, 16), (5, 3, 16), (6, 4, 32), (7, 5, 48), (13, 17, 16), (20, 6, 64), (300, 33, 32), (129, 12, 80)]


@numba.njit
def multiply(x, n, depth, w, width, y, y_at):
    dense.multiply(matrix(x, 0, n, depth), matrix(w, 0, depth, width), matrix(y, y_at, n, width))


@numba.njit
def accumulate(x, n, depth, y, width, z, z_at):
    dense.accumulate(matrix(x, 0, n, depth), matrix(y, 0, n, width), matrix(z, z_at, depth, width))


@numba.njit
def add_times(target, source, size, factor):
    dense.add_times(stretch(target, 0, size), stretch(source, LANES, size), factor)


def standard(*shape):
    return np.random.default_rng(0).standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(("n", "depth", "width"), SHAPES)
def test_multiply_equals_numpy_and_writes_nothing_else(n, depth, width):
    x, w = standard(n, depth), standard(depth, width)
    y = np.full(n * width + 2 * LANES, 7, np.float32)
    multiply(x.ravel(), n, depth, w.ravel(), width, y, LANES)
    np.testing.assert_allclose(y[LANES:-LANES].reshape(n, width), x @ w, rtol=1e-4, atol=1e-5)
    assert (y[:LANES] == 7).all() and (y[-LANES:] == 7).all()


@pytest.mark.parametrize(("n", "depth", "width"), SHAPES)
def test_accumulate_adds_what_numpy_computes_and_writes_nothing_else(n, depth, width):
    x, y = standard(n, depth), standard(n, width)
    z = np.full(depth * width + 2 * LANES, 7, np.float32)
    accumulate(x.ravel(), n, depth, y.ravel(), width, z, LANES)
    np.testing.assert_allclose(z[LANES:-LANES].reshape(depth, width), 7 + x.T @ y, rtol=1e-4, atol=1e-4)
    assert (z[:LANES] == 7).all() and (z[-LANES:] == 7).all()


def test_accumulate_loses_few_digits_in_long_sums():
    n, depth, width = 20000, 2, 16
    x, y = np.full(n * depth, 0.1, np.float32), np.full(n * width, 0.3, np.float32)
    z = np.zeros(depth * width, np.float32)
    accumulate(x, n, depth, y, width, z, 0)
    np.testing.assert_allclose(z, n * np.float64(x[0]) * np.float64(y[0]), rtol=1e-5)


def test_add_times_adds_multiples():
    target, source = standard(48), standard(64)
    expected = target[:32] + 2.5 * source[16:48]
    add_times(target, source, 32, np.float32(2.5))
    np.testing.assert_allclose(target[:32], expected, rtol=1e-6)
