"""Bins: histograms of whitened rows and their slopes, against the kernels of the reference in double precision."""

import numba
import numpy as np
import pytest
import torch

from phist.engine import bins as engine
from phist.engine.views import matrix, stretch
from phist.nn.functional import bin_centers
from phist.nn.kernels import KERNELS

WIDTH, ROWS = 16, 37
SMOOTH = [name for name in sorted(KERNELS) if name != "uniform"]


@numba.njit
def rows_in(y, n, whitening, multiplicity, squashed):
    return engine.Rows(
        matrix(y, 0, n, WIDTH), matrix(y, whitening, 2, WIDTH), matrix(y, squashed, n, WIDTH), stretch(y, multiplicity, n)
    )  # fmt: skip


@numba.njit
def add_squashed(bins, y, n, whitening, multiplicity, h, squashed):
    rows, histogram = rows_in(y, n, whitening, multiplicity, squashed), matrix(h, 0, bins.number, WIDTH)
    engine.squash_rows(bins, rows)
    engine.add_to_histogram(bins, rows, histogram)
    engine.scale_histogram(bins, histogram, np.float32(1.0))


@numba.njit
def pull_squashed(bins, y, n, whitening, multiplicity, slope, grad_histograms, g, sums, squashed):
    grad_histogram = matrix(y, grad_histograms, 2 * bins.number, WIDTH)
    engine.scale_histogram_backward(bins, matrix(slope, 0, bins.number, WIDTH), np.float32(1.0), grad_histogram)
    rows = rows_in(y, n, whitening, multiplicity, squashed)
    engine.squash_rows(bins, rows)
    engine.add_to_histogram_backward(bins, rows, grad_histogram, matrix(y, g, n, WIDTH), matrix(y, sums, 2, WIDTH))


def with_more_room(y, n):
    return np.concatenate([y, np.full(n * WIDTH, np.nan, np.float32)])


def add(bins, y, n, whitening, multiplicity, h):
    add_squashed(bins, with_more_room(y, n), n, whitening, multiplicity, h, len(y))


def pull(bins, y, n, *parts):
    wide = with_more_room(y, n)
    pull_squashed(bins, wide, n, *parts, len(y))
    y[:] = wide[: len(y)]


def case(kernel, number, factor=1.0, n=ROWS, seed=0):
    """Bins, rows with whitening and members behind, and the whitened rows in double precision."""
    rng = np.random.default_rng(seed)
    width = factor * KERNELS[kernel].natural_width(number)
    bins = engine.make_bins(kernel, bin_centers(number).numpy().astype(np.float32), width)
    rows, mean, scale = rng.standard_normal((n, WIDTH)) * 2, rng.standard_normal(WIDTH), rng.uniform(0.5, 2, WIDTH)
    multiplicity = rng.integers(1, 5, n).astype(float)
    y = np.concatenate([rows.ravel(), mean, scale, multiplicity]).astype(np.float32)
    rows, mean, scale = y[: n * WIDTH].astype(float).reshape(n, WIDTH), *y[n * WIDTH : (n + 2) * WIDTH].astype(float).reshape(2, -1)
    return bins, y, width, torch.tensor((rows - mean) * scale, requires_grad=True), torch.tensor(multiplicity)


def expected_histogram(kernel, number, width, x, multiplicity):
    z = (torch.tanh(x).unsqueeze(0) - bin_centers(number).float().double().view(-1, 1, 1)) / width
    return (KERNELS[kernel].value(z) * multiplicity.view(1, -1, 1)).sum(1)  # (bins, channels)


CASES = [(kernel, number, factor) for kernel in SMOOTH for number, factor in [(1, 1.0), (8, 1.0), (5, 0.5), (5, 2.0), (24, 1.0)]]


@pytest.mark.parametrize(("kernel", "number", "factor"), CASES)
@pytest.mark.parametrize("n", [1, ROWS])
def test_histograms_are_those_of_the_kernel(kernel, number, factor, n):
    bins, y, width, x, multiplicity = case(kernel, number, factor, n)
    h = np.zeros(number * WIDTH, np.float32)
    add(bins, y, n, n * WIDTH, (n + 2) * WIDTH, h)
    expected = expected_histogram(kernel, number, width, x, multiplicity).detach().numpy()
    np.testing.assert_allclose(h.reshape(number, WIDTH), expected, rtol=2e-4, atol=2e-5 * max(1.0, expected.max()))


