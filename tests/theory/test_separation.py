"""Theorem 2.2, constructed: sums that tell given multisets apart."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phist.errors import ConfigError, GraphInputError
from phist.theory.labels import separating_entries, separating_labels, separating_weights
from phist.theory.matching import delta_equal
from phist.theory.multiset import Multiset
from phist.theory.perceptron import study_perceptron
from phist.theory.separation import most_sum_outputs, separate_by_sum, subset_outputs

few = settings(max_examples=40, deadline=None)


def some_multisets(seed, count, size=4, dimension=2):
    rng = np.random.default_rng(seed)
    return [Multiset(rng.integers(-2, 3, (size, dimension)) / 2) for _ in range(count)]


def singletons(count):
    return [Multiset([[float(number)]]) for number in range(count)]


# The lemmas -----------------------------------------------------------------------------------------------------------


@few
@given(seed=st.integers(0, 9999), rows=st.integers(1, 9), columns=st.integers(1, 12), top=st.integers(1, 4))
def test_few_entries_tell_rows_apart(seed, rows, columns, top):
    table = np.random.default_rng(seed).integers(0, top + 1, (rows, columns))
    chosen = separating_entries(table)
    assert len(chosen) <= max(rows - 1, 0)
    assert len(np.unique(table[:, chosen], axis=0)) == len(np.unique(table, axis=0)) if len(chosen) else True


def test_unit_vectors_need_all_entries_but_one():
    assert len(separating_entries(np.eye(7, dtype=np.int64))) == 6


@few
@given(seed=st.integers(0, 9999), dim=st.integers(1, 3), bins=st.integers(1, 3), discard=st.booleans(), top=st.integers(1, 3))
def test_labels_separate_up_to_their_bound(seed, dim, bins, discard, top):
    places = bins + discard
    if places == 1:
        return
    most = max(t for t in range(2, 40) if t * (t - 1) // 2 < places ** (dim - 1) * (places + 1))
    table = np.random.default_rng(seed).integers(0, top + 1, (most, 8))
    labels, left = separating_labels(table, dim, bins, discard)
    shown = np.stack([(labels == label).T.astype(int) @ table.T for label in range(bins)])  # (bins, dim, rows)
    assert left == 0
    assert len(np.unique(shown.reshape(-1, most).T, axis=0)) == len(np.unique(table, axis=0))


@few
@given(seed=st.integers(0, 9999), rows=st.integers(2, 9), columns=st.integers(1, 8), top=st.sampled_from([1, 3, 2**52]))
def test_one_weighted_sum_tells_rows_apart(seed, rows, columns, top):
    table = np.random.default_rng(seed).integers(0, top + 1, (rows, columns))
    weights = separating_weights(table)
    assert weights.min() >= 0 and weights.max() <= rows * (rows - 1) // 2
    sums = table.astype(object) @ weights.astype(object)
    assert len(set(sums.tolist())) == len(np.unique(table, axis=0))


# The construction -----------------------------------------------------------------------------------------------------


@few
@given(seed=st.integers(0, 9999), count=st.integers(2, 9), delta=st.sampled_from([0.0, 0.3, 0.5, 1.0]))
def test_any_multisets_are_separated_with_one_output_less(seed, count, delta):
    separation = separate_by_sum(some_multisets(seed, count), delta)
    assert separation.verify()
    assert separation.outputs <= count - 1


@few
@given(seed=st.integers(0, 9999), count=st.integers(2, 12))
def test_subsets_of_cells_need_about_twice_the_logarithm(seed, count):
    separation = separate_by_sum(some_multisets(seed, count), 0.25, method="subsets")
    assert separation.verify()
    assert separation.outputs == subset_outputs(count)


@few
@given(seed=st.integers(0, 9999))
def test_sum_ignores_the_order_of_the_elements(seed):
    multisets = some_multisets(seed, 4)
    separation = separate_by_sum(multisets, 0.25)
    shuffled = Multiset(np.random.default_rng(seed).permutation(multisets[0].rows()))
    assert (separation.aggregate(shuffled) == separation.aggregate(multisets[0])).all()


def test_singletons_need_every_output():
    assert separate_by_sum(singletons(9), 0.5).outputs == 8
    assert separate_by_sum(singletons(9), 0.5, method="subsets").outputs == 5


@few
@given(seed=st.integers(0, 9999), count=st.integers(2, 12))
def test_whole_weights_need_one_output(seed, count):
    separation = separate_by_sum(some_multisets(seed, count), 0.25, method="weights")
    assert separation.verify() and separation.outputs == 1
    assert separation.images.max() <= count * (count - 1) // 2


@pytest.mark.parametrize("method", ["entries", "subsets", "weights"])
def test_sums_longer_than_a_machine_word_are_exact(method):
    many = 2**53
    multisets = [
        Multiset([[float(place)] for place in range(9)], [many - (place == odd) for place in range(9)]) for odd in range(9)
    ]
    separation = separate_by_sum(multisets, 0.5, method=method)
    assert separation.verify()
    images = separation.phi(np.arange(9.0)[:, None]).tolist()
    for odd, multiset in enumerate(multisets):
        expected = [
            sum(row[output] * (many - (place == odd)) for place, row in enumerate(images)) for output in range(len(images[0]))
        ]
        assert separation.aggregate(multiset).tolist() == expected


def test_a_method_has_its_number_of_outputs():
    assert [most_sum_outputs(9, method) for method in ("entries", "subsets", "weights")] == [8, 5, 1]


def test_phi_applies_to_new_vectors():
    separation = separate_by_sum(singletons(3), 0.5)
    images = separation.phi(np.array([[0.01], [1.01], [77.0]]))
    assert images.sum(axis=1).max() <= 1 and not images[2].any()


def test_multisets_that_are_all_alike_need_no_output():
    separation = separate_by_sum([Multiset([[0.1]]), Multiset([[0.1]])], 0.5)
    assert separation.outputs == 0 and separation.verify()


def test_other_norms_are_kept():
    multisets = some_multisets(3, 6, dimension=3)
    separation = separate_by_sum(multisets, 0.9, p=1.0)
    assert separation.verify() and separation.p == 1.0
    sums = [tuple(separation.aggregate(multiset)) for multiset in multisets]
    for i in range(6):
        for j in range(i):
            assert sums[i] != sums[j] or delta_equal(multisets[i], multisets[j], 0.9, 1.0)


def test_tampered_separations_fail():
    separation = separate_by_sum(singletons(4), 0.5)
    for tampered in (
        replace(separation, images=separation.images[:, :-1]),
        replace(separation, images=np.zeros_like(separation.images)),
        replace(separation, keys=separation.keys[::-1] + 100),
        replace(separation, method="weights"),
        replace(separation, images=2 * separation.images),
        replace(separation, images=np.ones((3, 3), np.int64) - separation.images),  # 0 and 1, but not a cell each
        replace(separation, multisets=(*separation.multisets, Multiset([[50.0]]))),
    ):
        assert not tampered.verify()


def test_bad_input_is_refused():
    with pytest.raises(GraphInputError, match="at least two"):
        separate_by_sum(singletons(1), 0.5)
    with pytest.raises(GraphInputError, match="dimensions"):
        separate_by_sum([Multiset([[1.0]]), Multiset([[1.0, 2.0]])], 0.5)
    with pytest.raises(ConfigError, match="delta=-1"):
        separate_by_sum(singletons(2), -1)
    with pytest.raises(ConfigError, match="method='magic'"):
        separate_by_sum(singletons(2), 0.5, method="magic")


# As a neural network --------------------------------------------------------------------------------------------------


def test_a_hidden_layer_learns_phi_once_it_is_wide_enough():
    separation = separate_by_sum(some_multisets(0, 3, size=5), 0.25)
    study = study_perceptron(separation, widths=(1, 8, 32), steps=300, seed=0)
    assert study.width in (8, 32)
    assert not study.results[0].separates


def test_fits_depend_on_the_seed_alone():
    separation = separate_by_sum(singletons(3), 0.5)
    errors = [study_perceptron(separation, widths=(2,), steps=20, seed=seed).results[0].error for seed in (0, 0, 1)]
    assert errors[0] == errors[1] != errors[2]
