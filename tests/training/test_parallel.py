"""Training shared out over processes: the steps of one process, up to rounding."""

import numpy as np
import pytest
import torch
from thread_groups import run_together

from phist.errors import GroupError
from phist.graphs.generate import make_planted_partitions
from phist.nn.adamw import AdamW
from phist.nn.config import NetworkConfig
from phist.nn.network import make_network
from phist.training import windows
from phist.training.config import TrainingConfig
from phist.training.group import Group
from phist.training.loop import Examples, Trainer
from phist.training.parallel import DataParallel

GRAPHS = make_planted_partitions(30, seed=0)
TARGETS = np.unique(GRAPHS.labels, return_inverse=True)[1]
WEIGHTS = np.linspace(0.5, 1.5, 30)
CONFIG = TrainingConfig(batch_size=7, epochs=3)


def make_trainer(group, engine="fused", config=CONFIG, weights=WEIGHTS, **settings):
    """A trainer of a small network, in a group if one is given."""
    network = make_network(NetworkConfig(channels=(4, 6), bins=4, **{"moments": "head", **settings}), 2, seed=0)
    trainer = Trainer(network, Examples(GRAPHS.with_labels(None), TARGETS, weights), None, config, engine)
    if group is not None:
        trainer.group, trainer.learner = group, DataParallel(trainer.computation, group)
    return trainer


def trained(group=None, epochs=2, **settings):
    """The state of a network after some epochs, and the last of them."""
    trainer = make_trainer(group, **settings)
    for _ in range(epochs):
        epoch = trainer.run_epoch()
    return {name: tensor.numpy() for name, tensor in trainer.network.state_dict().items()}, epoch


def check_close(found, expected):
    for name, value in expected.items():
        np.testing.assert_allclose(found[name], value, rtol=2e-4, atol=2e-5, err_msg=name)


@pytest.mark.parametrize("engine", ["fused", "reference"])
@pytest.mark.parametrize("size", [2, 4])
def test_several_processes_take_the_steps_of_one(size, engine):
    expected, epoch = trained(engine=engine)
    for found, own in run_together(size, lambda group: trained(group, engine=engine)):
        check_close(found, expected)
        assert own.loss == pytest.approx(epoch.loss, rel=1e-5)
        assert own.accuracy == epoch.accuracy


@pytest.mark.parametrize("settings", [{"standardize": False}, {"aggregation": "mean"}, {"statistics": "per-root"}])
def test_networks_of_other_kinds_move_together_too(settings):
    expected, _ = trained(**settings)
    for found, _ in run_together(2, lambda group: trained(group, **settings)):
        check_close(found, expected)


def test_all_processes_have_the_same_bits_time_after_time():
    first, second = (run_together(3, trained) for _ in range(2))
    for found, _ in first + second:
        assert all(np.array_equal(found[name], first[0][0][name]) for name in found)


def test_more_processes_than_graphs_of_a_step_are_no_harm():
    config = TrainingConfig(batch_size=2, epochs=3)
    expected, _ = trained(config=config)
    for found, _ in run_together(3, lambda group: trained(group, config=config)):
        check_close(found, expected)


def test_graphs_that_do_not_count_move_nothing_but_the_statistics():
    weights = np.where(np.arange(30) % 3 == 0, 0.0, 1.0)
    expected, _ = trained(weights=weights)
    for found, _ in run_together(2, lambda group: trained(group, weights=weights)):
        check_close(found, expected)


def test_graphs_that_are_planned_window_by_window_are_shared_out_too(monkeypatch):
    monkeypatch.setattr(windows, "MOST_AT_ONCE", 1000)
    monkeypatch.setattr(windows, "WINDOW", 5000)
    expected, _ = trained()
    for found, _ in run_together(2, lambda group: trained(group)):
        check_close(found, expected)


def test_every_graph_of_a_step_is_taken_once_and_costs_are_even():
    def shares(group):
        network = make_network(NetworkConfig(channels=(4, 6), bins=4), 2, seed=0)
        trainer = Trainer(network, Examples(GRAPHS.with_labels(None), TARGETS, WEIGHTS), None, CONFIG, "fused")
        learner = DataParallel(trainer.computation, group)
        (steps,) = trainer.steps_of(0)
        part, fractions = learner._own_part(steps)
        return steps, part, fractions, learner.costs

    found = run_together(2, shares)
    steps, costs = found[0][0], found[0][3]
    assert sorted(np.concatenate([part.graphs for _, part, _, _ in found])) == sorted(steps.graphs)
    assert np.allclose(sum(fractions for _, _, fractions, _ in found), 1)
    for step in range(len(steps.rates)):
        loads = [costs[part.graphs[part.ptr[step] : part.ptr[step + 1]]].sum() for _, part, _, _ in found]
        assert abs(loads[0] - loads[1]) <= costs.max()


def test_frozen_parameters_stay():
    def frozen(group):
        network = make_network(NetworkConfig(channels=(4, 6), bins=4), 2, seed=0)
        network.head.weight.requires_grad_(False)
        before = network.head.weight.clone()
        trainer = Trainer(network, Examples(GRAPHS.with_labels(None), TARGETS, WEIGHTS), None, CONFIG, "fused")
        (steps,) = trainer.steps_of(0)
        network.train()
        optimizer = AdamW([own for own in network.parameters() if own.requires_grad])
        DataParallel(trainer.computation, group).train(steps, optimizer, 1.0)
        return torch.equal(before, network.head.weight)

    assert all(run_together(2, frozen))


@pytest.mark.parametrize("size", [1, 3])
def test_a_checkpoint_of_two_processes_goes_on_in_another_number(tmp_path, size):
    """Each process saves where only the first may; the others' files must not come to be."""

    def begin(group):
        trainer = make_trainer(group)
        trainer.run_epoch()
        trainer.save(tmp_path / f"checkpoint{group.rank}", "run")

    def go_on(group):
        trainer = make_trainer(group)
        trainer.resume(tmp_path / "checkpoint0", "run")
        trainer.run_epoch()
        return {name: tensor.numpy() for name, tensor in trainer.network.state_dict().items()}

    run_together(2, begin)
    assert [path.name for path in tmp_path.iterdir()] == ["checkpoint0"]
    expected, _ = trained()
    for found in [go_on(None)] if size == 1 else run_together(size, go_on):
        check_close(found, expected)


def test_processes_that_read_different_checkpoints_are_told_of(tmp_path):
    for epochs in (1, 2):
        trainer = make_trainer(None)
        for _ in range(epochs):
            trainer.run_epoch()
        trainer.save(tmp_path / str(epochs), "run")

    def resume(group):
        trainer = make_trainer(group)
        try:
            trainer.resume(tmp_path / str(group.rank + 1), "run")
        except GroupError as error:
            return str(error)

    assert "read different files" in run_together(2, resume)[1]


def test_one_process_trains_as_ever():
    network = make_network(NetworkConfig(channels=(4, 6), bins=4), 2, seed=0)
    trainer = Trainer(network, Examples(GRAPHS.with_labels(None), TARGETS, WEIGHTS), None, CONFIG, "fused")
    assert trainer.group == Group()
    assert trainer.learner is trainer.computation
