"""The two-level network: what its results depend on, and what they do not."""

from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch

from phist.errors import ConfigError
from phist.graphs.convert import as_graphset
from phist.graphs.packing import Reading, pack
from phist.nn.batch import Batch
from phist.nn.config import NetworkConfig
from phist.nn.histogram import ProjectiveHistogram
from phist.nn.kernels import KERNELS
from phist.nn.network import StructuralNetwork, make_network
from phist.nn.sampling import Roots, RootSampler, all_roots

SMALL = NetworkConfig(orders=(3, 2), channels=(4, 5), bins=5, sampler=RootSampler(count=6))
SIZES = [6, 1, 9, 4]


@pytest.fixture(scope="module")
def graphs(random_graphs):
    return random_graphs(SIZES, seed=5, weighted=True)


def batch_of(graphs):
    return Batch.from_graphs(graphs, dtype=torch.float64)


def settled(config, graphs, n_classes=3):
    """A network in double precision whose running statistics have seen the graphs."""
    network = make_network(config, n_classes, seed=0).double()
    batch = batch_of(graphs)
    network.train()
    with torch.no_grad():
        network(batch, all_roots(batch))
    return network.eval()


def sampled(batch, count=6, seed=0):
    return RootSampler(count=count).sample(batch, np.random.default_rng(seed))


def roots_of(roots, batch, graph):
    """The roots of one graph, numbered for a batch that holds that graph alone."""
    return Roots(roots.nodes[graph : graph + 1] - batch.node_ptr[graph], roots.multiplicity[graph : graph + 1])


# Batches --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statistics", ["joint", "per-root"])
@pytest.mark.parametrize("kernel", sorted(KERNELS))
def test_result_of_a_graph_does_not_depend_on_its_batch_mates(graphs, kernel, statistics):
    network, batch = settled(replace(SMALL, kernel=kernel, statistics=statistics), graphs), batch_of(graphs)
    roots = sampled(batch)
    together = network(batch, roots)
    for graph in range(len(graphs)):
        alone = network(batch_of(graphs[[graph]]), roots_of(roots, batch, graph))
        torch.testing.assert_close(alone[0], together[graph])


@pytest.mark.parametrize("aggregation", ["sum", "mean", "max"])
def test_batch_mates_do_not_matter_to_the_other_aggregations(graphs, aggregation):
    network, batch = settled(replace(SMALL, aggregation=aggregation), graphs), batch_of(graphs)
    roots = sampled(batch)
    alone = network(batch_of(graphs[[2]]), roots_of(roots, batch, 2))
    torch.testing.assert_close(alone[0], network(batch, roots)[2])


def test_batch_mates_do_not_matter_in_training_after_the_first_batch(graphs):
    batch = batch_of(graphs)
    roots = sampled(batch)
    together = settled(SMALL, graphs).train()(batch, roots)
    alone = settled(SMALL, graphs).train()(batch_of(graphs[[2]]), roots_of(roots, batch, 2))
    torch.testing.assert_close(alone[0], together[2])


@pytest.mark.parametrize("statistics", ["joint", "per-root"])
def test_gradients_of_a_batch_are_the_sum_of_those_of_its_graphs(graphs, statistics):
    network, batch = settled(replace(SMALL, statistics=statistics), graphs), batch_of(graphs)
    roots = sampled(batch)
    together = torch.autograd.grad(network(batch, roots).square().sum(), list(network.parameters()))
    total = sum(network(batch_of(graphs[[graph]]), roots_of(roots, batch, graph)).square().sum() for graph in range(len(graphs)))
    torch.testing.assert_close(together, torch.autograd.grad(total, list(network.parameters())))


@pytest.mark.parametrize("statistics", ["joint", "per-root"])
@pytest.mark.parametrize("max_elements", [1, 300])
def test_computing_roots_in_turns_changes_nothing(graphs, statistics, max_elements):
    config = replace(SMALL, statistics=statistics, moments="head")
    whole = settled(config, graphs)
    in_turns = settled(replace(config, max_elements=max_elements), graphs)
    batch = batch_of(graphs)
    with torch.no_grad():
        torch.testing.assert_close(in_turns(batch, all_roots(batch)), whole(batch, all_roots(batch)))


