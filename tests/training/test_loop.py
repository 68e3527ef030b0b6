import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest
import torch

from phist import StructuralClassifier
from phist.engine.choice import compute
from phist.engine.fused import Fused
from phist.errors import ConfigError, DivergenceError, ModelFileError
from phist.graphs.convert import as_graphset
from phist.graphs.generate import make_planted_partitions
from phist.nn.config import NetworkConfig
from phist.nn.network import make_network
from phist.nn.sampling import RootSampler
from phist.training import loop
from phist.training.checkpoint import load_checkpoint
from phist.training.config import TrainingConfig
from phist.training.history import Epoch, History
from phist.training.inference import average_over_roots, embed_nodes, node_moments
from phist.training.loop import Examples, Trainer, fit_network, weighted_loss

SMALL = NetworkConfig(channels=(4, 6), bins=4, sampler=RootSampler(count=6))


def make_examples(n_graphs=24, seed=0):
    graphs = make_planted_partitions(n_graphs, n_nodes=12, seed=seed)
    return Examples(graphs.with_labels(None), np.arange(n_graphs) % 2, np.ones(n_graphs))


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
    monkeypatch.setattr(Fused, "train", lambda self, steps, *others: courses.append(steps) or run(self, steps, *others))
    train(TrainingConfig(epochs=2, batch_size=batch_size), validation=False)
    epochs = [
        [(part.graphs, part.draws) for part in map(steps.part, range(n), range(1, n + 1))]
        for steps in courses
        for n in [len(steps.rates)]
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
    only_first = weighted_loss(logits, targets, np.array([1.0, 0.0]))
    assert only_first == pytest.approx(float(torch.nn.functional.cross_entropy(logits[:1], targets[:1])))


def test_loss_of_graphs_that_do_not_count_is_zero():
    assert weighted_loss(torch.tensor([[2.0, 0.0]]), torch.tensor([1]), np.zeros(1)) == 0


@pytest.mark.parametrize("engine", ["fused", "reference"])
def test_steps_in_which_no_graph_counts_are_skipped(engine):
    """With batches of one graph, those without weight are left out of the epoch altogether."""
    examples = make_examples(6)
    weights = np.array([1.0, 0, 1, 0, 1, 1])
    network = make_network(SMALL, 2, seed=0)
    fit_network(network, replace(examples, weights=weights), None, TrainingConfig(epochs=2, batch_size=1), engine=engine)
    state = weights_of(network)
    assert all(torch.isfinite(tensor).all() for tensor in state.values())
    assert int(state["graph_standardizer.updates"]) == 2 * 4


@pytest.mark.parametrize("engine", ["fused", "reference"])
@pytest.mark.parametrize("factor", [1e300, 1e-300, 2.0**-1000])
def test_only_the_proportion_of_extreme_weights_matters(engine, factor):
    found = []
    for scale in (1.0, factor):
        examples = replace(make_examples(), weights=scale * np.resize([1.0, 2.0, 3.5], 24))
        network = make_network(SMALL, 2, seed=0)
        history = fit_network(network, examples, None, TrainingConfig(epochs=1), engine=engine)
        found.append((history.epochs[0].loss, network.head.weight.detach().clone()))
    assert found[0][0] == pytest.approx(found[1][0], rel=1e-5)
    torch.testing.assert_close(found[0][1], found[1][1], rtol=1e-4, atol=1e-6)


# Divergence -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("validation", [None, make_examples(8, seed=1)], ids=["alone", "validated"])
@pytest.mark.parametrize("engine", ["fused", "reference"])
def test_divergence_is_an_error_that_keeps_the_last_finite_weights(engine, validation, monkeypatch):
    network, after_epochs, steps_of = make_network(SMALL, 2, seed=0), [], Trainer.steps_of

    def diverging(trainer, number):
        yield from steps_of(trainer, number)
        after_epochs.append(weights_of(trainer.network))
        if number == 2:
            trainer.network.head.weight.data[0, 0] = float("nan")

    monkeypatch.setattr(Trainer, "steps_of", diverging)
    with pytest.raises(DivergenceError, match=r"epoch 3.*lower learning_rate \(0.01\)") as raised:
        fit_network(network, make_examples(), validation, TrainingConfig(epochs=5, learning_rate=0.01), engine=engine)
    assert_same_weights(weights_of(network), after_epochs[1])
    assert len(raised.value.history.epochs) == 2


def test_a_learning_rate_far_too_high_is_an_error_not_a_model():
    model = StructuralClassifier(
        preset="MUTAG", random_state=0, network={"channels": (4, 6), "bins": 4, "roots": 6}, progress=False,
        training={"epochs": 40, "learning_rate": 1e30, "gradient_clip": None, "warmup": 0, "schedule": "constant"},
    )  # fmt: skip
    with pytest.raises(DivergenceError, match="lower learning_rate"):
        model.fit(make_planted_partitions(24, n_nodes=12, seed=0))


def test_predictions_by_weights_that_are_not_finite_are_refused():
    network = make_network(SMALL, 2, seed=0)
    network.f_node.convolutions[0].weight.data[0] = float("nan")
    computation = compute(network, make_examples().graphs, "reference")
    with pytest.raises(DivergenceError, match=r"f_node\.convolutions\.0\.weight"):
        average_over_roots(computation, "scores", realizations=1, seed=0)
    with pytest.raises(DivergenceError, match="not finite"):
        embed_nodes(computation)


@pytest.mark.parametrize("weight", [1e-320, 5e-324, 1.7e308])
@pytest.mark.parametrize("engine", ["fused", "reference"])
def test_extreme_edge_weights_give_the_scores_of_their_proportion(weight, engine):
    edges = [(0, 1), (1, 2), (2, 3), (3, 0), (3, 4)]
    plain, extreme = (as_graphset([(5, edges, np.full(5, value))]) for value in (1.0, weight))
    network = make_network(SMALL, 2, seed=0).eval()
    found = [
        average_over_roots(compute(network, graphs, engine), "scores", realizations=1, seed=0, inference="exact")
        for graphs in (plain, extreme)
    ]
    np.testing.assert_allclose(found[0], found[1], rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("realizations", [0, 10**9, 2.5, True])
def test_more_draws_than_memory_holds_are_refused(realizations):
    computation = compute(make_network(SMALL, 2, seed=0), make_examples().graphs, "reference")
    with pytest.raises(ConfigError, match="realizations="):
        average_over_roots(computation, "scores", realizations=realizations, seed=0)
    with pytest.raises(ConfigError, match="realizations="):
        node_moments(computation, realizations=realizations, seed=0)


def test_values_that_are_not_finite_name_their_graph():
    graphs = as_graphset([(2, [(0, 1)], [1.0]), (2, [(0, 1)], [1e300])])
    network = make_network(replace(SMALL, convolution="gin"), 2, seed=0)
    with pytest.raises(DivergenceError, match="values for graph 1 are not finite"):
        average_over_roots(compute(network, graphs, "reference"), "scores", realizations=1, seed=0)


# Time -----------------------------------------------------------------------------------------------------------------


def clock(monkeypatch, seconds):
    """Epochs that take so many seconds each."""
    ticks = iter(np.concatenate([[0.0], np.cumsum(np.repeat(seconds, 2) * np.tile([1, 0], len(seconds)))]))
    monkeypatch.setattr(loop, "time", SimpleNamespace(perf_counter=lambda: float(next(ticks))))


def test_budget_is_planned_from_the_first_epochs_and_annealed_over(monkeypatch):
    clock(monkeypatch, [3.0] + [1.0] * 200)
    _, history = train(TrainingConfig(epochs=1000, time_budget=50), validation=False)
    assert history.timed == 3
    assert history.planned == 3 + int(0.95 * 45)
    assert len(history.epochs) == history.planned
    assert history.ending == "time budget"
    assert history.epochs[-1].learning_rate < 0.01 * TrainingConfig().learning_rate


def test_long_epochs_are_planned_after_the_first(monkeypatch):
    clock(monkeypatch, [10.0] * 100)
    _, history = train(TrainingConfig(epochs=1000, time_budget=45), validation=False)
    assert (history.timed, history.planned, len(history.epochs)) == (1, 4, 4)


def test_budgeted_run_ends_with_the_weights_of_as_many_epochs_annealed(monkeypatch):
    clock(monkeypatch, [1.0] * 100)
    network, history = train(TrainingConfig(epochs=1000, time_budget=13), validation=False)
    monkeypatch.undo()
    plain, _ = train(TrainingConfig(epochs=history.planned), validation=False)
    assert_same_weights(weights_of(network), weights_of(plain))


def test_budget_for_all_epochs_changes_nothing(monkeypatch):
    clock(monkeypatch, [1.0] * 100)
    network, history = train(TrainingConfig(epochs=6, time_budget=1000, warmup=0), validation=False)
    monkeypatch.undo()
    assert history.ending == "finished" and history.planned == 6
    assert_same_weights(weights_of(network), weights_of(train(TrainingConfig(epochs=6, warmup=0), validation=False)[0]))


def test_budgeted_run_that_was_killed_goes_on_with_its_plan(monkeypatch, tmp_path):
    config, save = TrainingConfig(epochs=1000, time_budget=13, warmup=0), Trainer.save
    clock(monkeypatch, [1.0] * 100)
    whole, history = train(config, validation=False)

    def kill(trainer, path, run):
        save(trainer, path, run)
        if len(trainer.history.epochs) == 6:
            raise RuntimeError("killed")

    clock(monkeypatch, [1.0] * 100)
    monkeypatch.setattr(Trainer, "save", kill)
    with pytest.raises(RuntimeError, match="killed"):
        train(config, validation=False, checkpoint=tmp_path / "run", run="a")
    monkeypatch.setattr(Trainer, "save", save)
    clock(monkeypatch, [1.05] * 100)  # slower now; what was planned stays planned
    resumed, found = train(config, validation=False, checkpoint=tmp_path / "run", run="a")
    assert (found.planned, found.timed) == (history.planned, history.timed)
    assert [epoch.learning_rate for epoch in found.epochs] == [epoch.learning_rate for epoch in history.epochs]
    assert_same_weights(weights_of(whole), weights_of(resumed))


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
