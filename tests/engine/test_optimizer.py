"""Steps in compiled code against torch's AdamW and clipping, and the state that both share."""

from copy import deepcopy
from dataclasses import replace

import numpy as np
import pytest
import torch
from engine_truth import CLASSES, SMALL, fused_computation, random_graphs, settled_network, some_draws

from phist.engine import batch_pass, fused
from phist.engine.computation import Computation, Reference
from phist.engine.steps import Steps
from phist.nn.network import make_network
from phist.nn.sampling import RootSampler


@pytest.fixture(scope="module")
def graphs():
    return random_graphs([6, 1, 9, 13, 7, 5, 8], seed=5, weights=0.5)


def make_steps(graphs, n_steps=5, batch=3, seed=0, rate=1e-2):
    generator = np.random.default_rng(seed)
    chosen = generator.integers(0, len(graphs), n_steps * batch - 1)  # the last step is shorter
    draws = RootSampler(count=5).draw(graphs.node_counts()[chosen], generator)
    steps = np.append(np.arange(0, len(chosen), batch), len(chosen))
    rates = rate / np.arange(1.0, n_steps + 1)
    return Steps(steps, rates, chosen, draws, chosen % CLASSES, generator.random(len(chosen), np.float32) + 0.5)


def make_optimizer(network, eps=1e-3, **options):
    """An epsilon that leaves gradients alone which are nothing but rounding, such as those of a bias before whitening."""
    matrices = [part for part in network.parameters() if part.dim() > 1]
    others = [part for part in network.parameters() if part.dim() <= 1]
    return torch.optim.AdamW(
        [{"params": others, "weight_decay": 0.0}, {"params": matrices, "weight_decay": 0.3}], eps=eps, **options
    )


def train(computation, steps, optimizer, clip=1.0, step_by_step=False):
    """By compiled code, or by the engine's gradients and torch's optimiser."""
    computation.network.train()
    run = Computation.train if step_by_step else type(computation).train
    return run(computation, steps, optimizer, clip)


def assert_same_networks(found, expected, tolerance=2e-4):
    for (name, one), other in zip(found.state_dict().items(), expected.state_dict().values(), strict=True):
        scale = other.double().abs().max()
        assert (one.double() - other).abs().max() <= tolerance * max(scale, 0.1), name


def trained(network, graphs, steps, clip=1.0, step_by_step=False, threads=1, **options):
    computation = fused_computation(deepcopy(network), graphs, threads=threads)
    optimizer = make_optimizer(computation.network, **options)
    outcome = train(computation, steps, optimizer, clip, step_by_step)
    return computation.network, optimizer, outcome


@pytest.mark.parametrize("threads", [1, 2, 3])
@pytest.mark.parametrize("clip", [None, 1.0, 1e-2])
def test_steps_are_those_of_torch(graphs, clip, threads):
    network, steps = settled_network(SMALL), make_steps(graphs)
    found, _, (loss, hits) = trained(network, graphs, steps, clip, threads=threads)
    expected, _, (expected_loss, expected_hits) = trained(network, graphs, steps, clip, step_by_step=True, threads=threads)
    assert_same_networks(found, expected)
    assert loss == pytest.approx(expected_loss, rel=1e-5)
    assert hits == expected_hits


@pytest.mark.parametrize(("threads", "batch"), [(2, 20), (3, 20), (3, 2)])
def test_spare_shares_change_nothing_but_rounding(graphs, monkeypatch, threads, batch):
    network, steps = settled_network(SMALL), make_steps(graphs, batch=batch)
    networks = []
    for pays in (0.0, np.inf):
        monkeypatch.setattr(fused, "SPARE_PAYS", pays)
        networks.append(trained(network, graphs, steps, threads=threads)[0])
    assert_same_networks(*networks)


def test_whoever_takes_a_spare_shard_the_bits_are_the_same(graphs, monkeypatch):
    monkeypatch.setattr(fused, "SPARE_PAYS", 0.0)
    network, steps = settled_network(SMALL), make_steps(graphs, batch=20)
    first, *others = [trained(network, graphs, steps, threads=2)[0].state_dict() for _ in range(6)]
    assert all(torch.equal(first[name], other[name]) for other in others for name in first)


