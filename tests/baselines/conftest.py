"""Tasks for methods: one fold of a small set, its test labels hidden."""

import numpy as np
import pytest

from phist.baselines.method import HIDDEN, Task
from phist.graphs.packing import pack


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


def odd_graphs(n_graphs=20):
    """Graphs of every awkward kind, each many times: one node, nodes without edges, one edge, a star, a path and a node apart."""
    kinds = [(1, []), (3, []), (2, [(0, 1)]), (5, [(0, 1), (0, 2), (0, 3), (0, 4)]), (4, [(0, 1), (1, 2)])]
    chosen = [kinds[graph % len(kinds)] for graph in range(n_graphs)]
    sizes = np.array([size for size, _ in chosen])
    offsets = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    arcs = [(u + first, v + first) for (_, edges), first in zip(chosen, offsets, strict=True) for u, v in edges]
    source, target = np.array(arcs).T
    return pack(sizes, source, target)


@pytest.fixture(scope="session")
def make_fold():
    return fold_of


@pytest.fixture(scope="session")
def make_odd_graphs():
    return odd_graphs
