"""The matrix A of theorem 2.3: its rank, the star, and the printed lemma refuted."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from phist.errors import ConfigError
from phist.nn.histogram import ProjectiveHistogram
from phist.theory.matching import delta_equal
from phist.theory.multiset import Multiset
from phist.theory.projective import (
    bin_center,
    cell_columns,
    lattice_rank,
    make_counterexample,
    measured_rank,
    printed_cells,
    projection_matrix,
    rank_of_cells,
    star_cells,
    uniform_histogram,
)

SIZES = [(dim, bins) for dim in range(1, 6) for bins in range(2, 7)]
SMALL = [(dim, bins) for dim in (2, 3, 4) for bins in (2, 3, 4)]
few = settings(max_examples=40, deadline=None)


# The matrix -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dim", "bins"), SIZES)
def test_rank_is_less_than_printed(dim, bins):
    assert measured_rank(dim, bins) == lattice_rank(dim, bins) == dim * (bins - 1) + 1
    assert rank_of_cells(printed_cells(dim, bins), bins) == lattice_rank(dim, bins)


@pytest.mark.parametrize(("dim", "bins"), SIZES)
def test_star_is_independent_and_as_large_as_the_rank(dim, bins):
    star = star_cells(dim, bins)
    assert len(np.unique(star, axis=0)) == len(star) == rank_of_cells(star, bins) == lattice_rank(dim, bins)


@pytest.mark.parametrize(("dim", "bins"), SIZES)
def test_printed_set_has_bd_cells(dim, bins):
    cells = printed_cells(dim, bins)
    assert len(np.unique(cells, axis=0)) == len(cells) == dim * bins


@pytest.mark.parametrize(("dim", "bins"), [(1, 3), (2, 4), (3, 3)])
def test_matrix_turns_cell_counts_into_histograms(dim, bins):
    rng = np.random.default_rng(0)
    counts = rng.integers(0, 3, bins**dim)
    counts[0] = 1
    places = np.stack(np.unravel_index(np.flatnonzero(counts), (bins,) * dim), axis=1)
    multiset = Multiset(bin_center(places, bins), counts[counts > 0])
    assert (projection_matrix(dim, bins) @ counts == uniform_histogram(multiset, bins).ravel()).all()


@few
@given(seed=st.integers(0, 9999), bins=st.integers(1, 9))
def test_histogram_is_that_of_the_network(seed, bins):
    rows = np.random.default_rng(seed).uniform(-1.2, 1.2, (12, 3))
    seen = ProjectiveHistogram(bins, "uniform")(torch.from_numpy(rows))[0]
    assert (uniform_histogram(Multiset(rows), bins).ravel() == seen.numpy()).all()


def test_matrices_too_large_to_write_down_are_refused():
    with pytest.raises(ConfigError, match="formula"):
        projection_matrix(20, 8)
    assert lattice_rank(20, 8) == 141


# The printed lemma ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("dim", "bins"), SMALL)
def test_printed_lemma_is_refuted(dim, bins):
    for coordinate in range(1, dim):
        example = make_counterexample(dim, bins, coordinate)
        assert example.verify()
        assert not delta_equal(example.first, example.second, 1 / bins)


@pytest.mark.parametrize(("dim", "bins"), SMALL)
def test_its_null_vectors_are_all_there_are(dim, bins):
    cells = printed_cells(dim, bins)
    places = {tuple(cell): number for number, cell in enumerate(cells.tolist())}
    vectors = np.zeros((dim - 1, len(cells)))
    for coordinate in range(1, dim):
        example = make_counterexample(dim, bins, coordinate)
        vectors[coordinate - 1, [places[tuple(cell)] for cell in example.cells.tolist()]] = example.null_vector
    assert not (cell_columns(cells, bins) @ vectors.T).any()
    assert np.linalg.matrix_rank(vectors) == dim - 1 == len(cells) - lattice_rank(dim, bins)


def test_tampered_counterexamples_fail():
    example = make_counterexample(3, 3)
    for tampered in (
        replace(example, null_vector=np.array([1, 1, -1, -2])),
        replace(example, null_vector=np.zeros(4, np.int64)),
        replace(example, second=example.first),
        replace(example, first=example.first + example.first),
        replace(example, cells=np.array([[1, 1, 2], [0, 0, 2], [1, 0, 2], [0, 1, 2]])),
    ):
        assert not tampered.verify()


@pytest.mark.parametrize(("dim", "bins"), [(1, 3), (2, 1)])
def test_no_counterexample_without_two_coordinates_and_bins(dim, bins):
    with pytest.raises(ConfigError, match="at least 2"):
        make_counterexample(dim, bins)
