"""Checkpoints and histories from disk: used as they were written, refused in one way when they are anything else."""

import json
import os

import numpy as np
import pytest
import torch
from safetensors import safe_open
from safetensors.torch import load_file, save_file

from phist import StructuralClassifier
from phist.errors import ConfigError, ModelFileError
from phist.graphs.generate import make_planted_partitions
from phist.nn.config import NetworkConfig
from phist.nn.network import make_network
from phist.nn.sampling import RootSampler
from phist.training.checkpoint import FORMAT, load_checkpoint, load_snapshot, save_snapshot
from phist.training.config import TrainingConfig
from phist.training.history import Epoch, History
from phist.training.loop import Examples, fit_network

CONFIG = NetworkConfig(channels=(2, 3), bins=2, sampler=RootSampler(count=3))
EPOCH = {
    "number": 0, "learning_rate": 1e-3, "loss": 0.5, "accuracy": 0.5, "validation_loss": None, "validation_accuracy": None,
    "seconds": 0.1,
}  # fmt: skip
HISTORY = {"epochs": [EPOCH], "best": 0, "ending": "finished"}


def fit(path, epochs=2):
    graphs = make_planted_partitions(6, n_nodes=8, seed=0)
    examples = Examples(graphs.with_labels(None), np.arange(6) % 2, np.ones(6))
    config = TrainingConfig(epochs=epochs, batch_size=3)
    return fit_network(make_network(CONFIG, 2, seed=0), examples, None, config, engine="reference", checkpoint=path, run="a")


@pytest.fixture(scope="module")
def written(tmp_path_factory):
    path = tmp_path_factory.mktemp("runs") / "run.safetensors"
    fit(path, epochs=1)
    return path


@pytest.fixture
def change(written, tmp_path):
    """The checkpoint with something about it changed."""

    def change(tensors=None, without=(), note=None):
        path = tmp_path / "changed.safetensors"
        kept = {name: tensor for name, tensor in load_file(written).items() if name not in without}
        sound = {"format": FORMAT, "run": "a", "history": HISTORY}
        text = json.dumps({**sound, **note}) if isinstance(note, dict) else note or json.dumps(sound)
        save_file({**kept, **(tensors or {})}, path, metadata={"phist": text})
        return path

    return change


def test_the_checkpoint_as_it_was_written_is_continued(change):
    assert len(fit(change()).epochs) == 2


@pytest.mark.parametrize(
    "tensors",
    [
        {"network.head.bias": torch.tensor([float("nan"), 0.0])},
        {"best.head.bias": torch.tensor([float("inf"), 0.0])},
        {"network.head.bias": torch.zeros(3)},
        {"network.head.bias": torch.zeros(2, dtype=torch.float64)},
        {"network.tail": torch.zeros(2)},
        {"optimizer.0.exp_avg": torch.zeros(7)},
        {"optimizer.0.step": torch.zeros(2)},
        {"optimizer.0.extra": torch.zeros(())},
        {"optimizer.99.step": torch.zeros(())},
        {"optimizer.x.step": torch.zeros(())},
        {"optimizer.-1.step": torch.zeros(())},
        {"somewhere.else": torch.zeros(())},
        {"bare": torch.zeros(())},
    ],
    ids=str,
)
def test_tensors_that_do_not_fit_are_refused(change, tensors):
    with pytest.raises(ModelFileError, match="remove it to start afresh"):
        fit(change(tensors))


@pytest.mark.parametrize("name", ["network.head.bias", "best.head.bias", "optimizer.0.exp_avg"])
def test_missing_tensors_are_refused(change, name):
    with pytest.raises(ModelFileError, match=name):
        fit(change(without=[name]))


@pytest.mark.parametrize(
    "note",
    [
        "[]", "7", "null", "{", "[" * 100_000, '{"format": []}', {"run": 7}, {"run": None}, {"history": []}, {"history": None},
        {"history": {"epochs": 3, "best": 0, "ending": "finished"}}, {"history": {**HISTORY, "best": 5}},
        {"history": {**HISTORY, "best": -1}}, {"history": {**HISTORY, "best": 0.0}}, {"history": {**HISTORY, "ending": "never"}},
        {"history": {**HISTORY, "ending": []}}, {"history": {**HISTORY, "planned": "x"}}, {"history": {**HISTORY, "timed": 9}},
        {"history": {**HISTORY, "more": 1}}, {"history": {"epochs": [], "best": -1, "ending": "finished"}},
        {"history": {**HISTORY, "epochs": [{**EPOCH, "seconds": -1}]}},
    ],
    ids=lambda note: str(note)[:60],
)  # fmt: skip
def test_notes_that_do_not_fit_are_refused(change, note):
    with pytest.raises(ModelFileError, match="remove it to start afresh") as raised:
        fit(change(note=note))
    assert len(str(raised.value)) < 600