def test_memory_limit_bounds_the_impulses_alive_at_a_time(graphs, monkeypatch):
    network, batch = settled(replace(SMALL, max_elements=300), graphs), batch_of(graphs)
    seen = []
    monkeypatch.setattr(network.f_node, "responses", record(seen, network.f_node.responses))
    with torch.no_grad():
        network(batch, all_roots(batch))
    assert max(seen) * max(SMALL.channels) <= 300


def record(seen, function):
    def recorded(x, batch):
        seen.append(x.shape[0] * x.shape[1])
        return function(x, batch)

    return recorded


# Nodes and roots ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statistics", ["joint", "per-root"])
@pytest.mark.parametrize("convolution", ["chebyshev", "cayley", "arma", "gin", "sage"])
def test_relabelling_nodes_and_their_roots_changes_nothing(random_graphs, convolution, statistics):
    graph = random_graphs([9], seed=1, weighted=True)
    network = settled(replace(SMALL, convolution=convolution, statistics=statistics), graph)
    place = np.random.default_rng(2).permutation(9)
    source = np.repeat(np.arange(9), graph.degrees())
    relabelled = pack(np.array([9]), place[source], place[graph.indices], graph.weights)
    roots = sampled(batch_of(graph))
    moved = Roots(torch.from_numpy(place)[roots.nodes], roots.multiplicity)
    torch.testing.assert_close(network(batch_of(relabelled), moved), network(batch_of(graph), roots))


@pytest.mark.parametrize("statistics", ["joint", "per-root"])
def test_root_drawn_twice_equals_two_slots(graphs, statistics):
    network, batch = settled(replace(SMALL, statistics=statistics), graphs), batch_of(graphs)
    nodes = batch.node_ptr[:-1, None] + torch.tensor([[0, 3], [0, 0], [8, 2], [3, 1]])
    twice = Roots(nodes, torch.tensor([[2.0, 1.0]] * 4, dtype=torch.float64))
    slots = Roots(nodes[:, [0, 1, 0]], torch.ones(4, 3, dtype=torch.float64))
    torch.testing.assert_close(network(batch, twice), network(batch, slots))


def test_slots_that_were_not_drawn_do_not_count(graphs):
    network, batch = settled(SMALL, graphs), batch_of(graphs)
    roots = sampled(batch)
    padded = Roots(
        torch.cat([roots.nodes, batch.node_ptr[1:, None] - 1], dim=1),
        torch.cat([roots.multiplicity, torch.zeros(4, 1, dtype=torch.float64)], dim=1),
    )
    torch.testing.assert_close(network(batch, padded), network(batch, roots))


def test_twins_have_equal_embeddings(path_graph):
    path = path_graph(5)
    network, batch = settled(SMALL, path), batch_of(path)
    embeddings = network.node_embeddings(batch, all_roots(batch))[0]
    torch.testing.assert_close(embeddings[0], embeddings[4])
    assert (embeddings[0] - embeddings[1]).abs().max() > 1e-3


def test_graphs_of_other_structure_have_other_embeddings(path_graph):
    ring = pack(np.array([6]), np.arange(6), (np.arange(6) + 1) % 6)
    network = settled(SMALL, path_graph(6))
    path, ring = batch_of(path_graph(6)), batch_of(ring)
    difference = network.graph_embeddings(path, all_roots(path)) - network.graph_embeddings(ring, all_roots(ring))
    assert difference.abs().max() > 1e-3


def test_scores_are_the_head_of_the_graph_embeddings(graphs):
    network, batch = settled(SMALL, graphs), batch_of(graphs)
    roots = sampled(batch)
    torch.testing.assert_close(network(batch, roots), network.head(network.graph_embeddings(batch, roots)))


# Legal but odd graphs -------------------------------------------------------------------------------------------------


def odd_graphs(name):
    if name == "one node":
        return pack(np.array([1]), np.array([], int), np.array([], int))
    if name == "edgeless":
        return pack(np.array([4, 2]), np.array([], int), np.array([], int))
    if name == "isolated nodes":
        return pack(np.array([5, 1]), np.array([0, 1]), np.array([1, 2]))
    if name == "disconnected":
        return pack(np.array([6]), np.array([0, 1, 3, 4]), np.array([1, 2, 4, 5]))
    if name == "weighted":
        return pack(np.array([4]), np.array([0, 1, 2]), np.array([1, 2, 3]), np.array([1e-6, 1.0, 1e6]))
    if name == "kept loops":
        return pack(np.array([3, 1]), np.array([0, 0, 3]), np.array([0, 1, 3]), reading=Reading(self_loops="keep"))
    return pack(np.array([4]), np.array([0, 1, 1]), np.array([1, 2, 0]), reading=Reading(directed="keep"))


