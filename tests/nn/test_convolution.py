"""Convolutions against dense formulas, and the matrices of a batch they act with."""

import numpy as np
import pytest
import torch
from torch.nn import functional as F

from phist.errors import ConfigError
from phist.graphs.packing import Reading, pack
from phist.nn.batch import Batch
from phist.nn.config import NetworkConfig
from phist.nn.convolution import CONVOLUTIONS, ArmaConv, CayleyConv, ChebyshevConv, GinConv, SageConv, make_convolution
from phist.nn.network import StructuralEmbedding, make_network
from phist.nn.sampling import all_roots

SIZES = [5, 7, 1]


@pytest.fixture(params=[False, True], ids=["plain", "weighted"])
def graphs(request, random_graphs):
    return random_graphs(SIZES, seed=2, weighted=request.param)


def batch_of(graphs):
    return Batch.from_graphs(graphs, dtype=torch.float64)


def dense(graphs):
    """The block-diagonal adjacency matrix of all graphs."""
    return torch.block_diag(*[torch.from_numpy(graph.adjacency().toarray()) for graph in graphs])


def normalised(adjacency):
    """D^-1/2 A D^-1/2 with zeros where a node is isolated."""
    degrees = adjacency.sum(1)
    inverse = torch.where(degrees > 0, degrees**-0.5, 0.0)
    return inverse[:, None] * adjacency * inverse


def matrix_of(operator, n_nodes):
    return operator(torch.eye(n_nodes, dtype=torch.float64))


def signal(batch, channels=2, roots=3, seed=0):
    return torch.randn(batch.n_nodes, roots, channels, generator=torch.Generator().manual_seed(seed), dtype=torch.float64)


def apply(matrix, x):
    return torch.einsum("mn,nrc->mrc", matrix, x)


def make(kind, *arguments, **options):
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(1)
        layer = kind(*arguments, **options).double()
        for parameter in layer.parameters():
            torch.nn.init.normal_(parameter, std=0.5)  # biases too, so that a test sees them
    return layer


# The batch and its matrices -------------------------------------------------------------------------------------------


def test_laplacian_is_the_scaled_normalised_one(graphs):
    expected = -0.8 * normalised(dense(graphs))
    torch.testing.assert_close(matrix_of(batch_of(graphs).operator("laplacian", 0.8), sum(SIZES)), expected)


def test_spectrum_of_the_laplacian_stays_within_the_scale(graphs):
    matrix = matrix_of(batch_of(graphs).operator("laplacian", 0.8), sum(SIZES))
    assert torch.linalg.eigvalsh(matrix).abs().max() <= 0.8 + 1e-12


def test_kept_loops_leave_the_spectrum_within_the_scale(random_graphs):
    graphs = random_graphs(SIZES, probability=0.6, self_loops="keep")
    assert graphs.loop_counts().any()
    matrix = matrix_of(batch_of(graphs).operator("laplacian", 0.8), sum(SIZES))
    assert torch.linalg.eigvalsh(matrix).abs().max() <= 0.8 + 1e-12


def test_isolated_node_has_a_zero_row():
    graphs = pack(np.array([3]), np.array([0]), np.array([1]))
    for kind in ("laplacian", "random-walk", "mean", "adjacency"):
        assert matrix_of(batch_of(graphs).operator(kind), 3)[2].tolist() == [0, 0, 0]


def test_adjacency_and_mean_are_a_and_a_over_degrees(graphs):
    batch, adjacency = batch_of(graphs), dense(graphs)
    degrees = adjacency.sum(1, keepdim=True).clamp(min=1e-12)
    torch.testing.assert_close(matrix_of(batch.operator("adjacency"), sum(SIZES)), adjacency)
    torch.testing.assert_close(matrix_of(batch.operator("mean"), sum(SIZES)), adjacency / degrees)


def test_random_walk_divides_by_out_degrees(random_graphs):
    graphs = random_graphs(SIZES, weighted=True, directed="keep")
    adjacency = dense(graphs)
    assert not torch.equal(adjacency, adjacency.T)
    expected = -0.5 * adjacency / adjacency.sum(1, keepdim=True).clamp(min=1e-12)
    torch.testing.assert_close(matrix_of(batch_of(graphs).operator("random-walk", 0.5), sum(SIZES)), expected)


