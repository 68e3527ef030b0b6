"""A bag of networks: trained cycle by cycle, killed and resumed, short of time, interrupted."""

import time

import numpy as np
import pytest
import torch
from safetensors.torch import load_file, save_file

from phist.errors import ConfigError, ModelFileError
from phist.graphs.generate import make_planted_partitions
from phist.nn.config import NetworkConfig
from phist.nn.network import make_network
from phist.nn.sampling import RootSampler
from phist.training.bag import BagTraining
from phist.training.checkpoint import FORMAT
from phist.training.config import TrainingConfig
from phist.training.loop import Examples, Trainer

NETWORK = NetworkConfig(channels=(2, 3), bins=2, sampler=RootSampler(count=3))
GRAPHS = make_planted_partitions(9, n_nodes=8, seed=0).with_labels(None)
ENDS = [1, 3, 7]  # of 7 epochs with 2 restarts


def trainer(part):
    rest = np.flatnonzero(np.arange(9) % 3 != part)
    config = TrainingConfig(epochs=7, restarts=2, batch_size=3, seed=part)
    network = make_network(NETWORK, 2, seed=part)
    return Trainer(network, Examples(GRAPHS[rest], rest % 2, np.ones(len(rest))), None, config, "reference")


class Looks:
    """What graphs left out say, given in advance; without an end they say that each cycle is better."""

    def __init__(self, *losses):
        self.losses, self.asked = list(losses), []

    def __call__(self, states):
        self.asked.append(states)
        number = len(self.asked) - 1
        return np.array([self.losses[number] if self.losses else 1 / (number + 1)]), 0.5


def training(path=None, look=None, networks=2, **changes):
    return BagTraining([trainer(part) for part in range(networks)], look or Looks(), checkpoint=path, run="a", **changes)


def same(left, right):
    return all(
        one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)
        for one, other in zip(left, right, strict=True)
    )


def epochs_of(bag):
    return [look.epochs for look in bag.looks]


@pytest.fixture(scope="module")
def whole():
    bag = training().train()
    assert (epochs_of(bag), bag.best, bag.ending, len(bag.states)) == (ENDS, 2, "finished", 2)
    return bag


def test_a_second_cycle_follows_whatever_the_first_was():
    bag = training(look=Looks(0.5, 0.5)).train()
    assert (epochs_of(bag), bag.best) == (ENDS[:2], 0)


class Killed(Exception):
    pass


def kill_in_epoch(monkeypatch, number, error=Killed):
    """Of all networks together."""
    count, plain = iter(range(number)), Trainer.run_epoch

    def run_epoch(own):
        if next(count, None) is None:
            raise error
        return plain(own)

    monkeypatch.setattr(Trainer, "run_epoch", run_epoch)


# Killed and resumed ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("done", range(14))
def test_a_bag_killed_in_any_epoch_ends_with_the_same_weights(whole, tmp_path, monkeypatch, done):
    with monkeypatch.context() as patch:
        kill_in_epoch(patch, done)
        with pytest.raises(Killed):
            training(tmp_path / "run").train()
    resumed = training(tmp_path / "run")
    bag = resumed.train()
    assert same(bag.states, whole.states)
    assert epochs_of(bag) == ENDS
    assert all(len(own.history.epochs) == 7 for own in resumed.trainers)


def test_a_bag_killed_while_graphs_left_out_are_asked_ends_with_the_same_weights(whole, tmp_path):
    def look(states):
        raise Killed

    with pytest.raises(Killed):
        training(tmp_path / "run", look).train()
    assert same(training(tmp_path / "run").train().states, whole.states)


def test_a_finished_bag_trains_no_more(whole, tmp_path, monkeypatch):
    training(tmp_path / "run").train()
    kill_in_epoch(monkeypatch, 0)
    look = Looks()
    bag = training(tmp_path / "run", look).train()
    assert same(bag.states, whole.states)
    assert len(look.asked) == 3 and not same(look.asked[0], look.asked[2])  # each cycle again, with its own weights


def test_files_are_named_by_network_and_epochs(tmp_path):
    training(tmp_path / "run").train()
    expected = {f"run.{network}{end}" for network in (0, 1) for end in ("", ".1", ".3", ".7")}
    assert {file.name for file in tmp_path.iterdir()} == expected


def test_files_of_another_run_are_not_continued(tmp_path):
    training(tmp_path / "run").train()
    other = training(tmp_path / "run")
    other.run = "b"
    with pytest.raises(ConfigError, match="another run"):
        other.train()


