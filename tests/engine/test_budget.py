"""Memory: a pass stays within what was counted for it, and that is bounded."""

from dataclasses import replace

import numpy as np
import pytest
import torch
from engine_truth import (
    SMALL,
    fused_computation,
    guarded_memory,
    intact,
    make_graphs,
    outcome,
    random_graphs,
    settled_network,
    some_draws,
)

from phist.engine.batch_pass import Pass
from phist.engine.budget import KEPT
from phist.engine.fused import Fused
from phist.engine.recursion import BESIDE
from phist.engine.steps import Steps
from phist.engine.threads import make_shards
from phist.nn.adamw import AdamW
from phist.nn.network import make_network
from phist.nn.sampling import Views, draw_all
from phist.training.presets import make_preset

LIMIT = 2 << 30


def lollipop(core, tail):
    """A dense core with a long tail: balls in the core have more than their share of the edges."""
    edges = [(u, v) for u in range(core) for v in range(u)] + [(core - 1 + step, core + step) for step in range(tail)]
    return make_graphs([core + tail], edges, np.random.default_rng(0).uniform(0.5, 2, len(edges)))


GRAPHS = {
    "random": lambda: random_graphs([30, 8, 1, 12], seed=2, probability=0.1),
    "sparse": lambda: random_graphs([80, 70], seed=2, probability=0.02),
    "star": lambda: make_graphs([40], [(0, leaf) for leaf in range(1, 40)]),
    "lollipop": lambda: lollipop(40, 400),
    "one node": lambda: make_graphs([1], []),
}
CONFIGS = {
    "small": SMALL,
    "root by root": replace(SMALL, statistics="per-root"),
    "one layer": replace(SMALL, orders=(3,), channels=(5,)),
    "four layers": replace(SMALL, orders=(2, 2, 2, 2), channels=(17, 3, 5, 33)),
    "moments": replace(SMALL, orders=(2, 1), channels=(1, 17), bins=1, moments="head"),
    "moments, root by root": replace(SMALL, moments="head", statistics="per-root"),
    "maximum": replace(SMALL, aggregation="max"),
    "no reach": replace(SMALL, orders=(1, 1)),
    "long first": replace(SMALL, orders=(7, 1), channels=(1, 1), bins=1),
}


@pytest.mark.parametrize("max_elements", [1, 16 * 500, 1 << 24])
@pytest.mark.parametrize("config", CONFIGS)
@pytest.mark.parametrize("graphs", GRAPHS)
def test_a_pass_stays_within_the_memory_counted_for_it(graphs, config, max_elements, monkeypatch):
    computation = Fused(settled_network(replace(CONFIGS[config], max_elements=max_elements)), GRAPHS[graphs]())
    handed = guarded_memory(computation, monkeypatch)
    chosen, draws = np.arange(len(computation.graphs)), draw_all(computation.sizes)
    computation.scores(chosen, draws).sum().backward()
    rates, ptr = np.full(2, 1e-3), np.array([0, 1, len(chosen)])[: 1 + min(2, len(chosen))]
    steps = Steps(ptr, rates[: len(ptr) - 1], chosen, draws, chosen % 3, np.ones(len(chosen)))
    computation.train(steps, AdamW(computation.network.parameters()), clip=1.0)
    with torch.no_grad():
        computation.graph_embeddings(chosen, draws)
        computation.node_embeddings(chosen, draws)
        computation.mean_embeddings(chosen, Views(draws, [draws, some_draws(computation.graphs)]))
    assert intact(handed)


@pytest.mark.parametrize("limit", [1, 16 * 500, 1 << 24])
@pytest.mark.parametrize("config", ["small", "one layer", "four layers", "moments"])
def test_roots_side_by_side_stay_within_the_memory_counted_for_them(config, limit, monkeypatch):
    graphs = random_graphs([30, 8, 1, 270], seed=2, probability=0.1)
    computation = fused_computation(settled_network(replace(CONFIGS[config], max_elements=limit)), graphs, False, beside=BESIDE)
    handed = guarded_memory(computation, monkeypatch)
    chosen, draws = np.arange(len(graphs)), some_draws(graphs, 40)
    computation.scores(chosen, draws).sum().backward()
    with torch.no_grad():
        computation.node_embeddings(chosen, draws)
    assert intact(handed)


@pytest.mark.parametrize("statistics", ["joint", "per-root"])
def test_last_responses_that_are_held_change_no_bit(statistics):
    graphs = random_graphs([30, 9, 70], seed=2, probability=0.1)
    config = replace(SMALL, max_elements=700, statistics=statistics)
    held, computed = (fused_computation(settled_network(config), graphs, by_balls=False) for _ in range(2))
    computed.max_held = 0
    found, again = (outcome(computation, draw_all(graphs.node_counts())) for computation in (held, computed))
    assert held.max_held > 0
    for name, value in found.items():
        np.testing.assert_array_equal(again[name], value, err_msg=name)


def torus(rows, columns):
    """Every node has six neighbours, and a ball of four hops is small: as in a protein."""
    nodes = np.arange(rows * columns)
    steps = [1, columns, columns + 1]
    return make_graphs([len(nodes)], np.concatenate([np.stack([nodes, (nodes + step) % len(nodes)], 1) for step in steps]))


