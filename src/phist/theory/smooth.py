"""Smooth, overlapping bins: what of theorem 2.3 carries over ("we suspect", section 2.2), proved and measured.

Rank. An element at y adds k(y_1), ..., k(y_d) to the histogram, with k(u) = (κ((u - p_l) / w))_l. A linear relation
Σ_i ⟨c_i, k(y_i)⟩ = 0 that holds on the whole cube makes every summand constant. So the histograms of single elements
span

    d · dim span(k) - (d - 1) · [1 lies in the span of the bins]

dimensions. Uniform bins add up to one: d(b-1) + 1. Gaussian, smooth-rectangle, triangle and raised-cosine bins are
independent and do not span the constants on [-1, 1] (the last two add up to one between the outer centres only): rank bd.

Capacity. r independent positions in the cube, one of them for all elements to be ignored, separate any t ≤ r multisets, as
the star does. So with smooth bins and φ confined to [-1, 1]^d the printed bound t ≤ bd holds: the paper's suspicion is
right. In exact arithmetic there is no limit at all: a continuous bin takes values that are independent over the rationals,
and a single one, d = b = 1, tells any number of multisets apart. How small the gaps become is what `study_kernel` measures.
"""

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch

from phist.errors import check_choice
from phist.nn.functional import bin_centers
from phist.nn.histogram import ProjectiveHistogram
from phist.nn.kernels import as_kernel
from phist.theory.geometry import Floats, check_at_least
from phist.theory.projective import lattice_rank, make_counterexample

RANK_TOLERANCE = 1e-9  # against the largest singular value
GAP_TOLERANCE = 1e-9  # sums of a few dozen numbers near one are this exact in double precision, with room


@dataclass(frozen=True)
class KernelRank:
    """How many directions the histograms of single elements span, with a given kernel."""

    kernel: str
    dim: int
    bins: int
    rank: int  # over the whole cube [-1, 1]^d
    rank_inside: int  # over the cube between the outer bin centres
    rank_centers: int  # elements at bin centres only, where A decides
    smallest_singular: float  # the last of the `rank` singular values against the first: how hard they are to tell apart
    constant_residual: float  # distance of the constant 1 from the span of the bins, root mean square over [-1, 1]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {**vars(self), "uniform_rank": lattice_rank(self.dim, self.bins), "outputs": self.dim * self.bins}


def kernel_rank(kernel: str, dim: int, bins: int) -> KernelRank:
    """Compute the ranks above from singular values, on a grid of positions fine enough to see every bin's shape.

    Args:
        kernel: its name: uniform, smooth-rectangle, gaussian, triangle or raised-cosine.
        dim: coordinates of a vector.
        bins: bins of a coordinate.

    >>> [kernel_rank(kernel, 3, 4).rank for kernel in ("uniform", "gaussian", "triangle")]
    [10, 12, 12]
    """
    lattice_rank(dim, bins)  # checks both
    edge = 1 - 1 / bins
    everywhere = bin_values(kernel, bins, np.linspace(-1, 1 - 2.0**-20, 64 * bins + 1))
    inside = bin_values(kernel, bins, np.linspace(-edge, edge, 64 * bins + 1))
    centers = bin_values(kernel, bins, bin_centers(bins).numpy())
    rank, smallest = _additive_rank(everywhere, dim)
    one = np.ones(len(everywhere))
    residual = one - everywhere @ np.linalg.lstsq(everywhere, one, rcond=None)[0]
    return KernelRank(
        kernel=kernel,
        dim=dim,
        bins=bins,
        rank=rank,
        rank_inside=_additive_rank(inside, dim)[0],
        rank_centers=_additive_rank(centers, dim)[0],
        smallest_singular=smallest,
        constant_residual=float(np.sqrt(np.mean(residual**2))),
    )


def bin_values(kernel: str, bins: int, positions: Floats) -> Floats:
    """κ((u - p_l) / w) for every position and bin, (positions, bins)."""
    bump = as_kernel(kernel)
    z = (torch.from_numpy(positions)[:, None] - bin_centers(bins)) / bump.natural_width(bins)
    return np.asarray(bump.value(z).numpy(), dtype=np.float64)


def _additive_rank(values: Floats, dim: int) -> tuple[int, float]:
    """Rank of {(k(y_1), ..., k(y_d))}: differences from a base position one coordinate at a time, and the base itself."""
    count, bins = values.shape
    rows = np.tile(values[count // 2], (1 + dim * count, dim))
    for coordinate in range(dim):
        block = slice(1 + coordinate * count, 1 + (coordinate + 1) * count)
        rows[block, coordinate * bins : (coordinate + 1) * bins] = values
    singular = np.linalg.svd(rows, compute_uv=False)
    rank = int(np.count_nonzero(singular > RANK_TOLERANCE * singular[0]))
    return rank, float(singular[rank - 1] / singular[0])


@dataclass(frozen=True)
class KernelStudy:
    """Pairs of multisets seen through random projections φ(x) = tanh(W x + c)."""

    kernel: str
    pairs: str  # "random", or "blind": equal uniform histograms as they are
    trials: int
    separated: float  # fraction whose histograms differ by more than rounding
    smallest_gap: float  # largest difference of any bin, the smallest over all trials
    median_gap: float


def study_kernel(
    kernel: str, dim: int, bins: int, *, pairs: str = "random", trials: int = 200, size: int = 6, seed: int
) -> KernelStudy:
    """How often, and by how much, a random projection lets the histograms of two different multisets differ.

    Args:
        kernel: its name: uniform, smooth-rectangle, gaussian, triangle or raised-cosine.
        dim: coordinates of a vector.
        bins: bins of a coordinate.
        pairs: ``"random"`` vectors in [-1, 1]^dim, ``size`` a side; or ``"blind"``: the pair of `make_counterexample`,
            ``dim`` at least 2.
        trials: how many pairs to draw.
        size: elements of a multiset.
        seed: of the pairs and projections.
    """
    check_choice("pairs", pairs, ("random", "blind"))
    check_at_least("trials", trials, 1)
    generator = np.random.default_rng(seed)
    histogram = ProjectiveHistogram(bins, kernel)
    blind = make_counterexample(dim, max(bins, 2)) if pairs == "blind" else None
    gaps = np.empty(trials)
    for trial in range(trials):
        first, second = generator.uniform(-1, 1, (2, size, dim)) if blind is None else (blind.first.rows(), blind.second.rows())
        weights, bias = generator.normal(0, math.sqrt(2 / dim), (dim, dim)), generator.normal(0, 0.5, dim)
        seen = [histogram(torch.from_numpy(np.tanh(rows @ weights + bias))) for rows in (first, second)]
        gaps[trial] = float((seen[0] - seen[1]).abs().max())
    return KernelStudy(kernel, pairs, trials, float(np.mean(gaps > GAP_TOLERANCE)), float(gaps.min()), float(np.median(gaps)))
