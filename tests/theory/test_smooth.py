"""Smooth bins: rank, and separation by random projections."""

import pytest

from phist.errors import ConfigError
from phist.nn.kernels import KERNELS
from phist.theory.projective import lattice_rank
from phist.theory.smooth import kernel_rank, study_kernel

SMOOTH = [name for name in sorted(KERNELS) if name != "uniform"]


@pytest.mark.parametrize("kernel", SMOOTH)
@pytest.mark.parametrize(("dim", "bins"), [(1, 3), (2, 2), (3, 4), (2, 8)])
def test_smooth_bins_have_full_rank(kernel, dim, bins):
    found = kernel_rank(kernel, dim, bins)
    assert found.rank == dim * bins
    assert found.rank_centers == lattice_rank(dim, bins)
    assert found.constant_residual > 0.01


@pytest.mark.parametrize(("kernel", "inside"), [("triangle", 10), ("raised-cosine", 10), ("gaussian", 12), ("uniform", 10)])
def test_bins_that_add_up_to_one_lose_rank_between_the_outer_centres(kernel, inside):
    assert kernel_rank(kernel, 3, 4).rank_inside == inside


def test_uniform_bins_span_the_constants():
    assert kernel_rank("uniform", 3, 4).rank == 10
    assert kernel_rank("uniform", 3, 4).constant_residual < 1e-12


@pytest.mark.parametrize("kernel", SMOOTH)
def test_random_projections_separate_with_smooth_bins(kernel):
    for pairs in ("random", "blind"):
        study = study_kernel(kernel, 2, 4, pairs=pairs, trials=60, seed=0)
        assert study.separated == 1 and study.smallest_gap > 1e-6


def test_uniform_bins_miss_pairs_now_and_then():
    assert 0.3 < study_kernel("uniform", 2, 2, pairs="blind", trials=100, seed=0).separated < 1


def test_study_depends_on_the_seed_alone():
    studies = [study_kernel("gaussian", 2, 3, trials=5, seed=seed) for seed in (0, 0, 1)]
    assert studies[0] == studies[1] != studies[2]


def test_unknown_kernels_and_pairs_are_refused():
    with pytest.raises(ConfigError, match="kernel="):
        kernel_rank("box", 2, 2)
    with pytest.raises(ConfigError, match="pairs="):
        study_kernel("gaussian", 2, 2, pairs="hard", seed=0)
