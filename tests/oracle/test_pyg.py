"""Our layers inside PyTorch Geometric models, and against its own."""

import numpy as np
import pytest
import torch

from phist.graphs.convert import as_graphset
from phist.graphs.packing import pack
from phist.nn.batch import Batch
from phist.nn.config import NetworkConfig
from phist.nn.convolution import ChebyshevConv
from phist.nn.histogram import MaxAggregation, MeanAggregation, ProjectiveHistogram, SumAggregation
from phist.nn.network import make_network
from phist.nn.sampling import all_roots

pyg = pytest.importorskip("torch_geometric", reason="PyTorch Geometric is the oracle here; pip install phist[gnn]")
from torch_geometric import nn as pyg_nn  # noqa: E402  # only once it is known to be there
from torch_geometric.data import Batch as PygBatch  # noqa: E402
from torch_geometric.data import Data  # noqa: E402

SIBLINGS = [
    (SumAggregation, pyg_nn.SumAggregation),
    (MeanAggregation, pyg_nn.MeanAggregation),
    (MaxAggregation, pyg_nn.MaxAggregation),
]


def random_data(n_nodes, seed):
    """An undirected weighted graph, its last node isolated, as PyG holds it."""
    rng = np.random.default_rng(seed)
    upper = np.argwhere(np.triu(rng.random((n_nodes, n_nodes)) < 0.5, 1))
    upper = upper[upper[:, 1] < n_nodes - 1]
    weights = rng.uniform(0.3, 2.0, len(upper))
    return Data(
        edge_index=torch.from_numpy(np.concatenate([upper, upper[:, ::-1]]).T.copy()),
        edge_weight=torch.from_numpy(np.concatenate([weights, weights])),
        x=torch.from_numpy(rng.normal(size=(n_nodes, 3))),
        num_nodes=n_nodes,
    )


def small_batch():
    return PygBatch.from_data_list([random_data(n_nodes, seed) for seed, n_nodes in enumerate((6, 4, 9))])


class HistogramLayer(pyg_nn.MessagePassing):
    """A message-passing layer that looks at the histogram of its neighbours' features."""

    def __init__(self):
        super().__init__(aggr=[ProjectiveHistogram(4)])
        self.linear = torch.nn.Linear(12, 2)

    def forward(self, x, edge_index):
        return self.linear(self.propagate(edge_index, x=x))


@pytest.mark.parametrize(("ours", "theirs"), SIBLINGS)
@pytest.mark.parametrize("dim_size", [None, 6])
def test_siblings_equal_those_of_pyg_in_value_and_gradient(ours, theirs, dim_size):
    index = torch.tensor([0, 0, 1, 3, 3, 3])
    results, gradients = [], []
    for aggregation in (ours(), theirs()):
        x = torch.tensor([[1.0, -2.0], [3.0, -2.0], [0.0, 5.0], [2.0, 2.0], [2.0, 1.0], [-4.0, 2.0]], requires_grad=True)
        result = aggregation(x, index, dim_size=dim_size)
        result.square().sum().backward()
        results.append(result.detach())
        gradients.append(x.grad)
    torch.testing.assert_close(*results)
    torch.testing.assert_close(*gradients)


@pytest.mark.parametrize(("ours", "theirs"), SIBLINGS)
def test_siblings_are_called_as_those_of_pyg(ours, theirs):
    x, ptr = torch.randn(6, 3, generator=torch.Generator().manual_seed(0)), torch.tensor([0, 2, 5, 6])
    index = torch.tensor([0, 0, 1, 1, 1, 2])
    for arguments in ({}, {"ptr": ptr}, {"index": index}, {"index": index, "ptr": ptr, "dim_size": 3, "dim": 0}):
        torch.testing.assert_close(ours()(x, **arguments), theirs()(x, **arguments))


@pytest.mark.parametrize(("ours", "theirs"), SIBLINGS)
@pytest.mark.parametrize("dim", [0, 1, -2])
def test_siblings_aggregate_the_dimension_pyg_does(ours, theirs, dim):
    x = torch.randn(4, 4, 3, generator=torch.Generator().manual_seed(0))
    index = torch.tensor([0, 2, 2, 0])
    torch.testing.assert_close(ours()(x, index, dim=dim), theirs()(x, index, dim=dim))


def test_histogram_is_a_readout_of_a_pyg_model():
    batch = small_batch()
    histogram = ProjectiveHistogram(4)
    convolved = torch.tanh(pyg_nn.GCNConv(3, 5).double()(batch.x, batch.edge_index))
    expected = torch.cat([histogram(convolved[batch.batch == graph]) for graph in range(3)])
    torch.testing.assert_close(histogram(convolved, batch.batch), expected)


def test_histogram_is_the_pooling_of_a_pyg_sequential():
    batch = small_batch()
    model = pyg_nn.Sequential(
        "x, edge_index, batch",
        [
            (pyg_nn.GCNConv(3, 5), "x, edge_index -> x"),
            torch.nn.Tanh(),
            (ProjectiveHistogram(4), "x, batch -> x"),
            torch.nn.Linear(20, 2),
        ],
    ).double()
    scores = model(batch.x, batch.edge_index, batch.batch)
    scores.sum().backward()
    assert scores.shape == (3, 2)
    assert all(parameter.grad.isfinite().all() for parameter in model.parameters())


def test_histogram_aggregates_the_messages_of_a_pyg_layer():
    batch = small_batch()
    layer = HistogramLayer().double()
    x = torch.tanh(batch.x)
    source, target = batch.edge_index
    expected = [ProjectiveHistogram(4)(x[source[target == node]]) for node in range(batch.num_nodes)]
    torch.testing.assert_close(layer(x, batch.edge_index), layer.linear(torch.cat(expected)))


def test_messages_reach_a_node_without_neighbours_as_an_empty_histogram():
    layer = HistogramLayer().double()
    data = random_data(6, seed=0)
    torch.testing.assert_close(layer(data.x, data.edge_index)[5], layer.linear.bias)


def test_gradients_pass_through_a_pyg_layer():
    data, layer = random_data(6, seed=0), HistogramLayer().double()
    x = data.x.requires_grad_()
    layer(x, data.edge_index).square().sum().backward()
    has_neighbours = torch.isin(torch.arange(6), data.edge_index)
    assert torch.equal(x.grad.abs().amin(1) > 0, has_neighbours)


@pytest.mark.parametrize("order", [1, 2, 5])
def test_chebyshev_equals_that_of_pyg_without_our_scaling(order):
    data = random_data(9, seed=4)
    theirs = pyg_nn.ChebConv(3, 2, order).double()
    ours = ChebyshevConv(3, 2, order, scale=1.0).double()
    with torch.no_grad():
        ours.weight.copy_(torch.stack([linear.weight.T for linear in theirs.lins]))
        ours.bias.normal_()
        theirs.bias.copy_(ours.bias)
    graphs = pack(np.array([9]), *data.edge_index.numpy(), data.edge_weight.numpy())
    expected = theirs(data.x, data.edge_index, data.edge_weight, lambda_max=torch.tensor(2.0, dtype=torch.float64))
    result = ours(data.x.unsqueeze(1), Batch.from_graphs(graphs, dtype=torch.float64)).squeeze(1)
    torch.testing.assert_close(result, expected)


def test_network_reads_pyg_graphs():
    batch = Batch.from_graphs(as_graphset([random_data(6, 0), random_data(4, 1)]))
    scores = make_network(NetworkConfig(channels=(3, 4), bins=4), 2, seed=0)(batch, all_roots(batch))
    assert scores.shape == (2, 2)
