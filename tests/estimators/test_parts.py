import numpy as np
import pytest

from phist.estimators.parts import cut_parts


def test_every_graph_is_in_one_part_and_classes_are_spread_evenly():
    targets = np.repeat([0, 1], [60, 40])
    parts = cut_parts(targets, 5, 5, seed=0)
    assert np.array_equal(np.sort(np.concatenate([parts.test(part) for part in range(5)])), np.arange(100))
    assert all(np.bincount(targets[parts.test(part)]).tolist() == [12, 8] for part in range(5))
    assert not np.intersect1d(parts.training(2), parts.test(2)).size


def test_of_one_part_held_out_only_its_graphs_are_asked():
    parts = cut_parts(np.arange(50) % 2, 5, 1, seed=0)
    assert np.array_equal(parts.asked, parts.test(0))


@pytest.mark.parametrize("targets", [[0, 1], [0, 0, 1], [0, 1, 2, 3], [0] * 9 + [1]])
def test_few_graphs_make_fewer_parts_none_of_them_empty(targets):
    parts = cut_parts(np.array(targets), 5, 5, seed=0)
    assert 2 <= parts.held_out <= 5
    assert all(len(parts.test(part)) and len(parts.training(part)) for part in range(parts.held_out))


def test_the_cut_depends_on_the_seed():
    targets = np.arange(50) % 2
    assert not np.array_equal(cut_parts(targets, 5, 5, seed=0).number, cut_parts(targets, 5, 5, seed=1).number)
