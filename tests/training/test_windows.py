"""Graphs that are planned window by window: the same numbers, in bounded memory."""

import numpy as np
import pytest

from phist import GraphSet
from phist.engine.choice import compute
from phist.engine.computation import Reference
from phist.engine.fused import Fused
from phist.graphs.canonical import in_canonical_order
from phist.graphs.generate import make_planted_partitions
from phist.nn.adamw import AdamW
from phist.nn.config import NetworkConfig
from phist.nn.network import make_network
from phist.training import windows
from phist.training.config import TrainingConfig
from phist.training.inference import average_over_roots, embed_nodes
from phist.training.loop import Examples, Trainer, fit_network
from phist.training.windows import BLOCK, Windowed, compute_windowed, order_in_windows, take

GIVEN = make_planted_partitions(30, seed=0)
GRAPHS = in_canonical_order(GIVEN).graphs
TARGETS = np.unique(GRAPHS.labels, return_inverse=True)[1]


@pytest.fixture
def many(monkeypatch):
    """Thirty graphs are many."""
    monkeypatch.setattr(windows, "MOST_AT_ONCE", 1000)
    monkeypatch.setattr(windows, "WINDOW", 5000)
    monkeypatch.setattr(windows, "BLOCK", 4)


def small_network():
    return make_network(NetworkConfig(channels=(4, 6), bins=4), 2, seed=0)


def order(n_graphs, batch_size=7, mean_size=500.0, seed=0):
    return list(order_in_windows(n_graphs, mean_size, batch_size, np.random.default_rng(seed)))


@pytest.mark.parametrize("n_graphs", [1, 6, 7, 20_000])
def test_every_graph_comes_once_in_an_epoch(n_graphs):
    assert np.array_equal(np.sort(np.concatenate(order(n_graphs))), np.arange(n_graphs))


def test_windows_are_whole_steps():
    found = order(20_000)
    assert len(found) > 2
    assert all(len(window) % 7 == 0 for window in found[:-1])


def test_a_window_holds_graphs_of_few_blocks():
    for window in order(20_000):
        assert len(np.unique(window // BLOCK)) <= len(window) / BLOCK + 2


def test_another_seed_is_another_order():
    assert not np.array_equal(order(20_000)[0], order(20_000, seed=1)[0])


def test_graphs_that_fit_into_memory_come_in_any_order():
    (found,) = order_in_windows(100, None, 7, np.random.default_rng(3))
    assert np.array_equal(found, np.random.default_rng(3).permutation(100))


def test_few_graphs_are_planned_at_once():
    assert isinstance(compute_windowed(small_network(), GRAPHS, "auto"), Fused)
    assert len(compute_windowed(small_network(), GRAPHS, "auto", np.array([3, 5])).sizes) == 2


@pytest.mark.parametrize(("engine", "kind"), [("fused", Fused), ("reference", Reference)])
def test_a_window_is_computed_by_the_engine_that_was_asked_for(many, engine, kind):
    assert isinstance(compute_windowed(small_network(), GRAPHS, engine).window(np.array([1])), kind)


def test_embeddings_are_those_of_all_graphs_at_once(many):
    network, rows = small_network(), np.array([4, 9, 2, 20])
    windowed, whole = Windowed(network, GRAPHS, "fused", rows), compute(network, GRAPHS[rows], "fused")
    windowed.roots_at_once = 40  # several batches
    for inference in ("auto", "sampled", "exact"):
        found, expected = (
            average_over_roots(own, "graph_embeddings", realizations=2, seed=0, inference=inference) for own in (windowed, whole)
        )
        assert np.array_equal(found, expected)
    for found, expected in zip(embed_nodes(windowed), embed_nodes(whole), strict=True):
        assert np.array_equal(found, expected)
    chosen = np.arange(4)
    draws = network.config.sampler.draw(whole.sizes, np.random.default_rng(0))
    assert np.allclose(windowed.scores(chosen, draws).detach(), whole.scores(chosen, draws).detach(), atol=1e-6)


def test_nodes_of_many_graphs_are_put_in_canonical_order_window_by_window(many):
    assert take(GIVEN, np.array([7, 3])) == GRAPHS[[7, 3]]
    assert compute_windowed(small_network(), GIVEN, "fused").window(np.array([5])).graphs == GRAPHS[[5]]


def test_steps_are_those_of_all_graphs_at_once():
    states = []
    for kind in (Windowed, compute):
        network = small_network().train()
        trainer = Trainer(network, Examples(GRAPHS.with_labels(None), TARGETS, np.ones(30)), None, TrainingConfig(), "fused")
        (steps,) = trainer.steps_of(0)
        kind(network, GRAPHS, "fused").train(steps, AdamW(network.parameters(), lr=1e-3), 1.0)
        states.append(network.state_dict())
    assert all(np.array_equal(states[0][name], states[1][name]) for name in states[0])


def test_a_part_of_many_graphs_copies_none(many):
    examples = Examples(GRAPHS, TARGETS, np.ones(30)).part(np.array([3, 8, 9])).part(np.array([0, 2]))
    assert examples.graphs is GRAPHS
    assert examples.rows.tolist() == [3, 9]
    assert examples.targets.tolist() == TARGETS[[3, 9]].tolist()


def test_training_on_rows_is_training_on_these_graphs(many):
    rows = np.array([1, 4, 5, 9, 12, 15, 20, 28])
    states = []
    for examples in (
        Examples(GRAPHS, TARGETS, np.ones(30)).part(rows),
        Examples(GRAPHS[rows], TARGETS[rows], np.ones(8), np.arange(8)),
    ):
        network = small_network()
        fit_network(network, examples, None, TrainingConfig(epochs=2, batch_size=3), progress=False)
        states.append(network.state_dict())
    assert all(np.array_equal(states[0][name], states[1][name]) for name in states[0])


def test_a_killed_training_on_many_graphs_goes_on_to_the_same_bits(many, tmp_path):
    config, examples = TrainingConfig(epochs=4, batch_size=5), Examples(GRAPHS, TARGETS, np.ones(30))
    whole, parts = small_network(), small_network()
    fit_network(whole, examples, None, config, progress=False)
    trainer = Trainer(small_network(), examples, None, config, "auto")
    for _ in range(2):
        trainer.run_epoch()
    trainer.save(tmp_path / "checkpoint", "")
    fit_network(parts, examples, None, config, checkpoint=tmp_path / "checkpoint", progress=False)
    assert all(np.array_equal(value, parts.state_dict()[name]) for name, value in whole.state_dict().items())


def test_graphs_are_taken_from_a_mapped_set_in_any_order(tmp_path):
    GRAPHS.save(tmp_path / "set")
    mapped = GraphSet.open(tmp_path / "set")
    assert mapped[[3, 1, 28]] == GRAPHS[[3, 1, 28]]
