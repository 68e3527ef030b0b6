"""Chebyshev's recursion and its adjoint against matrices."""

import numba
import numpy as np
import pytest

from phist.engine import recursion

N, WIDTH = 9, 16


@numba.njit
def grow(x, order, indptr, indices, values):
    recursion.grow_terms(x, 0, N, order, WIDTH, indptr, 0, indices, 0, values, 0)


@numba.njit
def fold(x, order, indptr, indices, values):
    recursion.fold_terms(x, 0, N, order, WIDTH, indptr, 0, indices, 0, values, 0)


@numba.njit
def impulse(x, n, order, indptr, indices, values):
    recursion.impulse_terms(x, 0, n, order, indptr, 0, indices, 0, values, 0)


@pytest.fixture(scope="module")
def operator():
    """A matrix in sparse rows, and dense."""
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((N, N)) < 0.4, rng.uniform(-0.3, 0.3, (N, N)), 0).astype(np.float32)
    dense[4] = 0  # an isolated node
    rows, columns = np.nonzero(dense)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=N))]).astype(np.int32)
    return (indptr, columns.astype(np.int32), dense[rows, columns]), dense.astype(np.float64)


def chebyshev(matrix, order):
    terms = [np.eye(N), matrix]
    while len(terms) < order:
        terms.append(2 * matrix @ terms[-1] - terms[-2])
    return terms[:order]


@pytest.mark.parametrize("order", [1, 2, 3, 6])
def test_terms_grow_by_the_recursion(operator, order):
    sparse, dense = operator
    x = np.zeros((N, order, WIDTH), np.float32)
    x[:, 0] = np.random.default_rng(1).standard_normal((N, WIDTH))
    signal = x[:, 0].astype(np.float64)
    flat = x.ravel()
    grow(flat, order, *sparse)
    for k, term in enumerate(chebyshev(dense, order)):
        np.testing.assert_allclose(flat.reshape(N, order, WIDTH)[:, k], term @ signal, atol=1e-5)


@pytest.mark.parametrize("order", [1, 2, 3, 6])
def test_terms_fold_into_their_sum(operator, order):
    sparse, dense = operator
    x = np.random.default_rng(2).standard_normal((N, order, WIDTH)).astype(np.float32)
    expected = sum(term @ x[:, k].astype(np.float64) for k, term in enumerate(chebyshev(dense, order)))
    flat = x.ravel()
    fold(flat, order, *sparse)
    np.testing.assert_allclose(flat.reshape(N, order, WIDTH)[:, 0], expected, atol=2e-5)


@pytest.mark.parametrize("order", [1, 2, 4])
def test_terms_of_an_impulse_are_first_columns(operator, order):
    sparse, dense = operator
    x = np.empty(N * order, np.float32)
    impulse(x, N, order, *sparse)
    expected = np.stack([term[:, 0] for term in chebyshev(dense, order)], 1)
    np.testing.assert_allclose(x.reshape(N, order), expected, atol=1e-6)
