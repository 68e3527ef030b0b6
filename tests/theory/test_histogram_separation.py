"""Theorem 2.3, constructed: histograms that tell given multisets apart, and how many."""

import json
import math
from dataclasses import replace
from itertools import product
from typing import get_args

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phist.errors import ConfigError
from phist.theory.capacity import (
    CONFINED_METHODS,
    ENUMERATED,
    HistogramMethod,
    capacity_ceiling,
    capacity_report,
    guaranteed_capacity,
    parameters_at_capacity,
    scatter_suffices,
)
from phist.theory.histogram_separation import separate_by_histogram
from phist.theory.multiset import Multiset
from phist.theory.projective import cell_columns, count_maps, star_cells

SIZES = [(dim, bins) for dim in range(1, 6) for bins in range(2, 7)]
METHODS = [(method, False) for method in get_args(HistogramMethod)] + [(method, True) for method in CONFINED_METHODS]
few = settings(max_examples=40, deadline=None)


def singletons(count):
    return [Multiset([[float(number)]]) for number in range(count)]


def hard_multisets(kind, count, seed):
    """Families an adversary may choose: one element each, few cells, nested, or at random."""
    rng = np.random.default_rng(seed)
    if kind == "singletons":
        return singletons(count)
    if kind == "nested":
        return [Multiset([[0.0]], [number + 1]) for number in range(count)]
    if kind == "pairs":
        return [Multiset(rng.integers(0, count, (2, 1))) for _ in range(count)]
    return [Multiset(rng.integers(0, 4, (3, 2))) for _ in range(count)]


@pytest.mark.parametrize("kind", ["singletons", "nested", "pairs", "random"])
@pytest.mark.parametrize(("method", "confined"), METHODS)
@pytest.mark.parametrize(("dim", "bins"), [(1, 2), (1, 4), (2, 2), (2, 3), (3, 2), (3, 4)])
def test_multisets_at_capacity_are_separated(dim, bins, method, confined, kind):
    capacity = guaranteed_capacity(dim, bins, method, confined)
    separation = separate_by_histogram(hard_multisets(kind, capacity, 0), bins, 0.5, dim=dim, method=method, confined=confined)
    assert separation.verify()
    if confined:
        assert np.abs(separation.phi(np.array([[1e6] * separation.multisets[0].dimension]))).max() <= 1


@pytest.mark.parametrize("kind", ["singletons", "nested", "pairs", "random"])
@pytest.mark.parametrize(("dim", "bins"), [(1, 3), (2, 2), (2, 5), (3, 2), (3, 3), (4, 2), (5, 2)])
def test_as_many_multisets_as_printed_are_separated_within_the_cube(dim, bins, kind):
    count = dim * bins
    method = next(name for name in CONFINED_METHODS if guaranteed_capacity(dim, bins, name, confined=True) >= count)
    separation = separate_by_histogram(hard_multisets(kind, count, 1), bins, 0.5, dim=dim, method=method, confined=True)
    assert separation.verify()


@pytest.mark.parametrize(("dim", "bins"), [(2, 2), (2, 3), (3, 2), (4, 3)])
def test_corner_separates_vectors_that_forbid_every_merge(dim, bins):
    """Single elements in different cells: every two differ by e_i - e_j, so that no two entries can share a cell."""
    separation = separate_by_histogram(singletons(dim * (bins - 1) + 2), bins, 0.5, dim=dim, method="corner", confined=True)
    assert separation.verify()
    assert len(np.unique(np.concatenate([separation.images, separation.rest[None]]), axis=0)) == dim * (bins - 1) + 2


@pytest.mark.parametrize("seed", range(8))
def test_corner_merges_two_entries_where_it_can(seed):
    """Rows of the square's null vector, which the star and its corner alone would confuse."""
    rng = np.random.default_rng(seed)
    elements = np.arange(4.0)[:, None]
    counts = [[2, 2, 1, 1], [1, 1, 2, 2], [1, 5, 1, 1], [1, 1, 1, 7]]
    multisets = [Multiset(elements, rng.permutation(row) if number > 1 else row) for number, row in enumerate(counts)]
    assert separate_by_histogram(multisets, 2, 0.5, dim=2, method="corner", confined=True).verify()


