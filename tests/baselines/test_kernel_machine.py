"""The machine on a Gram matrix: which penalty it takes, and what its probabilities are."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.svm import SVC

from phist import as_graphset
from phist.baselines.kernel_machine import KernelMachine, scales_of
from phist.baselines.method import HIDDEN, Task


def task_of(labels, n_training, n_validation):
    """The first graphs train, the next validate, the labels of the rest are hidden."""
    labels = np.asarray(labels)
    visible = np.where(np.arange(len(labels)) < n_training + n_validation, labels, HIDDEN)
    training, validation = np.arange(n_training), np.arange(n_training, n_training + n_validation)
    graphs = as_graphset([nx.empty_graph(1)] * len(labels))
    return Task("made", graphs, visible, int(labels.max()) + 1, training, validation, seed=0)


def clusters(n_classes, n_graphs=60, noise=0.3, seed=0):
    """A linear kernel between noisy points around as many centres as classes."""
    rng = np.random.default_rng(seed)
    labels = np.arange(n_graphs) % n_classes
    points = np.eye(n_classes + 1)[labels] + noise * rng.normal(size=(n_graphs, n_classes + 1))
    return points @ points.T, labels


@pytest.mark.parametrize("n_classes", [2, 3, 6])
def test_machine_learns_separate_classes(n_classes):
    gram, labels = clusters(n_classes)
    machine = KernelMachine(gram, (0.1, 1.0, 10.0))
    account = machine.fit(task_of(labels, 36, 12))
    answers = machine.predict(np.arange(48, 60)).argmax(axis=1)
    assert (answers == labels[48:]).mean() > 0.7
    assert [tried["C"] for tried in account.tried] == [0.1, 1.0, 10.0]
    assert account.validation_accuracy == max(tried["validation_accuracy"] for tried in account.tried)


@settings(max_examples=25, deadline=None)
@given(n_classes=st.integers(2, 4), noise=st.floats(0, 3), seed=st.integers(0, 1000), is_blank=st.booleans())
def test_most_probable_class_is_the_prediction_of_the_machine(n_classes, noise, seed, is_blank):
    gram, labels = clusters(n_classes, 40, noise, seed)
    if is_blank:
        gram[30:], gram[:, 30:] = 0.0, 0.0  # graphs that resemble nothing stand on the boundary, if anything does
    machine = KernelMachine(gram, (1.0,))
    machine.fit(task_of(labels, 30, 5))
    scales = scales_of(gram)
    normalised = gram * scales[:, None] * scales
    reference = SVC(C=1.0, kernel="precomputed", break_ties=True).fit(normalised[:30, :30], labels[:30])
    probabilities = machine.predict(np.arange(40))
    np.testing.assert_array_equal(probabilities.argmax(axis=1), reference.predict(normalised[:, :30]))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


def test_a_graph_on_the_boundary_goes_where_the_machine_puts_it():
    gram = np.diag([1.0, 1.0, 0.0, 0.0])
    machine = KernelMachine(gram, (1.0,))
    machine.fit(task_of([0, 1, 0, 1], 2, 1))
    assert machine.predict(np.array([3])).argmax() == SVC(kernel="precomputed").fit(np.eye(2), [0, 1]).predict([[0, 0]])[0]


def test_the_smallest_of_equally_good_penalties_is_chosen():
    gram, labels = clusters(2, noise=0.0)
    account = KernelMachine(gram, (100.0, 1.0, 10.0)).fit(task_of(labels, 36, 12))
    assert {tried["validation_accuracy"] for tried in account.tried} == {1.0}
    assert account.chosen == {"C": 1.0}


def test_classes_that_training_never_saw_have_probability_zero():
    gram, labels = clusters(3)
    labels[labels == 1] = 0
    labels[-1] = 1  # in the test part only
    machine = KernelMachine(gram, (1.0,))
    machine.fit(task_of(labels, 36, 12))
    assert machine.predict(np.arange(60))[:, 1].max() == 0.0


def test_a_single_training_class_is_always_the_answer():
    gram, _ = clusters(2)
    machine = KernelMachine(gram, (0.1, 1.0))
    account = machine.fit(task_of(np.repeat([1, 0], [40, 20]), 36, 12))
    assert machine.predict(np.arange(60)).tolist() == [[0.0, 1.0]] * 60
    assert account.training_accuracy == 1.0


def test_without_validation_graphs_the_smallest_penalty_stays():
    gram, labels = clusters(2)
    account = KernelMachine(gram, (1.0, 0.1)).fit(task_of(labels, 36, 0))
    assert account.chosen == {"C": 0.1}
    assert account.validation_accuracy is None


def test_nothing_to_predict_gives_an_empty_table():
    gram, labels = clusters(3)
    machine = KernelMachine(gram, (1.0,))
    machine.fit(task_of(labels, 36, 12))
    assert machine.predict(np.arange(0)).shape == (0, 3)
