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


def test_parameters_are_packed_anew_for_every_pass():
    for level, parameters in levels(SMALL):
        before = level.pack(parameters).values.copy()
        level.pack([2 * part for part in parameters])
        np.testing.assert_array_equal(level.weights.values, 2 * before)


def test_every_parameter_has_a_place_of_its_own():
    for level, parameters in levels(SMALL):
        found = level.unpack(np.arange(level.size, dtype=np.float32))
        places = np.concatenate([part.numpy().ravel() for part in found])
        assert len(np.unique(places)) == len(places) == sum(part.numel() for part in parameters)


@pytest.mark.parametrize("name", CONFIGS)
def test_gradients_have_the_shapes_of_their_parameters(name):
    for level, parameters in levels(CONFIGS[name]):
        assert [part.shape for part in level.unpack(np.zeros(level.size, np.float32))] == [part.shape for part in parameters]


def test_embeddings_meet_the_rows_of_their_own_channel_and_bin():
    (_, _), (level, parameters) = levels(SMALL)
    weights, (order, channels, bins) = level.pack(parameters), (SMALL.orders[0], SMALL.channels[-1], SMALL.bins)
    rows, outputs = bins * level.widths[-1], level.widths[0]
    matrix = weights.values[: rows * order * outputs].reshape(bins, level.widths[-1], order, outputs)
    expected = parameters[0].numpy().reshape(order, channels, bins, SMALL.channels[0])
    for number, channel, term in [(0, 0, 0), (2, 1, 1), (bins - 1, channels - 1, order - 1)]:
        np.testing.assert_array_equal(matrix[number, channel, term, : SMALL.channels[0]], expected[term, channel, number])