def test_what_is_no_regular_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    for path in (tmp_path, tmp_path / "pipe", "/dev/zero"):
        with pytest.raises(ModelFileError, match="no regular file"):
            load_checkpoint(path)


def test_damaged_checkpoints_are_refused_in_one_way(written, tmp_path):
    content, generator = np.frombuffer(written.read_bytes(), np.uint8), np.random.default_rng(0)
    path, refused = tmp_path / "damaged", 0
    for _ in range(150):
        damaged = content[: generator.integers(len(content))] if generator.random() < 0.3 else content.copy()
        for place in generator.integers(0, max(1, len(damaged)), 3):
            if len(damaged) and damaged.flags.writeable:
                damaged[place] = generator.integers(256)
        path.write_bytes(damaged.tobytes())
        try:
            fit(path, epochs=1)
        except (ModelFileError, ConfigError):
            refused += 1
    assert refused


# Histories ------------------------------------------------------------------------------------------------------------


def test_a_history_comes_back_from_its_values():
    history = History([Epoch(**EPOCH)], 0, "time budget", planned=12, timed=1)
    assert History.from_dict(json.loads(json.dumps(history.to_dict()))) == history


def test_a_history_from_before_plans_is_read():
    assert History.from_dict(HISTORY).planned is None


@pytest.mark.parametrize(
    "line",
    [
        "", "[]", "{}", "7", "null", "[" * 100_000, json.dumps({**EPOCH, "number": 1}), json.dumps({**EPOCH, "number": True}),
        json.dumps({**EPOCH, "loss": None}), json.dumps({**EPOCH, "loss": "low"}), json.dumps({**EPOCH, "loss": float("nan")}),
        json.dumps({**EPOCH, "accuracy": 1.5}), json.dumps({**EPOCH, "seconds": [EPOCH]}), json.dumps({**EPOCH, "more": 1}),
        '{"number": ' + "9" * 5000 + "}",
    ],
    ids=lambda line: line[:40],
)  # fmt: skip
def test_lines_that_hold_no_epoch_are_refused(tmp_path, line):
    (tmp_path / "history.jsonl").write_text(line + "\n")
    with pytest.raises(ModelFileError, match="history") as raised:
        History.read(tmp_path / "history.jsonl", 0, "finished")
    assert len(str(raised.value)) < 600


@pytest.mark.parametrize(("best", "ending"), [(1, "finished"), ("0", "finished"), (0, "maybe"), (0, None), (-1, "finished")])
def test_a_history_that_keeps_no_epoch_of_its_own_is_refused(tmp_path, best, ending):
    (tmp_path / "history.jsonl").write_text(json.dumps(EPOCH) + "\n")
    with pytest.raises(ModelFileError):
        History.read(tmp_path / "history.jsonl", best, ending)


def test_a_history_that_is_no_regular_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "endless").symlink_to("/dev/zero")
    for name in ("pipe", "endless", "absent"):
        with pytest.raises(ModelFileError):
            History.read(tmp_path / name, 0, "finished")


def test_a_history_larger_than_any_is_refused_unread(tmp_path):
    with (tmp_path / "history.jsonl").open("wb") as file:
        file.truncate(1 << 33)
    with pytest.raises(ModelFileError, match="at most 256 MB"):
        History.read(tmp_path / "history.jsonl", 0, "finished")


# Weights at the end of a cycle ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "damage",
    [
        lambda weights: {**weights, "head.bias": torch.full_like(weights["head.bias"], float("nan"))},
        lambda weights: {**weights, "head.bias": torch.zeros(7)},
        lambda weights: {**weights, "more": torch.zeros(1)},
        lambda weights: {name: tensor for name, tensor in weights.items() if name != "head.bias"},
    ],
)
def test_weights_of_a_cycle_that_do_not_fit_are_not_taken(tmp_path, damage):
    graphs = make_planted_partitions(10, n_nodes=8, seed=0)
    settings = {"network": {"channels": (2, 3), "bins": 2, "roots": 3}, "training": {"epochs": 1}, "members": "network"}
    model = StructuralClassifier("low", random_state=0, checkpoint=tmp_path / "run", progress=False, **settings).fit(graphs)
    expected = model.predict_proba(graphs)
    file = tmp_path / "run.0.1"
    with safe_open(file, "pt") as saved:
        run = json.loads(saved.metadata()["phist"])["run"]
    save_snapshot(file, damage(load_snapshot(file, run)), run)
    np.testing.assert_array_equal(model.fit(graphs).predict_proba(graphs), expected)
