"""The head's loss and gradients against torch."""

from typing import NamedTuple

import numba
import numpy as np
import pytest
import torch
from torch.nn import functional as F

from phist.engine import head
from phist.engine.arena import PHASES, make_arena
from phist.engine.shape import Head, Standardizer, padded
from phist.engine.views import stretch

SIZE, GRAPHS, GUARD = 48, 7, 16  # three bins of sixteen channels


class Part(NamedTuple):
    """What the head knows of a network."""

    head: Head
    graph_standardizer: Standardizer


@numba.njit
def head_backward(own, histograms, targets, weights, grad_histograms, gradient, arena):
    loss, hits = 0.0, 0
    for graph in range(len(targets)):
        embedding, grad = stretch(histograms, graph * SIZE, SIZE), stretch(grad_histograms, graph * SIZE, SIZE)
        one, is_hit = head.head_backward(own, embedding, targets[graph], weights[graph], grad, gradient, arena)
        loss += one
        hits += is_hit
    return loss, hits


def problem(n_classes, size=1.0):
    rng = np.random.default_rng(0)
    histograms = (size * rng.standard_normal((GRAPHS, SIZE))).astype(np.float32)
    matrix, bias = (rng.standard_normal(shape).astype(np.float32) for shape in ((n_classes, SIZE), (n_classes,)))
    weights = rng.uniform(0.5, 2, GRAPHS).astype(np.float32)
    return histograms, matrix, bias, rng.integers(0, n_classes, GRAPHS), weights / weights.sum()


def standardizer():
    rng = np.random.default_rng(1)
    return Standardizer(rng.standard_normal(SIZE).astype(np.float32), rng.uniform(0.5, 2, SIZE).astype(np.float32))


def by_engine(histograms, matrix, bias, targets, weights):
    """Loss, hits, and the slopes of histograms, matrix and bias; matrix and bias stand behind some other parameters."""
    n_classes, begin = len(bias), GUARD
    end = begin + padded(matrix.size)
    values = np.zeros(end + padded(n_classes) + GUARD, np.float32)
    values[begin : begin + matrix.size], values[end : end + n_classes] = matrix.ravel(), bias
    grad_histograms, gradient = np.full(histograms.size, 7, np.float32), np.zeros_like(values)
    arena = make_arena([SIZE, 0, 32, 0], np.zeros(len(PHASES), np.int64))
    own = Part(Head(values, n_classes, begin, end), standardizer())
    loss, hits = head_backward(own, histograms.ravel(), targets, weights, grad_histograms, gradient, arena)
    assert arena.tops.tolist() == [0, 0, 0]
    used = np.zeros(len(values), bool)
    used[begin : begin + matrix.size] = used[end : end + n_classes] = True
    assert (gradient[~used] == 0).all()
    return (
        loss, hits, grad_histograms.reshape(histograms.shape), gradient[begin : begin + matrix.size].reshape(matrix.shape),
        gradient[end : end + n_classes],
    )  # fmt: skip


def by_torch(histograms, matrix, bias, targets, weights):
    parts = [torch.tensor(part, dtype=torch.float64, requires_grad=True) for part in (histograms, matrix, bias)]
    shift, scale = (torch.from_numpy(part).double() for part in standardizer())
    scores = (parts[0] - shift) * scale @ parts[1].T + parts[2]
    loss = (torch.from_numpy(weights).double() * F.cross_entropy(scores, torch.from_numpy(targets), reduction="none")).sum()
    hits = int((scores.argmax(1) == torch.from_numpy(targets)).sum())
    return loss.item(), hits, *(part.numpy() for part in torch.autograd.grad(loss, parts))


@pytest.mark.parametrize("n_classes", [2, 3, 6, 17])
def test_loss_hits_and_gradients_are_those_of_torch(n_classes):
    for found, expected in zip(by_engine(*problem(n_classes)), by_torch(*problem(n_classes)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=2e-6)


def test_huge_scores_give_finite_losses():
    found, expected = by_engine(*problem(3, size=1e4)), by_torch(*problem(3, size=1e4))
    assert found[0] == pytest.approx(expected[0], rel=1e-5)
    assert all(np.isfinite(part).all() for part in found[2:])


def test_diverged_embeddings_give_no_number_as_loss():
    histograms, *rest = problem(3)
    histograms[0, 0] = np.nan
    assert np.isnan(by_engine(histograms, *rest)[0])


def test_graph_without_weight_teaches_nothing():
    histograms, matrix, bias, targets, weights = problem(3)
    weights[2] = 0
    loss, _, grad_histograms, matrix_gradient, _ = by_engine(histograms, matrix, bias, targets, weights)
    others = np.arange(GRAPHS) != 2
    expected = by_engine(histograms[others], matrix, bias, targets[others], weights[others])
    assert (grad_histograms[2] == 0).all()
    assert loss == pytest.approx(expected[0])
    np.testing.assert_allclose(matrix_gradient, expected[3], rtol=1e-5)


def test_of_equal_scores_the_first_class_is_the_guess():
    histograms, matrix, bias, _, weights = problem(3)
    same = np.zeros_like(matrix), np.zeros_like(bias)
    hits = [by_engine(histograms, *same, np.full(GRAPHS, label), weights)[1] for label in range(3)]
    assert hits == [GRAPHS, 0, 0]


def test_single_class_is_never_wrong():
    loss, hits, grad_histograms, *_ = by_engine(*problem(1))
    assert (loss, hits) == (0, GRAPHS) and (grad_histograms == 0).all()
