"""Scores of a trained network."""

import numpy as np
import pytest
import torch

from phist.estimators.trained import TrainedNetwork
from phist.nn.config import NetworkConfig
from phist.nn.network import make_network


@pytest.fixture
def trained():
    return TrainedNetwork(make_network(NetworkConfig(channels=(4, 11), bins=3), 37, seed=0).eval(), seed=0)


@pytest.fixture
def embeddings(trained):
    return np.random.default_rng(0).normal(size=(100, trained.network.out_channels)).astype(np.float32)


def test_scores_are_those_of_the_head(trained, embeddings):
    with torch.no_grad():
        expected = trained.network.head(torch.from_numpy(embeddings)).numpy()
    np.testing.assert_allclose(trained.logits(embeddings), expected, atol=1e-5)


@pytest.mark.parametrize("size", [1, 7])
def test_scores_do_not_depend_on_the_rows_beside_to_the_last_bit(trained, embeddings, size):
    parts = [trained.logits(embeddings[begin : begin + size]) for begin in range(0, 100, size)]
    np.testing.assert_array_equal(np.concatenate(parts), trained.logits(embeddings))
