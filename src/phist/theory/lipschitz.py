"""How fast a histogram's bins can change: slopes of bin kernels, their overlap, and the steepness of all bins together."""

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phist.errors import ConfigError
from phist.nn.histogram import ProjectiveHistogram

FloatArray = NDArray[np.float64]

CELLS = 20_000  # stretches of [-1, 1] over which slopes are bounded; more would change the fourth digit


@dataclass(frozen=True)
class _Slope:
    """|κ'| as a function of |z|, which rises up to ``peak`` and falls from there on, and how far the bump reaches."""

    value: Callable[[FloatArray], FloatArray]
    peak: float
    reach: float

    @property
    def greatest(self) -> float:
        return float(self.value(np.array(self.peak)))


def _smooth_rectangle(z: FloatArray) -> FloatArray:
    near = np.minimum(z, 8.0)
    slope: FloatArray = 20 * near**19 / (1 + near**20) ** 2
    return slope


def _triangle(z: FloatArray) -> FloatArray:
    return (z < 1 - 1e-9).astype(np.float64)  # rounding must not make a bump of its end


_SLOPES = {
    "smooth-rectangle": _Slope(_smooth_rectangle, (19 / 21) ** (1 / 20), math.inf),
    "gaussian": _Slope(lambda z: z * np.exp(-z * z / 2), 1.0, math.inf),
    "triangle": _Slope(_triangle, 0.0, 1.0),
    "raised-cosine": _Slope(lambda z: np.pi / 2 * np.sin(np.pi * np.minimum(z, 1)), 0.5, 1.0),
}


def kernel_slope(histogram: ProjectiveHistogram) -> float:
    """γ = max |dκ/dx|, the Lipschitz constant of the steepest bin."""
    return _slope_of(histogram).greatest / float(_bins(histogram)[1].min())


def bin_overlap(histogram: ProjectiveHistogram) -> int:
    """ξ: the most bins that are positive at one place; all of them where the kernel never ends."""
    reach = _slope_of(histogram).reach
    centers, widths = _bins(histogram)
    if math.isinf(reach):
        return len(centers)
    starts, ends = centers - reach * widths, centers + reach * widths
    tolerance = 1e-5 * widths.min()  # centres are kept in single precision; bins that touch do not overlap
    middles = starts[:, None] + tolerance  # the number of open bins grows only where one begins
    return int(((starts < middles) & (middles < ends - tolerance)).sum(axis=1).max())


def steepness(histogram: ProjectiveHistogram) -> float:
    r"""Γ, a Lipschitz constant of all bins together: how fast the histogram moves when one element does.

    .. math:: \Gamma = \sup_{x} \Big(\sum_l \kappa'_l(x)^2\Big)^{1/2} \le \gamma \sqrt{\xi}

    The integral of the bins' slopes along the way from x to y gives :math:`\|k(x) - k(y)\|_2 \le \Gamma |x - y|` for the
    vector k of all bins. The supremum over [-1, 1] is bounded from above: each slope by its greatest value in a small cell.
    """
    slope = _slope_of(histogram)
    centers, widths = _bins(histogram)
    ends = (centers[:, None] + np.outer(widths, [-1, 0, 1])).ravel()
    edges = np.unique(np.concatenate([np.linspace(-1, 1, CELLS + 1), ends.clip(-1, 1)]))
    total = np.zeros(len(edges) - 1)
    for center, width in zip(centers, widths, strict=True):
        z = (edges - center) / width
        crosses = z[:-1] * z[1:] < 0
        least = np.where(crosses, 0, np.minimum(np.abs(z[:-1]), np.abs(z[1:])))
        most = np.maximum(np.abs(z[:-1]), np.abs(z[1:]))
        total += (slope.value(np.clip(slope.peak, least, most)) / width) ** 2
    bound = math.sqrt(total.max())
    return min(bound, kernel_slope(histogram) * math.sqrt(bin_overlap(histogram)))


def _slope_of(histogram: ProjectiveHistogram) -> _Slope:
    slope = _SLOPES.get(histogram.kernel.name)
    if slope is None:
        raise ConfigError(
            f"the {histogram.kernel.name} kernel has no known Lipschitz constant, so nothing bounds its histogram; "
            f"choose one of {', '.join(_SLOPES)}"
        )
    return slope


def _bins(histogram: ProjectiveHistogram) -> tuple[FloatArray, FloatArray]:
    """Centres and widths in double precision."""
    values = (histogram.centers, histogram.widths)
    centers, widths = (value.detach().cpu().double().numpy() for value in values)
    return centers, widths
