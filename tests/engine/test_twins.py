"""Twins: found where they are, and nowhere else."""

from dataclasses import replace

import numpy as np
import pytest
from engine_truth import SMALL, check_engine, fused_computation, make_graphs, random_graphs, settled_network

from phist.engine.plan import make_plan, scaled_operator
from phist.engine.twins import SparseRows, merge_twins, twin_classes
from phist.nn.sampling import draw_all


def adjacency(graphs):
    matrix = np.zeros((graphs.n_nodes, graphs.n_nodes))
    matrix[np.repeat(np.arange(graphs.n_nodes), graphs.degrees()), graphs.indices] = graphs.weights_or_ones()
    return matrix


def are_twins(matrix, u, v):
    """Whether every other node sees the same of both."""
    others = np.delete(np.arange(len(matrix)), [u, v])
    return bool((matrix[u, others] == matrix[v, others]).all())


def brute_force(matrix):
    """The first twin of every node; a graph with a loop has none."""
    nodes = range(len(matrix))
    if matrix.diagonal().any():
        return list(nodes)
    return [next(other for other in nodes if other == node or are_twins(matrix, other, node)) for node in nodes]


def classes_of(graphs):
    return twin_classes(graphs.node_ptr, graphs.indptr, graphs.indices, graphs.weights_or_ones()).tolist()


def tangled(seed, weighted=False):
    """A random graph of ten nodes some of which were doubled, with and without an edge between the two."""
    rng = np.random.default_rng(seed)
    matrix = np.triu(rng.random((10, 10)) < 0.3, 1) * (rng.integers(1, 3, (10, 10)) if weighted else 1.0)
    matrix = (matrix + matrix.T).astype(float)
    for joined in (0.0, 1.0, 1.0, 0.0, 2.0 if weighted else 1.0):
        node = rng.integers(len(matrix))
        matrix = np.block([[matrix, matrix[:, [node]]], [matrix[[node]], np.zeros((1, 1))]])
        matrix[node, -1] = matrix[-1, node] = joined
    edges = np.argwhere(np.triu(matrix))
    return make_graphs([len(matrix)], edges, matrix[tuple(edges.T)])


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(12))
def test_classes_are_those_of_brute_force(seed, weighted):
    graphs = tangled(seed, weighted)
    assert classes_of(graphs) == brute_force(adjacency(graphs))


def test_leaves_of_a_star_are_twins():
    assert classes_of(make_graphs([5], [(0, leaf) for leaf in range(1, 5)])) == [0, 1, 1, 1, 1]


def test_nodes_of_a_clique_are_twins():
    assert classes_of(make_graphs([4], [(u, v) for u in range(4) for v in range(u)])) == [0, 0, 0, 0]


def test_isolated_nodes_are_twins():
    assert classes_of(make_graphs([4], [(1, 2)])) == [0, 1, 1, 0]


def test_leaves_of_other_weights_are_no_twins():
    star = make_graphs([5], [(0, leaf) for leaf in range(1, 5)], [1.0, 2.0, 1.0, 2.0])
    assert classes_of(star) == [0, 1, 2, 1, 2]


def test_clique_of_other_weights_has_no_twins():
    triangle = make_graphs([4], [(0, 1), (1, 2), (0, 2), (0, 3), (1, 3), (2, 3)], [1.0, 2.0, 3.0, 1.5, 2.5, 3.5])
    assert classes_of(triangle) == [0, 1, 2, 3]


def test_closed_twins_hide_behind_no_other_node_with_the_same_neighbours():
    heavy = {0: 1.0, 1: 2.0, 2: 2.0}  # three nodes with the same closed neighbourhood, the first with other weights to node 3
    edges = [(0, 1), (0, 2), (1, 2), *((node, 3) for node in heavy)]
    assert classes_of(make_graphs([4], edges, [5.0, 5.0, 5.0, *heavy.values()])) == [0, 1, 1, 3]


