"""Parameters on their way to compiled code and back."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from engine_truth import SMALL

from phist.engine.function import FusedNetwork
from phist.nn.network import make_network

CONFIGS = {
    "small": SMALL,
    "one layer": replace(SMALL, orders=(3,), channels=(17,)),
    "three layers": replace(SMALL, orders=(1, 4, 2), channels=(16, 1, 33)),
    "sums": replace(SMALL, aggregation="sum"),
    "an order as large as the embedding": replace(SMALL, orders=(16, 2), bins=1),
}


def levels(config):
    fused = FusedNetwork(make_network(config, 2, seed=0))
    half = len(fused.parameters) // 2
    parts = [part.detach() for part in fused.parameters]
    return [(fused.node_level, parts[:half]), (fused.graph_level, parts[half:])]


@pytest.mark.parametrize("name", CONFIGS)
def test_parameters_come_back_as_they_went(name):
    for level, parameters in levels(CONFIGS[name]):
        for found, expected in zip(level.unpack(level.pack(parameters).values), parameters, strict=True):
            assert torch.equal(found, expected)


@pytest.mark.parametrize("name", CONFIGS)
def test_padding_is_zero(name):
    for level, parameters in levels(CONFIGS[name]):
        values = level.pack([torch.ones_like(part) for part in parameters]).values
        matrices = sum(part.numel() for part in parameters[::2])
        assert (values == 1).sum() == 2 * matrices + sum(part.numel() for part in parameters[1::2])  # and the transposes
        assert set(np.unique(values)) <= {0, 1}


@pytest.mark.parametrize("name", CONFIGS)
def test_transposes_stand_beside_their_matrices(name):
    for level, parameters in levels(CONFIGS[name]):
        weights = level.pack(parameters)
        for layer, width in enumerate(level.widths):
            begin, turned = int(weights.matrices[layer]), int(weights.transposes[layer])
            if layer:
                rows, columns = level.orders[layer] * level.widths[layer - 1], width
            elif level.on_embeddings:
                rows, columns = level.bins * level.widths[-1], level.orders[0] * width
            else:
                rows, columns = level.orders[0], width
            matrix = weights.values[begin : begin + rows * columns].reshape(rows, columns)
            np.testing.assert_array_equal(weights.values[turned : turned + rows * columns].reshape(columns, rows), matrix.T)
