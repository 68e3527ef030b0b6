"""On real graphs the engine computes what the reference does, with the networks that are trained on them."""

from dataclasses import replace
from functools import cache

import numpy as np
import pytest
from engine_truth import check_close, check_engine, fused_computation, outcome, references, settled_network
from hypothesis import given, settings
from hypothesis import strategies as st

from phist import load_dataset
from phist.nn.sampling import draw_all
from phist.training.presets import make_preset

CHOSEN = {"MUTAG": [0, 45, 90, 135], "ENZYMES": [0, 90, 135, 295], "IMDB-BINARY": [0, 90, 500, 900], "DD": [23, 44]}
every_set = pytest.mark.parametrize("name", CHOSEN)
few = settings(max_examples=8, deadline=None, derandomize=True)


@pytest.fixture(autouse=True)
def with_datasets(dataset_folder):
    """Nothing here can run without them."""


@cache
def dataset(name):
    return load_dataset(name, download=False).with_labels(None)


def some_graphs(name):
    return dataset(name)[np.array(CHOSEN[name])]


def drawn(config, graphs, seed=0):
    return config.sampler.draw(graphs.node_counts(), np.random.default_rng(seed))


@every_set
@pytest.mark.parametrize("statistics", ["joint", "per-root"])
def test_a_step_of_training_equals_the_reference(name, statistics):
    config = replace(make_preset(name).network, statistics=statistics)
    check_engine(config, some_graphs(name), drawn(config, some_graphs(name)), threads=2, usual=some_graphs(name))


@every_set
def test_exact_inference_equals_the_reference(name):
    graphs = some_graphs(name)[:2]
    check_engine(make_preset(name).network, graphs, draw_all(graphs.node_counts()), training=False, usual=some_graphs(name))


@every_set
@pytest.mark.parametrize("kernel", ["smooth-rectangle", "raised-cosine"])  # others have slopes that jump where rounding differs
def test_other_kernels_equal_the_reference(name, kernel):
    graphs, config = some_graphs(name)[:2], replace(make_preset(name).network, kernel=kernel)
    check_engine(config, graphs, drawn(config, graphs), usual=some_graphs(name))


@every_set
@pytest.mark.parametrize("statistics", ["joint", "per-root"])
def test_roots_in_turns_and_at_once_are_alike(name, statistics):
    graphs, config = some_graphs(name)[:2], replace(make_preset(name).network, statistics=statistics)
    network, draws = settled_network(config, usual=some_graphs(name)), drawn(config, graphs)
    _, single = references(network, graphs, draws)
    at_once, in_turns = fused_computation(network, graphs), fused_computation(network, graphs)
    in_turns.most_places = 3 * int(in_turns.plan.row_counts.min())
    check_close(outcome(in_turns, draws), outcome(at_once, draws), single)


def test_balls_pay_on_proteins_and_twins_on_ego_networks():
    proteins, egos = (
        fused_computation(settled_network(make_preset(name).network), some_graphs(name)) for name in ("DD", "IMDB-BINARY")
    )
    assert proteins.plan.by_balls.all()
    assert (2 * egos.plan.row_counts < egos.plan.node_counts).any()


@few
@given(
    name=st.sampled_from(sorted(CHOSEN)),
    positions=st.lists(st.integers(0, 10_000), min_size=1, max_size=3),
    seed=st.integers(0, 100),
    threads=st.integers(1, 2),
)
def test_any_graphs_of_a_set_equal_the_reference(name, positions, seed, threads):
    small = np.flatnonzero(dataset(name).node_counts() <= 80)
    graphs, config = dataset(name)[small[np.array(positions) % len(small)]], make_preset(name).network
    check_engine(config, graphs, drawn(config, graphs, seed), seed=seed, threads=threads, usual=some_graphs(name))
