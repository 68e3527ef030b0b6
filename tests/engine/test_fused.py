"""The door to torch: determinism, passes between passes, and memory that comes back."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch
from engine_truth import (
    CLASSES,
    SMALL,
    check_close,
    fused_computation,
    make_graphs,
    outcome,
    random_graphs,
    references,
    settled_network,
    some_draws,
)

from phist.engine import batch_pass, fused
from phist.engine.computation import Reference
from phist.engine.fused import Fused
from phist.nn.network import make_network
from phist.nn.sampling import draw_all

EVERYTHING, EVEN = np.arange(4), np.ones(4, np.float32)


@pytest.fixture(scope="module")
def graphs():
    return random_graphs([6, 1, 9, 13], seed=5, weights=0.5)


@pytest.fixture
def network():
    return settled_network(SMALL)


def gradients(network, loss):
    return torch.autograd.grad(loss, list(network.parameters()))


def assert_identical(found, expected):
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


# Determinism ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("threads", [1, 2, 3])
def test_same_step_twice_gives_the_same_bits(graphs, network, threads):
    draws = some_draws(graphs)
    first = outcome(fused_computation(network, graphs, threads=threads), draws)
    assert_identical(outcome(fused_computation(network, graphs, threads=threads), draws), first)


def test_used_memory_leaves_no_trace(graphs, network):
    draws, computation = some_draws(graphs), fused_computation(network, graphs)
    computation.network.eval()
    first = outcome(computation, draws, training=False)
    outcome(computation, draw_all(graphs.node_counts()), training=False)
    assert_identical(outcome(computation, draws, training=False), first)


def test_several_threads_agree_to_rounding(graphs, network):
    draws = some_draws(graphs)
    one = outcome(fused_computation(network, graphs), draws)
    _, single = references(network, graphs, draws)
    check_close(outcome(fused_computation(network, graphs, threads=2), draws), one, single)


def test_result_of_a_graph_has_the_same_bits_in_any_batch(graphs, network):
    computation, draws = fused_computation(network, graphs), draw_all(graphs.node_counts())
    computation.network.eval()
    with torch.no_grad():
        together = computation.graph_embeddings(EVERYTHING, draws)
        for graph in EVERYTHING:
            alone = computation.graph_embeddings(np.array([graph]), draw_all(graphs.node_counts()[[graph]]))
            assert torch.equal(alone[0], together[graph])


# The first batch ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statistics", ["joint", "per-root"])
def test_first_batch_sets_the_statistics_as_in_the_reference(graphs, statistics):
    network = settled_network(replace(SMALL, statistics=statistics))
    for module in (network.node_standardizer, network.graph_standardizer):
        module.updates.zero_()
        module.mean.zero_()
        module.variance.fill_(1)
    draws = some_draws(graphs, count=20)
    truth, single = references(network, graphs, draws)
    check_close(outcome(fused_computation(network, graphs), draws), truth, single)


@pytest.mark.parametrize("kind", ["node_standardizer", "graph_standardizer"])
def test_batches_are_counted_as_in_the_reference(graphs, network, kind):
    for computation in (fused_computation(network, graphs), Reference(deepcopy(network), graphs)):
        computation.network.train()
        before = int(getattr(computation.network, kind).updates)
        computation.scores(EVERYTHING, some_draws(graphs))
        assert int(getattr(computation.network, kind).updates) == before + 1


def test_variance_of_large_counts_keeps_its_digits():
    n_nodes = 400  # nearly a ring: counts of some hundreds that hardly vary
    edges = [(node, (node + 1) % n_nodes) for node in range(n_nodes)] + [(0, 200), (3, 9)]
    ring = make_graphs([n_nodes], edges)
    found = []
    for kind, precision in ((Reference, torch.float64), (Fused, torch.float32)):
        network = settled_network(replace(SMALL, node_histogram="count")).to(precision).train()
        network.node_standardizer.updates.zero_()
        for seed in range(3):
            with torch.no_grad():
                kind(network, ring).scores(np.arange(1), some_draws(ring, 32, seed))
        found.append(network.node_standardizer.variance.double().numpy())
    np.testing.assert_allclose(found[1], found[0], rtol=0.1, atol=1e-5)


@pytest.mark.parametrize("threads", [1, 2])
def test_training_from_the_first_batch_on_follows_the_reference(graphs, threads):
    results = []
    for computation in (
        fused_computation(make_network(SMALL, CLASSES, seed=0), graphs, threads=threads),
        Reference(make_network(SMALL, CLASSES, seed=0).double(), graphs),
    ):
        network, losses = computation.network.train(), []
        optimizer = torch.optim.SGD(network.parameters(), lr=0.05)
        for step in range(5):
            losses.append(computation.loss_backward(EVERYTHING, some_draws(graphs, seed=step), EVERYTHING % CLASSES, EVEN)[0])
            optimizer.step()
        results.append((losses, network.state_dict()))
    (found, own), (expected, truth) = results
    np.testing.assert_allclose(found, expected, rtol=1e-3)
    for name, value in truth.items():
        np.testing.assert_allclose(own[name].double(), value.double(), rtol=1e-2, atol=1e-3, err_msg=name)


# Passes between passes ------------------------------------------------------------------------------------------------


def test_two_passes_before_their_ways_back_are_both_right(graphs, network):
    results = []
    for computation in (Reference(deepcopy(network).double(), graphs), fused_computation(network, graphs)):
        computation.network.train()
        sizes = graphs.node_counts()
        losses = [computation.scores(np.array([graph]), draw_all(sizes[[graph]])).square().sum() for graph in (2, 3)]
        results.append([gradients(computation.network, loss) for loss in losses])
    for truth, found in zip(*results, strict=True):
        largest = max(part.abs().max() for part in truth)
        for one, other in zip(truth, found, strict=True):
            assert (one - other).abs().max() <= 1e-4 * max(one.abs().max(), largest / 10)


def test_gradients_add_up_over_passes(graphs, network):
    computation = fused_computation(network, graphs)
    computation.network.eval()
    draws = some_draws(graphs)
    once = gradients(computation.network, computation.scores(EVERYTHING, draws).square().sum())
    both = computation.scores(EVERYTHING, draws).square().sum() + computation.scores(EVERYTHING, draws).square().sum()
    for one, two in zip(once, gradients(computation.network, both), strict=True):
        torch.testing.assert_close(two, 2 * one)


def test_parameters_changed_before_the_way_back_are_an_error(graphs, network):
    computation = fused_computation(network, graphs)
    scores = computation.scores(EVERYTHING, some_draws(graphs))
    with torch.no_grad():
        computation.network.f_node.convolutions[0].weight.mul_(2)
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        scores.sum().backward()


def test_second_way_back_is_an_error(graphs, network):
    computation = fused_computation(network, graphs)
    loss = computation.scores(EVERYTHING, some_draws(graphs)).square().sum()
    gradients(computation.network, loss.clone())
    with pytest.raises(RuntimeError):
        gradients(computation.network, loss)


def test_second_way_back_of_a_graph_that_was_kept_is_an_error(graphs, network):
    computation = fused_computation(network, graphs)
    loss = computation.scores(EVERYTHING, some_draws(graphs)).square().sum()
    loss.backward(retain_graph=True)
    with pytest.raises(RuntimeError, match="was run before"):
        loss.backward()


def test_new_parameters_are_used_at_once(graphs, network):
    computation = fused_computation(network, graphs)
    computation.network.eval()
    draws = some_draws(graphs)
    computation.scores(EVERYTHING, draws)
    other = settled_network(SMALL, seed=9).eval()
    computation.network.load_state_dict(other.state_dict())
    with torch.no_grad():
        torch.testing.assert_close(computation.scores(EVERYTHING, draws), Fused(other, graphs).scores(EVERYTHING, draws))


def test_diverged_network_does_not_look_healthy(graphs, network):
    computation = fused_computation(network, graphs)
    with torch.no_grad():
        computation.network.f_node.convolutions[0].weight[0, 0, 0] = float("nan")
        assert computation.scores(EVERYTHING, some_draws(graphs)).isnan().any()


# A step ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("statistics", ["joint", "per-root"])
def test_step_leaves_the_gradients_that_the_reference_leaves(graphs, statistics):
    network, draws = settled_network(replace(SMALL, statistics=statistics)), some_draws(graphs)
    targets, weights = np.array([0, 2, 1, 1]), np.array([1.0, 0.5, 2.0, 1.0], np.float32)
    results = []
    for computation in (Reference(deepcopy(network), graphs), fused_computation(network, graphs)):
        computation.network.train()
        loss, hits = computation.loss_backward(EVERYTHING, draws, targets, weights)
        results.append((loss, hits, {name: part.grad for name, part in computation.network.named_parameters()}))
    (loss, hits, expected), (found_loss, found_hits, found) = results
    largest = max(part.abs().max() for part in expected.values())
    assert found_loss == pytest.approx(loss, rel=1e-4) and found_hits == hits
    for name, part in expected.items():
        assert (found[name] - part).abs().max() <= 1e-4 * max(part.abs().max(), largest), name


def test_gradients_of_a_step_replace_those_before(graphs, network):
    computation = fused_computation(network, graphs)
    computation.network.eval()
    found = []
    for _ in range(2):
        computation.loss_backward(EVERYTHING, some_draws(graphs), EVERYTHING % CLASSES, EVEN)
        found.append([part.grad.clone() for part in computation.network.parameters()])
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))


def test_gradients_of_a_step_leave_the_parameters_where_they_are(graphs, network):
    computation = fused_computation(network, graphs)
    computation.network.train()
    before = [part.detach().clone() for part in computation.network.parameters()]
    computation.loss_backward(EVERYTHING, some_draws(graphs), EVERYTHING % CLASSES, EVEN)
    computation.parameters.write()  # the engine's copy of them too
    assert all(torch.equal(part, own) for part, own in zip(computation.network.parameters(), before, strict=True))


def test_gradients_of_tensors_and_of_steps_do_not_get_in_each_others_way(graphs, network):
    computation = fused_computation(network, graphs)
    computation.network.eval()
    by_tensors = gradients(computation.network, computation.scores(EVERYTHING, some_draws(graphs)).square().sum())
    before = [part.clone() for part in by_tensors]
    computation.loss_backward(EVERYTHING, some_draws(graphs), EVERYTHING % CLASSES, EVEN)
    assert all(torch.equal(one, other) for one, other in zip(by_tensors, before, strict=True))


def test_only_the_proportion_of_weights_matters(graphs, network):
    weights, found = np.array([1.0, 0.5, 2.0, 0.25], np.float32), []
    for factor in (1, 8):
        computation = fused_computation(network, graphs)
        loss, _ = computation.loss_backward(EVERYTHING, some_draws(graphs), EVERYTHING % CLASSES, factor * weights)
        found.append([torch.tensor(loss), *(part.grad for part in computation.network.parameters())])
    assert all(torch.equal(one, other) for one, other in zip(*found, strict=True))


@pytest.mark.parametrize("training", [True, False])
def test_node_embeddings_teach_the_statistics_nothing(graphs, network, training):
    computation = fused_computation(network, graphs)
    computation.network.train(training)
    before = deepcopy(computation.network.state_dict())
    computation.node_embeddings(EVERYTHING, some_draws(graphs))
    assert all(torch.equal(value, before[name]) for name, value in computation.network.state_dict().items())


def test_evaluation_teaches_the_statistics_nothing(graphs, network):
    computation = fused_computation(network, graphs)
    computation.network.eval()
    before = deepcopy(computation.network.state_dict())
    computation.scores(EVERYTHING, some_draws(graphs)).sum().backward()
    assert all(torch.equal(value, before[name]) for name, value in computation.network.state_dict().items())


@pytest.mark.parametrize("threads", [1, 2])
def test_engine_takes_the_threads_that_torch_was_given(graphs, network, threads):
    torch.set_num_threads(threads)
    assert Fused(network, graphs).threads == threads


def test_frozen_parameters_get_no_gradient(graphs, network):
    computation = fused_computation(network, graphs)
    computation.network.f_node.requires_grad_(False)
    computation.scores(EVERYTHING, some_draws(graphs)).square().sum().backward()
    assert all(part.grad is None for part in computation.network.f_node.parameters())
    assert all(part.grad is not None for part in computation.network.f_graph.parameters())


def test_step_gives_its_memory_back(graphs, network):
    computation = fused_computation(network, graphs)
    for _ in range(3):
        computation.loss_backward(EVERYTHING, some_draws(graphs), EVERYTHING % 3, np.ones(4, np.float32))
    assert len(computation._arenas) == 1


# Memory ---------------------------------------------------------------------------------------------------------------


def test_pass_without_gradients_gives_its_memory_back_at_once(graphs, network):
    computation = fused_computation(network, graphs)
    with torch.no_grad():
        computation.scores(EVERYTHING, some_draws(graphs))
    assert len(computation._arenas) == 1


def test_pass_without_gradients_asks_for_less_memory(graphs, network, monkeypatch):
    asked, make_arena = [], fused.make_arena
    monkeypatch.setattr(fused, "make_arena", lambda sizes, clock: asked.append(sizes[0]) or make_arena(sizes, clock))
    fused_computation(network, graphs).scores(EVERYTHING, some_draws(graphs))
    with torch.no_grad():
        fused_computation(network, graphs).scores(EVERYTHING, some_draws(graphs))
    assert asked[1] < asked[0]


def test_time_is_kept_by_phase_once_asked_for(graphs, network):
    draws, untimed, timed = some_draws(graphs), fused_computation(network, graphs), fused_computation(network, graphs)
    timed.keep_time()
    assert_identical(outcome(timed, draws), outcome(untimed, draws))
    assert (timed.clocks.sum(axis=0) > 0).all()
    assert untimed.clocks.size == 0


def test_memory_is_held_until_the_way_back(graphs, network):
    computation = fused_computation(network, graphs)
    loss = computation.scores(EVERYTHING, some_draws(graphs)).sum()
    assert computation._arenas == []
    loss.backward()
    assert len(computation._arenas) == 1


def test_memory_is_used_again(graphs, network):
    computation = fused_computation(network, graphs)
    with torch.no_grad():
        computation.scores(EVERYTHING, draw_all(graphs.node_counts()))
        ((first,),) = computation._arenas
        computation.scores(EVERYTHING, some_draws(graphs))
    ((second,),) = computation._arenas
    assert first is second


def test_two_passes_at_a_time_have_memories_of_their_own(graphs, network):
    computation = fused_computation(network, graphs)
    losses = [computation.scores(EVERYTHING, some_draws(graphs)).sum() for _ in range(2)]
    for loss in losses:
        loss.backward()
    (one,), (other,) = computation._arenas
    assert one.floats is not other.floats


@pytest.mark.parametrize("bad", [0, 1])
def test_error_in_a_thread_comes_through_and_the_next_pass_is_right(graphs, network, bad, monkeypatch):
    computation, draws = fused_computation(network, graphs, threads=2), some_draws(graphs)
    computation.network.eval()
    with torch.no_grad():
        expected = computation.scores(EVERYTHING, draws)
        with monkeypatch.context() as patch:
            patch.setattr(batch_pass, "run_worker", failing(batch_pass.run_worker, bad))
            with pytest.raises(MemoryError):
                computation.scores(EVERYTHING, draws)
        assert torch.equal(computation.scores(EVERYTHING, draws), expected)


def failing(run_worker, bad):
    """The pass of one of two threads ends in an error."""

    def call(this_round, mode, job, training):
        if job.number == bad:
            raise MemoryError
        run_worker(this_round, mode, job, training)

    return call