@pytest.mark.parametrize(("kernel", "number", "factor"), CASES)
@pytest.mark.parametrize("n", [1, ROWS])
def test_slopes_are_the_derivatives_of_the_histograms(kernel, number, factor, n):
    bins, y, width, x, multiplicity = case(kernel, number, factor, n)
    slope = np.random.default_rng(1).standard_normal(number * WIDTH).astype(np.float32)
    grad_histograms, g, sums = len(y), len(y) + 2 * number * WIDTH, len(y) + (2 * number + n) * WIDTH
    y = np.concatenate([y, np.zeros((2 * number + n + 2) * WIDTH, np.float32)])
    pull(bins, y, n, n * WIDTH, (n + 2) * WIDTH, slope, grad_histograms, g, sums)
    histogram = expected_histogram(kernel, number, width, x, multiplicity)
    (counted,) = torch.autograd.grad((histogram * torch.tensor(slope, dtype=torch.float64).view(number, WIDTH)).sum(), x)
    expected = (counted / multiplicity.view(-1, 1)).numpy()  # of one node of each row
    found, size = y[g : g + n * WIDTH].reshape(n, WIDTH), max(1.0, abs(expected).max())
    np.testing.assert_allclose(found, expected, rtol=5e-4, atol=1e-4 * size)
    plain, along = y[sums : sums + 2 * WIDTH].reshape(2, WIDTH)
    np.testing.assert_allclose(plain, counted.sum(0).numpy(), atol=1e-3 * size)
    np.testing.assert_allclose(along, (counted * x.detach()).sum(0).numpy(), atol=2e-3 * size)


@pytest.mark.parametrize("number", [1, 2, 5])
def test_every_element_is_in_one_uniform_bin_even_at_the_ends(number):
    bins, y, _, _, multiplicity = case("uniform", number)
    y[: 3 * WIDTH] = [-1e30] * WIDTH + [1e30] * WIDTH + [0.1] * WIDTH
    h = np.zeros(number * WIDTH, np.float32)
    add(bins, y, ROWS, ROWS * WIDTH, (ROWS + 2) * WIDTH, h)
    np.testing.assert_array_equal(h.reshape(number, WIDTH).sum(0), multiplicity.sum().item())


@pytest.mark.parametrize("number", [1, 5, 8, 10, 11, 14, 15, 30])
def test_gaussian_bins_have_nearly_all_digits_however_many_there_are(number):
    x = torch.linspace(-4, 4, WIDTH, dtype=torch.float64).view(1, WIDTH)
    y = np.concatenate([x.numpy().ravel(), np.zeros(WIDTH), np.ones(WIDTH), [1]]).astype(np.float32)
    bins = engine.make_bins("gaussian", bin_centers(number).numpy().astype(np.float32), 2 / number)
    h = np.zeros(number * WIDTH, np.float32)
    add(bins, y, 1, WIDTH, 3 * WIDTH, h)
    x = torch.from_numpy(y[:WIDTH]).double().view(1, WIDTH)
    expected = expected_histogram("gaussian", number, 2 / number, x, torch.ones(1, dtype=torch.float64))
    np.testing.assert_allclose(h.reshape(number, WIDTH), expected.numpy(), rtol=0, atol=2e-6)


@pytest.mark.parametrize(("number", "is_ladder"), [(1, True), (10, True), (11, False), (100, False)])
def test_ladder_is_climbed_only_where_no_rung_costs_digits(number, is_ladder):
    bins = engine.make_bins("gaussian", bin_centers(number).numpy().astype(np.float32), 2 / number)
    assert (bins.kind == engine.LADDER) == is_ladder


