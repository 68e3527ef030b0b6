"""The packing behind theorem 2.1: points of a domain, pairwise more than a given distance apart."""

import math
from dataclasses import dataclass
from itertools import product

import numpy as np

from phist.errors import ConfigError
from phist.theory.bounds import outputs_lower_bound, points_per_side, separated_points
from phist.theory.geometry import Box, Domain, Floats, check_delta, check_norm, distances

MOST_CANDIDATES = 40_000  # a second or two; a witness is for cases one can look at


@dataclass(frozen=True, eq=False)
class Packing:
    """Points of a domain, any two of them more than 2 delta apart."""

    domain: Domain
    delta: float
    p: float
    points: Floats  # (points, dimension)

    @property
    def needed(self) -> int | None:
        """The printed bound, which the packing is to reach; ``None`` where it is too large to count."""
        return outputs_lower_bound(self.domain, self.delta, self.p).outputs

    def verify(self) -> bool:
        """All points lie in the domain and more than 2 delta apart, and there are at least as many as the bound says."""
        apart = distances(self.points, self.points, self.p)
        np.fill_diagonal(apart, math.inf)
        inside = bool(self.domain.contains(self.points).all())
        return inside and bool((apart > 2 * self.delta).all()) and self.needed is not None and len(self.points) >= self.needed


def make_packing(domain: Domain, delta: float, p: float = math.inf) -> Packing:
    """A 2δ-packing of the domain with at least (1 / 2δ)^d vol(D) / vol(B_p(1)) points, for small cases.

    A box under the maximum norm is filled by a grid: ⌈L / 2δ⌉ points per side, a little more than 2δ apart. Otherwise
    candidates on a grid of a quarter of the distance or finer are taken one after the other, each unless it lies too
    near one taken before.

    Args:
        domain: a `Box` or a `Ball`.
        delta: half of the smallest distance between two points.
        p: which norm: 1, 2, ..., or infinity for the largest entry.

    >>> len(make_packing(Box.cube(2), 0.2).points), outputs_lower_bound(Box.cube(2), 0.2).outputs
    (25, 7)
    """
    delta, p = check_delta(delta, positive=True), check_norm(p)
    if isinstance(domain, Box) and math.isinf(p):
        return Packing(domain, delta, p, _grid(domain, 2 * delta))
    for finer in (4, 6, 8):
        points = _taken(_candidates(domain, 2 * delta / finer), 2 * delta, p)
        packing = Packing(domain, delta, p, points)
        if packing.needed is not None and len(points) >= packing.needed:
            return packing
    raise ConfigError(
        f"no packing of {packing.needed} points was found in dimension {domain.dimension} at delta={delta}; give a larger delta"
    )


def _grid(box: Box, separation: float) -> Floats:
    _check_count(separated_points(box, separation, math.inf) or 0)
    sides = [
        np.linspace(low, high, count)
        for low, high, count in zip(box.lower, box.upper, points_per_side(box, separation), strict=True)
    ]
    return np.array(list(product(*sides)))


def _candidates(domain: Domain, step: float) -> Floats:
    lower, upper = domain.corners()
    counts = np.floor((upper - lower) / step).astype(int) + 1
    _check_count(math.prod(counts.tolist()))
    sides = [low + step * np.arange(count) for low, count in zip(lower, counts, strict=True)]
    grid = np.array(list(product(*sides)))
    return grid[domain.contains(grid)]


def _taken(candidates: Floats, separation: float, p: float) -> Floats:
    """Greedy: the first candidate, then always the next that is far enough from all taken before."""
    taken: list[Floats] = []
    while len(candidates):
        point, candidates = candidates[:1], candidates[1:]
        taken.append(point)
        candidates = candidates[distances(candidates, point, p)[:, 0] > separation] if len(candidates) else candidates
    return np.concatenate(taken)


def _check_count(count: int) -> None:
    if count > MOST_CANDIDATES:
        raise ConfigError(
            f"a packing would look at about 10^{math.log10(count):.0f} points, more than {MOST_CANDIDATES}; give a larger delta"
        )
