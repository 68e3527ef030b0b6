"""The canonical order of nodes does not depend on how they are numbered."""

import networkx as nx
import numpy as np
import pytest
from renumbering import renumbered

from phist.graphs.canonical import _argsort, in_canonical_order, reordered
from phist.graphs.convert import as_graphset
from phist.graphs.generate import make_planted_partitions, make_trees
from phist.graphs.graphset import GraphSet
from phist.jit import compiled

SYMMETRIC = [
    nx.cycle_graph(6),
    nx.complete_graph(7),
    nx.petersen_graph(),
    nx.hypercube_graph(3),
    nx.star_graph(5),
    nx.empty_graph(4),
]
APART = [
    nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3)),
    nx.disjoint_union(nx.path_graph(4), nx.empty_graph(2)),
    nx.path_graph(1),
]


def weighted(graphs, seed=0):
    rng = np.random.default_rng(seed)
    for graph in graphs:
        nx.set_edge_attributes(graph, {edge: float(rng.integers(1, 4)) for edge in graph.edges}, "weight")
    return as_graphset(graphs)


def directed(seed=0):
    return as_graphset([nx.gnp_random_graph(9, 0.3, seed=seed + k, directed=True) for k in range(5)], directed="keep")


def looped():
    graphs = [nx.gnp_random_graph(8, 0.3, seed=k) for k in range(5)]
    for number, graph in enumerate(graphs):
        graph.add_edge(number, number)
    return as_graphset(graphs, self_loops="keep")


@pytest.mark.parametrize(
    "graphs",
    [
        as_graphset(SYMMETRIC),
        as_graphset(APART),
        make_trees(20, n_nodes=15, seed=0),
        make_planted_partitions(20, seed=0),
        weighted([nx.cycle_graph(8), nx.gnp_random_graph(10, 0.4, seed=0)]),
        directed(),
        looped(),
    ],
    ids=["symmetric", "disconnected", "trees", "random", "weighted", "directed", "looped"],
)
def test_equal_graphs_become_equal_arrays(graphs):
    once = in_canonical_order(graphs).graphs
    for seed in range(3):
        assert in_canonical_order(renumbered(graphs, seed)[0]).graphs == once


def test_different_graphs_stay_different():
    path, star = as_graphset([nx.path_graph(5)]), as_graphset([nx.star_graph(4)])
    assert in_canonical_order(path).graphs != in_canonical_order(star).graphs


def test_a_reordered_graph_has_the_same_edges_between_renamed_nodes():
    graphs = weighted([nx.gnp_random_graph(12, 0.3, seed=k) for k in range(4)])
    other, node_at = renumbered(graphs, seed=1)
    for number, (one, two) in enumerate(zip(graphs, other, strict=True)):
        names = node_at[graphs.node_ptr[number] : graphs.node_ptr[number + 1]]
        np.testing.assert_array_equal(two.adjacency().toarray(), one.adjacency().toarray()[np.ix_(names, names)])
        assert all(np.all(np.diff(row) > 0) for row in np.split(two.indices, two.indptr[1:-1]))


def test_places_lead_back_to_the_nodes_as_given():
    graphs = make_trees(5, n_nodes=9, seed=0)
    ordered = in_canonical_order(graphs)
    back = reordered(ordered.graphs, np.concatenate([ordered.places(number) for number in range(len(graphs))]))
    assert back == graphs


def test_a_graph_too_large_to_mark_all_of_its_nodes_keeps_its_edges():
    large = in_canonical_order(as_graphset([nx.cycle_graph(200_000)])).graphs[0]
    assert large.n_edges == 200_000 and (np.diff(large.indptr) == 2).all()


def test_no_graphs_are_no_work():
    none = make_trees(2, n_nodes=4, seed=0)[:0]
    assert len(in_canonical_order(none).graphs) == 0 and isinstance(in_canonical_order(none).graphs, GraphSet)


@compiled
def argsort(values, scratch):
    return _argsort(values, scratch)


@pytest.mark.parametrize("n", [0, 1, 2, 3, 7, 64, 65, 1000])
def test_sorting_is_stable(n):
    values = np.random.default_rng(n).integers(0, max(1, n // 2), n).astype(np.uint64)
    scratch = np.empty((2, 1100), np.int64)  # for the largest graph of a set, which this need not be
    assert argsort(values, scratch)[:n].tolist() == np.argsort(values, kind="stable").tolist()
