"""Multisets, and when two of them are the same up to delta."""

import math
from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phist.errors import ConfigError, GraphInputError
from phist.theory.matching import bottleneck_distance, delta_equal
from phist.theory.multiset import Multiset, read_multiset

NORMS = [1.0, 1.5, 2.0, math.inf]
few = settings(max_examples=40, deadline=None)


@st.composite
def points(draw, size=None, dimension=2):
    """A few vectors on a small grid, so that they repeat."""
    count = draw(st.integers(1, 6)) if size is None else size
    return (
        np.array(
            draw(st.lists(st.lists(st.integers(-2, 2), min_size=dimension, max_size=dimension), min_size=count, max_size=count))
        )
        / 2
    )


# What a multiset is ---------------------------------------------------------------------------------------------------


@few
@given(rows=points(), seed=st.integers(0, 99))
def test_order_of_the_elements_does_not_matter(rows, seed):
    shuffled = np.random.default_rng(seed).permutation(rows)
    assert Multiset(rows) == Multiset(shuffled)
    assert hash(Multiset(rows)) == hash(Multiset(shuffled))


@few
@given(rows=points())
def test_repeated_rows_are_multiplicities(rows):
    multiset = Multiset(rows)
    assert multiset.size == len(rows)
    assert Multiset(multiset.vectors, multiset.counts) == multiset == Multiset(multiset.rows())


def test_multiplicities_tell_multisets_apart():
    assert Multiset([[1.0], [1.0]]) != Multiset([[1.0]])


def test_minus_zero_is_zero():
    assert Multiset([[-0.0]]) == Multiset([[0.0]])


def test_union_adds_multiplicities():
    union = Multiset([[1, 2], [3, 4]]) + Multiset([[3, 4]])
    assert union == Multiset([[1, 2], [3, 4]], counts=[1, 2])


def test_multiset_cannot_be_changed():
    with pytest.raises(ValueError, match="read-only"):
        Multiset([[1.0]]).vectors[0] = 2


@pytest.mark.parametrize(
    ("vectors", "message"),
    [
        ([], "empty multiset"),
        (np.zeros((3, 0)), "empty multiset"),
        ([[1, 2], [3]], "rows of equal length"),
        ([[1, math.nan]], "vector 0 has nan in entry 1"),
        ([[math.inf]], "must be finite"),
        ([1.0, 2.0], "as one column"),
        ([["a"]], "not numbers"),
        ([[1j]], "complex"),
    ],
)
def test_bad_vectors_are_refused(vectors, message):
    with pytest.raises(GraphInputError, match=message):
        Multiset(vectors)


@pytest.mark.parametrize(
    ("counts", "message"), [([0], "at least 1"), ([1e300], "at most"), ([1.5], "whole"), ([1, 1], "one for each")]
)
def test_bad_multiplicities_are_refused(counts, message):
    with pytest.raises(GraphInputError, match=message):
        Multiset([[1.0]], counts=counts)


def test_dimensions_cannot_be_mixed():
    with pytest.raises(GraphInputError, match=r"dimensions \[1, 2\]"):
        Multiset([[1.0]]) + Multiset([[1.0, 2.0]])
    with pytest.raises(GraphInputError, match="dimensions"):
        delta_equal(Multiset([[1.0]]), Multiset([[1.0, 2.0]]), 1.0)


# On disk --------------------------------------------------------------------------------------------------------------


def test_csv_and_npy_hold_the_same_vectors(tmp_path):
    rows = np.array([[0.5, 1.0], [0.5, 1.0], [2.0, -3.0]])
    np.save(tmp_path / "a.npy", rows)
    (tmp_path / "plain.csv").write_text("0.5,1\n0.5,1\n\n2,-3\n")
    (tmp_path / "counted.csv").write_text("x,count,y\n0.5,2,1\n2,1,-3\n")
    assert Multiset(rows) == read_multiset(tmp_path / "a.npy") == read_multiset(tmp_path / "plain.csv")
    assert Multiset(rows) == read_multiset(tmp_path / "counted.csv")


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "empty multiset"),
        ("x,y\n", "empty multiset"),
        ("1,2\n3\n", "line 2"),
        ("1\n" + "9" * 200_000, "as CSV"),
        ("1,2\n3,a\n", "line 2"),
        ("1,nan\n", "nan"),
    ],
)
def test_bad_csv_is_refused(tmp_path, content, message):
    (tmp_path / "bad.csv").write_text(content)
    with pytest.raises(GraphInputError, match=message):
        read_multiset(tmp_path / "bad.csv")


