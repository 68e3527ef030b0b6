"""Theorem 2.3, constructed: histograms that tell given multisets apart, and how many."""

import math
from dataclasses import replace
from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phist.errors import ConfigError
from phist.theory.capacity import capacity_ceiling, capacity_report, guaranteed_capacity, parameters_at_capacity
from phist.theory.histogram_separation import separate_by_histogram
from phist.theory.multiset import Multiset
from phist.theory.projective import cell_columns, count_maps, star_cells

SIZES = [(dim, bins) for dim in range(1, 6) for bins in range(2, 7)]
METHODS = [("star", False), ("star", True), ("coordinates", False), ("labels", False), ("labels", True)]
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


@pytest.mark.parametrize(("method", "confined"), METHODS)
def test_beyond_capacity_the_error_states_it(method, confined):
    capacity = guaranteed_capacity(3, 4, method, confined)
    with pytest.raises(ConfigError, match=f"{capacity + 1} multisets .* capacity of {capacity}:"):
        separate_by_histogram(singletons(capacity + 1), 4, 0.5, dim=3, method=method, confined=confined)


def test_error_names_a_method_with_more_room():
    with pytest.raises(ConfigError, match='pass method="coordinates"'):
        separate_by_histogram(singletons(12), 4, 0.5, dim=3)


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
    assert report["guaranteed"] == {"free": 17, "confined": 13}
    assert report["theorem_2_3"]["phi within [-1, 1]^d"] == "proved: any 12 multisets"


def test_number_of_maps_is_a_falling_factorial():
    assert count_maps(12, 12) == math.factorial(12)
    assert 10 ** capacity_report(3, 4)["log10_maps"]["coordinates"] == pytest.approx(math.factorial(12))


def test_sum_needs_more_parameters_at_equal_capacity():
    for row in parameters_at_capacity(8, 8):
        assert row["histogram_parameters"] < row["sum_parameters"]


@pytest.mark.parametrize(("method", "confined"), METHODS)
def test_one_bin_separates_only_if_elements_can_be_discarded(method, confined):
    capacity = guaranteed_capacity(2, 1, method, confined)
    assert capacity == 1 if confined else separate_by_histogram(singletons(capacity), 1, 0.5, dim=2, method=method).verify()
