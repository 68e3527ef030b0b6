"""The two cases that the bounds of `phist.theory.capacity` leave open within the cube, counted: (d, b) = (3, 2) and (4, 2).

Entries of t = bd count vectors go to t distinct ones of the 2^d cells. A placement hides a difference w of two vectors if
every bin of every coordinate sums to zero. If each of the t(t-1)/2 differences is hidden by less than 2 / (t(t-1)) of all
placements, some placement hides none. With two bins a placement is d sets of entries, those in the first bin, and hides w if
all of these and the set of all entries have sum zero. So what matters of w is which sets of its entries have sum zero.

**(3, 2).** Of the w with given zero-sum sets, and possibly more, one is the only solution, up to a factor, of linear equations
with coefficients 0 and 1: by Cramer's rule a whole vector of 5 x 5 minors, which are at most 5. `hidden_share` goes through
all of these: at most 2/35 of the placements hide one, and 15 · 2/35 < 1.

**(4, 2).** If w has s nonzero entries, at most C(s, s/2) of their sets have sum zero (Littlewood and Offord, Erdős), so at most
C(s, s/2)^4 of the 16!/(16-s)! placements of these s hide it. For s = 4 to 7 this is below 1/28. For s = 8, if two entries
differ in size, the sets of the six others that complete one of these two's four sums are a union of four antichains (after
changes of sign), at most 20 + 15 + 15 + 6 = 56, and 56^4 / (16!/8!) < 1/28. If all have one size, four are positive and four
negative, and `balanced_share` counts: 0.44 %. With s ≤ 3 distinct cells hide nothing. (The bound for s = 8 alone,
70^4 / (16!/8!), is above 1/28.)
"""

import math
from fractions import Fraction
from itertools import combinations, combinations_with_replacement, permutations, product

import numpy as np

from phist.theory.geometry import Ints

MINOR = 5  # the largest determinant of a 5 x 5 matrix of zeros and ones


def hidden_share(difference: tuple[int, ...], dim: int, bins: int) -> Fraction:
    """The share of all placements in distinct cells that hide a difference of two count vectors, by trying every one.

    >>> hidden_share((1, 1, -1, -1), 2, 2), hidden_share((1, 0, -1, 0), 2, 2)
    (Fraction(1, 3), Fraction(0, 1))
    """
    placements = np.array(list(permutations(range(bins**dim), len(difference))))
    return Fraction(_hidden(placements, difference, dim, bins), len(placements))


def largest_hidden_share(dim: int, bins: int, entries: int, size: int = MINOR) -> Fraction:
    """The largest `hidden_share` of all nonzero differences with whole entries up to ``size`` that sum to zero.

    The first entry may stay in the first cell: bins can be renamed in every coordinate, which hides neither more nor less.
    """
    others = permutations(range(1, bins**dim), entries - 1)
    placements = np.array([(0, *places) for places in others])
    differences = combinations_with_replacement(range(-size, size + 1), entries)
    most = max(_hidden(placements, w, dim, bins) for w in differences if math.gcd(*w) == 1 and not sum(w))
    return Fraction(most, len(placements))


def balanced_share(dim: int, half: int) -> Fraction:
    """`hidden_share` of ``half`` ones and as many minus ones with two bins: pairs of disjoint sets of cells with equal sums."""
    cells = list(product((0, 1), repeat=dim))
    sums: dict[tuple[int, ...], list[int]] = {}
    for chosen in combinations(range(len(cells)), half):
        key = tuple(sum(cells[cell][coordinate] for cell in chosen) for coordinate in range(dim))
        sums.setdefault(key, []).append(sum(1 << cell for cell in chosen))
    pairs = sum(_disjoint_pairs(np.array(sets)) for sets in sums.values())
    return Fraction(pairs * math.factorial(half) ** 2, math.perm(len(cells), 2 * half))


def antichain_share(dim: int, entries: int, sets: int) -> Fraction:
    """A bound of `hidden_share` with two bins: ``sets``^d of the placements of so many nonzero ``entries``."""
    return Fraction(sets**dim, math.perm(2**dim, entries))


def _hidden(placements: Ints, difference: tuple[int, ...], dim: int, bins: int) -> int:
    places = np.stack(np.unravel_index(np.arange(bins**dim), (bins,) * dim), axis=1)
    marks = (places[:, :, None] == np.arange(bins)).reshape(bins**dim, -1).astype(np.int64)  # (cells, dim * bins)
    sums = np.zeros((len(placements), dim * bins), np.int64)
    for column, value in enumerate(difference):
        if value:
            sums += value * marks[placements[:, column]]
    return int(np.count_nonzero(~sums.any(axis=1)))


def _disjoint_pairs(sets: Ints) -> int:
    """Ordered pairs of disjoint sets, given as bits."""
    return int(np.count_nonzero((sets[:, None] & sets) == 0))