def test_sums_are_one_bin_without_a_bump():
    _, y, _, x, multiplicity = case("gaussian", 1)
    bins, h = engine.make_bins("identity", np.zeros(1, np.float32), 1.0), np.zeros(WIDTH, np.float32)
    add(bins, y, ROWS, ROWS * WIDTH, (ROWS + 2) * WIDTH, h)
    np.testing.assert_allclose(h, (torch.tanh(x) * multiplicity.view(-1, 1)).sum(0).detach().numpy(), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("kernel", SMOOTH)
def test_infinitely_far_rows_are_counted_at_the_ends(kernel):
    number = 5
    bins, y, width, _, multiplicity = case(kernel, number, n=2)
    y[: 2 * WIDTH] = [-1e30] * WIDTH + [1e30] * WIDTH
    h = np.zeros(number * WIDTH, np.float32)
    add(bins, y, 2, 2 * WIDTH, 4 * WIDTH, h)
    ends = torch.tensor([[-1e30], [1e30]], dtype=torch.float64).expand(2, WIDTH)
    expected = expected_histogram(kernel, number, width, ends, multiplicity).numpy()
    np.testing.assert_allclose(h.reshape(number, WIDTH), expected, rtol=2e-4, atol=1e-5)


@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_infinitely_far_rows_have_no_slope(kernel):
    number = 5
    bins, y, _, _, _ = case(kernel, number, n=2)
    y[: 2 * WIDTH] = [-1e30] * WIDTH + [1e30] * WIDTH
    grad_histograms, g, sums = len(y), len(y) + 2 * number * WIDTH, len(y) + (2 * number + 2) * WIDTH
    y = np.concatenate([y, np.zeros((2 * number + 4) * WIDTH, np.float32)])
    pull(bins, y, 2, 2 * WIDTH, 4 * WIDTH, np.ones(number * WIDTH, np.float32), grad_histograms, g, sums)
    np.testing.assert_allclose(y[g : g + 2 * WIDTH], 0, atol=1e-5)


def test_uniform_bins_teach_nothing():
    number = 5
    bins, y, _, _, _ = case("uniform", number)
    grad_histograms, g, sums = len(y), len(y) + 2 * number * WIDTH, len(y) + (2 * number + ROWS) * WIDTH
    y = np.concatenate([y, np.ones((2 * number + ROWS) * WIDTH, np.float32), np.zeros(2 * WIDTH, np.float32)])
    pull(bins, y, ROWS, ROWS * WIDTH, (ROWS + 2) * WIDTH, np.ones(number * WIDTH, np.float32), grad_histograms, g, sums)
    assert (y[g:] == 0).all()


@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_histograms_add_up(kernel):
    bins, y, _, _, _ = case(kernel, 5)
    once, twice = np.zeros((2, 5 * WIDTH), np.float32)
    add(bins, y, ROWS, ROWS * WIDTH, (ROWS + 2) * WIDTH, once)
    y[(ROWS + 2) * WIDTH :] *= 2  # every row stands for twice as many nodes
    add(bins, y, ROWS, ROWS * WIDTH, (ROWS + 2) * WIDTH, twice)
    np.testing.assert_allclose(twice, 2 * once, rtol=1e-6)


# Maxima ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n", [1, ROWS])
def test_maximum_is_the_largest_and_its_gradient_goes_there(n):
    _, y, _, x, _ = case("gaussian", 1, n=n)
    bins, h = engine.make_bins("maximum", np.zeros(1, np.float32), 1.0), np.zeros(WIDTH, np.float32)
    add(bins, y, n, n * WIDTH, (n + 2) * WIDTH, h)
    expected = torch.tanh(x).amax(0)
    np.testing.assert_allclose(h, expected.detach().numpy(), rtol=1e-5, atol=1e-6)
    y[(n + 2) * WIDTH :] = 1  # rows of one node each
    slope = np.random.default_rng(1).standard_normal(WIDTH).astype(np.float32)
    y = np.concatenate([y, np.zeros((4 + n) * WIDTH, np.float32)])
    begin = len(y) - (4 + n) * WIDTH
    pull(bins, y, n, n * WIDTH, (n + 2) * WIDTH, slope, begin, begin + 2 * WIDTH, begin + (2 + n) * WIDTH)
    (grad,) = torch.autograd.grad((expected * torch.tensor(slope, dtype=torch.float64)).sum(), x)
    found = y[begin + 2 * WIDTH : begin + (2 + n) * WIDTH].reshape(n, WIDTH)
    np.testing.assert_allclose(found, grad.numpy(), rtol=1e-4, atol=1e-5)


def test_nodes_that_are_equally_large_share_the_gradient():
    bins = engine.make_bins("maximum", np.zeros(1, np.float32), 1.0)
    rows = np.concatenate([np.zeros(WIDTH), np.full(2 * WIDTH, 0.5)])
    y = np.concatenate([rows, np.zeros(WIDTH), np.ones(WIDTH), [7, 1, 3], np.zeros(7 * WIDTH)]).astype(np.float32)
    begin = len(y) - 7 * WIDTH
    pull(bins, y, 3, 3 * WIDTH, 5 * WIDTH, np.ones(WIDTH, np.float32), begin, begin + 2 * WIDTH, begin + 5 * WIDTH)
    slope = (1 - np.tanh(0.5) ** 2) / 4  # one node of each of the last two rows, which stand for four
    np.testing.assert_allclose(y[begin + 2 * WIDTH : begin + 5 * WIDTH].reshape(3, WIDTH)[:, 0], [0, slope, slope], rtol=1e-5)


def test_maximum_of_rows_of_which_one_is_no_number_is_none():
    _, y, _, _, _ = case("gaussian", 1)
    y[3 * WIDTH] = np.nan
    bins, h = engine.make_bins("maximum", np.zeros(1, np.float32), 1.0), np.zeros(WIDTH, np.float32)
    add(bins, y, ROWS, ROWS * WIDTH, (ROWS + 2) * WIDTH, h)
    assert np.isnan(h[0]) and np.isfinite(h[1:]).all()