@pytest.mark.parametrize("statistics", ["joint", "per-root"])
@pytest.mark.parametrize("name", ["one node", "edgeless", "isolated nodes", "disconnected", "weighted", "kept loops", "directed"])
def test_odd_graphs_give_finite_scores_and_gradients(name, statistics):
    graphs = odd_graphs(name)
    operator = "random-walk" if graphs.directed else "laplacian"
    network = make_network(replace(SMALL, operator=operator, statistics=statistics), 2, seed=0)
    batch = Batch.from_graphs(graphs)
    for _ in range(2):  # the second batch is standardised by the statistics of the first
        scores = network(batch, sampled(batch))
        network.zero_grad()
        scores.square().sum().backward()
        assert scores.isfinite().all()
        assert all(parameter.grad.isfinite().all() for parameter in network.parameters())


def test_directed_graphs_need_the_random_walk():
    batch = Batch.from_graphs(odd_graphs("directed"))
    with pytest.raises(ConfigError, match="random-walk"):
        make_network(SMALL, 2, seed=0)(batch, all_roots(batch))


# Options --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statistics", ["joint", "per-root"])
def test_moments_widen_what_the_head_sees_and_nothing_else(graphs, statistics):
    network = settled(replace(SMALL, moments="head", statistics=statistics), graphs)
    batch = batch_of(graphs)
    assert network.node_embeddings(batch, all_roots(batch)).shape == (4, 9, 25)
    assert network.f_graph.in_channels == 25
    assert network.graph_embeddings(batch, all_roots(batch)).shape == (4, 25 + 4 * 5)
    assert network.out_channels == network.head.in_features == len(network.graph_standardizer.mean) == 45


def test_moments_are_mean_and_deviation_of_the_responses_of_both_levels(graphs):
    network, batch = settled(replace(SMALL, moments="head", standardize=False), graphs), batch_of(graphs)
    embedding, alone = network.graph_embeddings(batch, all_roots(batch))[2], batch_of(graphs[[2]])
    signal = network.node_embeddings(alone, all_roots(alone))[0].unsqueeze(1)
    of_graph = network.f_graph.responses(signal, alone)[:, 0]
    of_nodes = network.f_node.responses(torch.eye(9, dtype=torch.float64).unsqueeze(-1), alone).flatten(0, 1)
    for begin, responses in ((25, of_graph), (35, of_nodes)):
        torch.testing.assert_close(embedding[begin : begin + 5], responses.mean(0))
        torch.testing.assert_close(embedding[begin + 5 : begin + 10], (responses.var(0, unbiased=False) + 1e-4).sqrt())


def test_moments_of_roots_whitened_one_by_one_are_the_mean_over_the_draws(graphs):
    config = replace(SMALL, moments="head", statistics="per-root", standardize=False)
    network, batch = settled(config, graphs[[2]]), batch_of(graphs[[2]])
    roots = sampled(batch, count=12)
    times = roots.multiplicity[0].long()
    assert times.max() > 1
    impulses = torch.eye(9, dtype=torch.float64)[:, torch.repeat_interleave(roots.nodes[0], times)].unsqueeze(-1)
    responses = network.f_node.responses(impulses, batch)  # (nodes, draws, channels)
    embedding = network.graph_embeddings(batch, roots)[0]
    torch.testing.assert_close(embedding[35:40], responses.mean(0).mean(0))
    torch.testing.assert_close(embedding[40:], (responses.var(0, unbiased=False) + 1e-4).sqrt().mean(0))


def test_gradients_flow_through_the_moments_of_both_levels(graphs):
    network, batch = settled(replace(SMALL, moments="head"), graphs), batch_of(graphs)
    embeddings = network.graph_embeddings(batch, sampled(batch))
    of_graph, of_nodes = embeddings[:, 25:35].square().sum(), embeddings[:, 35:].square().sum()
    biases = [network.f_node.convolutions[-1].bias, network.f_graph.convolutions[-1].bias]  # whitening hides them
    through_graph = torch.autograd.grad(of_graph, biases[1], retain_graph=True)[0]
    through_nodes = torch.autograd.grad(of_nodes, biases[0])[0]
    assert through_graph.abs().min() > 0 and through_nodes.abs().min() > 0


