import time
from dataclasses import replace

import numpy as np
import pytest
import torch

from phist.baselines.method import HIDDEN, Method
from phist.evaluation.execution import make_task, run_cell
from phist.evaluation.generated import Recipe
from phist.evaluation.splits import class_codes, make_split
from phist.graphs.datasets import load_graphs
from phist.graphs.generate import make_trees


class Cheat(Method):
    """Answers with whatever label it can find for a graph: its own, its id, or any array of one label for each graph."""

    name, family, selection = "cheat", "floor", "the test labels, if they can be had"

    def fit(self, task):
        self.task = task
        return self

    def predict(self, positions):
        answers = np.full((len(positions), self.task.n_classes), 1 / self.task.n_classes)
        for row, position in enumerate(positions):
            label = self._label_of(position)
            if label is not None:
                answers[row] = np.eye(self.task.n_classes)[label]
        return answers

    def _label_of(self, position):
        task = self.task
        suspects = [task.labels, task.graphs.labels, task.graphs.ids, task.graphs[int(position)].label]
        arrays = [np.atleast_1d(suspect) for suspect in suspects if suspect is not None]
        for values in arrays:
            value = values[position if len(values) > 1 else 0]
            if values.dtype.kind in "iu" and len(values) > 1 and set(values.tolist()) == set(range(task.n_classes)):
                return int(value)
            if values is task.labels and value != HIDDEN:
                return int(value)
            if values.dtype.kind in "UO":  # ids that name the class, as those of a folder for each class do
                return int(str(value).rpartition("class")[2])
        return None


@pytest.fixture
def leaky():
    """Trees whose labels say nothing of their structure, and whose ids say the label."""
    labels = np.random.default_rng(0).permutation(np.arange(100) % 2)
    graphs = make_trees(100, n_nodes=8, seed=0).with_labels(labels.tolist())
    return replace(graphs, ids=np.array([f"{number}-class{label}" for number, label in enumerate(labels)]))


def task_of(graphs, split, codes=None):
    codes = class_codes(graphs)[0] if codes is None else codes
    return make_task(graphs, codes, split, dataset="leaky", n_classes=2, seed=0)


def test_a_method_that_would_cheat_finds_no_test_label(leaky):
    split = make_split(leaky, "paper", 0)
    cheat = Cheat().fit(task_of(leaky, split))
    seen = cheat.predict(split.training).max(axis=1)
    assert (seen == 1).all(), "it does find the labels that it may see"
    assert (cheat.predict(split.test) == 0.5).all()


def test_the_same_method_finds_every_label_where_nothing_is_hidden(leaky):
    split = make_split(leaky, "paper", 0)
    open_task = replace(task_of(leaky, split), graphs=leaky)
    assert (Cheat().fit(open_task).predict(split.test).max(axis=1) == 1).all()


@pytest.mark.parametrize("protocol", ["paper", "fair"])
def test_a_task_is_the_same_whatever_the_test_labels_are(leaky, protocol):
    split = make_split(leaky, protocol, 3)
    codes, _ = class_codes(leaky)
    others = codes.copy()
    others[split.test] = 1 - others[split.test]
    one, other = task_of(leaky, split), task_of(leaky.with_labels(others.tolist()), split, others)
    assert np.array_equal(one.labels, other.labels)
    assert one.graphs == other.graphs
    assert np.array_equal(one.training, other.training)
    assert np.array_equal(one.validation, other.validation)
    assert (one.labels[split.test] == HIDDEN).all()


def test_asking_for_hidden_labels_is_an_error(leaky):
    split = make_split(leaky, "paper", 0)
    with pytest.raises(LookupError, match="hidden"):
        task_of(leaky, split).labels_of(split.test)


def test_a_cell_is_recorded_with_all_that_decides_and_explains_it(add_method, make_cell):
    cell = make_cell(fold=2)
    record = run_cell(cell)
    split = make_split(load_graphs(cell.source), "paper", 2)
    assert record.status == "ok"
    assert record.cell == cell
    assert record.split == split.hash
    assert record.outcome.positions == split.test.tolist()
    assert record.outcome.probabilities.shape == (len(split.test), 2)
    assert record.account.chosen == {"C": 1.0}
    assert record.accuracy == 0.5
    assert {"phist", "python", "torch", "numpy"} <= set(record.versions)
    assert record.peak_memory > 1
    assert record.finished.endswith("Z")


