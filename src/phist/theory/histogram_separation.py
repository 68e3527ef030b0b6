"""Theorem 2.3, constructed: a φ for which the projective histogram tells given multisets apart."""

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import get_args

import numpy as np

from phist.errors import ConfigError, check_choice
from phist.theory.capacity import CONFINED_METHODS, HistogramMethod, guaranteed_capacity
from phist.theory.geometry import Floats, Ints, check_at_least, check_norm
from phist.theory.multiset import Multiset
from phist.theory.placement import place_by_labels, place_in_coordinates, place_on_star, place_with_corner, scatter
from phist.theory.projective import uniform_histogram
from phist.theory.separation import look_up, not_confused, restricted_table
from phist.theory.voronoi import Cells


@dataclass(frozen=True, eq=False)
class HistogramSeparation:
    """φ(x) is the image of x's cell; all cells that are not listed share the image ``rest``."""

    multisets: tuple[Multiset, ...]
    delta: float
    p: float
    bins: int
    method: HistogramMethod
    confined: bool
    cells: Cells
    keys: Floats  # (listed cells, ...)
    images: Floats  # (listed cells, dim): bin centres, or OUTSIDE
    rest: Floats  # (dim)

    @property
    def dim(self) -> int:
        """Outputs of φ."""
        return len(self.rest)

    def phi(self, vectors: Floats) -> Floats:
        """φ of every row, new vectors included."""
        return look_up(self.cells.keys(vectors), self.keys, self.images, self.rest)  # (rows, dim)

    def aggregate(self, multiset: Multiset) -> Ints:
        """phist(𝒳): the histogram of every coordinate of φ over the multiset."""
        return uniform_histogram(multiset.map(self.phi), self.bins)  # (dim, bins)

    def verify(self) -> bool:
        """φ stays within the cube where promised, and multisets with equal histograms are delta-equal, by a verified matching."""
        values = np.concatenate([self.images, self.rest[None]])
        histograms = [self.aggregate(multiset).ravel().tolist() for multiset in self.multisets]
        stays = not self.confined or bool((np.abs(values) <= 1).all())
        return stays and not_confused(self.multisets, histograms, self.delta, self.p)


def separate_by_histogram(
    multisets: Sequence[Multiset],
    bins: int,
    delta: float,
    *,
    dim: int | None = None,
    p: float = math.inf,
    method: HistogramMethod = "star",
    confined: bool = False,
    seed: int = 0,
) -> HistogramSeparation:
    """A φ for which the projective histogram with uniform bins tells apart all pairs that are not delta-equal.

    Args:
        multisets: at least two and at most the method's capacity, `guaranteed_capacity`, of one dimension.
        bins: b, bins per coordinate.
        delta: precision; 0 tells all different multisets apart.
        dim: d, outputs of φ; the dimension of the vectors where left out, as in the paper.
        p: order of the norm.
        method: ``"star"``, ``"corner"``, ``"coordinates"``, ``"labels"`` or ``"scatter"``, see `phist.theory.capacity`.
        confined: keep φ within [-1, 1]^d, so that no element is discarded.
        seed: of the places that ``"scatter"`` draws.

    >>> squares = [Multiset([[0, 0], [1, 1]]), Multiset([[0, 1], [1, 0]])]
    >>> separation = separate_by_histogram(squares, bins=2, delta=0.5)
    >>> separation.verify(), [separation.aggregate(square).tolist() for square in squares]
    (True, [[[0, 1], [0, 1]], [[0, 0], [0, 0]]])
    """
    check_choice("method", method, get_args(HistogramMethod))
    table = restricted_table(multisets, delta, p)
    dim = check_at_least("dim", multisets[0].dimension if dim is None else dim, 1)
    _check_capacity(len(multisets), dim, bins, method, confined)
    images = _place(table.counts, dim, bins, method, confined, seed)
    return HistogramSeparation(
        tuple(multisets), float(delta), check_norm(p), bins, method, confined, table.cells, table.keys, images[:-1], images[-1]
    )


def _place(counts: Ints, dim: int, bins: int, method: HistogramMethod, confined: bool, seed: int) -> Floats:
    """Where the kept cells go, and last where everything else."""
    match method:
        case "star":
            return place_on_star(counts, dim, bins, confined)
        case "corner":
            return place_with_corner(counts, dim, bins)
        case "coordinates":
            return place_in_coordinates(counts, dim, bins)
        case "labels":
            return place_by_labels(counts, dim, bins, confined)
        case "scatter":
            return scatter(counts, dim, bins, confined, seed)


def _check_capacity(count: int, dim: int, bins: int, method: HistogramMethod, confined: bool) -> None:
    capacity = guaranteed_capacity(dim, bins, method, confined)
    if count <= capacity:
        return
    methods = CONFINED_METHODS if confined else get_args(HistogramMethod)
    roomier = [other for other in methods if guaranteed_capacity(dim, bins, other, confined) >= count]
    advice = f'pass method="{roomier[0]}"' if roomier else "give fewer multisets, or more bins or outputs"
    where = "within [-1, 1]^d" if confined else "free to leave [-1, 1]^d"
    raise ConfigError(
        f"{count} multisets were given; with dim={dim}, bins={bins} and phi {where}, "
        f'method="{method}" has a capacity of {capacity}: {advice}'
    )
