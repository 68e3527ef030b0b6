"""Slopes, overlaps and steepness of bins, against what a fine grid shows."""

import numpy as np
import pytest
import torch

from phist.errors import ConfigError
from phist.nn.histogram import ProjectiveHistogram
from phist.theory.lipschitz import bin_overlap, kernel_slope, steepness

SMOOTH = ["smooth-rectangle", "gaussian", "triangle", "raised-cosine"]
PLACES = torch.linspace(-1, 1, 100_001, dtype=torch.float64)


def bins_on_a_grid(histogram):
    """Every bin at every place: (places, bins)."""
    index = torch.arange(len(PLACES))
    return histogram(PLACES[:, None], index=index).detach().numpy()


def make(kernel, bins, width=1.0):
    return ProjectiveHistogram(bins, kernel, width)


@pytest.mark.parametrize("kernel", SMOOTH)
@pytest.mark.parametrize("bins", [1, 2, 5, 8])
@pytest.mark.parametrize("width", [0.6, 1.0, 1.7])
def test_steepness_bounds_the_histogram_tightly(kernel, bins, width):
    histogram = make(kernel, bins, width)
    speed = np.linalg.norm(np.diff(bins_on_a_grid(histogram), axis=0), axis=1) / float(PLACES[1] - PLACES[0])
    assert speed.max() <= steepness(histogram) * (1 + 1e-6)
    assert steepness(histogram) <= 1.01 * speed.max()


@pytest.mark.parametrize("kernel", SMOOTH)
@pytest.mark.parametrize("bins", [2, 8])
def test_slope_is_that_of_the_steepest_bin(kernel, bins):
    histogram = make(kernel, bins)
    speed = np.abs(np.diff(bins_on_a_grid(histogram), axis=0)).max() / float(PLACES[1] - PLACES[0])
    assert kernel_slope(histogram) == pytest.approx(speed, rel=0.01)


@pytest.mark.parametrize("kernel", ["triangle", "raised-cosine"])
@pytest.mark.parametrize(("width", "overlap"), [(0.4, 1), (0.5, 1), (0.6, 2), (1.0, 2), (1.5, 3), (1.7, 4), (2.0, 4)])
def test_overlap_counts_the_bins_over_one_place(kernel, width, overlap):
    histogram = make(kernel, 8, width)
    assert bin_overlap(histogram) == overlap
    assert (bins_on_a_grid(histogram) > 1e-5).sum(axis=1).max() == overlap


@pytest.mark.parametrize("kernel", ["gaussian", "smooth-rectangle"])
def test_bumps_that_never_end_all_overlap(kernel):
    assert bin_overlap(make(kernel, 7)) == 7


@pytest.mark.parametrize("kernel", SMOOTH)
def test_steepness_is_at_most_slope_times_root_of_overlap(kernel):
    histogram = make(kernel, 9)
    assert steepness(histogram) <= kernel_slope(histogram) * np.sqrt(bin_overlap(histogram))


def test_learnt_bins_are_measured_where_they_are():
    histogram = ProjectiveHistogram(3, "triangle", learnable=True)
    before = kernel_slope(histogram)
    with torch.no_grad():
        histogram.log_scales[1] = -np.log(2)
    assert kernel_slope(histogram) == pytest.approx(2 * before)


@pytest.mark.parametrize("measure", [kernel_slope, bin_overlap, steepness])
def test_uniform_bins_jump_and_have_no_constant(measure):
    with pytest.raises(ConfigError, match=r"uniform kernel has no known Lipschitz constant.*choose one of"):
        measure(make("uniform", 4))
