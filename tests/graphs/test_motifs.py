"""Sets with known explanations keep what they promise."""

import networkx as nx
import numpy as np
import pytest

from phist.errors import ConfigError
from phist.graphs.motifs import MOTIFS, make_ba_2motifs, make_planted_motifs, make_triangles

FAMILIES = [make_ba_2motifs, make_planted_motifs, make_triangles]


def told_by(graph, nodes, edges):
    """The subgraph of the nodes and edges that are marked."""
    part = nx.Graph(graph.edges()[edges].tolist())
    part.add_nodes_from(np.flatnonzero(nodes).tolist())
    return part


@pytest.mark.parametrize("make", FAMILIES)
def test_same_seed_gives_the_same_set_and_truth(make):
    (one, first), (other, second) = make(8, seed=3), make(8, seed=3)
    assert one == other and one != make(8, seed=4)[0]
    assert all(np.array_equal(a, b) for a, b in zip(first.nodes + first.edges, second.nodes + second.edges, strict=True))


@pytest.mark.parametrize("make", FAMILIES)
def test_truth_has_an_entry_for_every_node_and_edge(make):
    graphs, truth = make(12, seed=0)
    assert len(truth) == len(graphs)
    assert [len(nodes) for nodes in truth.nodes] == graphs.node_counts().tolist()
    assert [len(edges) for edges in truth.edges] == graphs.edge_counts().tolist()
    chosen = truth[[3, 1]]
    assert chosen.nodes[0] is truth.nodes[3] and len(truth[:4]) == 4


@pytest.mark.parametrize("make", [make_ba_2motifs, make_planted_motifs])
def test_what_is_marked_is_the_motif_of_the_label(make):
    graphs, truth = make(12, seed=1)
    for number, graph in enumerate(graphs):
        motif = nx.Graph(list(MOTIFS[graph.label]))
        assert nx.is_isomorphic(told_by(graph, truth.nodes[number], truth.edges[number]), motif)


def test_ba_2motifs_is_a_tree_of_twenty_nodes_and_a_motif_joined_by_one_edge():
    graphs, truth = make_ba_2motifs(10, seed=0)
    for number, graph in enumerate(graphs):
        rest = graph.to_networkx().subgraph(np.flatnonzero(~truth.nodes[number]).tolist())
        assert nx.is_tree(rest) and len(rest) == 20
        assert graph.n_edges == 19 + len(MOTIFS[graph.label]) + 1 and nx.is_connected(graph.to_networkx())


def test_all_classes_have_the_same_distractors():
    graphs, truth = make_planted_motifs(6, n_nodes=10, motifs=("house", "cycle", "diamond"), distractors=("clique",), seed=0)
    clique = nx.Graph(list(MOTIFS["clique"]))
    for number, graph in enumerate(graphs):
        found = nx.algorithms.isomorphism.GraphMatcher(graph.to_networkx(), clique)
        assert found.subgraph_is_isomorphic()
        assert not truth.nodes[number][list(found.mapping)].any()


def test_labels_count_the_triangles_and_truth_marks_them():
    graphs, truth = make_triangles(30, max_nodes=40, seed=2)
    for number, graph in enumerate(graphs):
        count = nx.triangles(graph.to_networkx())
        assert sum(count.values()) == 3 * graph.label
        np.testing.assert_array_equal(truth.nodes[number], [count[node] > 0 for node in range(graph.n_nodes)])
        for (a, b), marked in zip(graph.edges().tolist(), truth.edges[number].tolist(), strict=True):
            neighbours = graph.to_networkx().adj
            assert marked == bool(set(neighbours[a]) & set(neighbours[b]))
    assert graphs.node_counts().min() >= 8 and graphs.node_counts().max() <= 40


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (make_ba_2motifs, {"n_graphs": 0}, "n_graphs=0"),
        (make_planted_motifs, {"n_graphs": 2, "motifs": ("house",)}, "at least two for the classes"),
        (make_planted_motifs, {"n_graphs": 2, "distractors": ("house",)}, "no name twice"),
        (make_planted_motifs, {"n_graphs": 2, "motifs": ("house", "castle")}, "motif='castle' is not known"),
        (make_triangles, {"n_graphs": 2, "min_nodes": 4}, "min_nodes=4"),
        (make_triangles, {"n_graphs": 2, "max_nodes": 5}, "max_nodes=5"),
        (make_triangles, {"n_graphs": 2, "most": 1}, "most=1"),
    ],
)
def test_bad_arguments_are_refused(make, arguments, message):
    with pytest.raises(ConfigError, match=message):
        make(**arguments, seed=0)
