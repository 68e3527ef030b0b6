import numpy as np
import pytest

from phist.cli.holdout import Accuracy, hold_out
from phist.errors import ConfigError
from phist.graphs.generate import make_trees

TREES = make_trees(40, n_nodes=6, seed=0)


@pytest.mark.parametrize("right", [0, 1, 7, 10])
def test_interval_contains_the_accuracy_and_stays_in_range(right):
    low, high = Accuracy(right, 10).interval
    assert 0 <= low <= 10 * right <= high <= 100
    assert high - low > 20  # ten graphs say little


def test_held_out_graphs_are_stratified_and_disjoint_from_training():
    training, test = hold_out(TREES, 0.2, seed=0)
    assert sorted([*training.ids, *test.ids]) == list(range(40))
    assert np.unique(test.labels, return_counts=True)[1].tolist() == [4, 4]


def test_the_split_depends_on_the_seed_alone():
    assert hold_out(TREES, 0.2, seed=1)[1] == hold_out(TREES, 0.2, seed=1)[1]
    assert hold_out(TREES, 0.2, seed=1)[1] != hold_out(TREES, 0.2, seed=2)[1]


def test_too_few_graphs_are_an_error_only_where_the_share_was_given():
    assert hold_out(TREES[:6], None, seed=0) == (TREES[:6], None)
    with pytest.raises(ConfigError, match="0 to train on everything"):
        hold_out(TREES[:6], 0.1, seed=0)
