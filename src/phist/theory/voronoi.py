"""Cells of small diameter, and the Voronoi sum that counts a multiset's elements in each (appendix, theorem 2.2).

Lemma. Where cells have diameter at most δ, equal counts imply δ-equality. Proof: match within the cells, any way; both
multisets have as many elements in a cell, and no two elements of it are more than δ apart. (The paper's lemma says the
same with an Eulerian circuit, which is not needed.)

A δ-cover alone has cells of diameter up to 2δ: the cells of the nearest centre need a cover of radius δ/2.
"""

import math
from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from phist.errors import ConfigError
from phist.theory.geometry import Box, Floats, Ints, check_delta, check_norm, distances
from phist.theory.multiset import Multiset, check_same_dimension

NARROWER = 1 - 2.0**-20  # so that rounding at a border cannot make a cell wider than delta


class Cells(ABC):
    """A partition of vectors into cells, each known by its key."""

    @abstractmethod
    def keys(self, vectors: Floats) -> Floats:
        """The key of each row's cell, one row each; equal rows mean the same cell."""


@dataclass(frozen=True)
class GridCells(Cells):
    """Half-open cubes of side δ / d^(1/p), whose l_p diameter is at most δ; at δ = 0 every vector is a cell of its own.

    Under the maximum norm these are the Voronoi cells of the grid of their centres.

    Args:
        dimension: number of coordinates.
        delta: the largest diameter of a cell.
        p: which norm: 1, 2, ..., or infinity for the largest entry.
    """

    dimension: int
    delta: float
    p: float = math.inf

    def __post_init__(self) -> None:
        check_delta(self.delta)
        check_norm(self.p)

    @property
    def side(self) -> float:
        """Length of a cube's side."""
        return float(self.delta / self.dimension ** (1 / self.p) * NARROWER)

    def keys(self, vectors: Floats) -> Floats:
        """The cell of each vector.

        Args:
            vectors: one in each row, (vectors, dimension).
        """
        if self.delta == 0:
            return vectors + 0.0
        with np.errstate(over="ignore"):
            found = np.floor(vectors / self.side) + 0.0
        if not np.isfinite(found).all():
            raise ConfigError(
                f"delta={self.delta} is too fine for vectors as large as {np.abs(vectors).max():g}; give a larger one"
            )
        return found  # (rows, dimension)

    def count_to_cover(self, box: Box) -> int:
        """Cells that cover a box when the grid begins at its corner: Π ⌈L_i d^(1/p) / δ⌉.

        Args:
            box: what is to be covered.
        """
        check_delta(self.delta, positive=True)
        lengths = (high - low for low, high in zip(box.lower, box.upper, strict=True))
        return math.prod(math.ceil(length / self.side * NARROWER * (1 - 1e-12)) for length in lengths)


@dataclass(frozen=True, eq=False)
class CenterCells(Cells):
    """The Voronoi cells of any centres; a vector farther than ``radius`` from all of them is in no cell (key -1).

    Cells have diameter at most 2 ``radius``; a tie goes to the first centre.
    """

    centers: Floats  # (cells, dimension)
    radius: float
    p: float = math.inf

    def keys(self, vectors: Floats) -> Floats:
        apart = distances(vectors, self.centers, self.p)
        nearest = apart.argmin(axis=1)
        found = np.where(apart.min(axis=1) <= self.radius, nearest, -1)
        return found[:, None].astype(np.float64)  # (rows, 1)


def cover_multisets(multisets: Sequence[Multiset], delta: float, p: float = math.inf) -> CenterCells:
    """Cells of diameter at most delta around the multisets' own elements, which are a δ/2-cover of all of them."""
    delta, p = check_delta(delta), check_norm(p)
    check_same_dimension(multisets)
    waiting = np.unique(np.concatenate([multiset.vectors for multiset in multisets]), axis=0)
    centers: list[Floats] = []
    while len(waiting):
        centers.append(waiting[:1])
        waiting = waiting[distances(waiting, waiting[:1], p)[:, 0] > delta / 2]
    return CenterCells(np.concatenate(centers), delta / 2, p)


class VoronoiSum:
    """[v(𝒳)]_i = Σ_{x in 𝒳} 1{x in C_i}, δ-injective where cells have diameter at most δ.

    Args:
        cells: the cells to count in.

    >>> cells = VoronoiSum(GridCells(dimension=1, delta=1.0))
    >>> cells(Multiset([[0.2], [0.7], [1.5]]))
    {(0.0,): 2, (1.0,): 1}
    """

    def __init__(self, cells: Cells) -> None:
        self.cells = cells

    def __call__(self, multiset: Multiset) -> dict[tuple[float, ...], int]:
        """The cells that are not empty, with their counts, in the order of their keys."""
        keys, counts = count_cells([multiset], self.cells)
        return {tuple(key): int(count) for key, count in zip(keys.tolist(), counts[0], strict=True)}


def count_cells(multisets: Sequence[Multiset], cells: Cells) -> tuple[Floats, Ints]:
    """The Voronoi sums of several multisets as one table.

    Returns:
        The keys of all cells that any multiset occupies (cells, ...), and the counts (multisets, cells).
    """
    check_same_dimension(multisets)
    owner = np.repeat(np.arange(len(multisets)), [len(multiset.counts) for multiset in multisets])
    found = cells.keys(np.concatenate([multiset.vectors for multiset in multisets]))
    keys, place = np.unique(found, axis=0, return_inverse=True)
    table = np.zeros((len(multisets), len(keys)), np.int64)
    np.add.at(table, (owner, place.ravel()), np.concatenate([multiset.counts for multiset in multisets]))
    return keys, table
