"""What the measurements of conditioning rest on: the graphs, the floor, and a reference that comes back as it was."""

import sys
from pathlib import Path

import numpy as np
import pytest
import torch

from phist.nn.normalization import Moments, MultisetNorm

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks"))  # scripts, in no package
import conditioning

GRAPH = torch.zeros(2, dtype=torch.long)


def whitened(floor, responses):
    """Of a graph of two nodes, by f_graph."""
    norm, x = MultisetNorm(), torch.tensor(responses, dtype=torch.float64).unsqueeze(1)
    moments = norm.moments(x, GRAPH, torch.tensor([2]), torch.ones(1, 1, dtype=torch.float64))
    assert isinstance(moments, Moments)
    with conditioning.floor_of(floor):
        return norm(x, GRAPH, moments).squeeze(1).numpy()


def test_floor_is_relative_to_all_channels_of_a_graph():
    small, large = 0.3, 100.0
    found = whitened(0.1, [[small, large], [-small, -large]])
    size = np.sqrt((small**2 + large**2) / 2)
    assert found[0, 0] == pytest.approx(np.tanh(small / (0.1 * size)))
    assert found[0, 1] == pytest.approx(np.tanh(1))


def test_channels_above_the_floor_are_left_alone():
    responses = [[3.0, 4.0], [-1.0, 2.0]]
    assert (whitened(0.1, responses) == whitened(0.0, responses)).all()


def test_reference_is_as_before_afterwards():
    usual = MultisetNorm.forward
    with pytest.raises(ZeroDivisionError), conditioning.floor_of(0.1):
        assert MultisetNorm.forward is not usual
        raise ZeroDivisionError
    assert MultisetNorm.forward is usual


def test_near_regular_graphs_have_two_to_38_nodes_and_degrees_that_hardly_differ():
    rng = np.random.default_rng(1)
    for graph in (conditioning.near_regular(rng) for _ in range(200)):
        degrees = [degree for _, degree in graph.degree()]
        assert 2 <= len(degrees) <= 38
        assert max(degrees) - min(degrees) <= 1
