"""The five bin kernels."""

import pytest
import torch

from phist.errors import ConfigError
from phist.nn.functional import bin_centers
from phist.nn.kernels import KERNELS, Triangle, as_kernel, register_kernel

NAMES = sorted(KERNELS)
SMOOTH = [name for name in NAMES if name != "uniform"]


def away_from_kinks():
    """Points on [-3, 3] that miss 0 and ±1, where a kernel may have a corner."""
    points = torch.linspace(-3, 3, 402, dtype=torch.float64)
    return points[(points.abs() > 1e-3) & ((points.abs() - 1).abs() > 1e-3)]


@pytest.mark.parametrize("name", SMOOTH)
def test_derivative_is_the_slope_of_the_value(name):
    z = away_from_kinks().requires_grad_()
    (slope,) = torch.autograd.grad(KERNELS[name].value(z).sum(), z)
    torch.testing.assert_close(KERNELS[name].derivative(z.detach()), slope)


@pytest.mark.parametrize("name", NAMES)
def test_derivative_agrees_with_finite_differences(name):
    z, step = away_from_kinks(), 1e-6
    kernel = KERNELS[name]
    slope = (kernel.value(z + step) - kernel.value(z - step)) / (2 * step)
    torch.testing.assert_close(kernel.derivative(z), slope, atol=1e-7, rtol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_bump_is_one_at_the_centre_and_even(name):
    z = torch.tensor([0.0, 0.3, 0.7, 1.4, 2.2])
    value = KERNELS[name].value(z)
    assert value[0] == 1
    torch.testing.assert_close(KERNELS[name].value(-z), value)


@pytest.mark.parametrize("name", NAMES)
def test_slope_is_zero_at_the_centre(name):
    assert KERNELS[name].derivative(torch.zeros(1)) == 0


@pytest.mark.parametrize("name", ["triangle", "raised-cosine"])
@pytest.mark.parametrize("bins", [2, 5, 8])
def test_interpolating_kernels_sum_to_one_between_the_outer_centres(name, bins):
    kernel, centers = KERNELS[name], bin_centers(bins)
    x = torch.linspace(float(centers[0]), float(centers[-1]), 101, dtype=torch.float64)
    total = kernel.value((x[:, None] - centers) / kernel.natural_width(bins)).sum(1)
    torch.testing.assert_close(total, torch.ones_like(total))


@pytest.mark.parametrize(
    ("name", "width"),
    [("uniform", 1 / 8), ("smooth-rectangle", 1 / 7), ("gaussian", 1 / 4), ("triangle", 1 / 4), ("raised-cosine", 1 / 4)],
)
def test_natural_width_follows_the_number_of_bins(name, width):
    assert KERNELS[name].natural_width(8) == pytest.approx(width)


@pytest.mark.parametrize("name", NAMES)
def test_one_bin_has_a_finite_width(name):
    assert 0 < KERNELS[name].natural_width(1) < 10


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_far_elements_do_not_count_and_give_no_nan(name, dtype):
    z = torch.tensor([-1e30, -1e10, -50.0, 50.0, 1e10, 1e30], dtype=dtype)
    assert KERNELS[name].value(z).abs().max() < 1e-15
    assert KERNELS[name].derivative(z).abs().max() < 1e-6


def test_smooth_rectangle_is_the_printed_formula():
    u, theta = torch.linspace(-0.5, 0.5, 51, dtype=torch.float64), 2 / 7
    kernel = as_kernel("smooth-rectangle")
    torch.testing.assert_close(kernel.value(u / kernel.natural_width(8)), 1 / (1 + (2 * u / theta) ** 20))


def test_kernel_is_found_by_name_or_given():
    assert as_kernel("triangle") is KERNELS["triangle"]
    mine = Triangle()
    assert as_kernel(mine) is mine


def test_unknown_kernel_is_refused_with_the_known_ones():
    with pytest.raises(ConfigError, match=r"'boxcar' is not known.*'gaussian'"):
        as_kernel("boxcar")


def test_a_registered_kernel_is_found_by_its_name():
    class Tent(Triangle):
        name = "tent"

    mine = Tent()
    register_kernel(mine)
    assert as_kernel("tent") is KERNELS.pop("tent") is mine


def test_no_kernel_takes_the_name_of_another():
    class Impostor(Triangle):
        name = "gaussian"

    with pytest.raises(ConfigError, match="'gaussian' is known already, as Gaussian"):
        register_kernel(Impostor())
