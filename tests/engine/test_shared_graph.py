"""A graph whose roots all workers share: the same numbers as the reference, and the same bits whoever computes which part."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch
from engine_truth import (
    CLASSES,
    ODD_GRAPHS,
    SMALL,
    check_close,
    fused_computation,
    guarded_memory,
    intact,
    random_graphs,
    settled_network,
    some_draws,
)

from phist.engine import batch_pass, threads, torch_threads
from phist.engine.batch_pass import Pass
from phist.engine.computation import Reference
from phist.engine.recursion import BESIDE
from phist.engine.steps import Steps
from phist.nn.adamw import AdamW
from phist.nn.sampling import Views, draw_all


@pytest.fixture(autouse=True)
def everything_is_shared(monkeypatch):
    """However small a graph is."""
    monkeypatch.setattr(batch_pass, "PAIRS_SHARED", 0)
    monkeypatch.setattr(threads, "PAIRS_A_THREAD", 1)
    monkeypatch.setattr(threads, "SHARED_FROM", 0)
    monkeypatch.setattr(torch_threads, "usable_cores", lambda: 8)


@pytest.fixture(scope="module")
def graphs():
    return random_graphs([30, 8, 1, 70], seed=2, probability=0.1, weights=0.5)


def step_outcome(computation, draws):
    """Everything that a step of training and a look at its graphs compute, by name, in double precision."""
    network, chosen = computation.network, np.arange(len(computation.graphs))
    network.train()
    loss, hits = computation.loss_backward(chosen, draws, chosen % CLASSES, np.ones(len(chosen), np.float32))
    found = {"loss": torch.tensor(loss), "hits": torch.tensor(hits)}
    found |= {f"gradient of {name}": parameter.grad for name, parameter in network.named_parameters()}
    for level in ("node", "graph"):
        standardizer = getattr(network, f"{level}_standardizer")
        found |= {f"mean of {level}s": standardizer.mean, f"variance of {level}s": standardizer.variance}
    network.eval()
    with torch.no_grad():
        found["graph embeddings"] = computation.graph_embeddings(chosen, draws)
        found["node embeddings"] = computation.node_embeddings(chosen, draws)
        found["mean embeddings"] = computation.mean_embeddings(chosen, Views(draws, [draws, draws]))
    return {name: value.detach().double().numpy().copy() for name, value in found.items()}


def check_shared(config, graphs, draws, n_threads, beside=None):
    network = settled_network(config)
    truth, single = (step_outcome(Reference(own, graphs), draws) for own in (deepcopy(network).double(), deepcopy(network)))
    fused = fused_computation(network, graphs, by_balls=False, threads=n_threads, beside=beside)
    with torch.no_grad():
        is_shared = len(Pass(fused, np.arange(len(graphs)), draws).shared) == len(graphs)
    assert is_shared == (n_threads > 1 and config.statistics == "joint")
    check_close(step_outcome(fused, draws), truth, single)


@pytest.mark.parametrize("max_elements", [1, 700, 5000, 1 << 24])
@pytest.mark.parametrize("n_threads", [1, 2, 3])
def test_shared_graphs_equal_the_reference(graphs, n_threads, max_elements):
    check_shared(replace(SMALL, max_elements=max_elements), graphs, some_draws(graphs, 20), n_threads)


@pytest.mark.parametrize("max_elements", [700, 1 << 24])
@pytest.mark.parametrize("n_threads", [2, 3])
def test_shared_graphs_with_roots_side_by_side_equal_the_reference(graphs, n_threads, max_elements):
    config = replace(SMALL, channels=(17, 5), moments="head", max_elements=max_elements)
    check_shared(config, graphs, some_draws(graphs, 21), n_threads, BESIDE)


@pytest.mark.parametrize("name", ODD_GRAPHS)
def test_odd_graphs_that_are_shared_equal_the_reference(name):
    check_shared(replace(SMALL, max_elements=200), ODD_GRAPHS[name], draw_all(ODD_GRAPHS[name].node_counts()), 3)


def test_graphs_whitened_root_by_root_are_not_shared_and_equal_the_reference(graphs):
    check_shared(replace(SMALL, statistics="per-root"), graphs, some_draws(graphs), 2)


@pytest.mark.parametrize("max_elements", [700, 1 << 24])
@pytest.mark.parametrize("cores", [1, 2, 3])
def test_fewer_cores_than_threads_give_the_same_bits(graphs, cores, max_elements, monkeypatch):
    network, draws = settled_network(replace(SMALL, max_elements=max_elements)), some_draws(graphs, 20)
    expected = step_outcome(fused_computation(network, graphs, by_balls=False, threads=3), draws)
    monkeypatch.setattr(torch_threads, "usable_cores", lambda: cores)
    for _ in range(2):
        found = step_outcome(fused_computation(network, graphs, by_balls=False, threads=3), draws)
        for name, value in expected.items():
            np.testing.assert_array_equal(found[name], value, err_msg=name)


@pytest.mark.parametrize("cores", [1, 2, 3])
@pytest.mark.parametrize("max_elements", [1, 700, 5000, 1 << 24])
def test_workers_of_a_shared_graph_stay_within_their_memory(graphs, max_elements, cores, monkeypatch):
    monkeypatch.setattr(torch_threads, "usable_cores", lambda: cores)
    network = settled_network(replace(SMALL, max_elements=max_elements, moments="head"))
    computation = fused_computation(network, graphs, by_balls=False, threads=3, beside=BESIDE)
    handed = guarded_memory(computation, monkeypatch)
    step_outcome(computation, some_draws(graphs, 30))
    assert len(handed) and intact(handed)


@pytest.mark.parametrize("bad", [0, 1])
def test_nobody_waits_for_a_worker_that_failed(graphs, bad, monkeypatch):
    network, draws, run_worker = settled_network(SMALL), some_draws(graphs), batch_pass.run_worker
    expected = step_outcome(fused_computation(deepcopy(network), graphs, by_balls=False, threads=2), draws)
    computation = fused_computation(network, graphs, by_balls=False, threads=2)

    def failing(this_round, mode, job, training):
        if job.number == bad:
            raise MemoryError
        run_worker(this_round, mode, job, training)

    with monkeypatch.context() as patch:
        patch.setattr(batch_pass, "run_worker", failing)
        with pytest.raises(MemoryError):
            step_outcome(computation, draws)
    found = step_outcome(computation, draws)
    for name, value in expected.items():
        np.testing.assert_array_equal(found[name], value, err_msg=name)


def test_training_on_shared_and_other_graphs_follows_training_by_one_thread(graphs, monkeypatch):
    monkeypatch.setattr(threads, "SHARED_FROM", 1.2)
    chosen, draws = np.array([3, 1, 0, 2, 3]), some_draws(graphs[np.array([3, 1, 0, 2, 3])], 12)
    steps = Steps(np.array([0, 2, 4, 5]), np.full(3, 1e-3), chosen, draws, chosen % CLASSES, np.ones(5))
    network, losses, weights = settled_network(SMALL), [], []
    for n_threads in (1, 2):
        computation = fused_computation(network, graphs, by_balls=False, threads=n_threads)
        computation.network.train()
        losses.append(computation.train(steps, AdamW(computation.network.parameters()), clip=1.0)[0])
        weights.append(computation.network.head.weight.detach().numpy())
    assert losses[1] == pytest.approx(losses[0], rel=1e-5)
    np.testing.assert_allclose(weights[1], weights[0], atol=1e-4)
