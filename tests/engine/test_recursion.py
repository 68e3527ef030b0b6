"""Chebyshev's recursion and its adjoint against matrices."""

from typing import NamedTuple

import networkx as nx
import numba
import numpy as np
import pytest

from phist.engine import recursion
from phist.engine.views import matrix, stretch

N, WIDTH = 9, 16


@numba.njit
def operator_of(indptr, indices, values):
    return recursion.Operator(stretch(indptr, 0, len(indptr)), stretch(indices, 0, len(indices)), stretch(values, 0, len(values)))


@numba.njit
def grow(x, order, indptr, indices, values):
    recursion.chebyshev_terms(matrix(x, 0, N, order * WIDTH), order, operator_of(indptr, indices, values))


@numba.njit
def fold(x, order, indptr, indices, values):
    recursion.chebyshev_sum(matrix(x, 0, N, order * WIDTH), order, operator_of(indptr, indices, values))


@numba.njit
def reached_from(integers, ball, hop):
    return stretch(integers, ball.hops + hop, ball.indptr - hop)


@numba.njit
def ball_operator(x, integers, ball):
    indices = stretch(integers, ball.indices, ball.n_values)
    return recursion.Operator(
        stretch(integers, ball.indptr, ball.n + 1), indices, stretch(x, len(x) - ball.n_values, ball.n_values)
    )


@numba.njit
def grow_ball(x, hop, order, integers, ball):
    signal, reached = matrix(x, 0, ball.n, order * WIDTH), reached_from(integers, ball, hop)
    recursion.ball_terms(signal, order, reached, ball_operator(x, integers, ball))


@numba.njit
def fold_ball(x, hop, order, integers, ball):
    signal, reached = matrix(x, 0, ball.n, order * WIDTH), reached_from(integers, ball, hop)
    recursion.ball_sum(signal, order, reached, ball_operator(x, integers, ball))


@numba.njit
def impulse(x, order, integers, ball):
    recursion.impulse_terms(matrix(x, 0, ball.n, order), reached_from(integers, ball, 0), ball_operator(x, integers, ball))


@pytest.fixture(scope="module")
def operator():
    """A matrix in sparse rows, and dense."""
    rng = np.random.default_rng(0)
    dense = np.where(rng.random((N, N)) < 0.4, rng.uniform(-0.3, 0.3, (N, N)), 0).astype(np.float32)
    dense[4] = 0  # an isolated node
    rows, columns = np.nonzero(dense)
    indptr = np.concatenate([[0], np.cumsum(np.bincount(rows, minlength=N))]).astype(np.int32)
    return (indptr, columns.astype(np.int32), dense[rows, columns]), dense.astype(np.float64)


class Ball(NamedTuple):
    """Where the parts of a ball begin among integers; its operator's values are at the end of the floats."""

    n: int
    hops: int
    indptr: int
    indices: int
    n_values: int


@pytest.fixture(scope="module")
def ball():
    """All of a graph, nearest to the first row first: integers, values, where they are, and the dense operator."""
    graph = nx.connected_watts_strogatz_graph(40, 4, 0.1, seed=3)
    distances = nx.single_source_shortest_path_length(graph, 0)
    order = sorted(graph, key=distances.get)
    dense = nx.to_numpy_array(graph, order) * -0.2
    indptr, indices, values = [0], [], []
    for row in dense:
        own = np.flatnonzero(row)
        zeros = -len(own) % recursion.QUAD
        indices += [*own, *[0] * zeros]
        values += [*row[own], *[0.0] * zeros]
        indptr.append(len(indices))
    hops = np.searchsorted(sorted(distances.values()), np.arange(max(distances.values()) + 1), side="right")
    integers = np.concatenate([hops, indptr, indices]).astype(np.int32)
    where = Ball(len(order), 0, len(hops), len(hops) + len(indptr), len(values))
    return integers, np.array(values, np.float32), where, dense, hops


def chebyshev(matrix, order):
    terms = [np.eye(len(matrix)), matrix]
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


@pytest.mark.parametrize(("hop", "order"), [(0, 3), (1, 1), (2, 3), (1, 4)])
def test_terms_of_a_signal_around_a_root_grow_as_far_as_they_reach(ball, hop, order):
    integers, values, where, dense, hops = ball
    x = np.full((where.n, order, WIDTH), np.nan, np.float32)
    x[:, 0] = 0
    x[: hops[hop], 0] = np.random.default_rng(1).standard_normal((hops[hop], WIDTH))
    signal, flat = x[:, 0].astype(np.float64), np.concatenate([x.ravel(), values])
    grow_ball(flat, hop, order, integers, where)
    grown = flat[: x.size].reshape(x.shape)
    for k, term in enumerate(chebyshev(dense, order)):
        np.testing.assert_allclose(grown[:, k], term @ signal, atol=1e-5)
        assert not grown[hops[hop + k] :, k].any()


@pytest.mark.parametrize(("hop", "order"), [(0, 3), (1, 1), (2, 3), (1, 4)])
def test_terms_fold_into_their_sum_where_the_signal_was(ball, hop, order):
    integers, values, where, dense, hops = ball
    x = np.random.default_rng(2).standard_normal((where.n, order, WIDTH)).astype(np.float32)
    expected = sum(term @ x[:, k].astype(np.float64) for k, term in enumerate(chebyshev(dense, order)))
    flat = np.concatenate([x.ravel(), values])
    fold_ball(flat, hop, order, integers, where)
    near = slice(hops[hop])
    np.testing.assert_allclose(flat[: x.size].reshape(x.shape)[near, 0], expected[near], atol=2e-5)


@pytest.mark.parametrize("order", [1, 2, 4])
def test_terms_of_an_impulse_are_first_columns(ball, order):
    integers, values, where, dense, _ = ball
    x = np.concatenate([np.empty(where.n * order, np.float32), values])
    impulse(x, order, integers, where)
    expected = np.stack([term[:, 0] for term in chebyshev(dense, order)], 1)
    np.testing.assert_allclose(x[: where.n * order].reshape(where.n, order), expected, atol=1e-6)