SIX_NODES = {
    "cycle": nx.cycle_graph(6),
    "two triangles": nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3)),
    "complete": nx.complete_graph(6),
    "bipartite": nx.complete_bipartite_graph(3, 3),
    "prism": nx.circular_ladder_graph(3),
    "empty": nx.empty_graph(6),
}
SKIP_LINKS = {skip: nx.circulant_graph(41, [1, skip]) for skip in (2, 3, 4, 5, 6, 9, 11, 12, 13, 16)}


@pytest.mark.parametrize("alike", [SIX_NODES, SKIP_LINKS], ids=["six nodes", "skip links"])
@pytest.mark.parametrize("seed", range(3))
def test_graphs_whose_nodes_all_look_alike_are_told_apart_by_moments_only(alike, seed):
    batch = batch_of(as_graphset(list(alike.values())))
    for moments, told_apart in (("none", False), ("head", True)):
        network = make_network(replace(SMALL, orders=(3, 3), moments=moments, standardize=False), 2, seed).double()
        with torch.no_grad():
            embeddings = network.graph_embeddings(batch, all_roots(batch))
        distances = torch.nn.functional.pdist(embeddings, p=torch.inf)
        assert distances.min() > 1e-6 if told_apart else distances.max() < 1e-9


def test_learnable_bins_learn_at_both_levels(graphs):
    network, batch = settled(replace(SMALL, learnable_bins=True), graphs), batch_of(graphs)
    network(batch, sampled(batch)).square().sum().backward()
    for level in (network.f_node, network.f_graph):
        assert isinstance(level.aggregation, ProjectiveHistogram)
        assert all(parameter.grad.abs().max() > 0 for parameter in level.aggregation.parameters())


def test_without_standardisation_embeddings_are_the_histograms(graphs):
    network, batch = settled(replace(SMALL, standardize=False), graphs), batch_of(graphs)
    embeddings = network.node_embeddings(batch, all_roots(batch))
    histograms = embeddings.unflatten(-1, (5, 5))  # densities of gaussian bumps
    assert histograms.min() >= 0 and histograms.max() <= 1


def test_densities_below_and_counts_above_are_the_default(graphs):
    network = make_network(NetworkConfig(), 2, seed=0)
    assert (network.f_node.aggregation.density, network.f_graph.aggregation.density) == (True, False)


@pytest.mark.parametrize("moments", ["none", "head"])
def test_gradients_of_the_network_are_right(random_graphs, moments):
    graphs = random_graphs([4, 3], seed=3, weighted=True)
    config = replace(SMALL, channels=(2, 2), bins=3, moments=moments)
    network, batch = settled(config, graphs, n_classes=2), batch_of(graphs)
    roots = sampled(batch, count=3)
    assert torch.autograd.gradcheck(lambda *_: network(batch, roots), tuple(network.parameters()))


def test_single_precision_agrees_with_double(graphs):
    network, batch = settled(SMALL, graphs), batch_of(graphs)
    precise = network(batch, all_roots(batch))
    single = Batch.from_graphs(graphs)
    torch.testing.assert_close(network.float()(single, all_roots(single)).double(), precise, rtol=1e-3, atol=1e-3)


def test_signals_of_another_width_are_refused(graphs):
    network, batch = settled(SMALL, graphs), batch_of(graphs)
    with pytest.raises(ConfigError, match="7 channels were given; this embedding takes 25"):
        network.f_graph(torch.zeros(batch.n_nodes, 1, 7, dtype=torch.float64), batch, torch.ones(4, 1))


def test_network_needs_a_class():
    with pytest.raises(ConfigError, match="n_classes=0"):
        StructuralNetwork(SMALL, 0)


def test_parameters_depend_on_the_seed_alone():
    torch.manual_seed(1)
    first = make_network(SMALL, 2, seed=7).state_dict()
    after = torch.rand(1)
    torch.manual_seed(1)
    assert torch.equal(torch.rand(1), after)
    torch.testing.assert_close(dict(make_network(SMALL, 2, seed=7).state_dict()), dict(first))
