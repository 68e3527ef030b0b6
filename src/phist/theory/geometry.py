"""Norms, and the bounded domains the theorems speak of."""

import math
from dataclasses import dataclass
from typing import Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phist.errors import ConfigError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def check_norm(p: float | str) -> float:
    """The order of an l_p norm as a number in [1, inf]; ``"inf"`` is understood."""
    try:
        order = float(p)
    except (TypeError, ValueError):
        order = math.nan
    if not order >= 1:
        raise ConfigError(f"p={p!r} is not the order of a norm; give a number of at least 1, or inf")
    return order


def check_delta(delta: float, positive: bool = False) -> float:
    """A precision: finite and not negative, or not zero either where ``positive`` is asked for."""
    if not math.isfinite(delta) or delta < 0:
        raise ConfigError(f"delta={delta} was given; a precision is a finite number, 0 or more")
    if positive and delta == 0:
        raise ConfigError("delta=0 was given, for which no finite number suffices; give a positive precision")
    return float(delta)


def check_at_least(name: str, value: int, least: int) -> int:
    """Raise a `ConfigError` unless ``value`` is at least ``least``."""
    if value < least:
        raise ConfigError(f"{name}={value} was given; it must be at least {least}")
    return int(value)


def distances(x: ArrayLike, y: ArrayLike, p: float) -> Floats:
    """‖x_i - y_j‖_p for every row of ``x`` against every row of ``y``."""
    from scipy.spatial.distance import cdist

    if math.isinf(p):
        result = cdist(x, y, "chebyshev")
    elif p == 1:
        result = cdist(x, y, "cityblock")
    else:
        result = cdist(x, y, "minkowski", p=p)
    return np.asarray(result, dtype=np.float64)  # (rows of x, rows of y)


def log_ball_volume(dimension: int, p: float) -> float:
    """The logarithm of the unit ball's volume: d log(2 Γ(1 + 1/p)) - log Γ(1 + d/p), or d log 2 for p = inf.

    >>> round(math.exp(log_ball_volume(2, 2.0)), 6), round(math.exp(log_ball_volume(3, 1.0)), 6)
    (3.141593, 1.333333)
    """
    if math.isinf(p):
        return dimension * math.log(2)
    return dimension * (math.log(2) + math.lgamma(1 + 1 / p)) - math.lgamma(1 + dimension / p)


class Domain(Protocol):
    """A bounded set D of vectors."""

    @property
    def dimension(self) -> int: ...

    def log_volume(self) -> float: ...

    def contains(self, vectors: Floats) -> NDArray[np.bool_]: ...

    def corners(self) -> tuple[Floats, Floats]:
        """The lower and the upper corner of the smallest box around the domain."""
        ...


@dataclass(frozen=True)
class Box:
    """{x : lower_i ≤ x_i ≤ upper_i}.

    Args:
        lower: its smallest coordinates.
        upper: its largest coordinates.

    >>> Box.cube(3).log_volume() == 3 * math.log(2)
    True
    """

    lower: tuple[float, ...]
    upper: tuple[float, ...]

    def __post_init__(self) -> None:
        if not self.lower or len(self.lower) != len(self.upper):
            raise ConfigError(f"a box needs as many upper as lower ends; given were {len(self.upper)} and {len(self.lower)}")
        for low, high in zip(self.lower, self.upper, strict=True):
            if not (math.isfinite(low) and math.isfinite(high) and low < high):
                raise ConfigError(f"a side of the box runs from {low} to {high}; both ends must be finite, the first the smaller")

    @classmethod
    def cube(cls, dimension: int, low: float = -1.0, high: float = 1.0) -> Self:
        """[low, high]^dimension.

        Args:
            dimension: number of coordinates.
            low: smallest value of each.
            high: largest value of each.
        """
        check_at_least("dimension", dimension, 1)
        return cls((float(low),) * dimension, (float(high),) * dimension)

    @property
    def dimension(self) -> int:
        return len(self.lower)

    def log_volume(self) -> float:
        return math.fsum(math.log(high - low) for low, high in zip(self.lower, self.upper, strict=True))

    def contains(self, vectors: Floats) -> NDArray[np.bool_]:
        """Which vectors lie in it.

        Args:
            vectors: one in each row, (vectors, dimension).
        """
        inside: NDArray[np.bool_] = np.all((vectors >= self.lower) & (vectors <= self.upper), axis=1)
        return inside

    def corners(self) -> tuple[Floats, Floats]:
        return np.array(self.lower), np.array(self.upper)


@dataclass(frozen=True)
class Ball:
    """{x : ‖x‖_p ≤ radius}.

    Args:
        dimension: number of coordinates.
        radius: the largest norm.
        p: which norm: 1, 2, ..., or infinity for the largest entry.
    """

    dimension: int
    radius: float = 1.0
    p: float = 2.0

    def __post_init__(self) -> None:
        check_at_least("dimension", self.dimension, 1)
        check_norm(self.p)
        if not (math.isfinite(self.radius) and self.radius > 0):
            raise ConfigError(f"radius={self.radius} was given; it must be a positive number")

    def log_volume(self) -> float:
        return log_ball_volume(self.dimension, self.p) + self.dimension * math.log(self.radius)

    def contains(self, vectors: Floats) -> NDArray[np.bool_]:
        """Which vectors lie in it.

        Args:
            vectors: one in each row, (vectors, dimension).
        """
        inside: NDArray[np.bool_] = distances(vectors, np.zeros((1, self.dimension)), self.p)[:, 0] <= self.radius
        return inside

    def corners(self) -> tuple[Floats, Floats]:
        return np.full(self.dimension, -self.radius), np.full(self.dimension, self.radius)
