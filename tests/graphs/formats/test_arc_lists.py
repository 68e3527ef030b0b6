"""The compiled look at lists of arcs: packed already, or not."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from phist.graphs.formats.arc_lists import fill_indptr
from phist.graphs.generate import make_planted_partitions

NO_WEIGHTS = np.empty(0)


def look_at(n_nodes, arcs, weights=NO_WEIGHTS, mutual=True):
    """Whether the arcs of one graph are packed, and the pointers that were filled."""
    source, target = np.array(arcs, np.int32).reshape(-1, 2).T
    indptr = np.empty(n_nodes + 1, np.int64)
    ends = np.array([0, n_nodes]), np.array([0, len(arcs)])
    return fill_indptr(*ends, np.ascontiguousarray(source), np.ascontiguousarray(target), weights, mutual, indptr), indptr


def test_a_path_in_both_directions_is_packed():
    packed, indptr = look_at(3, [(0, 1), (1, 0), (1, 2), (2, 1)])
    assert packed
    assert indptr.tolist() == [0, 1, 3, 4]


def test_nodes_without_arcs_have_empty_rows():
    packed, indptr = look_at(4, [(1, 3), (3, 1)])
    assert packed
    assert indptr.tolist() == [0, 0, 1, 1, 2]


@pytest.mark.parametrize(
    "arcs",
    [
        [(0, 1)],  # without its reverse
        [(1, 0), (0, 1)],  # sources descend
        [(0, 2), (0, 1), (1, 0), (2, 0)],  # targets descend
        [(0, 1), (0, 1), (1, 0), (1, 0)],  # twice
        [(0, 0)],  # a loop
        [(0, 3), (3, 0)],  # no such node
        [(0, -1)],
        [(-1, 0)],
        [(0, 1), (1, 0), (5, 1)],
    ],
)
def test_arcs_that_are_not_packed_are_noticed(arcs):
    assert not look_at(3, arcs)[0]


def test_arcs_without_their_reverse_are_packed_where_direction_counts():
    assert look_at(3, [(0, 1), (1, 2)], mutual=False)[0]


@pytest.mark.parametrize("weights", [[1.0, 2.0], [0.0, 0.0], [-1.0, -1.0], [np.inf, np.inf], [np.nan, np.nan]])
def test_weights_must_be_positive_finite_and_the_same_both_ways(weights):
    assert not look_at(2, [(0, 1), (1, 0)], np.array(weights))[0]
    assert look_at(2, [(0, 1), (1, 0)], np.array([2.0, 2.0]))[0]


def test_the_pointers_of_a_set_are_found_again():
    graphs = make_planted_partitions(10, seed=0)
    local = np.concatenate([np.repeat(np.arange(own.n_nodes), np.diff(own.indptr)) for own in graphs]).astype(np.int32)
    indptr = np.empty(graphs.n_nodes + 1, np.int64)
    assert fill_indptr(graphs.node_ptr, graphs.indptr[graphs.node_ptr], local, graphs.indices, NO_WEIGHTS, True, indptr)
    assert np.array_equal(indptr, graphs.indptr)


@given(st.lists(st.tuples(st.integers(-1, 5), st.integers(-1, 5)), max_size=12))
def test_packed_is_what_sorting_and_looking_would_call_so(arcs):
    proper = all(0 <= a < 5 and 0 <= b < 5 and a != b for a, b in arcs)
    expected = proper and arcs == sorted(set(arcs)) and {(b, a) for a, b in arcs} == set(arcs)
    assert look_at(5, arcs)[0] == expected