def test_truth_and_predictions_are_numbers_of_classes(add_method, make_cell):
    cell = make_cell()
    outcome = run_cell(cell).outcome
    labels = load_graphs(cell.source).labels[outcome.positions]
    assert [outcome.classes[number] for number in outcome.truth] == [str(label) for label in labels]


def test_a_failing_method_is_recorded_with_its_error_in_one_line(add_method, make_cell):
    record = run_cell(make_cell(options={"fail": True}))
    assert record.status == "failed"
    assert record.reason.startswith("RuntimeError: broken on purpose (conftest.py:")
    assert "\n" not in record.reason
    assert "/" not in record.reason


def test_a_skipped_method_is_recorded_with_its_reason(add_method, make_cell):
    record = run_cell(make_cell(options={"skip": "too slow"}))
    assert (record.status, record.reason, record.outcome) == ("skipped", "too slow", None)


@pytest.mark.parametrize("scale", [2, -1, float("nan")])
def test_probabilities_that_are_none_are_a_failure(add_method, make_cell, scale):
    record = run_cell(make_cell(options={"scale": scale}) if scale == scale else make_cell(options={"scale": 1e400 * 0}))
    assert record.status == "failed"
    assert "predict gave" in record.reason


def test_a_set_that_has_changed_meanwhile_is_a_failure(add_method, make_cell):
    record = run_cell(make_cell(fingerprint="0" * 64))
    assert record.status == "failed"
    assert "has changed" in record.reason


class Resumed(Cheat):
    name, earlier_seconds = "resumed", 1000.0


def test_the_time_before_an_interruption_counts(add_method, make_cell):
    add_method(Resumed)
    record = run_cell(make_cell(method="resumed"))
    assert 1000 <= record.seconds < 1100
    assert record.processor_seconds is None  # of the time before, only the wall clock is known


class Idle(Cheat):
    name = "idle"

    def fit(self, task):
        time.sleep(0.5)
        return super().fit(task)


def test_processor_time_does_not_count_waiting(add_method, make_cell):
    add_method(Idle)
    record = run_cell(make_cell(method="idle"))
    assert record.processor_seconds < 0.4 < record.seconds


class Clock:
    now = 0.0


class Compiled(Cheat):
    name = "compiled"

    def prepare(self):
        Clock.now += 100

    def fit(self, task):
        Clock.now += 1
        return super().fit(task)


def test_what_is_prepared_once_on_a_machine_is_not_counted(add_method, make_cell, monkeypatch):
    monkeypatch.setattr(time, "perf_counter", lambda: Clock.now)
    add_method(Compiled)
    assert run_cell(make_cell(method="compiled")).seconds == 1
    assert Clock.now >= 101


class Threads(Method):
    name, family, selection = "threads", "floor", "nothing to choose"

    def fit(self, task):
        self.account.chosen = {"allowed": task.threads, "torch": torch.get_num_threads(), "cache": str(task.cache)}
        self.engine = "fused"
        return self

    def predict(self, positions):
        return np.full((len(positions), 2), 0.5)


def test_a_method_has_as_many_threads_as_it_is_told_and_leaves_none_behind(add_method, make_cell):
    add_method(Threads)
    before = torch.get_num_threads()
    record = run_cell(make_cell(method="threads"), threads=2)
    assert (record.account.chosen["allowed"], record.account.chosen["torch"], record.threads) == (2, 2, 2)
    assert torch.get_num_threads() == before


def test_the_cache_belongs_to_the_content_of_the_dataset(add_method, make_cell):
    add_method(Threads)
    cell = make_cell(method="threads")
    record = run_cell(cell)
    assert record.account.chosen["cache"].endswith(f"trees-{cell.fingerprint[:12]}")
    assert record.engine == "fused"


def test_a_sample_is_all_that_a_method_sees_and_positions_stay_those_of_the_dataset(add_method, make_cell):
    cell = make_cell(labelled=20, tested=5)
    record = run_cell(cell)
    whole = make_split(load_graphs(cell.source), "paper", cell.fold)
    assert record.status == "ok", record.reason
    assert len(record.outcome.positions) == 5 and set(record.outcome.positions) <= set(whole.test.tolist())


def test_generated_graphs_are_made_where_they_are_needed(add_method, make_cell):
    recipe = Recipe.make("trees", {"n_graphs": 40, "n_nodes": 9, "seed": 0})
    record = run_cell(make_cell(source=recipe, fingerprint=recipe.fingerprint))
    assert record.status == "ok", record.reason
