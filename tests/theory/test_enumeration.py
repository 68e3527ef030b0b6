"""The two small cases of theorem 2.3 within the cube, and the argument for placements at random, by trying everything."""

import math
from fractions import Fraction
from itertools import combinations, permutations, product

import numpy as np
import pytest

from phist.theory.enumeration import antichain_share, balanced_share, hidden_share, largest_hidden_share
from phist.theory.labels import DISCARDED
from phist.theory.placement import mergeable_columns, shown_counts
from phist.theory.projective import cell_columns, star_cells


def test_three_coordinates_of_two_bins_hold_six_multisets():
    share = largest_hidden_share(3, 2, entries=6)
    assert share == Fraction(2, 35) and math.comb(6, 2) * share < 1


def test_four_coordinates_of_two_bins_hold_eight_multisets():
    pairs = math.comb(8, 2)
    for entries in range(4, 8):
        assert pairs * antichain_share(4, entries, math.comb(entries, entries // 2)) < 1
    assert pairs * antichain_share(4, 8, 56) < 1 and pairs * balanced_share(4, 4) < 1


@pytest.mark.parametrize(("dim", "half"), [(2, 1), (2, 2), (3, 1), (3, 2), (3, 3)])
def test_balanced_differences_are_counted_right(dim, half):
    assert balanced_share(dim, half) == hidden_share((1,) * half + (-1,) * half, dim, 2)


@pytest.mark.parametrize("size", [2, 3])
def test_no_more_sets_have_sum_zero_than_the_antichain_bound_says(size):
    values = [value for value in range(-size, size + 1) if value]
    for entries in (4, 5):
        for w in product(values, repeat=entries):
            zero = sum(not sum(chosen) for number in range(entries + 1) for chosen in combinations(w, number))
            assert zero <= math.comb(entries, entries // 2)


def test_eight_entries_of_different_size_have_few_sets_of_sum_zero():
    rng = np.random.default_rng(0)
    sets = np.array(list(product((0, 1), repeat=8)))
    for _ in range(3000):
        w = rng.choice([-3, -2, -1, 1, 2, 3], 8)
        zero = np.count_nonzero(sets @ w == 0)
        assert zero <= (56 if len(np.unique(np.abs(w))) > 1 else 70)


def test_no_five_by_five_matrix_of_bits_has_a_larger_determinant():
    """The bound on the differences that (3, 2) has to go through; the largest is reached by a circulant matrix."""
    rows = np.array(list(product((0, 1), repeat=5)))
    rng = np.random.default_rng(0)
    drawn = np.abs(np.linalg.det(rows[rng.integers(32, size=(50_000, 5))]))
    assert round(drawn.max()) == 5


@pytest.mark.parametrize("size", [3, 5])
def test_larger_differences_hide_no_more_often(size):
    assert largest_hidden_share(2, 2, entries=4, size=size) == largest_hidden_share(2, 2, entries=4, size=2)


@pytest.mark.parametrize(
    ("dim", "bins", "discard"), [(2, 2, False), (2, 3, False), (3, 2, False), (2, 1, True), (2, 2, True), (3, 1, True)]
)
def test_at_most_two_to_the_dim_pairs_of_places_hide_a_difference(dim, bins, discard):
    """The step of the proof of "scatter": all but two entries placed, w_i + w_j not 0, every way to place those two."""
    everywhere = np.array(list(product(range(-discard, bins), repeat=dim)))
    everywhere = everywhere[(everywhere != DISCARDED).any(axis=1)]
    rng = np.random.default_rng(0)
    pairs = list(permutations(range(len(everywhere)), 2))
    for _ in range(60):
        w = rng.choice([-2, -1, 1, 2], rng.integers(3, min(6, len(everywhere)) + 1))
        if w[0] + w[1] == 0:
            continue
        others = rng.permutation(len(everywhere))[: len(w) - 2]
        hidden = 0
        for first, second in pairs:
            if first not in others and second not in others:
                labels = everywhere[[first, second, *others]]
                hidden += not shown_counts(w[None], labels, bins).any()
        assert hidden <= 2**dim


@pytest.mark.parametrize(("dim", "bins"), [(2, 2), (2, 3), (3, 2)])
def test_two_or_three_entries_in_distinct_cells_always_show_within_the_cube(dim, bins):
    for w in product((-2, -1, 1, 2), repeat=3):
        assert hidden_share(w, dim, bins) == 0
        assert hidden_share(w[:2], dim, bins) == 0


@pytest.mark.parametrize(("dim", "bins"), [(2, 2), (2, 4), (3, 3), (5, 2)])
def test_star_and_corner_have_one_relation_of_four_cells(dim, bins):
    corner = np.full((1, dim), bins - 1)
    corner[0, :2] = 0
    columns = cell_columns(np.concatenate([star_cells(dim, bins), corner]), bins).toarray()
    assert np.linalg.matrix_rank(columns) == columns.shape[1] - 1
    null = np.linalg.svd(columns)[2][-1]
    assert np.count_nonzero(np.abs(null) > 1e-9) == 4


def test_merges_are_found_exactly_where_they_hide_nothing():
    rng = np.random.default_rng(0)
    for _ in range(100):
        table = rng.integers(0, 2, (4, 4))
        different = len(np.unique(table, axis=0))
        allowed = [
            pair
            for pair in combinations(range(4), 2)
            if len(np.unique(np.column_stack([np.delete(table, pair, axis=1), table[:, pair].sum(axis=1)]), axis=0)) == different
        ]
        assert mergeable_columns(table) == (allowed[0] if allowed else None)
