"""The cut of the training graphs into parts."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phist.estimators.parts import Parts, cut_parts


@settings(max_examples=50, deadline=None)
@given(st.lists(st.integers(0, 4), min_size=2, max_size=60), st.integers(2, 10), st.integers(0, 100))
def test_every_graph_is_in_one_part_and_no_part_is_empty(classes, n_parts, seed):
    targets = np.unique(classes, return_inverse=True)[1]
    parts = cut_parts(targets, n_parts, n_parts, seed)
    assert 2 <= parts.held_out <= n_parts
    assert sorted(set(parts.number.tolist())) == list(range(parts.held_out))
    assert parts.asked.tolist() == list(range(len(targets)))
    for part in range(parts.held_out):
        assert sorted([*parts.training(part), *parts.test(part)]) == list(range(len(targets)))


def test_parts_are_even_and_share_every_class():
    targets = np.repeat([0, 1], [30, 10])
    parts = cut_parts(targets, 5, 5, seed=0)
    counts = np.stack([np.bincount(targets[parts.test(part)], minlength=2) for part in range(5)])
    assert (counts == [6, 2]).all()


def test_one_part_held_out_asks_about_its_graphs_only():
    parts = cut_parts(np.arange(20) % 2, 5, 1, seed=0)
    assert parts.held_out == 1
    assert parts.asked.tolist() == parts.test(0).tolist() and len(parts.asked) == 4


def test_the_cut_depends_on_the_seed():
    targets = np.arange(40) % 2
    first, again, other = (cut_parts(targets, 5, 5, seed).number for seed in (0, 0, 1))
    assert np.array_equal(first, again) and not np.array_equal(first, other)


@pytest.mark.parametrize("targets", [[0, 1], [0, 1, 2], [0, 0, 1], list(range(20))])
def test_few_graphs_are_cut_into_fewer_parts(targets):
    parts = cut_parts(np.array(targets), 5, 5, seed=0)
    assert all(len(parts.training(part)) for part in range(parts.held_out))
    assert parts.held_out == 2


def test_a_class_of_one_graph_is_missing_in_one_fit():
    targets = np.repeat([0, 1], [19, 1])
    parts = cut_parts(targets, 5, 5, seed=0)
    assert [1 in targets[parts.training(part)] for part in range(5)].count(False) == 1


def test_nothing_held_out_asks_about_nothing():
    assert len(Parts(np.zeros(4, np.int64), 0).asked) == 0