@pytest.mark.parametrize("kind", ["random-walk", "mean", "adjacency"])
def test_gradients_of_a_directed_operator_use_its_transpose(random_graphs, kind):
    operator = batch_of(random_graphs([4, 3], weighted=True, directed="keep")).operator(kind)
    x = torch.randn(7, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(operator, x)


def test_operator_acts_on_complex_signals(graphs):
    operator = batch_of(graphs).operator("laplacian")
    real, imaginary = signal(batch_of(graphs)), signal(batch_of(graphs), seed=1)
    expected = torch.complex(operator(real), operator(imaginary))
    torch.testing.assert_close(operator(torch.complex(real, imaginary)), expected)


def test_matrix_is_computed_once_for_all_layers(graphs):
    batch = batch_of(graphs)
    assert batch.operator("laplacian", 0.8) is batch.operator("laplacian", 0.8)
    assert batch.operator("laplacian", 0.8) is not batch.operator("laplacian", 0.7)


def test_laplacian_of_directed_graphs_is_refused(random_graphs):
    with pytest.raises(ConfigError, match='operator="random-walk"'):
        batch_of(random_graphs(SIZES, directed="keep")).operator("laplacian")


def test_batch_knows_its_sizes(graphs):
    batch = batch_of(graphs)
    assert (batch.n_graphs, batch.n_nodes, batch.node_counts.tolist()) == (3, 13, SIZES)
    assert batch.graph_of.tolist() == [0] * 5 + [1] * 7 + [2]


# Filters against dense formulas ---------------------------------------------------------------------------------------


@pytest.mark.parametrize("order", [1, 2, 3, 6])
@pytest.mark.parametrize("kind", ["laplacian", "random-walk"])
def test_chebyshev_equals_the_dense_polynomial(graphs, order, kind):
    batch = batch_of(graphs)
    layer, x = make(ChebyshevConv, 2, 3, order, kind, 0.8), signal(batch)
    matrix = matrix_of(batch.operator(kind, 0.8), sum(SIZES)).numpy()
    expected = layer.bias.detach().numpy()
    for k in range(order):
        values = np.polynomial.chebyshev.Chebyshev.basis(k).convert(kind=np.polynomial.Polynomial).coef
        term = sum(value * np.linalg.matrix_power(matrix, power) for power, value in enumerate(values))
        expected = expected + np.einsum("mn,nrc,co->mro", term, x.numpy(), layer.weight[k].detach().numpy())
    np.testing.assert_allclose(layer(x, batch).detach().numpy(), expected, atol=1e-12)


def test_chebyshev_weights_begin_with_responses_of_like_size():
    with torch.random.fork_rng(devices=[]):
        torch.manual_seed(0)
        layers = {order: ChebyshevConv(1, 4000, order) for order in (1, 4)}
    x = torch.linspace(-0.8, 0.8, 1001)
    for order, layer in layers.items():
        mean_square = sum(torch.cos(k * torch.arccos(x)).square().mean() for k in range(order))
        assert layer.weight.var().item() == pytest.approx(1 / (4000 * mean_square.item()), rel=0.1)
        assert not layer.bias.any()


@pytest.mark.parametrize("zoom", [0.5, 1.0, 2.0])
def test_cayley_converges_to_the_rational_filter(graphs, zoom):
    batch = batch_of(graphs)
    layer, x = make(CayleyConv, 2, 3, 3, iterations=300), signal(batch)
    layer.log_zoom.data.fill_(np.log(zoom))
    identity = torch.eye(batch.n_nodes, dtype=torch.complex128)
    laplacian = identity - normalised(dense(graphs))
    cayley = (zoom * laplacian - 1j * identity) @ torch.linalg.inv(zoom * laplacian + 1j * identity)
    expected = x @ layer.weight + layer.bias
    for power, weight in enumerate(torch.view_as_complex(layer.complex_weight), start=1):
        expected = expected + 2 * (apply(torch.linalg.matrix_power(cayley, power), x.to(torch.complex128)) @ weight).real
    torch.testing.assert_close(layer(x, batch), expected, atol=1e-8, rtol=1e-8)


def test_cayley_learns_its_zoom(graphs):
    layer = make(CayleyConv, 2, 3, 3)
    layer(signal(batch_of(graphs)), batch_of(graphs)).square().sum().backward()
    assert layer.log_zoom.grad.abs() > 0


def test_arma_equals_its_recursion(graphs):
    batch = batch_of(graphs)
    layer, x, matrix = make(ArmaConv, 2, 3, 3, stacks=2), signal(batch), normalised(dense(graphs))
    total = 0
    for stack in range(2):
        rows = slice(3 * stack, 3 * stack + 3)
        direct = [F.linear(x, linear.weight[rows], linear.bias[rows]) for linear in layer.direct]
        state = apply(matrix, x) @ layer.recursive[0].weight[rows].T + direct[0]
        state = apply(matrix, F.elu(state)) @ layer.recursive[1].weight[stack] + direct[1]
        total = total + state / 2
    torch.testing.assert_close(layer(x, batch), total)


def test_gin_equals_its_formula(graphs):
    batch = batch_of(graphs)
    layer, x, adjacency = make(GinConv, 2, 3, 3), signal(batch), dense(graphs)
    expected = x
    for epsilon, mlp in zip(layer.epsilon, layer.mlps, strict=True):
        hidden = F.elu(F.linear((1 + epsilon) * expected + apply(adjacency, expected), mlp[0].weight, mlp[0].bias))
        expected = F.linear(hidden, mlp[2].weight, mlp[2].bias)
    torch.testing.assert_close(layer(x, batch), expected)


def test_sage_equals_its_formula(graphs):
    batch, adjacency = batch_of(graphs), dense(graphs)
    layer, x = make(SageConv, 2, 3, 3), signal(batch)
    mean = adjacency / adjacency.sum(1, keepdim=True).clamp(min=1e-12)
    first = x @ layer.own[0].weight.T + layer.own[0].bias + apply(mean, x) @ layer.neighbors[0].weight.T
    first = F.elu(first)
    expected = first @ layer.own[1].weight.T + layer.own[1].bias + apply(mean, first) @ layer.neighbors[1].weight.T
    torch.testing.assert_close(layer(x, batch), expected)


@pytest.mark.parametrize("kind", CONVOLUTIONS)
def test_gradients_of_every_convolution_are_right(random_graphs, kind):
    batch = batch_of(random_graphs([4], weighted=True))
    layer = make(make_convolution(kind, "laplacian", 0.8), 1, 2, 3)
    x = signal(batch, channels=1, roots=2).requires_grad_()
    assert torch.autograd.gradcheck(lambda x, *_: layer(x, batch), (x, *layer.parameters()))


def test_unknown_convolution_is_refused():
    with pytest.raises(ConfigError, match="'wavelet' is not known"):
        make_convolution("wavelet", "laplacian", 0.8)


# In the network -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("kind", CONVOLUTIONS)
def test_every_convolution_works_in_the_network(graphs, kind):
    batch = Batch.from_graphs(graphs)
    network = make_network(NetworkConfig(convolution=kind, channels=(3, 4), bins=4), 3, seed=0)
    scores = network(batch, all_roots(batch))
    scores.square().sum().backward()
    assert scores.isfinite().all()
    assert all(parameter.grad is not None and parameter.grad.isfinite().all() for parameter in network.parameters())


def reached(path, kind, orders):
    """Which nodes of a path feel an impulse at its end."""
    config = NetworkConfig(convolution=kind, orders=orders, channels=(3,) * len(orders))
    batch = batch_of(path)
    embedding = make(StructuralEmbedding, 1, config, "density")
    x = torch.zeros(batch.n_nodes, 1, 1, dtype=torch.float64)
    silent = embedding.responses(x, batch)
    x[0] = 1
    return (embedding.responses(x, batch) != silent).any(-1).flatten().tolist()


@pytest.mark.parametrize("orders", [(2,), (3, 2), (3, 4)])
@pytest.mark.parametrize("kind", ["chebyshev", "arma", "gin", "sage"])
def test_impulse_reaches_order_minus_one_hops_per_layer(path_graph, kind, orders):
    reach = sum(order - 1 for order in orders)
    assert reached(path_graph(10), kind, orders) == [node <= reach for node in range(10)]


def test_impulse_reaches_one_hop_more_per_step_of_the_cayley_inverse(path_graph):
    assert reached(path_graph(20), "cayley", (2,)) == [node <= 6 for node in range(20)]


def test_order_one_of_chebyshev_stays_at_the_root(path_graph):
    assert reached(path_graph(3), "chebyshev", (1, 1)) == [True, False, False]


def test_directed_graphs_work_with_the_random_walk():
    graphs = pack(np.array([3]), np.array([0, 1]), np.array([1, 2]), reading=Reading(directed="keep"))
    batch = Batch.from_graphs(graphs)
    network = make_network(NetworkConfig(operator="random-walk", channels=(3, 4)), 2, seed=0)
    assert network(batch, all_roots(batch)).isfinite().all()


@pytest.mark.parametrize("scale", [1e-300, 1e-40, 1e39, 1e300])
def test_weights_far_beyond_single_precision_give_the_same_laplacian(scale):
    triangle = np.array([0, 0, 1, 1, 2, 2]), np.array([1, 2, 0, 2, 0, 1]), np.array([1.0, 2.0, 1.0, 3.0, 2.0, 3.0])
    plain, scaled = (pack(np.array([3]), *triangle[:2], factor * triangle[2]) for factor in (1.0, scale))
    x = torch.eye(3)
    expected = Batch.from_graphs(plain).operator("laplacian", 0.8)(x)
    torch.testing.assert_close(Batch.from_graphs(scaled).operator("laplacian", 0.8)(x), expected)
