"""Parts of a graph's roots: every root in one, roots that stay together, and the same parts for any number of workers."""

import numba
import numpy as np
import pytest

from phist.engine import parts as own
from phist.engine.parts import Parts


@numba.njit
def walk(parts, n_roots, at_once, taken):
    """The part of each of a worker's roots, taken some at a time; returns how many it was told that it has."""
    done, count = 0, own.count_roots(parts, n_roots)
    while done < count:
        number, begin, end = own.next_roots(parts, n_roots, done)
        end = min(end, begin + at_once)
        for root in range(begin, end):
            taken[root] += 1 + 100 * number
        done += end - begin
    return count


def parts_of(n_roots, n_parts, workers, beside=1, at_once=3):
    """The part that each root is in, by all workers together; every one is taken once."""
    taken = np.zeros(n_roots, np.int64)
    counts = [walk(Parts(number, n_parts, workers, n_parts, beside), n_roots, at_once, taken) for number in range(workers)]
    assert sum(counts) == n_roots and (taken % 100 == 1).all()
    return (taken // 100).tolist()


@pytest.mark.parametrize("n_roots", [0, 1, 2, 5, 32, 33])
@pytest.mark.parametrize("n_parts", [2, 3, 8])
def test_every_root_is_in_one_part_whoever_computes_it(n_roots, n_parts):
    expected = parts_of(n_roots, n_parts, n_parts)
    assert expected == sorted(expected)
    for workers in range(1, n_parts):
        assert parts_of(n_roots, n_parts, workers) == expected


def test_parts_are_about_equal():
    assert parts_of(10, 3, 3) == [0] * 3 + [1] * 3 + [2] * 4


def test_roots_side_by_side_stay_together():
    assert parts_of(13, 2, 2, beside=4) == [0] * 8 + [1] * 5


def test_one_part_has_all_roots():
    taken = np.zeros(7, np.int64)
    assert walk(Parts(5, 6, 1, 1, 1), 7, 2, taken) == 7
    assert (taken == 501).all()
