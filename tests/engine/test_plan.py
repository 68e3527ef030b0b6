"""Plans: the scaled Laplacian, and where balls pay."""

from itertools import pairwise

import networkx as nx
import numpy as np
import torch
from engine_truth import make_graphs, random_graphs
from scipy.sparse import csr_array

from phist.engine.plan import LARGE, make_plan
from phist.engine.recursion import BESIDE
from phist.graphs.convert import as_graphset
from phist.nn.batch import Batch


def ring(n_nodes):
    return make_graphs([n_nodes], [(node, (node + 1) % n_nodes) for node in range(n_nodes)])


def test_operator_is_that_of_the_reference():
    graphs = random_graphs([7, 1, 5], seed=2, weights=3, self_loops="keep")
    operator = Batch.from_graphs(graphs, dtype=torch.float64).operator("laplacian", 0.7)
    expected = operator(torch.eye(graphs.n_nodes, dtype=torch.float64).unsqueeze(-1)).squeeze(-1).numpy()
    plan = make_plan(graphs, 0.7, reach=2, balls=False)
    found = np.zeros_like(expected)
    first = np.repeat(graphs.node_ptr[:-1], np.diff(plan.nodes.entry_ptr))
    found[np.repeat(np.arange(graphs.n_nodes), graphs.degrees()), first + plan.nodes.indices] = plan.nodes.values
    np.testing.assert_allclose(found, expected, rtol=1e-6, atol=1e-9)


def test_balls_pay_where_they_are_small():
    assert make_plan(ring(30), 0.8, reach=4, balls=True).by_balls.tolist() == [True]


def test_balls_do_not_pay_where_they_are_nearly_everything():
    assert make_plan(ring(30), 0.8, reach=12, balls=True).by_balls.tolist() == [False]


def test_balls_are_not_used_unless_they_are_allowed():
    assert make_plan(ring(30), 0.8, reach=2, balls=False).by_balls.tolist() == [False]


def test_choice_is_made_graph_by_graph():
    clique = [(30 + u, 30 + v) for u in range(8) for v in range(u)]
    graphs = make_graphs([30, 8], [(node, node + 1) for node in range(29)] + clique)
    assert make_plan(graphs, 0.8, reach=2, balls=True).by_balls.tolist() == [True, False]


def test_pointers_count_within_each_graph():
    graphs = random_graphs([4, 6], seed=0)
    plan = make_plan(graphs, 0.8, reach=2, balls=True)
    degrees = [np.diff(plan.nodes.indptr[start : start + size + 1]) for start, size in ((0, 4), (5, 6))]
    np.testing.assert_array_equal(np.concatenate(degrees), graphs.degrees())
    assert plan.nodes.indptr[0] == plan.nodes.indptr[5] == 0


def test_costs_grow_with_the_rows_that_roots_reach():
    graphs = as_graphset([nx.path_graph(200), nx.complete_graph(30), nx.star_graph(29)])
    plan = make_plan(graphs, scale=0.8, reach=4, balls=True)
    costs = plan.costs(np.arange(3), np.array([20, 20, 20]))
    assert plan.by_balls.tolist() == [True, False, False]
    assert plan.row_counts.tolist() == [200, 2, 3]
    assert plan.ball_sizes[0] <= 9  # rows around a root of a path
    roots, nodes = np.array([20, 2, 3]), np.array([200, 30, 30])  # twins leave fewer roots than were drawn
    assert costs.tolist() == (roots * (plan.ball_sizes + 3) + 7 * np.array([200, 0, 0]) + 3 * nodes + 60).tolist()
    assert (plan.costs(np.arange(3), np.array([40, 40, 40])) >= costs).all()


def test_random_walk_and_its_transpose_are_those_of_the_reference():
    graphs = random_graphs([7, 1, 5], seed=2, probability=0.3, weights=1, directed="keep")
    operator = Batch.from_graphs(graphs, dtype=torch.float64).operator("random-walk", 0.7)
    expected = operator(torch.eye(graphs.n_nodes, dtype=torch.float64).unsqueeze(-1)).squeeze(-1).numpy()
    plan = make_plan(graphs, 0.7, reach=2, balls=True, operator="random-walk")
    for matrices, whole in ((plan.nodes, expected), (plan.nodes_transposed, expected.T)):
        for graph, (begin, end) in enumerate(pairwise(graphs.node_ptr.tolist())):
            indptr, entries = matrices.indptr[begin + graph : end + graph + 1], slice(*matrices.entry_ptr[graph : graph + 2])
            own = csr_array((matrices.values[entries], matrices.indices[entries], indptr), shape=(end - begin, end - begin))
            np.testing.assert_allclose(own.toarray(), whole[begin:end, begin:end], rtol=1e-6, atol=1e-9)


def test_undirected_graphs_keep_one_operator_for_both_passes():
    plan = make_plan(ring(30), 0.8, reach=2, balls=True)
    assert plan.nodes is plan.nodes_transposed and plan.rows is plan.rows_transposed


def test_roots_are_side_by_side_in_large_graphs_that_balls_do_not_cut():
    large = ring(LARGE)
    assert make_plan(large, 0.8, reach=LARGE, balls=True).beside.tolist() == [BESIDE]
    assert make_plan(large, 0.8, reach=1, balls=True).beside.tolist() == [1]  # by balls
    assert make_plan(large, 0.8, reach=LARGE, balls=False).beside.tolist() == [1]  # whitened root by root
    assert make_plan(ring(LARGE - 1), 0.8, reach=LARGE, balls=True).beside.tolist() == [1]
