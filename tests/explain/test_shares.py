"""Base, size and shares add up to the logits, whatever the network and whoever computes it."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from engine_truth import ODD_GRAPHS, SMALL, random_graphs, settled_network

from phist.engine.choice import compute
from phist.estimators.trained import TrainedNetwork
from phist.explain import shares
from phist.explain.parts import parts_of, signals_of
from phist.explain.readers import Reader
from phist.explain.shares import batches, node_shares
from phist.graphs.graphset import GraphSet
from phist.nn.config import NetworkConfig
from phist.nn.kernels import KERNELS
from phist.nn.sampling import RootSampler

FEW_ROOTS = RootSampler(count=4)
CONFIG = replace(SMALL, moments="head", sampler=FEW_ROOTS)
GRAPHS = random_graphs([9, 4, 1, 12, 6], seed=5)
MEAN_NODES = 7.5


def reader_of(config=CONFIG, engine="reference", inference="auto", seed=0, factor=1.0):
    trained = TrainedNetwork(settled_network(config, seed).eval(), seed, engine, inference, progress=False)
    return Reader.of("network", seed, trained, factor, MEAN_NODES)


def explained(readers, graphs=GRAPHS, **options):
    return list(node_shares(readers, graphs, np.zeros(len(graphs), np.int64), **options))


def sums(found):
    return np.array([one.base + one.size + one.shares.sum(0) for one in found])


def true_logits(reader, graphs=GRAPHS):
    logits = reader.trained.logits(reader.trained.embeddings(graphs)).astype(np.float64)
    return logits - logits.mean(1, keepdims=True)


def assert_adds_up(reader, graphs=GRAPHS):
    expected = true_logits(reader, graphs)
    np.testing.assert_allclose(sums(explained([reader], graphs)), expected, rtol=2e-4, atol=2e-4 * np.abs(expected).max())


@pytest.mark.parametrize("engine", ["reference", "fused"])
@pytest.mark.parametrize("histogram", ["count", "density"])
@pytest.mark.parametrize("kernel", KERNELS)
def test_shares_add_up_to_the_logits_for_every_kernel(kernel, histogram, engine):
    assert_adds_up(reader_of(replace(CONFIG, kernel=kernel, graph_histogram=histogram), engine))


@pytest.mark.parametrize("engine", ["reference", "fused"])
@pytest.mark.parametrize("inference", ["auto", "sampled", "exact"])
@pytest.mark.parametrize("moments", ["none", "head"])
def test_shares_add_up_to_the_mean_over_draws(moments, inference, engine):
    assert_adds_up(reader_of(replace(CONFIG, moments=moments), engine, inference))


@pytest.mark.parametrize(
    "changes",
    [
        {"statistics": "per-root"},
        {"aggregation": "sum"},
        {"aggregation": "mean"},
        {"aggregation": "max"},
        {"standardize": False},
        {"learnable_bins": True},
        {"convolution": "gin"},
        {"convolution": "cayley"},
        {"operator": "random-walk"},
        {"orders": (3,), "channels": (5,)},
    ],
    ids=str,
)
def test_shares_add_up_whatever_the_network(changes):
    assert_adds_up(reader_of(replace(CONFIG, **changes)))


@pytest.mark.parametrize("graphs", ODD_GRAPHS.values(), ids=ODD_GRAPHS)
def test_shares_add_up_on_odd_graphs(graphs):
    assert_adds_up(reader_of(), graphs)


def test_shares_of_a_bag_are_weighed_means():
    readers = [reader_of(seed=0, factor=0.5), reader_of(seed=1, factor=0.25)]
    expected = 0.5 * true_logits(reader_of(seed=0)) + 0.25 * true_logits(reader_of(seed=1))
    found = explained(readers)
    np.testing.assert_allclose(sums(found), expected, atol=1e-4)
    np.testing.assert_allclose([one.logits for one in found], expected, atol=1e-4)


def test_shares_add_up_in_a_network_of_the_usual_size():
    graphs = random_graphs([18, 40, 25], seed=2, probability=0.1)
    assert_adds_up(reader_of(NetworkConfig(moments="head")), graphs)


def test_an_ordinary_graph_is_the_base():
    """A graph whose embedding is the average one, with as many nodes as usual, has shares that add up to nothing."""
    reader = reader_of(replace(CONFIG, graph_histogram="density"), inference="exact")
    own = list(signals_of(reader.trained, compute(reader.trained.network, GRAPHS[:1], "reference"), np.arange(1)))
    embedding = parts_of(reader.trained.network, own).nodes.sum(0)
    with torch.no_grad():
        reader.trained.network.graph_standardizer.mean.copy_(torch.from_numpy(embedding))
    found = explained([Reader.of("network", 0, reader.trained, 1.0, MEAN_NODES)], GRAPHS[:1])[0]
    np.testing.assert_allclose(found.shares.sum(0), 0, atol=1e-4)
    np.testing.assert_allclose(found.logits, found.base, atol=1e-4)


def test_twice_the_nodes_is_an_effect_of_size_where_histograms_count():
    pair = GraphSet.concatenate([GRAPHS[:1], GRAPHS[3:4]])
    for histogram, has_effect in (("count", True), ("density", False)):
        found = explained([reader_of(replace(CONFIG, graph_histogram=histogram))], pair)
        assert all((np.abs(one.size).max() > 1e-6) == has_effect for one in found)
    sizes = pair.node_counts() / MEAN_NODES - 1
    counted = explained([reader_of()], pair)
    np.testing.assert_allclose(counted[0].size / sizes[0], counted[1].size / sizes[1])


def test_nodes_that_are_alike_have_equal_shares():
    star = ODD_GRAPHS["star"]
    shares = explained([reader_of(inference="exact")], star)[0].shares
    np.testing.assert_allclose(shares[1:], np.broadcast_to(shares[1], shares[1:].shape), atol=1e-5)
    assert np.abs(shares[0] - shares[1]).max() > 1e-3


def test_a_graph_is_explained_alike_in_any_company():
    readers = [reader_of()]
    alone = explained(readers, GRAPHS[3:4])[0]
    np.testing.assert_allclose(explained(readers)[3].shares, alone.shares, atol=1e-5)


def test_batches_hold_all_graphs_in_order_and_few_nodes():
    sizes = np.array([3, 4, 9, 1, 1, 5])
    found = list(batches(sizes, 8))
    assert np.concatenate(found).tolist() == list(range(6))
    assert [sizes[chosen].sum() for chosen in found] == [7, 9, 7]


def test_votes_are_the_logits_without_one_embedding():
    reader = reader_of(inference="exact")
    network = reader.trained.network
    computation = compute(network, GRAPHS[:1], "reference")
    (signals,) = signals_of(reader.trained, computation, np.arange(1))
    votes = explained([reader], GRAPHS[:1])[0].votes
    for node in range(9):
        silenced = replace(signals, embeddings=signals.embeddings.clone())
        silenced.embeddings[node] = 0
        change = parts_of(network, [signals]).draws - parts_of(network, [silenced]).draws
        np.testing.assert_allclose(votes[node], (change @ reader.slopes.T)[0, 0], atol=1e-4)


@pytest.mark.parametrize("changes", [{"convolution": "gin"}, {"convolution": "cayley"}, {"moments": "none"}], ids=str)
def test_votes_of_other_networks_are_computed_too(changes):
    votes = explained([reader_of(replace(CONFIG, **changes))])[0].votes
    assert np.abs(votes).max() > 1e-4


def test_nodes_that_are_never_drawn_have_no_vote():
    graphs = random_graphs([60], seed=1, probability=0.1)
    reader = reader_of(replace(CONFIG, sampler=RootSampler(count=2)))
    sampler, drawn = reader.trained.network.config.sampler, set()
    for number in range(10):
        drawn |= set(sampler.draw_by_size(graphs.node_counts(), (0, number)).nodes.tolist())
    votes = explained([reader], graphs)[0].votes
    assert set(np.flatnonzero(np.abs(votes).max(1)).tolist()) == drawn


def test_bins_come_in_the_order_of_their_effects_and_name_the_nodes_that_fill_them():
    found = explained([reader_of()], most_bins=25)[0]
    effects = [abs(one.effect) for one in found.bins]
    assert effects == sorted(effects, reverse=True) and len(effects) == 25  # all of five channels and bins
    for one in found.bins:
        assert one.fill.sum() == pytest.approx(one.value, abs=1e-4)
        assert one.fill[one.nodes[0]] == one.fill.max()


def test_effects_of_channels_and_of_the_moments_of_nodes_add_up_to_the_logit():
    reader = reader_of(replace(CONFIG, moments="none"))
    found = explained([reader], most_bins=25)
    for one in found:
        assert one.base[0] + sum(channel.effect for channel in one.channels) == pytest.approx(one.logits[0], abs=1e-4)
        assert all(channel.bins.sum() == pytest.approx(channel.effect) for channel in one.channels)


def test_little_memory_gives_the_same_explanation():
    graphs = random_graphs([30, 9], seed=4, probability=0.1)
    small = reader_of(replace(CONFIG, max_elements=400), inference="exact")
    for found, expected in zip(explained([small], graphs), explained([reader_of(inference="exact")], graphs), strict=True):
        np.testing.assert_allclose(found.shares, expected.shares, atol=1e-4)
        np.testing.assert_allclose(found.votes, expected.votes, atol=1e-4)


def test_torch_shares_nothing_out_while_the_engine_works(monkeypatch):
    """Its operations are small here, and threads that wait for each other took ten times as long on a busy machine."""
    found, before = [], torch.get_num_threads()
    monkeypatch.setattr(shares, "parts_of", lambda *given: found.append(torch.get_num_threads()) or parts_of(*given))
    torch.set_num_threads(2)
    try:
        explained([reader_of(engine="fused")])
    finally:
        torch.set_num_threads(before)
    assert found == [1]
