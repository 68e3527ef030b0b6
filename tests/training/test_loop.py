import json

import numpy as np
import pytest
import torch

from phist.engine.computation import Fused
from phist.errors import ConfigError, ModelFileError
from phist.graphs.generate import make_planted_partitions
from phist.nn.config import NetworkConfig
from phist.nn.network import make_network
from phist.nn.sampling import RootSampler
from phist.training.checkpoint import load_checkpoint
from phist.training.config import TrainingConfig
from phist.training.history import Epoch, History
from phist.training.loop import Examples, fit_network, weighted_loss

SMALL = NetworkConfig(channels=(4, 6), bins=4, sampler=RootSampler(count=6))


def make_examples(n_graphs=24, seed=0):
    graphs = make_planted_partitions(n_graphs, n_nodes=12, seed=seed)
    return Examples(graphs.with_labels(None), np.arange(n_graphs) % 2, np.ones(n_graphs, np.float32))


def train(config, *, validation=True, network=None, **options):
    network = network or make_network(SMALL, 2, seed=0)
    history = fit_network(
        network, make_examples(), make_examples(8, seed=1) if validation else None, config, progress=False, **options
    )
    return network, history


def weights_of(network):
    return {name: tensor.clone() for name, tensor in network.state_dict().items()}


def assert_same_weights(left, right):
    assert left.keys() == right.keys()
    assert all(torch.equal(left[name], right[name]) for name in left)


def test_training_lowers_the_loss():
    _, history = train(TrainingConfig(epochs=15, learning_rate=1e-2))
    assert history.epochs[-1].loss < history.epochs[0].loss


def test_same_seed_same_weights():
    first, second = (train(TrainingConfig(epochs=3, seed=5))[0] for _ in range(2))
    assert_same_weights(weights_of(first), weights_of(second))


def test_other_seed_other_weights():
    first, second = (train(TrainingConfig(epochs=1, seed=seed))[0] for seed in (0, 1))
    assert not torch.equal(first.head.weight, second.head.weight)


def test_torch_generator_is_left_alone():
    torch.manual_seed(0)
    before = torch.random.get_rng_state()
    train(TrainingConfig(epochs=1))
    assert torch.equal(before, torch.random.get_rng_state())


def test_lowest_validation_loss_is_kept():
    _, history = train(TrainingConfig(epochs=8, learning_rate=3e-2, selection="validation-loss"))
    assert history.best == min(range(8), key=lambda number: history.epochs[number].validation_loss)


def test_kept_weights_are_those_of_the_selected_epoch():
    config = TrainingConfig(epochs=6, learning_rate=3e-2, schedule="constant", selection="validation-loss")
    network, history = train(config)
    shorter = TrainingConfig(epochs=history.best + 1, learning_rate=3e-2, schedule="constant", selection="last")
    assert_same_weights(weights_of(network), weights_of(train(shorter)[0]))


def test_last_epoch_is_kept_when_asked_for():
    _, history = train(TrainingConfig(epochs=4, selection="last"))
    assert history.best == 3


def test_equal_accuracies_are_decided_by_loss():
    history = History()
    for number, loss in enumerate([0.5, 0.4, 0.6]):
        history.add(Epoch(number, 1e-3, 1.0, 0.5, loss, 0.75, 0.1), "validation-accuracy")
    assert history.best == 1


def test_patience_stops_training():
    _, history = train(TrainingConfig(epochs=60, learning_rate=0.3, patience=2, warmup=0, selection="validation-loss"))
    assert history.ending == "patience"
    assert len(history.epochs) == history.best + 3


def test_time_budget_stops_training():
    _, history = train(TrainingConfig(epochs=10_000, time_budget=0.5))
    assert history.ending == "time budget"
    assert 1 <= len(history.epochs) < 10_000


def test_cosine_schedule_warms_up_and_ends_near_zero():
    config = TrainingConfig(epochs=10, learning_rate=1.0, warmup=2)
    rates = [config.learning_rate_at(progress) for progress in (0, 1, 2, 6, 10)]
    assert rates[0] < rates[1] < rates[2] == pytest.approx(1.0)
    assert rates[3] == pytest.approx(0.5)
    assert rates[4] == pytest.approx(0.0)


def test_constant_schedule_stays_after_warm_up():
    config = TrainingConfig(epochs=10, learning_rate=0.1, warmup=1, schedule="constant")
    assert config.learning_rate_at(1) == config.learning_rate_at(9.5) == 0.1


def test_gradient_clipping_bounds_a_step(monkeypatch):
    seen, run = [], Fused.train
    monkeypatch.setattr(Fused, "train", lambda *arguments: seen.append(arguments[-1]) or run(*arguments))
    train(TrainingConfig(epochs=2, gradient_clip=0.25))
    assert seen == [0.25, 0.25]