def needs(computation, chosen, draws, shards, keep):
    """What a pass asks for when its graphs are shared out so."""
    call = Pass(computation, chosen, draws)
    call.max_pairs, call.shards, call.n_shards = computation.max_pairs, shards, shards.ptr.shape[1] - 1
    call.n_workers = call.n_shards
    call._begin(keep)
    return call.sizes(keep)


def bytes_needed(computation, draws, keep):
    shards = make_shards(computation.sizes, np.array([0, len(computation.sizes)]), 1, 0)
    sizes = needs(computation, np.arange(1), draws, shards, keep)
    ((floats, integers, doubles, positions, _),) = sizes.tolist()
    return 4 * floats + 4 * integers + 8 * doubles + 4 * positions


@pytest.mark.parametrize("keep", [False, True])
def test_the_largest_protein_seen_from_all_its_nodes_fits_two_gigabytes(keep):
    computation = Fused(make_network(make_preset("DD").network, 2, seed=0), torus(12, 479))
    assert computation.sizes.tolist() == [5748]
    assert 1.5 * bytes_needed(computation, draw_all(computation.sizes), keep) < LIMIT  # half as much again is taken ahead


def test_memory_of_a_large_graph_is_bounded_by_the_configuration():
    config = replace(SMALL, orders=(2, 2), max_elements=1 << 17)
    computation = Fused(settled_network(config), torus(20, 300))
    computation.network.eval()
    with torch.no_grad():
        found = computation.graph_embeddings(np.arange(1), draw_all(computation.sizes))
    (arena,) = computation._arenas[0]
    embeddings = 6000 * (SMALL.bins + 2) * 16  # of all roots, and their products
    assert found.isfinite().all()
    assert len(arena.floats) < 1.5 * (embeddings + 24 * config.max_elements)


def test_memory_does_not_grow_with_the_roots_but_for_their_embeddings():
    computation = Fused(settled_network(replace(SMALL, max_elements=1 << 14)), torus(20, 50))
    few, many = some_draws(computation.graphs, 100), draw_all(computation.sizes)
    more = len(many.nodes) - len(few.nodes)
    grown = bytes_needed(computation, many, keep=False) - bytes_needed(computation, few, keep=False)
    assert grown < more * 4 * (1 + 16 * (4 * SMALL.bins + SMALL.orders[0]) + 16)


def test_smaller_limit_needs_less_memory():
    graphs = torus(20, 50)
    draws = draw_all(graphs.node_counts())
    needed = [
        bytes_needed(Fused(settled_network(replace(SMALL, max_elements=limit)), graphs), draws, keep=True)
        for limit in (1 << 14, 1 << 17, 1 << 20)
    ]
    assert needed[0] < needed[1] < needed[2]


def needed_by(computation, draws, threads, keep=True):
    chosen = np.arange(len(computation.graphs))
    shards = make_shards(computation.sizes, np.array([0, len(chosen)]), threads, 0)
    return needs(computation, chosen, draws, shards, keep), shards


def test_every_thread_has_room_for_its_own_graphs():
    computation = Fused(settled_network(SMALL), random_graphs([30, 8, 1, 12], seed=2, probability=0.1))
    draws = draw_all(computation.sizes)
    sizes, shards = needed_by(computation, draws, threads=3)
    assert len(sizes) == 3
    for number, own in enumerate(sizes):
        graphs = shards.order[shards.ptr[0, number] : shards.ptr[0, number + 1]]
        alone = shards._replace(order=graphs, ptr=np.array([[0, len(graphs)]]), ends=np.array([len(graphs)]))
        np.testing.assert_array_equal(needs(computation, np.arange(4), draws, alone, True)[0], own)


def test_nothing_is_kept_where_there_is_no_way_back():
    computation = Fused(settled_network(SMALL), random_graphs([30, 8], seed=2))
    kept, _ = needed_by(computation, draw_all(computation.sizes), threads=2, keep=True)
    passing, _ = needed_by(computation, draw_all(computation.sizes), threads=2, keep=False)
    assert (kept[:, KEPT] > 0).all() and (passing[:, KEPT] == -1).all()
    assert (passing[:, :KEPT] <= kept[:, :KEPT]).all()


def test_room_for_many_steps_is_room_for_the_largest():
    computation = Fused(settled_network(SMALL), random_graphs([30, 8, 1, 12], seed=2, probability=0.1))
    chosen, draws = np.arange(4), draw_all(computation.sizes)

    def needed(*steps):
        shards = make_shards(computation.sizes, np.array(steps), 1, 0)
        return needs(computation, chosen, draws, shards, True)[0]

    def alone(begin, end):
        part = draws.part(begin, end)
        shards = make_shards(computation.sizes[begin:end], np.array([0, end - begin]), 1, 0)
        return needs(computation, chosen[begin:end], part, shards, True)[0]

    together = needed(0, 1, 4)
    assert (together >= np.maximum(alone(0, 1), alone(1, 4))).all()
    assert (together < needed(0, 4))[[0, 1, 4]].all()
