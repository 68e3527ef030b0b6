"""Parameters on their way to compiled code and back."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from engine_truth import SMALL

from phist.engine.parameters import FlatViews, Parameters
from phist.engine.shape import shape_of
from phist.engine.simd import LANES
from phist.nn.network import make_network

CLASSES = 3
CONFIGS = {
    "small": SMALL,
    "one layer": replace(SMALL, orders=(3,), channels=(17,)),
    "three layers": replace(SMALL, orders=(1, 4, 2), channels=(16, 1, 33)),
    "sums": replace(SMALL, aggregation="sum"),
    "moments": replace(SMALL, moments="head"),
    "an order as large as the embedding": replace(SMALL, orders=(16, 2), bins=1),
}


def parameters_of(config):
    network = make_network(config, CLASSES, seed=0)
    layers = [*network.f_node.convolutions, *network.f_graph.convolutions, network.head]
    parameters = Parameters(shape_of(network), config.channels, [part for layer in layers for part in (layer.weight, layer.bias)])
    parameters.read()
    return parameters


def areas(config):
    """Of each level its weights and, for every layer, rows and columns of the padded matrix and its width."""
    shape, parameters = shape_of(make_network(config, CLASSES, seed=0)), parameters_of(config)
    orders, widths, bins = shape.orders.tolist(), shape.widths.tolist(), shape.bins.number
    above = [(order * below, width, width) for order, below, width in zip(orders[1:], widths, widths[1:], strict=False)]
    first = [(orders[0], widths[0], widths[0]), (bins * widths[-1], orders[0] * widths[0], widths[0])]
    return [(parameters.node, [first[0], *above]), (parameters.graph, [first[1], *above])]


@pytest.fixture(params=CONFIGS)
def config(request):
    return CONFIGS[request.param]


# To compiled code -----------------------------------------------------------------------------------------------------


def test_parameters_come_back_as_they_went(config):
    parameters = parameters_of(config)
    for found, expected in zip(parameters.collect(parameters.node.values[None]), parameters.tensors, strict=True):
        assert torch.equal(found, expected)


def test_levels_and_head_lie_in_one_array():
    parameters = parameters_of(SMALL)
    assert parameters.node.values is parameters.graph.values is parameters.head.values is parameters.packed


def test_padding_is_zero(config):
    parameters = parameters_of(config)
    with torch.no_grad():
        for tensor in parameters.tensors:
            tensor.fill_(1)
    parameters.read()
    values, convolutions = parameters.node.values, parameters.tensors[:-2]
    matrices, everything = sum(part.numel() for part in convolutions[::2]), sum(part.numel() for part in parameters.tensors)
    assert (values == 1).sum() == everything + matrices  # matrices stand there twice, as their transposes too
    assert set(np.unique(values)) <= {0, 1}


def test_transposes_stand_beside_their_matrices(config):
    for weights, sizes in areas(config):
        for layer, (rows, columns, _) in enumerate(sizes):
            begin, turned, area = int(weights.matrices[layer]), int(weights.transposes[layer]), rows * columns
            matrix = weights.values[begin : begin + area].reshape(rows, columns)
            assert matrix.any()
            np.testing.assert_array_equal(weights.values[turned : turned + area].reshape(columns, rows), matrix.T)


def test_everything_lies_apart_in_order_and_on_whole_vectors(config):
    parameters, begins, needed = parameters_of(config), [], []
    for weights, sizes in areas(config):
        begins += [*weights.matrices, *weights.biases]
        needed += [rows * columns for rows, columns, _ in sizes] + [width for _, _, width in sizes]
    head = parameters.head
    begins += [head.matrix, head.bias]
    shape = shape_of(make_network(config, CLASSES, seed=0))
    needed += [head.n_classes * (shape.bins.number + shape.moments) * int(shape.widths[-1]), head.n_classes]
    transposes = [
        (begin, rows * columns)
        for weights, sizes in areas(config)
        for begin, (rows, columns, _) in zip(weights.transposes, sizes, strict=True)
    ]
    assert transposes[0][0] == parameters.own_size  # all of them behind what is learnt
    begins += [begin for begin, _ in transposes]
    needed += [area for _, area in transposes]
    for begin, end, size in zip(begins, [*begins[1:], len(parameters.packed)], needed, strict=True):
        assert begin % LANES == 0 and size <= end - begin < size + LANES


def test_every_parameter_has_a_place_of_its_own(config):
    parameters = parameters_of(config)
    count = sum(part.numel() for part in parameters.tensors)
    assert len(np.unique(parameters.positions)) == len(parameters.positions) == count


def test_embeddings_meet_the_rows_of_their_own_channel_and_bin():
    parameters, (order, channels, bins) = parameters_of(SMALL), (SMALL.orders[0], SMALL.channels[-1], SMALL.bins)
    begin = int(parameters.graph.matrices[0])
    matrix = parameters.graph.values[begin : begin + bins * LANES * order * LANES].reshape(bins, LANES, order, LANES)
    weight = parameters.tensors[2 * len(SMALL.orders)].detach().numpy().reshape(order, channels, bins, SMALL.channels[0])
    for number, channel, term in [(0, 0, 0), (2, 1, 1), (bins - 1, channels - 1, order - 1)]:
        np.testing.assert_array_equal(matrix[number, channel, term, : SMALL.channels[0]], weight[term, channel, number])


def test_head_meets_the_embeddings_in_the_order_of_the_engine():
    parameters, (channels, bins) = parameters_of(SMALL), (SMALL.channels[-1], SMALL.bins)
    head = parameters.head
    matrix = head.values[head.matrix : head.matrix + CLASSES * bins * LANES].reshape(CLASSES, bins, LANES)
    expected = parameters.tensors[-2].detach().numpy().reshape(CLASSES, channels, bins).swapaxes(1, 2)
    np.testing.assert_array_equal(matrix[:, :, :channels], expected)
    np.testing.assert_array_equal(head.values[head.bias : head.bias + CLASSES], parameters.tensors[-1].detach().numpy())


def test_parameters_are_read_anew():
    parameters = parameters_of(SMALL)
    before = parameters.node.values.copy()
    with torch.no_grad():
        for tensor in parameters.tensors:
            tensor.mul_(2)
    parameters.read()
    np.testing.assert_array_equal(parameters.node.values, 2 * before)


def test_parameters_that_moved_to_other_memory_are_found():
    parameters = parameters_of(SMALL)
    before = parameters.node.values.copy()
    for tensor in parameters.tensors:
        tensor.data = 3 * tensor.data
    parameters.read()
    np.testing.assert_array_equal(parameters.node.values, 3 * before)


# Gradients ------------------------------------------------------------------------------------------------------------


def thread_gradients(parameters, threads=3):
    """Whole numbers, so that sums in any order are the same; padding has some too, which nobody may see."""
    return np.random.default_rng(0).integers(-9, 9, (threads, parameters.own_size)).astype(np.float32)


def test_gradients_of_all_threads_add_up():
    parameters = parameters_of(SMALL)
    gradients = thread_gradients(parameters)
    never_inline = [parameters.collect(gradients[[thread]]) for thread in range(3)]
    for found, *parts in zip(parameters.collect(gradients), *never_inline, strict=True):
        assert torch.equal(found, sum(parts))


def test_gradients_have_the_shapes_of_their_parameters(config):
    parameters = parameters_of(config)
    found = parameters.collect(thread_gradients(parameters))
    assert [part.shape for part in found] == [part.shape for part in parameters.tensors]


def test_collected_gradients_have_memory_of_their_own():
    parameters = parameters_of(SMALL)
    gradients = thread_gradients(parameters)
    first = parameters.collect(gradients)
    before = [part.clone() for part in first]
    parameters.collect(2 * gradients)
    assert all(torch.equal(one, other) for one, other in zip(first, before, strict=True))


# Views ----------------------------------------------------------------------------------------------------------------


def test_views_share_the_memory_of_their_tensors():
    tensors = [torch.zeros(2, 3), torch.zeros(()), torch.zeros(4, dtype=torch.int64)]
    views = FlatViews().of(tensors)
    for view in views:
        view[:] = 5
    assert [len(view) for view in views] == [6, 1, 4]
    assert all((tensor == 5).all() for tensor in tensors)


def test_views_are_made_anew_only_when_a_tensor_has_moved():
    tensors, views = [torch.zeros(2), torch.zeros(3)], FlatViews()
    first = views.of(tensors)
    assert views.of(tensors) is first
    tensors[1] = torch.ones(3)
    assert views.of(tensors)[1].tolist() == [1, 1, 1]
