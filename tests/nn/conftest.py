"""Graphs for the tests of the network."""

import numpy as np
import pytest
import torch

from phist.graphs.packing import Reading, pack


@pytest.fixture(autouse=True, scope="package")
def one_thread():
    """Matrices this small are slower on two threads than on one."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(scope="session")
def random_graphs():
    """Graphs of given sizes with edges at random, perhaps weighted, some nodes perhaps isolated."""

    def make(sizes, seed=0, *, weighted=False, probability=0.4, **reading):
        rng = np.random.default_rng(seed)
        starts = np.concatenate([[0], np.cumsum(sizes)])
        pairs = [start + np.argwhere(rng.random((size, size)) < probability) for start, size in zip(starts, sizes, strict=False)]
        source, target = np.concatenate(pairs).T
        weights = rng.uniform(0.2, 3.0, len(source)) if weighted else None
        return pack(np.array(sizes), source, target, weights, reading=Reading(**reading))

    return make


@pytest.fixture(scope="session")
def path_graph():
    """A path of given length."""

    def make(n_nodes):
        return pack(np.array([n_nodes]), np.arange(n_nodes - 1), np.arange(1, n_nodes))

    return make
