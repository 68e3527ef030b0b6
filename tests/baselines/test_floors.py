"""The floors: class frequencies, sizes, degree histograms."""

import numpy as np
import pytest

from phist.baselines.floors import METHODS, DegreeHistogram, Majority, SizeOnly
from phist.errors import ConfigError
from phist.graphs.generate import make_trees
from phist.graphs.graphset import GraphSet

every_floor = pytest.mark.parametrize("floor", METHODS, ids=lambda method: method.name)


def accuracy(method, task, truth):
    tested = np.arange(len(truth))[task.labels == -1]
    return float((method.predict(tested).argmax(1) == truth[tested]).mean())


def of_two_sizes():
    """Trees of 10 and of 20 nodes in turn, labelled by their size."""
    small, large = make_trees(50, n_nodes=10, seed=0), make_trees(50, n_nodes=20, seed=1)
    graphs = GraphSet.concatenate([small, large])[np.arange(100).reshape(2, 50).T.ravel()]
    return graphs, np.arange(100) % 2


def test_majority_answers_with_the_frequencies_of_the_training_classes(make_fold):
    task = make_fold(make_trees(10, seed=0), [0, 0, 0, 0, 1, 2, 1, 1, 1, 1])
    fitted = Majority().fit(task)
    assert fitted.predict(np.array([9, 0])).tolist() == [[4 / 6, 1 / 6, 1 / 6]] * 2
    assert (fitted.account.training_accuracy, fitted.account.validation_accuracy) == (4 / 6, 0.0)


def test_sizes_tell_small_trees_from_large_ones(make_fold):
    graphs, truth = of_two_sizes()
    task = make_fold(graphs, truth)
    assert accuracy(SizeOnly().fit(task), task, truth) == 1.0
    assert accuracy(Majority().fit(task), task, truth) == 0.5


def test_degrees_tell_kinds_of_trees_apart_where_sizes_cannot(make_fold):
    truth = np.arange(100) % 2  # the two kinds take turns
    task = make_fold(make_trees(100, n_nodes=100, seed=0), truth)
    assert accuracy(DegreeHistogram().fit(task), task, truth) > 0.8
    assert accuracy(SizeOnly().fit(task), task, truth) <= 0.6


@every_floor
def test_probabilities_add_up_and_do_not_change_with_the_same_seed(floor, make_fold):
    task = make_fold(make_trees(30, seed=0))
    first, second = (floor().fit(task).predict(np.arange(30)) for _ in range(2))
    assert first.shape == (30, 2)
    np.testing.assert_allclose(first.sum(1), 1.0)
    np.testing.assert_array_equal(first, second)


@every_floor
def test_awkward_graphs_are_fine(floor, make_fold, make_odd_graphs):
    task = make_fold(make_odd_graphs(), np.arange(20) % 2)
    np.testing.assert_allclose(floor().fit(task).predict(np.arange(20)).sum(1), 1.0)


@every_floor
def test_a_class_that_training_never_saw_has_a_column(floor, make_fold):
    labels = np.zeros(10, int)
    labels[[3, 7]] = 1, 2
    assert floor().fit(make_fold(make_trees(10, seed=0), labels)).predict(np.arange(3)).shape == (3, 3)


@every_floor
def test_floors_have_no_options(floor, make_fold):
    with pytest.raises(ConfigError, match="has no option 'trees'"):
        floor(trees=3).fit(make_fold(make_trees(10, seed=0)))


@every_floor
def test_the_account_tells_training_and_validation_accuracy(floor, make_fold):
    account = floor().fit(make_fold(make_trees(30, seed=0))).account
    assert 0 <= account.training_accuracy <= 1
    assert 0 <= account.validation_accuracy <= 1
