"""Balls: what a root reaches, and what it does not."""

from itertools import pairwise
from typing import NamedTuple

import networkx as nx
import numba
import numpy as np
import pytest
import torch
from engine_truth import SMALL, make_graphs, settled_network
from scipy.sparse import csr_array

from phist.engine.arena import make_arena, take_floats, take_integers
from phist.engine.balls import open_chunk
from phist.engine.plan import make_plan
from phist.engine.recursion import QUAD
from phist.nn.batch import Batch

ROOM = 20000


class Found(NamedTuple):
    """What a chunk holds, as arrays."""

    n_roots: int
    n_pairs: int
    n_background: int
    starts: np.ndarray
    hops: np.ndarray
    rows: np.ndarray
    indptr: np.ndarray
    indices: np.ndarray
    values: np.ndarray
    multiplicity: np.ndarray
    draw_counts: np.ndarray


@numba.njit
def copied(view, n, kind):
    result = np.empty(n, kind)
    for number in range(n):
        result[number] = view[number]
    return result


@numba.njit
def open_roots(plan, rows, draws, reach, max_pairs, arena):
    roots, weights = take_integers(arena, len(rows)), take_floats(arena, len(rows))
    for number in range(len(rows)):
        roots[number], weights[number] = rows[number], draws[number]
    chunk = open_chunk(plan, 0, roots, weights, reach, max_pairs, arena)
    balls, between, n = chunk.balls, chunk.balls.between, chunk.n_pairs - chunk.n_background
    return Found(
        chunk.n_roots, chunk.n_pairs, chunk.n_background, copied(balls.starts, chunk.n_roots + 1, np.int64),
        copied(balls.hops, balls.hops.n, np.int64), copied(balls.rows, n, np.int64), copied(between.indptr, n + 1, np.int64),
        copied(between.indices, balls.n_entries, np.int64), copied(between.values, balls.n_entries, np.float32),
        copied(chunk.multiplicity, chunk.n_pairs, np.float32), copied(chunk.draw_counts, chunk.n_pairs, np.float32),
    )  # fmt: skip


def opened(graphs, rows, reach, draws=None, max_pairs=1000):
    """A chunk of balls around some rows, its plan and the memory it lies in."""
    plan = make_plan(graphs, 0.8, reach, balls=True)._replace(by_balls=np.array([True]))
    arena = make_arena([ROOM, ROOM, 1, len(plan.multiplicity)], np.zeros(4, np.int64))
    draws = np.ones(len(rows), np.float32) if draws is None else np.array(draws, np.float32)
    return open_roots(plan, np.array(rows), draws, reach, max_pairs, arena), plan, arena


def balls_of(chunk):
    return [chunk.rows[begin:end].tolist() for begin, end in pairwise(chunk.starts.tolist())]


@pytest.fixture(scope="module")
def graph():
    edges = [(node, node + 1) for node in range(19)] + [(2, 9), (5, 16), (5, 18)]
    return make_graphs([20], edges, np.random.default_rng(0).uniform(0.5, 2, len(edges)))  # weights at random: no twins


@pytest.mark.parametrize("reach", [0, 1, 2, 4])
def test_ball_has_the_rows_within_reach_nearest_first(graph, reach):
    chunk, plan, _ = opened(graph, [0, 7, 19], reach)
    rows = np.repeat(np.arange(20), np.diff(plan.rows.indptr[:21]))
    own = nx.from_edgelist(zip(rows.tolist(), plan.rows.indices.tolist(), strict=True))
    own.add_nodes_from(range(20))
    for root, ball in zip([0, 7, 19], balls_of(chunk), strict=True):
        distances = nx.single_source_shortest_path_length(own, root, cutoff=reach)
        assert sorted(ball) == sorted(distances)
        assert [distances[row] for row in ball] == sorted(distances.values())


@pytest.mark.parametrize("reach", [1, 3])
def test_places_within_every_hop_are_counted(graph, reach):
    chunk, _, _ = opened(graph, [0, 7], reach)
    hops = chunk.hops.reshape(2, reach + 1)
    for hop in range(reach + 1):
        smaller, _, _ = opened(graph, [0, 7], hop)
        assert hops[:, hop].tolist() == [len(ball) for ball in balls_of(smaller)]


def test_operator_between_places_is_that_of_the_graph_in_fours(graph):
    chunk, plan, _ = opened(graph, [0, 7, 19], reach=2)
    whole = csr_array((plan.rows.values, plan.rows.indices, plan.rows.indptr), shape=(20, 20)).toarray()
    indptr, indices, values = chunk.indptr, chunk.indices, chunk.values
    assert not (indptr % QUAD).any() and indptr[-1] == len(values)
    first = 0
    for ball in balls_of(chunk):
        own = indptr[first : first + len(ball) + 1]
        entries = slice(own[0], own[-1])
        found = csr_array((values[entries], indices[entries], own - own[0]), shape=(len(ball), len(ball))).toarray()
        assert (found == whole[np.ix_(ball, ball)]).all()
        first += len(ball)


def test_every_row_counts_once_for_every_draw(graph):
    chunk, _, _ = opened(graph, [3, 11], reach=2, draws=[2, 5])
    assert chunk.draw_counts.min() >= 0
    assert (chunk.draw_counts * chunk.multiplicity).sum() == 20 * 7


def test_roots_are_taken_until_the_places_are_used_up():
    ring = make_graphs([30], [(node, (node + 1) % 30) for node in range(30)])
    chunk, _, _ = opened(ring, list(range(30)), reach=2, max_pairs=60)
    assert 1 < chunk.n_roots < 30 and chunk.n_pairs - chunk.n_background <= 60


def test_one_root_is_taken_however_little_memory_there_is(graph):
    assert opened(graph, [4, 5], reach=20, max_pairs=1)[0].n_roots == 1


def test_positions_are_left_clean(graph):
    _, _, arena = opened(graph, [0, 7, 19], reach=3)
    assert (arena.position == -1).all()


def test_response_beyond_reach_is_that_to_no_impulse_at_all():
    network = settled_network(SMALL).double()
    path = Batch.from_graphs(make_graphs([12], [(node, node + 1) for node in range(11)]), dtype=torch.float64)
    impulse, nothing = torch.zeros(2, 12, 1, 1, dtype=torch.float64)
    impulse[0] = 1
    difference = network.f_node.responses(impulse, path) - network.f_node.responses(nothing, path)
    reach = sum(order - 1 for order in SMALL.orders)
    assert (difference[reach + 1 :] == 0).all() and difference[reach].abs().max() > 1e-6