@pytest.mark.parametrize("damage", ["missing", "cut", "nan", "shape", "other run"])
def test_weights_of_a_cycle_that_cannot_be_used_are_named(tmp_path, damage):
    training(tmp_path / "run").train()
    file = tmp_path / "run.1.3"
    state, note = load_file(file), f'{{"format": "{FORMAT}", "run": "{"b" if damage == "other run" else "a"}"}}'
    if damage == "nan":
        state["head.bias"][0] = float("nan")
    if damage == "shape":
        state["head.bias"] = torch.zeros(7)
    save_file(state, file, metadata={"phist": note})
    if damage == "cut":
        file.write_bytes(file.read_bytes()[:-20])
    if damage == "missing":
        file.unlink()
    with pytest.raises(ModelFileError, match=r"run\.1\.3 is missing or damaged"):
        training(tmp_path / "run").train()


def test_damaged_weights_of_the_last_cycle_are_written_again(whole, tmp_path):
    training(tmp_path / "run").train()
    sound = (tmp_path / "run.1.7").read_bytes()
    (tmp_path / "run.1.7").write_bytes(sound[:-20])
    assert same(training(tmp_path / "run").train().states, whole.states)
    assert (tmp_path / "run.1.7").read_bytes() == sound


# When training ends ---------------------------------------------------------------------------------------------------


def test_a_cycle_that_is_not_better_is_the_last_and_not_kept(whole):
    look = Looks(0.5, 0.6)
    bag = training(look=look).train()
    assert (epochs_of(bag), bag.best, bag.ending) == (ENDS[:2], 0, "finished")
    assert same(bag.states, look.asked[0])
    assert not same(bag.states, whole.states)


def test_the_best_cycle_is_kept_not_the_last():
    look = Looks(0.5, 0.4, 0.45)
    bag = training(look=look).train()
    assert (epochs_of(bag), bag.best) == (ENDS, 1)
    assert same(bag.states, look.asked[1])


def test_one_network_alone_is_a_bag_too():
    bag = training(networks=1).train()
    assert epochs_of(bag) == ENDS and len(bag.states) == 1


def test_a_deadline_that_has_passed_leaves_one_epoch_of_each_network():
    own = training(deadline=time.monotonic() - 1)
    bag = own.train()
    assert (epochs_of(bag), bag.best, bag.ending) == ([1], 0, "time budget")
    assert [len(one.history.epochs) for one in own.trainers] == [1, 1]


def test_a_first_cycle_too_long_is_shortened_with_its_schedule(monkeypatch):
    own = training()
    for one in own.trainers:
        one.config = TrainingConfig(epochs=1000, batch_size=3, warmup=0)
    clock = SlowEpochs(monkeypatch, own, seconds=1.0)
    own.deadline = clock() + 11
    bag = own.train()
    assert bag.ending == "time budget"
    assert epochs_of(bag) == [5]  # ten seconds of eleven
    rates = [epoch.learning_rate for epoch in own.trainers[1].history.epochs]
    assert len(rates) == 5 and rates[-1] < 0.2 * rates[0]  # the cosine ends with the last of them


def test_no_cycle_begins_that_would_end_after_the_deadline(monkeypatch):
    own = training()
    clock = SlowEpochs(monkeypatch, own, seconds=1.0)
    own.deadline = clock() + 8
    bag = own.train()
    assert (epochs_of(bag), bag.best, bag.ending) == (ENDS[:2], 1, "time budget")


def test_time_enough_changes_nothing(whole):
    bag = training(deadline=time.monotonic() + 1000).train()
    assert same(bag.states, whole.states)
    assert bag.ending == "finished"


def test_a_bag_resumed_when_time_is_up_is_a_model_all_the_same(tmp_path, monkeypatch):
    with monkeypatch.context() as patch:
        kill_in_epoch(patch, 4)  # in the second cycle of the first network
        with pytest.raises(Killed):
            training(tmp_path / "run").train()
    bag = training(tmp_path / "run", deadline=time.monotonic() - 1).train()
    assert (epochs_of(bag), bag.ending, len(bag.states)) == ([1], "time budget", 2)


class SlowEpochs:
    """A clock on which nothing but epochs takes time."""

    def __init__(self, monkeypatch, own, seconds):
        self.now, plain = 100.0, Trainer.run_epoch

        def run_epoch(one):
            epoch = plain(one)
            self.now += seconds
            object.__setattr__(one.history.epochs[-1], "seconds", seconds)
            return epoch

        monkeypatch.setattr(Trainer, "run_epoch", run_epoch)
        monkeypatch.setattr("phist.training.bag.time.monotonic", self)

    def __call__(self):
        return self.now


# Ctrl-C ---------------------------------------------------------------------------------------------------------------


def test_an_interrupt_keeps_the_best_cycle(monkeypatch):
    look = Looks()
    kill_in_epoch(monkeypatch, 9, KeyboardInterrupt)  # in the third cycle
    bag = training(look=look).train()
    assert (epochs_of(bag), bag.best, bag.ending) == (ENDS[:2], 1, "interrupted")
    assert same(bag.states, look.asked[1])


def test_an_interrupt_before_the_first_look_is_passed_on(monkeypatch):
    kill_in_epoch(monkeypatch, 1, KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        training().train()
