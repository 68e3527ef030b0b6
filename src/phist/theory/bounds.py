"""Theorem 2.1, the curse of dimensionality: what it counts, where it fails, and the form that holds.

The theorem claims that a δ-injective function into computable numbers needs at least as many outputs as a domain has
2δ-separated points. Its proof compares ℕ^m with ℙ^k by their cardinality, but both are countable for any m and k ≥ 1, so
nothing follows. Indeed one output is enough: `phist.theory.prime_sum` is δ-injective in every dimension.

What holds is a bound on information. On N points that are more than δ apart, multisets of at most n elements come in
C(n + N, N) kinds, no two of them δ-equal, so an injective function with k outputs of at most q values each has

    q^k ≥ C(n + N, N).

Outputs that count elements have q = n + 1, and then k → N as n grows: for counting functions (sums of 0/1 features,
histograms) the theorem is right. Separation by δ is enough for this, as a matching within δ cannot leave its point;
the printed 2δ gives away a factor of 2^d.

N itself is bounded by volumes for any domain and norm; that bound is below one, and says nothing, where δ is large. On a box
under the maximum norm it is known: N = Π ⌈L_i / δ⌉. A side of length L holds k points more than δ apart exactly if
(k - 1) δ < L, and their grid has that many; more cannot be, as the box falls into as many cells of side at most δ, with one
point in each at most.
"""

import math
from collections import Counter
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

from phist.errors import ConfigError
from phist.theory.geometry import Box, Domain, check_at_least, check_delta, check_norm, log_ball_volume

EXACT_BELOW = math.log(1e12)  # beyond, the last digits of a count are rounding errors and only its logarithm is given
ROUNDING = 1e-9  # a bound that is a whole number up to rounding is that number


@dataclass(frozen=True)
class OutputsBound:
    """The bound of theorem 2.1 for one domain, as a logarithm, which has no end."""

    dimension: int
    delta: float
    p: float
    log_volumes: float  # natural logarithm of (1 / 2 delta)^d vol(D) / vol(B), negative where this is below one
    points: int | None = None  # the largest number of points more than delta apart, where it is known

    @property
    def exact(self) -> bool:
        """Whether the number of points more than delta apart is known, not only bounded from below."""
        return self.points is not None

    @property
    def log10(self) -> float:
        """Decimal logarithm of the printed bound, at separation 2 delta; a domain has at least one point."""
        return max(self.log_volumes, 0.0) / math.log(10)

    @property
    def outputs(self) -> int | None:
        """The printed bound as a whole number; ``None`` where only its logarithm can be given."""
        return _rounded_up(max(self.log_volumes, 0.0))

    @property
    def sharper_log10(self) -> float:
        """The same at separation delta, which suffices: by volumes 2^d times as much, or the exact number."""
        return math.log10(self.points) if self.points is not None else self._log_sharper() / math.log(10)

    @property
    def sharper_outputs(self) -> int | None:
        """The bound at separation delta as a whole number."""
        if self.points is not None:
            return self.points if math.log(self.points) <= EXACT_BELOW else None
        return _rounded_up(self._log_sharper())

    def _log_sharper(self) -> float:
        return max(self.log_volumes + self.dimension * math.log(2), 0.0)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {
            "dimension": self.dimension,
            "delta": self.delta,
            "p": "inf" if math.isinf(self.p) else self.p,
            "outputs": self.outputs,
            "log10_outputs": self.log10,
            "sharper_outputs": self.sharper_outputs,
            "sharper_log10_outputs": self.sharper_log10,
            "exact": self.exact,
        }


def outputs_lower_bound(domain: Domain, delta: float, p: float = math.inf) -> OutputsBound:
    """(1 / 2δ)^d vol(D) / vol(B_p(1)): how many points of D can be more than 2δ apart, at least.

    A largest set of such points leaves nothing of D uncovered by their balls of radius 2δ, so these have at least the
    volume of D. As a bound on outputs it holds for functions that count (see the module); for any function, one output
    suffices.

    Args:
        domain: a `Box` or a `Ball`.
        delta: precision, positive.
        p: order of the norm that measures it.

    >>> from phist.theory.geometry import Ball
    >>> [outputs_lower_bound(Box.cube(d), 0.1).outputs for d in (1, 2, 3)]
    [5, 25, 125]
    >>> [outputs_lower_bound(Box.cube(8), delta).sharper_outputs for delta in (0.1, 1.5, 2.5)]
    [25600000000, 256, 1]
    >>> outputs_lower_bound(Ball(8), 1.5, 2.0).sharper_outputs
    1
    """
    delta, p = check_delta(delta, positive=True), check_norm(p)
    dimension = domain.dimension
    log_volumes = domain.log_volume() - log_ball_volume(dimension, p) - dimension * math.log(2 * delta)
    return OutputsBound(dimension, delta, p, log_volumes, separated_points(domain, delta, p))


def separated_points(domain: Domain, separation: float, p: float) -> int | None:
    """Π ⌈L_i / s⌉, the most points of a box that are more than ``separation`` apart in the maximum norm; else ``None``.

    >>> separated_points(Box((0.0, 0.0), (1.1, 0.3)), 0.1, math.inf)
    33
    """
    if not (isinstance(domain, Box) and math.isinf(p)):
        return None
    sides = Counter(points_per_side(domain, separation))
    return math.prod(int(points**times) for points, times in sides.items())


def points_per_side(box: Box, separation: float) -> list[int]:
    """⌈L_i / s⌉ for every side, all numbers taken as the decimals they are written as."""
    lengths = Counter(zip(box.lower, box.upper, strict=True))
    counts = {ends: math.ceil((_decimal(ends[1]) - _decimal(ends[0])) / _decimal(separation)) for ends in lengths}
    return [counts[ends] for ends in zip(box.lower, box.upper, strict=True)]


def counted_outputs(points: int, size: int, levels: int | None = None) -> int:
    """The least k with q^k ≥ C(n + N, N): outputs of q values each that tell apart all multisets of at most n elements.

    Args:
        points: N, points more than delta apart.
        size: n, most elements of a multiset.
        levels: q, values an output can take; n + 1 where left out, as for outputs that count.

    >>> [counted_outputs(points=4, size=size) for size in (1, 10, 1_000, 10**9)]
    [3, 3, 4, 4]
    >>> counted_outputs(points=4, size=10, levels=2**64)
    1
    """
    check_at_least("points", points, 1)
    check_at_least("size", size, 1)
    levels = check_at_least("levels", size + 1 if levels is None else levels, 2)
    if min(points, size) > 100_000:
        raise ConfigError(f"points={points} and size={size} are too many to count exactly; keep one of them below 100,000")
    kinds = math.comb(points + size, size)
    outputs = max(1, math.floor((kinds.bit_length() - 1) / math.log2(levels)))
    while levels**outputs < kinds:
        outputs += 1
    while outputs > 1 and levels ** (outputs - 1) >= kinds:
        outputs -= 1
    return outputs


def _decimal(number: float) -> Fraction:
    """0.1 as a tenth: the shortest decimal that stands for the number, not its binary neighbour."""
    return Fraction(repr(float(number)))


def _rounded_up(log_value: float) -> int | None:
    return math.ceil(math.exp(log_value) * (1 - ROUNDING)) if log_value <= EXACT_BELOW else None