def test_scatter_depends_on_its_seed_and_works_for_every_one():
    multisets = hard_multisets("pairs", 22, 0)
    made = [separate_by_histogram(multisets, 4, 0.5, dim=3, method="scatter", confined=True, seed=seed) for seed in (0, 0, 1, 2)]
    assert all(separation.verify() for separation in made)
    assert np.array_equal(made[0].images, made[1].images) and not np.array_equal(made[0].images, made[2].images)


def test_scatter_draws_from_more_places_than_can_be_listed():
    separation = separate_by_histogram(hard_multisets("random", 30, 0), 8, 0.5, dim=12, method="scatter")
    assert separation.verify() and separation.dim == 12


@pytest.mark.parametrize(("method", "confined"), METHODS)
def test_beyond_capacity_the_error_states_it(method, confined):
    capacity = guaranteed_capacity(3, 4, method, confined)
    with pytest.raises(ConfigError, match=f"{capacity + 1} multisets .* capacity of {capacity}:"):
        separate_by_histogram(singletons(capacity + 1), 4, 0.5, dim=3, method=method, confined=confined)


def test_error_names_a_method_with_more_room():
    with pytest.raises(ConfigError, match='pass method="coordinates"'):
        separate_by_histogram(singletons(12), 4, 0.5, dim=3)
    with pytest.raises(ConfigError, match='pass method="scatter"'):
        separate_by_histogram(singletons(20), 4, 0.5, dim=3, confined=True)


@few
@given(seed=st.integers(0, 9999), delta=st.sampled_from([0.0, 0.3, 1.0]), method=st.sampled_from(METHODS))
def test_histogram_separates_what_is_not_delta_equal(seed, delta, method):
    multisets = hard_multisets("random", 5, seed)
    separation = separate_by_histogram(multisets, 4, delta, method=method[0], confined=method[1])
    assert separation.verify() and separation.dim == 2
    shuffled = Multiset(np.random.default_rng(seed).permutation(multisets[0].rows()))
    assert (separation.aggregate(shuffled) == separation.aggregate(multisets[0])).all()


def test_tampered_separations_fail():
    separation = separate_by_histogram(singletons(5), 3, 0.5, dim=2, confined=True)
    assert separation.verify()
    for tampered in (
        replace(separation, images=np.repeat(separation.images[:1], len(separation.images), axis=0)),
        replace(separation, images=separation.images * 0 + 2.0),
        replace(separation, rest=np.array([2.0, 2.0])),
        replace(separation, rest=separation.images[0]),
        replace(separation, keys=separation.keys + 100),
        replace(separation, bins=1),
        replace(separation, multisets=(*separation.multisets, Multiset([[50.0]]))),
    ):
        assert not tampered.verify()


def places_of_singletons(dim, bins, count, confined):
    """Whether any map sends ``count`` single elements to different histograms, tried one by one."""
    choices = list(product(range(bins) if confined else range(-1, bins), repeat=dim))
    return any(len(set(chosen)) == count for chosen in product(choices, repeat=count))


@pytest.mark.parametrize(("dim", "bins", "confined"), [(1, 2, True), (1, 2, False), (1, 3, True), (2, 2, True)])
def test_nothing_separates_more_singletons_than_the_ceiling(dim, bins, confined):
    ceiling = capacity_ceiling(dim, bins, confined)
    assert places_of_singletons(dim, bins, ceiling, confined)
    assert not places_of_singletons(dim, bins, ceiling + 1, confined)


@pytest.mark.parametrize(("dim", "bins"), [(1, 4), (2, 3), (3, 4)])
def test_the_star_itself_cannot_do_more(dim, bins):
    """Single elements on the star, or discarded, have exactly d(b-1) + 2 different histograms."""
    columns = cell_columns(star_cells(dim, bins), bins).toarray().T
    assert len(np.unique(np.concatenate([columns, np.zeros((1, dim * bins))]), axis=0)) == guaranteed_capacity(dim, bins)