def test_graph_with_a_loop_is_left_as_it_is():
    assert classes_of(make_graphs([3], [(0, 1), (0, 2), (1, 1)], self_loops="keep")) == [0, 1, 2]


@pytest.mark.parametrize("seed", range(4))
def test_merged_operator_acts_as_the_full_one_on_signals_that_twins_share(seed):
    graphs = tangled(seed, weighted=True)
    values = scaled_operator(SparseRows(graphs.indptr, graphs.indices, graphs.weights_or_ones()), graphs.node_ptr, 0.8, True)
    full = np.zeros((graphs.n_nodes, graphs.n_nodes))
    full[np.repeat(np.arange(graphs.n_nodes), graphs.degrees()), graphs.indices] = values
    first = np.array(classes_of(graphs))
    _, (indptr, indices, row_values), multiplicity, root_row = merge_twins(
        graphs.node_ptr, SparseRows(graphs.indptr, graphs.indices, values), first
    )
    merged = np.zeros((len(multiplicity), len(multiplicity)))
    merged[np.repeat(np.arange(len(multiplicity)), np.diff(indptr)), indices] = row_values

    row_of = row_of_every_node(first)
    signal = np.random.default_rng(seed).standard_normal(len(multiplicity))
    np.testing.assert_allclose(merged[row_of] @ signal, full @ signal[row_of], atol=1e-6)
    np.testing.assert_array_equal(multiplicity, np.bincount(row_of))
    np.testing.assert_array_equal(root_row, row_of[first])


def row_of_every_node(first):
    """A row for each first twin and one for the others of its class, numbered as they come."""
    keys = [(leader, node != leader) for node, leader in enumerate(first)]
    numbers = {key: number for number, key in enumerate(dict.fromkeys(keys))}
    return np.array([numbers[key] for key in keys])


def test_plan_keeps_graphs_apart():
    graphs = random_graphs([6, 1, 8], seed=3, weights=0.5)
    together = make_plan(graphs, 0.8, reach=2, balls=True)
    for graph in range(3):
        alone = make_plan(graphs[[graph]], 0.8, reach=2, balls=True)
        rows = slice(*together.row_ptr[graph : graph + 2])
        entries = slice(*together.rows.entry_ptr[graph : graph + 2])
        np.testing.assert_array_equal(together.multiplicity[rows], alone.multiplicity)
        np.testing.assert_array_equal(together.rows.indices[entries], alone.rows.indices)
        np.testing.assert_array_equal(together.rows.values[entries], alone.rows.values)


WAYS = pytest.mark.parametrize(("statistics", "by_balls"), [("joint", False), ("joint", True), ("per-root", False)])


@WAYS
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("seed", range(3))
def test_graphs_with_twins_of_both_kinds_equal_the_reference(seed, weighted, statistics, by_balls):
    graphs = tangled(seed, weighted)
    assert len(set(classes_of(graphs))) < graphs.n_nodes
    config = replace(SMALL, statistics=statistics)
    check_engine(config, graphs, by_balls=by_balls)
    check_engine(config, graphs, draw_all(graphs.node_counts()), by_balls=by_balls)


@WAYS
def test_cliques_that_share_a_node_equal_the_reference(statistics, by_balls):
    ego = [(0, node) for node in range(1, 12)] + [
        (u, v) for group in (range(1, 5), range(5, 12)) for u in group for v in group if u < v
    ]
    check_engine(replace(SMALL, statistics=statistics), make_graphs([12], ego), by_balls=by_balls)


@pytest.mark.parametrize("weighted", [False, True])
def test_twins_have_the_same_embedding_and_others_have_not(weighted):
    graphs = tangled(1, weighted)
    first, computation = np.array(classes_of(graphs)), fused_computation(settled_network(SMALL).eval(), graphs)
    found = computation.node_embeddings(np.arange(1), draw_all(graphs.node_counts())).numpy()
    np.testing.assert_array_equal(found, found[first])
    assert len(np.unique(found.round(3), axis=0)) == len(set(first.tolist()))
