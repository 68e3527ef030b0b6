"""Cells of small diameter, and counting in them."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phist.errors import ConfigError
from phist.theory.geometry import Box
from phist.theory.matching import delta_equal
from phist.theory.multiset import Multiset
from phist.theory.voronoi import CenterCells, GridCells, VoronoiSum, count_cells, cover_multisets
from phist.theory.voronoi_study import study_voronoi_sum

NORMS = [1.0, 2.0, math.inf]
few = settings(max_examples=30, deadline=None)


@pytest.mark.parametrize("p", NORMS)
@pytest.mark.parametrize("dimension", [1, 2, 3])
def test_equal_counts_always_mean_delta_equal(dimension, p):
    study = study_voronoi_sum(dimension, 0.5, p, pairs=90, size=4, seed=0)
    assert study.violations == 0
    assert study.equal_counts >= 30  # the adversarial third really has equal counts
    assert study.torn > 0


@few
@given(seed=st.integers(0, 999), p=st.sampled_from(NORMS), delta=st.sampled_from([0.1, 0.37, 1.0]))
def test_vectors_of_one_cell_are_within_delta(seed, p, delta):
    cells = GridCells(3, delta, p)
    rows = np.random.default_rng(seed).uniform(-1, 1, (60, 3))
    keys = cells.keys(rows)
    for i, j in np.argwhere((keys[:, None] == keys).all(axis=2)):
        assert np.linalg.norm(rows[i] - rows[j], ord=p) <= delta


@few
@given(seed=st.integers(0, 999))
def test_counts_ignore_the_order_of_the_elements(seed):
    rng = np.random.default_rng(seed)
    rows = rng.uniform(-1, 1, (10, 2))
    counted = VoronoiSum(GridCells(2, 0.5))
    assert counted(Multiset(rows)) == counted(Multiset(rng.permutation(rows)))


def test_counts_of_a_union_add_up():
    first, second = Multiset([[0.1], [0.9]]), Multiset([[0.15]])
    _, table = count_cells([first, second, first + second], GridCells(1, 0.5))
    assert (table[0] + table[1] == table[2]).all()


def test_at_precision_zero_every_vector_is_a_cell():
    keys, table = count_cells([Multiset([[0.1], [0.2]]), Multiset([[0.2]])], GridCells(1, 0.0))
    assert keys.ravel().tolist() == [0.1, 0.2] and table.tolist() == [[1, 1], [0, 1]]


@few
@given(seed=st.integers(0, 999), p=st.sampled_from(NORMS))
def test_cells_around_centres_are_delta_injective_too(seed, p):
    rng = np.random.default_rng(seed)
    multisets = [Multiset(rng.integers(0, 4, (2, 2)) / 3) for _ in range(6)]
    cells = cover_multisets(multisets, 0.7, p)
    _, table = count_cells(multisets, cells)
    for i in range(6):
        for j in range(i):
            assert not (table[i] == table[j]).all() or delta_equal(multisets[i], multisets[j], 0.7, p)


def test_vectors_far_from_all_centres_are_in_no_cell():
    cells = CenterCells(np.array([[0.0], [1.0]]), radius=0.5)
    assert cells.keys(np.array([[0.2], [0.5], [0.9], [9.0]])).ravel().tolist() == [0, 0, 1, -1]


def test_cells_of_a_box_grow_like_a_power():
    assert [GridCells(d, 0.5).count_to_cover(Box.cube(d)) for d in (1, 2, 3)] == [4, 16, 64]


def test_precision_too_fine_for_the_vectors_is_refused():
    with pytest.raises(ConfigError, match="too fine"):
        GridCells(1, 1e-200).keys(np.array([[1e200]]))