@pytest.mark.parametrize(
    "change",
    [
        {"standardize": False},
        {"statistics": "per-root"},
        {"aggregation": "mean"},
        {"moments": "head"},
        {"moments": "head", "statistics": "per-root"},
        {"orders": (3,), "channels": (5,)},
        {"channels": (17, 33), "bins": 3},
        {"kernel": "triangle", "node_histogram": "count"},
    ],
    ids=str,
)
def test_courses_of_the_engine_and_of_the_reference_agree(graphs, change):
    network, steps = settled_network(replace(SMALL, **change)), make_steps(graphs, n_steps=3, rate=1e-3)
    found, _, outcome = trained(network, graphs, steps, threads=2)
    reference = Reference(deepcopy(network), graphs)
    expected = train(reference, steps, make_optimizer(reference.network))
    assert outcome[0] == pytest.approx(expected[0], rel=1e-4)
    assert outcome[1] == expected[1]
    reached, wanted = (Reference(one, graphs) for one in (found.eval(), reference.network.eval()))
    with torch.no_grad():
        draws, chosen = some_draws(graphs), np.arange(len(graphs))
        torch.testing.assert_close(reached.scores(chosen, draws), wanted.scores(chosen, draws), rtol=2e-3, atol=2e-3)


def test_first_course_of_a_new_network_sets_its_statistics_by_the_first_step_alone(graphs):
    network, steps = make_network(SMALL, CLASSES, seed=0), make_steps(graphs)
    found, _, _ = trained(network, graphs, steps)
    expected, _, _ = trained(network, graphs, steps, step_by_step=True)
    assert_same_networks(found, expected)
    assert int(found.node_standardizer.updates) == int(found.graph_standardizer.updates) == len(steps.rates)


def test_other_betas_and_epsilon_are_those_of_torch(graphs):
    network, steps, options = settled_network(SMALL), make_steps(graphs), {"betas": (0.7, 0.95), "eps": 1e-3}
    found, _, _ = trained(network, graphs, steps, **options)
    assert_same_networks(found, trained(network, graphs, steps, step_by_step=True, **options)[0])