@pytest.mark.parametrize("batch_size", [5, 24, 100])
def test_epoch_sees_every_graph_once_with_roots_of_its_own(batch_size, monkeypatch):
    courses, run = [], Fused.train
    monkeypatch.setattr(Fused, "train", lambda self, course, *others: courses.append(course) or run(self, course, *others))
    train(TrainingConfig(epochs=2, batch_size=batch_size), validation=False)
    epochs = [
        [(part.graphs, part.draws) for part in map(course.part, range(n), range(1, n + 1))]
        for course in courses
        for n in [len(course.rates)]
    ]
    for epoch in epochs:
        assert [len(chosen) for chosen, _ in epoch] == [batch_size] * (24 // batch_size) + [24 % batch_size] * (24 % batch_size > 0)
        assert sorted(np.concatenate([chosen for chosen, _ in epoch]).tolist()) == list(range(24))
        for chosen, draws in epoch:
            totals = np.add.reduceat(draws.counts, draws.ptr[:-1])
            assert len(chosen) == len(totals) and (totals == SMALL.sampler.count).all()
            assert draws.nodes.max() < 12
    drawn = [np.concatenate([draws.nodes for _, draws in epoch]).tolist() for epoch in epochs]
    assert drawn[0] != drawn[1]


def test_weights_of_examples_enter_the_loss():
    logits, targets = torch.tensor([[2.0, 0.0], [0.0, 2.0]]), torch.tensor([0, 0])
    only_first = weighted_loss(logits, targets, torch.tensor([1.0, 0.0]))
    assert only_first == pytest.approx(float(torch.nn.functional.cross_entropy(logits[:1], targets[:1])))


def test_history_is_one_json_object_per_line(tmp_path):
    _, history = train(TrainingConfig(epochs=3))
    history.write(tmp_path / "history.jsonl")
    lines = [json.loads(line) for line in (tmp_path / "history.jsonl").read_text().splitlines()]
    assert [line["number"] for line in lines] == [0, 1, 2]
    assert {"loss", "accuracy", "validation_loss", "learning_rate"} <= lines[0].keys()


class Killed(BaseException):
    """Stands for a kill: nothing in the loop may catch it."""


def test_interrupted_run_resumes_to_the_same_weights(tmp_path, monkeypatch):
    config = TrainingConfig(epochs=6)
    straight, history = train(config)
    kill_after(monkeypatch, 3)
    with pytest.raises(Killed):
        train(config, checkpoint=tmp_path / "run", run="mine")
    monkeypatch.undo()
    resumed, resumed_history = train(config, checkpoint=tmp_path / "run", run="mine")
    assert_same_weights(weights_of(straight), weights_of(resumed))
    assert [epoch.loss for epoch in history.epochs] == [epoch.loss for epoch in resumed_history.epochs]


def test_checkpoint_of_another_run_is_refused(tmp_path):
    train(TrainingConfig(epochs=1), checkpoint=tmp_path / "run", run="mine")
    with pytest.raises(ConfigError, match="belongs to another run"):
        train(TrainingConfig(epochs=2), checkpoint=tmp_path / "run", run="yours")


@pytest.mark.parametrize("content", [b"", b"not a checkpoint", b"\x08\x00\x00\x00\x00\x00\x00\x00{}      "])
def test_damaged_checkpoint_is_named(tmp_path, content):
    (tmp_path / "run").write_bytes(content)
    with pytest.raises(ModelFileError, match="run"):
        load_checkpoint(tmp_path / "run")


def test_truncated_checkpoint_is_named(tmp_path):
    train(TrainingConfig(epochs=1), checkpoint=tmp_path / "run")
    content = (tmp_path / "run").read_bytes()
    (tmp_path / "run").write_bytes(content[: len(content) // 2])
    with pytest.raises(ModelFileError, match="remove it to start afresh"):
        load_checkpoint(tmp_path / "run")


def test_keyboard_interrupt_leaves_the_best_weights(monkeypatch):
    kill_after(monkeypatch, 3, KeyboardInterrupt)
    network, history = train(TrainingConfig(epochs=50, schedule="constant", selection="last"))
    monkeypatch.undo()
    uninterrupted, _ = train(TrainingConfig(epochs=3, schedule="constant", selection="last"))
    assert history.ending == "interrupted"
    assert_same_weights(weights_of(network), weights_of(uninterrupted))


def test_keyboard_interrupt_before_the_first_epoch_is_passed_on(monkeypatch):
    kill_after(monkeypatch, 0, KeyboardInterrupt)
    with pytest.raises(KeyboardInterrupt):
        train(TrainingConfig(epochs=5))


@pytest.mark.parametrize(
    "wrong",
    [{"epochs": 0}, {"batch_size": 0}, {"learning_rate": 0}, {"learning_rate": float("nan")}, {"weight_decay": -1},
     {"gradient_clip": 0}, {"patience": 0}, {"time_budget": -1}, {"schedule": "step"}, {"selection": "test"},
     {"patience": 3, "selection": "last"}],
)  # fmt: skip
def test_wrong_settings_are_named(wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        TrainingConfig(**wrong)


def kill_after(monkeypatch, epochs, error=Killed):
    from phist.training.loop import Trainer

    run_epoch = Trainer.run_epoch

    def run_or_die(trainer):
        if len(trainer.history.epochs) == epochs:
            raise error
        return run_epoch(trainer)

    monkeypatch.setattr(Trainer, "run_epoch", run_or_die)
