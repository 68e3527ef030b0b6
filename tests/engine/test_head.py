"""The head's loss and gradients against torch."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from phist.engine.head import learn_head

FEATURES, GRAPHS = 11, 7


def problem(n_classes, size=1.0):
    rng = np.random.default_rng(0)
    embeddings = (size * rng.standard_normal((GRAPHS, FEATURES))).astype(np.float32)
    matrix, bias = (rng.standard_normal(shape).astype(np.float32) for shape in ((n_classes, FEATURES), (n_classes,)))
    return embeddings, matrix, bias, rng.integers(0, n_classes, GRAPHS), rng.uniform(0.5, 2, GRAPHS).astype(np.float32)


def by_engine(embeddings, matrix, bias, targets, weights):
    gradients = np.empty_like(embeddings), np.zeros_like(matrix), np.zeros_like(bias)
    return *learn_head(embeddings, matrix, bias, targets, weights, *gradients), *gradients


def by_torch(embeddings, matrix, bias, targets, weights):
    parts = [torch.tensor(part, dtype=torch.float64, requires_grad=True) for part in (embeddings, matrix, bias)]
    scores = parts[0] @ parts[1].T + parts[2]
    weights = torch.from_numpy(weights).double()
    loss = (weights * F.cross_entropy(scores, torch.from_numpy(targets), reduction="none")).sum() / weights.sum()
    hits = int((scores.argmax(1) == torch.from_numpy(targets)).sum())
    return loss.item(), hits, *(part.numpy() for part in torch.autograd.grad(loss, parts))


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_loss_hits_and_gradients_are_those_of_torch(n_classes):
    for found, expected in zip(by_engine(*problem(n_classes)), by_torch(*problem(n_classes)), strict=True):
        np.testing.assert_allclose(found, expected, rtol=1e-4, atol=1e-6)


def test_huge_scores_give_finite_losses():
    found, expected = by_engine(*problem(3, size=1e4)), by_torch(*problem(3, size=1e4))
    assert found[0] == pytest.approx(expected[0], rel=1e-5)
    assert all(np.isfinite(part).all() for part in found[2:])


def test_diverged_embeddings_give_no_number_as_loss():
    embeddings, *rest = problem(3)
    embeddings[0, 0] = np.nan
    assert np.isnan(by_engine(embeddings, *rest)[0])


def test_graph_without_weight_teaches_nothing():
    embeddings, matrix, bias, targets, weights = problem(3)
    weights[2] = 0
    loss, _, toward, matrix_gradient, _ = by_engine(embeddings, matrix, bias, targets, weights)
    others = np.arange(GRAPHS) != 2
    expected = by_engine(embeddings[others], matrix, bias, targets[others], weights[others])
    assert (toward[2] == 0).all()
    assert loss == pytest.approx(expected[0])
    np.testing.assert_allclose(matrix_gradient, expected[3], rtol=1e-5)


def test_only_the_proportion_of_weights_matters():
    embeddings, matrix, bias, targets, weights = problem(3)
    for found, expected in zip(
        by_engine(embeddings, matrix, bias, targets, 8 * weights),
        by_engine(embeddings, matrix, bias, targets, weights),
        strict=True,
    ):
        np.testing.assert_allclose(found, expected, rtol=1e-5)


def test_of_equal_scores_the_first_class_is_the_guess():
    embeddings, matrix, bias, _, weights = problem(3)
    same = np.zeros_like(matrix), np.zeros_like(bias)
    hits = [by_engine(embeddings, *same, np.full(GRAPHS, label), weights)[1] for label in range(3)]
    assert hits == [GRAPHS, 0, 0]


def test_single_class_is_never_wrong():
    loss, hits, toward, *_ = by_engine(*problem(1))
    assert (loss, hits) == (0, GRAPHS) and (toward == 0).all()
