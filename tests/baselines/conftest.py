"""Tasks for methods: one fold of a small set, its test labels hidden."""

import numpy as np
import pytest

from phist.baselines.method import HIDDEN, Task


def fold_of(graphs, labels=None, *, seed=0, cache=None, threads=1):
    """A task of ``graphs``: three fifths train, a fifth validates, the labels of the last fifth are hidden."""
    names = graphs.classes
    labels = np.array([names.index(label) for label in graphs.label_list()]) if labels is None else np.asarray(labels)
    fifth = len(graphs) // 5
    positions = np.arange(len(graphs))
    hidden = labels.copy()
    hidden[4 * fifth :] = HIDDEN
    return Task(
        dataset="made",
        graphs=graphs.with_labels(None),
        labels=hidden,
        n_classes=int(labels.max()) + 1,
        training=positions[: 3 * fifth],
        validation=positions[3 * fifth : 4 * fifth],
        seed=seed,
        cache=cache,
        threads=threads,
    )


@pytest.fixture(scope="session")
def make_fold():
    return fold_of