def test_groups_decay_each_at_its_own_rate(graphs):
    network, steps = settled_network(SMALL), make_steps(graphs, n_steps=1, rate=1e-2)
    found, _, _ = trained(network, graphs, steps, clip=1e-30)  # a gradient that moves nothing
    for name, part in network.named_parameters():
        factor = 1 - 1e-2 * 0.3 if part.dim() > 1 else 1
        torch.testing.assert_close(found.get_parameter(name), part * factor, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("threads", [1, 2])
def test_same_course_twice_gives_the_same_bits(graphs, threads):
    network, steps = settled_network(SMALL), make_steps(graphs)
    states = [trained(network, graphs, steps, threads=threads)[0].state_dict() for _ in range(2)]
    assert all(torch.equal(one, other) for one, other in zip(*(state.values() for state in states), strict=True))


def test_course_in_parts_gives_the_same_bits(graphs, monkeypatch):
    network, steps = settled_network(SMALL), make_steps(graphs)
    whole, _, outcome = trained(network, graphs, steps)
    monkeypatch.setattr(fused, "PAIRS_A_CALL", 1)
    parted, optimizer, parted_outcome = trained(network, graphs, steps)
    assert all(torch.equal(one, other) for one, other in zip(whole.parameters(), parted.parameters(), strict=True))
    assert parted_outcome[1] == outcome[1] and parted_outcome[0] == pytest.approx(outcome[0])
    assert {float(state["step"]) for state in optimizer.state.values()} == {len(steps.rates)}


def test_more_threads_than_graphs(graphs):
    network, steps = settled_network(SMALL), make_steps(graphs, batch=2)
    assert_same_networks(trained(network, graphs, steps, threads=8)[0], trained(network, graphs, steps)[0])


def test_frozen_parameters_stay(graphs):
    computation = fused_computation(settled_network(SMALL), graphs)
    computation.network.f_node.requires_grad_(False)
    before = deepcopy(computation.network)
    train(computation, make_steps(graphs), make_optimizer(computation.network))
    assert all(torch.equal(*pair) for pair in zip(computation.network.f_node.parameters(), before.f_node.parameters(), strict=True))
    assert not torch.equal(computation.network.head.weight, before.head.weight)


@pytest.mark.parametrize("bad", [0, 1])
def test_error_in_a_thread_comes_through_and_nobody_waits_for_ever(graphs, bad, monkeypatch):
    network, steps = settled_network(SMALL), make_steps(graphs)
    computation = fused_computation(network, graphs, threads=2)
    optimizer, run_worker = make_optimizer(computation.network), batch_pass.run_worker

    def failing(this_round, mode, job, training):
        if job.number == bad:
            raise MemoryError
        run_worker(this_round, mode, job, training)

    with monkeypatch.context() as patch:
        patch.setattr(batch_pass, "run_worker", failing)
        with pytest.raises(MemoryError):
            train(computation, steps, optimizer)
    train(computation, steps, optimizer)
    expected, _, _ = trained(network, graphs, steps, threads=2)
    assert all(torch.equal(value, computation.network.state_dict()[name]) for name, value in expected.state_dict().items())


# State ----------------------------------------------------------------------------------------------------------------


def test_state_is_that_of_torch(graphs):
    network, steps = settled_network(SMALL), make_steps(graphs)
    _, found, _ = trained(network, graphs, steps)
    _, expected, _ = trained(network, graphs, steps, step_by_step=True)
    states, expected_states = found.state_dict()["state"], expected.state_dict()["state"]
    assert states.keys() == expected_states.keys()
    for number, other in expected_states.items():
        one = states[number]
        assert one.keys() == other.keys()
        assert float(one["step"]) == float(other["step"]) == len(steps.rates)
        for name in ("exp_avg", "exp_avg_sq"):  # some gradients are zero but for the rounding of sums of larger ones
            largest = max(float(every[name].abs().max()) for every in expected_states.values())
            scale = float(other[name].abs().max())
            torch.testing.assert_close(one[name], other[name], rtol=1e-3, atol=max(1e-4 * scale, 1e-5 * largest))


@pytest.mark.parametrize("step_by_step", [(True, False), (False, True)], ids=["torch first", "engine first"])
def test_either_goes_on_where_the_other_was(graphs, step_by_step, tmp_path):
    network, courses = settled_network(SMALL), [make_steps(graphs, seed=seed) for seed in (1, 2)]
    straight = fused_computation(deepcopy(network), graphs)
    optimizer = make_optimizer(straight.network)
    for steps in courses:
        train(straight, steps, optimizer)

    first, changed = (fused_computation(deepcopy(network), graphs) for _ in range(2))
    before = make_optimizer(first.network)
    train(first, courses[0], before, step_by_step=step_by_step[0])
    torch.save(before.state_dict(), tmp_path / "state.pt")
    changed.network.load_state_dict(first.network.state_dict())
    after = make_optimizer(changed.network)
    after.load_state_dict(torch.load(tmp_path / "state.pt"))
    train(changed, courses[1], after, step_by_step=step_by_step[1])
    assert_same_networks(changed.network, straight.network, tolerance=1e-3)


def test_courses_go_on_from_steps_that_torch_made_in_between(graphs):
    network, courses = settled_network(SMALL), [make_steps(graphs, seed=seed) for seed in range(3)]
    one, other = (fused_computation(deepcopy(network), graphs) for _ in range(2))
    optimizers = [make_optimizer(computation.network) for computation in (one, other)]
    for steps, by_torch in zip(courses, (False, True, False), strict=True):
        train(one, steps, optimizers[0], step_by_step=by_torch)
        train(other, steps, optimizers[1], step_by_step=True)
    assert_same_networks(one.network, other.network, tolerance=1e-3)
    assert {float(state["step"]) for state in optimizers[0].state.values()} == {15}


def test_state_loaded_in_the_middle_replaces_what_was_learnt(graphs):
    network, courses = settled_network(SMALL), [make_steps(graphs, seed=seed) for seed in range(3)]
    computation = fused_computation(deepcopy(network), graphs)
    optimizer = make_optimizer(computation.network)
    train(computation, courses[0], optimizer)
    state, parameters = deepcopy(optimizer.state_dict()), deepcopy(computation.network.state_dict())
    train(computation, courses[1], optimizer)
    expected = deepcopy(computation.network.state_dict())
    train(computation, courses[2], optimizer)
    optimizer.load_state_dict(state)
    computation.network.load_state_dict(parameters)
    train(computation, courses[1], optimizer)
    assert all(torch.equal(value, expected[name]) for name, value in computation.network.state_dict().items())


def test_parameters_changed_between_courses_are_stepped_from(graphs):
    computation, steps = fused_computation(settled_network(SMALL), graphs), make_steps(graphs, n_steps=1, rate=1e-6)
    optimizer = make_optimizer(computation.network)
    train(computation, steps, optimizer)
    with torch.no_grad():
        computation.network.head.bias.fill_(2)
    train(computation, steps, optimizer)
    torch.testing.assert_close(computation.network.head.bias, torch.full_like(computation.network.head.bias, 2), rtol=0, atol=1e-5)