def test_in_one_dimension_the_capacity_is_exact():
    for bins in range(2, 9):
        assert guaranteed_capacity(1, bins, "star", confined=True) == capacity_ceiling(1, bins, confined=True) == bins
        assert guaranteed_capacity(1, bins, "star") == capacity_ceiling(1, bins) == bins + 1


@pytest.mark.parametrize(("dim", "bins"), SIZES)
def test_report_adds_up(dim, bins):
    report = capacity_report(dim, bins)
    assert report["rank"] + 1 == report["capacity"] == report["capacity_bounded"] + 1
    assert report["printed"] == dim * bins < report["guaranteed"]["free"]
    for side in ("free", "confined"):
        assert report["guaranteed"][side] <= report["ceiling"][side]


def test_report_for_three_coordinates_and_four_bins():
    report = capacity_report(3, 4)
    assert [report[key] for key in ("rank", "capacity", "capacity_bounded", "printed")] == [10, 11, 10, 12]
    assert report["guaranteed"] == {"free": 42, "confined": 22}
    assert report["by_method"]["confined"] == {"star": 10, "corner": 11, "labels": 13, "scatter": 22}
    assert report["theorem_2_3"]["phi within [-1, 1]^d"] == "proved by other constructions: any 12 multisets"


@pytest.mark.parametrize("bins", [*range(2, 13), 50, 1000])
def test_the_printed_number_is_reached_within_the_cube(bins):
    for dim in range(1, 13):
        assert capacity_report(dim, bins)["guaranteed"]["confined"] >= dim * bins


@pytest.mark.parametrize("dim", range(2, 7))
def test_scatter_capacity_is_the_largest_that_its_condition_allows(dim):
    for places in range(2, 8):
        ceiling, bins = places**dim, places - 1
        most = max(t for t in range(1, min(ceiling, 3000) + 1) if t * (t - 1) // 2 * 2**dim < (ceiling - t + 2) * (ceiling - t + 1))
        if most < 3000:
            assert guaranteed_capacity(dim, bins, "scatter") == most
            assert scatter_suffices(most, ceiling, dim) and not scatter_suffices(most + 1, ceiling, dim)


def test_reports_of_many_coordinates_have_logarithms():
    report = capacity_report(100_000, 4)
    assert report["ceiling"]["confined"] is None
    assert report["log10"]["ceiling"]["confined"] == pytest.approx(100_000 * math.log10(4))
    assert report["log10"]["guaranteed"]["confined"] == pytest.approx(100_000 * math.log10(4 / math.sqrt(2)), abs=1)
    json.dumps([report, parameters_at_capacity(100_000, 4)])
    with pytest.raises(ConfigError, match="smaller dim"):
        capacity_report(10**9, 4)


def test_nothing_separates_more_than_the_ceiling_says():
    assert all(count <= 2**dim for (dim, _), count in ENUMERATED.items())


def test_number_of_maps_is_a_falling_factorial():
    assert count_maps(12, 12) == math.factorial(12)
    assert 10 ** capacity_report(3, 4)["log10_maps"]["coordinates"] == pytest.approx(math.factorial(12))


def test_maps_are_at_least_as_many_as_printed():
    maps = capacity_report(3, 4)["log10_maps"]
    assert maps["scatter"] > maps["coordinates"] > maps["star"]
    assert capacity_report(5, 2)["log10_maps"]["scatter"] is None


def test_what_sum_needs_depends_on_its_phi():
    for row in parameters_at_capacity(8, 8):
        outputs = row["sum_outputs"]
        assert outputs["entries"] == row["capacity"] - 1 and outputs["weights"] == 1
        assert outputs["weights"] < outputs["subsets"] <= outputs["entries"]
        assert row["histogram_parameters"] < row["sum_parameters"]["entries"]
        assert row["sum_parameters"]["weights"] < row["histogram_parameters"]


@pytest.mark.parametrize(("method", "confined"), METHODS)
def test_one_bin_separates_only_if_elements_can_be_discarded(method, confined):
    capacity = guaranteed_capacity(2, 1, method, confined)
    assert (
        capacity == 1
        if confined or method == "corner"
        else separate_by_histogram(singletons(capacity), 1, 0.5, dim=2, method=method).verify()
    )
