"""The projective histogram on its lattice: the matrix A of theorem 2.3, its rank, the star, and the printed lemma refuted.

With b uniform bins a coordinate of [-1, 1] falls into exactly one bin, so phist sees a multiset only through its counts h
in the b^d cells of the lattice: vec(phist) = A h, where row (i, l) of A sums the cells whose i-th place is l.

Rank. The Gram matrix A Aᵀ has b^(d-1) on its diagonal, 0 between two bins of one coordinate, and b^(d-2) between bins of
two coordinates. Its eigenvectors: all ones, eigenvalue d b^(d-1); constant on each coordinate and summing to zero over
the coordinates (d - 1 of them), eigenvalue 0; summing to zero within every coordinate (d (b - 1) of them), eigenvalue
b^(d-1). So rank A = d (b - 1) + 1, not bd: each coordinate's histogram sums to the number of elements, d - 1 of these
sums are redundant.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from phist.errors import ConfigError
from phist.theory.geometry import Floats, Ints, check_at_least
from phist.theory.multiset import Multiset

MOST_ENTRIES = 50_000_000  # of A: dim * bins^dim
PRIME = 2**31 - 1


def lattice_rank(dim: int, bins: int) -> int:
    """The rank of A, d (b - 1) + 1."""
    return check_at_least("dim", dim, 1) * (check_at_least("bins", bins, 1) - 1) + 1


def projection_matrix(dim: int, bins: int) -> csr_array:
    """A, sparse (bd, b^d): row ``i * bins + l`` sums the cells with place ``l`` in coordinate ``i``, cells in C order.

    Args:
        dim: coordinates of a vector.
        bins: bins of a coordinate.

    >>> projection_matrix(2, 2).toarray().astype(int)
    array([[1, 1, 0, 0],
           [0, 0, 1, 1],
           [1, 0, 1, 0],
           [0, 1, 0, 1]])
    """
    lattice_rank(dim, bins)
    if dim * bins**dim > MOST_ENTRIES:
        raise ConfigError(f"A for dim={dim}, bins={bins} has {bins**dim} columns; the rank is known by formula, see lattice_rank")
    return cell_columns(np.stack(np.unravel_index(np.arange(bins**dim), (bins,) * dim), axis=1), bins)


def cell_columns(cells: Ints, bins: int) -> csr_array:
    """The columns of A that belong to ``cells`` (cells, dim), given by their places."""
    count, dim = cells.shape
    rows = cells + bins * np.arange(dim)
    columns = np.repeat(np.arange(count), dim)
    return csr_array((np.ones(count * dim), (rows.ravel(), columns)), shape=(bins * dim, count))


def measured_rank(dim: int, bins: int) -> int:
    """The rank of A by computation: eigenvalues of the integer matrix A Aᵀ, which are 0 or at least b^(d-1)."""
    matrix = projection_matrix(dim, bins)
    eigenvalues = np.linalg.eigvalsh((matrix @ matrix.T).toarray())
    return int(np.count_nonzero(eigenvalues > bins ** (dim - 1) / 2))


def rank_of_cells(cells: Ints, bins: int) -> int:
    """The rank of the columns of A that belong to ``cells``, by elimination modulo a prime.

    Never above the rational rank, so that full rank modulo the prime proves independence; dependence is proved by a
    null vector.
    """
    matrix = np.asarray(cell_columns(cells, bins).toarray(), dtype=np.int64)
    rank = 0
    for column in range(matrix.shape[1]):
        pivots = np.flatnonzero(matrix[rank:, column])
        if not len(pivots):
            continue
        matrix[[rank, rank + pivots[0]]] = matrix[[rank + pivots[0], rank]]
        matrix[rank] = matrix[rank] * pow(int(matrix[rank, column]), -1, PRIME) % PRIME
        matrix[rank + 1 :] = (matrix[rank + 1 :] - matrix[rank + 1 :, column, None] * matrix[rank]) % PRIME
        rank += 1
        if rank == len(matrix):
            break
    return rank


def star_cells(dim: int, bins: int) -> Ints:
    """The sound set: the last cell of the lattice, and all that differ from it in exactly one place; d (b - 1) + 1 cells.

    They are independent: the entry of a cell with place l < last in coordinate i is the bin (i, l), which no other cell of
    the star meets, and the corner's entry is what remains of any coordinate's sum.

    >>> star_cells(2, 3).tolist()
    [[2, 2], [0, 2], [1, 2], [2, 0], [2, 1]]
    """
    lattice_rank(dim, bins)
    cells = np.full((dim * (bins - 1) + 1, dim), bins - 1, np.int64)
    for coordinate in range(dim):
        first = 1 + coordinate * (bins - 1)
        cells[first : first + bins - 1, coordinate] = np.arange(bins - 1)
    return cells


def printed_cells(dim: int, bins: int) -> Ints:
    """S* by the recurrence of the appendix, its "1" and "-1" read as the last and the first bin; bd cells.

    Iteration i adds the line through the last cell along coordinate i, and for i > 1 the cell whose places i - 1 and i are
    first and all others last.
    """
    check_at_least("bins", bins, 2)
    found = {tuple(cell): None for cell in _line(dim, bins, 0).tolist()}  # a set that remembers the order
    for coordinate in range(1, dim):
        found.update({tuple(cell): None for cell in _line(dim, bins, coordinate).tolist()})
        corner = np.full(dim, bins - 1)
        corner[[coordinate - 1, coordinate]] = 0
        found[tuple(corner.tolist())] = None
    return np.array(list(found), np.int64)


def bin_center(places: Ints | NDArray[np.integer], bins: int) -> Floats:
    """p_l = (2l - 1) / b - 1 for places l - 1 = 0, ..., b - 1."""
    return (2 * np.asarray(places, np.float64) + 1) / bins - 1


def uniform_histogram(multiset: Multiset, bins: int) -> Ints:
    """The projective histogram with the uniform kernel of width 1/b.

    Bin l of a coordinate counts [-1 + 2(l-1)/b, -1 + 2l/b), the last one also 1; what lies outside is counted nowhere.

    >>> uniform_histogram(Multiset([[-0.5, 1.0], [0.5, 7.0]]), bins=2).tolist()
    [[1, 1], [0, 1]]
    """
    places = np.floor((multiset.vectors + 1) * bins / 2)
    places = np.where(multiset.vectors == 1, bins - 1, places)
    histogram = np.zeros((multiset.dimension, bins), np.int64)
    for coordinate, column in enumerate(places.T):
        inside = (column >= 0) & (column < bins)
        np.add.at(histogram[coordinate], column[inside].astype(np.int64), multiset.counts[inside])
    return histogram  # (dim, bins)


@dataclass(frozen=True, eq=False)
class Counterexample:
    """Two multisets on S* that differ by a null vector of A: the printed lemma says there are none."""

    bins: int
    cells: Ints  # (cells, dim): the support of the null vector, part of S*
    null_vector: Ints  # (cells)
    first: Multiset  # its positive part, at the cells' centres
    second: Multiset  # its negative part

    def verify(self) -> bool:
        """The cells are in S*, A sends the vector to zero, and its two parts are different multisets with equal histograms."""
        allowed = {tuple(cell) for cell in printed_cells(self.cells.shape[1], self.bins).tolist()}
        on_support = all(tuple(cell) in allowed for cell in self.cells.tolist())
        is_null = bool(self.null_vector.any()) and not (cell_columns(self.cells, self.bins) @ self.null_vector).any()
        if not (on_support and is_null):
            return False
        parts = _parts(self.cells, self.null_vector, self.bins)
        same = np.array_equal(uniform_histogram(self.first, self.bins), uniform_histogram(self.second, self.bins))
        return parts == (self.first, self.second) and self.first != self.second and same


def make_counterexample(dim: int, bins: int, coordinate: int = 1) -> Counterexample:
    """The corners (last, last) and (first, first) against (last, first) and (first, last), in two neighbouring coordinates.

    All four are in S*, for every d ≥ 2 and b ≥ 2, and both pairs have one element in the first and one in the last bin of
    either coordinate: the left picture of figure 1. Each coordinate from the second on gives one such null vector, and
    bd - (d - 1) = d (b - 1) + 1 is what they leave of the rank.

    Args:
        dim: coordinates of a vector.
        bins: bins of a coordinate.
        coordinate: the second of the two coordinates, numbered from 0.
    """
    check_at_least("dim", dim, 2)
    check_at_least("bins", bins, 2)
    if not 1 <= coordinate < dim:
        raise ConfigError(f"coordinate={coordinate} was given; it must be 1 to {dim - 1}")
    cells = np.full((4, dim), bins - 1, np.int64)
    cells[1, [coordinate - 1, coordinate]] = 0
    cells[2, coordinate] = 0
    cells[3, coordinate - 1] = 0
    null_vector = np.array([1, 1, -1, -1])
    return Counterexample(bins, cells, null_vector, *_parts(cells, null_vector, bins))


def _parts(cells: Ints, null_vector: Ints, bins: int) -> tuple[Multiset, Multiset]:
    centers = bin_center(cells, bins)
    positive, negative = null_vector > 0, null_vector < 0
    return Multiset(centers[positive], null_vector[positive]), Multiset(centers[negative], -null_vector[negative])


def _line(dim: int, bins: int, coordinate: int) -> Ints:
    cells = np.full((bins, dim), bins - 1, np.int64)
    cells[:, coordinate] = np.arange(bins)
    return cells


def count_maps(slots: int, entries: int) -> int:
    """Ways to send ``entries`` cells to different ones of ``slots`` independent places: s! / (s - e)!.

    >>> count_maps(10, 3)
    720
    """
    return math.perm(check_at_least("slots", slots, 1), check_at_least("entries", entries, 0))