def test_bad_files_are_refused(tmp_path):
    (tmp_path / "bad.npy").write_bytes(b"nothing")
    (tmp_path / "bad.txt").write_text("1")
    for name, message in (("none.csv", "no file"), ("bad.npy", "cannot be read"), ("bad.txt", "ends in .txt")):
        with pytest.raises(GraphInputError, match=message):
            read_multiset(tmp_path / name)


# Equality up to delta -------------------------------------------------------------------------------------------------


@few
@given(rows=points(size=4), others=points(size=4), p=st.sampled_from(NORMS))
def test_bottleneck_distance_is_the_best_over_all_bijections(rows, others, p):
    best = min(max(np.linalg.norm(rows - others[list(order)], ord=p, axis=1)) for order in permutations(range(4)))
    assert bottleneck_distance(Multiset(rows), Multiset(others), p) == pytest.approx(best)


@few
@given(rows=points(), others=points(), delta=st.sampled_from([0.0, 0.4, 0.5, 1.0, 2.0]), p=st.sampled_from(NORMS))
def test_every_answer_brings_a_witness_that_holds(rows, others, delta, p):
    first, second = Multiset(rows), Multiset(others)
    answer = delta_equal(first, second, delta, p)
    assert answer.verify()
    assert bool(answer) is answer.equal is (bottleneck_distance(first, second, p) <= delta)
    assert bool(delta_equal(second, first, delta, p)) is bool(answer)


@few
@given(rows=points(size=5), seed=st.integers(0, 99))
def test_equality_at_zero_is_equality(rows, seed):
    shuffled = np.random.default_rng(seed).permutation(rows)
    assert delta_equal(Multiset(rows), Multiset(shuffled), 0.0)


def test_different_sizes_are_never_equal():
    answer = delta_equal(Multiset([[0.0]]), Multiset([[0.0], [0.0]]), 100.0)
    assert not answer and answer.verify() and answer.side == "second"
    assert bottleneck_distance(Multiset([[0.0]]), Multiset([[0.0], [0.0]])) == math.inf


def test_obstacle_is_a_set_with_too_few_neighbours():
    answer = delta_equal(Multiset([[0.0], [0.1], [5.0]]), Multiset([[0.0], [5.0], [5.1]]), 1.0)
    assert answer.sizes() == (2, 1)


def test_large_multiplicities_are_matched_without_being_written_out():
    first, second = Multiset([[0.0], [1.0]], [10**8, 10**8]), Multiset([[0.4], [0.6]], [10**8, 10**8])
    assert delta_equal(first, second, 0.4).verify()
    assert not delta_equal(first, second, 0.3)


def test_tampered_matchings_fail():
    matching = delta_equal(Multiset([[0.0], [1.0]]), Multiset([[0.1], [1.1]]), 0.2)
    assert matching.verify()
    for tampered in (
        replace(matching, delta=0.05),
        replace(matching, pairs=matching.pairs[:, ::-1] * 0),
        replace(matching, pairs=matching.pairs[:1], counts=matching.counts[:1]),
        replace(matching, counts=matching.counts * 2),
        replace(matching, pairs=matching.pairs + 7),
        replace(matching, second=Multiset([[0.1], [3.0]])),
    ):
        assert not tampered.verify()


def test_tampered_obstacles_fail():
    obstacle = delta_equal(Multiset([[0.0], [1.0]]), Multiset([[0.1], [5.0]]), 0.2)
    assert obstacle.verify()
    near = delta_equal(Multiset([[0.0], [0.0]]), Multiset([[0.0], [9.0]]), 1.0)
    for tampered in (
        replace(obstacle, delta=10.0),
        replace(obstacle, elements=np.array([0])),
        replace(obstacle, elements=np.array([7])),
        replace(obstacle, elements=np.repeat(obstacle.elements, 2)),
        replace(obstacle, second=Multiset([[0.1], [1.1]])),
        replace(near, side="second", elements=np.array([0])),
    ):
        assert not tampered.verify()


@pytest.mark.parametrize(("delta", "p"), [(-1.0, 2.0), (math.nan, 2.0), (1.0, 0.5), (1.0, math.nan), (1.0, "two")])
def test_bad_precision_and_norm_are_refused(delta, p):
    with pytest.raises(ConfigError, match=r"delta=|p="):
        delta_equal(Multiset([[0.0]]), Multiset([[0.0]]), delta, p)
