"""Running statistics against those of the reference's standardiser."""

import numpy as np
import pytest
import torch

from phist.engine.shape import columns_of
from phist.engine.statistics import Statistics, fill_standardizer, update_from_embeddings, update_from_moments
from phist.nn.normalization import RunningStandardizer

BINS, CHANNELS, WIDTH, GRAPHS = 3, 5, 16, 7
SIZE = BINS * CHANNELS
COLUMNS = columns_of(BINS, CHANNELS)


def turned(values):
    """(..., channels · bins), as torch has it, to the engine's padded (..., bins · width)."""
    result = np.zeros((*values.shape[:-1], BINS, WIDTH), np.float32)
    result[..., :CHANNELS] = np.swapaxes(values.reshape(*values.shape[:-1], CHANNELS, BINS), -1, -2)
    return result.reshape(*values.shape[:-1], BINS * WIDTH)


@pytest.fixture
def standardizer():
    """One that has seen a batch."""
    module = RunningStandardizer(SIZE)
    module(standard(4, SIZE, seed=1) * 2 + 1)
    return module


def standard(*shape, seed=0):
    return torch.randn(shape, generator=torch.Generator().manual_seed(seed))


def test_settled_shift_and_scale_standardise_as_the_reference(standardizer):
    shift, scale = np.zeros(BINS * WIDTH, np.float32), np.ones(BINS * WIDTH, np.float32)
    fill_standardizer(standardizer.mean.numpy(), standardizer.variance.numpy(), standardizer.epsilon, COLUMNS, shift, scale)
    values = standard(GRAPHS, SIZE)
    expected = turned(standardizer.standardize(values).numpy())
    np.testing.assert_allclose((turned(values.numpy()) - shift) * scale, expected, rtol=1e-5, atol=1e-6)


def test_graphs_are_learnt_from_as_the_reference_does(standardizer):
    values = standard(GRAPHS, SIZE) * 3 - 1
    mean, variance = standardizer.mean.numpy().copy(), standardizer.variance.numpy().copy()
    standardizer(values)
    update_from_embeddings(turned(values.numpy()).ravel(), COLUMNS, BINS * WIDTH, 0.5, mean, variance)
    np.testing.assert_allclose(mean, standardizer.mean.numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(variance, standardizer.variance.numpy(), rtol=1e-5)


def test_nodes_are_learnt_from_as_the_reference_does_whatever_thread_had_them(standardizer):
    values, weights = standard(GRAPHS, SIZE) * 3 - 1, torch.tensor([1.0, 2.0, 1.0, 5.0, 1.0, 3.0, 1.0])
    mean, variance = standardizer.mean.numpy().copy(), standardizer.variance.numpy().copy()
    away = turned((values - standardizer.mean).numpy()).astype(np.float64)
    standardizer(values, weights)
    counts = weights.numpy().astype(np.float64)
    shards = [slice(0, 3), slice(3, 7)]
    sums = [np.concatenate([[counts[s].sum()], counts[s] @ away[s], counts[s] @ away[s] ** 2]) for s in shards]
    update_from_moments(np.array(sums), COLUMNS, BINS * WIDTH, 0.5, mean, variance)
    np.testing.assert_allclose(mean, standardizer.mean.numpy(), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(variance, standardizer.variance.numpy(), rtol=1e-5)


def test_first_step_goes_all_the_way():
    values, mean, variance = standard(GRAPHS, SIZE).numpy() * 3 - 1, np.zeros(SIZE, np.float32), np.ones(SIZE, np.float32)
    update_from_embeddings(turned(values).ravel(), COLUMNS, BINS * WIDTH, 1.0, mean, variance)
    np.testing.assert_allclose(mean, values.mean(0), rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(variance, values.var(0), rtol=1e-5)


def test_a_graph_alone_has_no_variance():
    mean, variance = np.zeros(SIZE, np.float32), np.ones(SIZE, np.float32)
    update_from_embeddings(turned(standard(1, SIZE).numpy()).ravel(), COLUMNS, BINS * WIDTH, 1.0, mean, variance)
    assert (variance == 0).all()


def test_variance_of_equal_nodes_is_never_below_zero():
    mean, variance = np.full(SIZE, 3, np.float32), np.ones(SIZE, np.float32)
    away = turned(np.full((1, SIZE), 1e3 / 3)).astype(np.float64)
    sums = np.concatenate(
        [[7.0], 7 * away[0], 7 * away[0] ** 2 * (1 - 1e-12)]
    )  # squares a little too small, as rounding may leave them
    update_from_moments(sums[None], COLUMNS, BINS * WIDTH, 1.0, mean, variance)
    assert (variance >= 0).all()
    np.testing.assert_allclose(mean, 3 + 1e3 / 3, rtol=1e-6)


def test_squares_are_about_the_mean_so_that_large_means_cost_no_digits():
    mean, variance = np.full(SIZE, 1e4, np.float32), np.ones(SIZE, np.float32)
    away = standard(GRAPHS, SIZE).numpy() * 1e-2
    shards = turned(away).astype(np.float64)
    sums = np.concatenate([[GRAPHS], shards.sum(0), (shards**2).sum(0)])
    update_from_moments(sums[None], COLUMNS, BINS * WIDTH, 1.0, mean, variance)
    np.testing.assert_allclose(variance, away.var(0), rtol=1e-4)


def test_embeddings_are_standardised_and_turned_into_the_order_of_torch(standardizer):
    statistics, values = Statistics(standardizer.eval(), COLUMNS, BINS * WIDTH), standard(GRAPHS, SIZE, seed=3)
    found = statistics.to_torch(turned(values.numpy()).ravel(), statistics.standardizer())
    np.testing.assert_allclose(found, standardizer(values).numpy(), rtol=1e-5, atol=1e-6)


def test_gradients_go_the_same_way_back_and_padding_gets_none(standardizer):
    statistics, gradient = Statistics(standardizer.eval(), COLUMNS, BINS * WIDTH), standard(GRAPHS, SIZE, seed=4).numpy()
    both = statistics.standardizer()
    found = statistics.from_torch(gradient, both).reshape(GRAPHS, BINS, WIDTH)
    np.testing.assert_allclose(found, (turned(gradient) * both.scale).reshape(GRAPHS, BINS, WIDTH), rtol=1e-6)
    assert (found[:, :, CHANNELS:] == 0).all()
