"""The synthetic families keep what they promise."""

from collections import Counter

import networkx as nx
import numpy as np
import pytest

from phist.errors import ConfigError
from phist.graphs.checkup import ceiling_of
from phist.graphs.generate import (
    make_circulant_skip_links,
    make_planted_partitions,
    make_regular_pairs,
    make_trees,
    make_triangles,
)
from phist.graphs.symmetry import weisfeiler_lehman_hashes

FAMILIES = [make_circulant_skip_links, make_planted_partitions, make_trees, make_regular_pairs, make_triangles]


def ceiling(graphs):
    return ceiling_of(weisfeiler_lehman_hashes(graphs), graphs.labels)


def share_within(graph, sides):
    """Share of edges that stay on one side of a division of the nodes."""
    source = np.repeat(sides, np.diff(graph.indptr))
    return float((source == sides[graph.indices]).mean())


def best_division(graph):
    """Two sides by the sign of the Fiedler vector."""
    laplacian = nx.laplacian_matrix(graph.to_networkx()).toarray().astype(float)
    return np.linalg.eigh(laplacian)[1][:, 1] > 0


@pytest.mark.parametrize("make", FAMILIES)
def test_same_seed_gives_the_same_set_and_another_seed_another(make):
    assert make(12, seed=7) == make(12, seed=7) == make(12, seed=np.random.default_rng(7))
    assert make(12, seed=7) != make(12, seed=8)


@pytest.mark.parametrize("make", FAMILIES)
def test_a_generator_moves_on_and_global_state_does_not_matter(make):
    rng = np.random.default_rng(7)
    assert make(12, seed=rng) != make(12, seed=rng)
    np.random.seed(0)  # noqa: NPY002 - the point is that it has no effect
    first = make(12, seed=1)
    np.random.seed(1)  # noqa: NPY002
    assert make(12, seed=1) == first


@pytest.mark.parametrize("make", FAMILIES)
def test_graphs_are_simple_and_classes_balanced(make):
    graphs = make(20, seed=0)
    counts = Counter(graphs.label_list())
    assert max(counts.values()) == min(counts.values())
    assert graphs.weights is None and not graphs.directed
    assert graphs.loop_counts().sum() == 0
    assert all((graph.adjacency() != graph.adjacency().T).nnz == 0 for graph in graphs)


def test_skip_links_are_the_circulant_graphs_of_their_labels():
    for graph in make_circulant_skip_links(10, n_nodes=13, skips=(2, 3), seed=0):
        assert nx.is_isomorphic(graph.to_networkx(), nx.circulant_graph(13, [1, graph.label]))


def test_skip_links_have_as_ceiling_one_class_in_ten():
    graphs = make_circulant_skip_links(150, seed=0)
    assert set(graphs.degrees()) == {4}
    assert len(graphs.classes) == 10
    assert ceiling(graphs) == 10.0


def test_nodes_of_skip_links_come_in_random_order():
    graphs = make_circulant_skip_links(2, n_nodes=13, skips=(2,), seed=0)
    assert graphs[0].indices.tolist() != graphs[1].indices.tolist()


@pytest.mark.parametrize("n_nodes", [8, 12, 15, 16])
def test_skips_are_refused_exactly_when_their_graphs_are_isomorphic(n_nodes):
    skips = [skip for skip in range(2, n_nodes - 1) if 2 * skip != n_nodes]
    for one, other in [(a, b) for a in skips for b in skips if a < b]:
        same = nx.is_isomorphic(nx.circulant_graph(n_nodes, [1, one]), nx.circulant_graph(n_nodes, [1, other]))
        try:
            make_circulant_skip_links(2, n_nodes, (one, other), seed=0)
            refused = False
        except ConfigError:
            refused = True
        assert refused == same, (one, other)


def test_planted_graphs_have_communities_and_rewired_ones_do_not():
    graphs = make_planted_partitions(40, seed=0)
    shares = {label: [] for label in graphs.classes}
    for graph in graphs:
        shares[graph.label].append(share_within(graph, best_division(graph)))
    assert np.mean(shares["planted"]) > np.mean(shares["rewired"]) + 0.1


def test_planted_edges_have_the_probabilities_asked_for():
    graphs = make_planted_partitions(2, n_nodes=400, communities=4, p_in=0.2, p_out=0.02, seed=0)
    expected = 4 * (100 * 99 / 2) * 0.2 + 6 * 100 * 100 * 0.02
    assert graphs[0].n_edges == pytest.approx(expected, rel=0.1)


def test_rewiring_keeps_every_degree():
    from phist.graphs.generate import _rewire

    rng = np.random.default_rng(0)
    edges = np.array(nx.gnm_random_graph(30, 80, seed=0).edges)
    rewired = _rewire(edges, rng)
    assert np.array_equal(np.bincount(edges.ravel(), minlength=30), np.bincount(rewired.ravel(), minlength=30))
    before, after = ({frozenset(edge) for edge in ends.tolist()} for ends in (edges, rewired))
    assert len(after) == 80 and all(len(edge) == 2 for edge in after)
    assert len(before & after) < 40  # most edges have moved


def test_degrees_are_distributed_alike_in_both_classes_of_partitions():
    graphs = make_planted_partitions(200, seed=1)
    means = {label: graphs[graphs.labels == label].degrees().mean() for label in graphs.classes}
    variances = {label: graphs[graphs.labels == label].degrees().var() for label in graphs.classes}
    assert means["planted"] == pytest.approx(means["rewired"], rel=0.03)
    assert variances["planted"] == pytest.approx(variances["rewired"], rel=0.1)


def test_trees_are_trees():
    assert all(nx.is_tree(graph.to_networkx()) for graph in make_trees(60, n_nodes=17, seed=0))


def test_uniform_trees_are_uniform():
    from phist.graphs.generate import _uniform_tree

    rng = np.random.default_rng(0)
    counts = Counter(frozenset(map(frozenset, _uniform_tree(4, rng).tolist())) for _ in range(3200))
    assert len(counts) == 16  # Cayley: 4 ** 2 labelled trees on four nodes
    assert min(counts.values()) > 140 and max(counts.values()) < 260


@pytest.mark.parametrize(("label", "leaves"), [("uniform", np.exp(-1)), ("recursive", 0.5)])
def test_trees_have_the_known_share_of_leaves(label, leaves):
    graphs = make_trees(100, n_nodes=200, seed=0)
    assert (graphs[graphs.labels == label].degrees() == 1).mean() == pytest.approx(leaves, abs=0.01)


@pytest.mark.parametrize("degrees", [(2,), (3,), (4,), (2, 3, 4, 5)])
def test_regular_pairs_have_a_ceiling_of_exactly_half(degrees):
    assert ceiling(make_regular_pairs(12, n_nodes=16, degrees=degrees, seed=0)) == 50.0


@pytest.mark.parametrize("degree", [2, 3, 4, 5])
def test_regular_pairs_are_regular_and_split_as_their_labels_say(degree):
    for graph in make_regular_pairs(6, n_nodes=16, degrees=(degree,), seed=0):
        assert set(np.diff(graph.indptr)) == {degree}
        sizes = sorted(len(part) for part in nx.connected_components(graph.to_networkx()))
        assert sizes == ([16] if graph.label == "connected" else [8, 8])


def test_regular_pairs_of_degree_three_are_random():
    graphs = make_regular_pairs(5, degrees=(3,), seed=0)
    connected = [graph.to_networkx() for graph in graphs if graph.label == "connected"]
    assert not all(nx.is_isomorphic(connected[0], other) for other in connected[1:])


def test_regular_pairs_name_the_pair_in_their_ids():
    assert make_regular_pairs(2, seed=0).ids.tolist()[2:] == ["pair 1, connected", "pair 1, split"]


@pytest.mark.parametrize(
    ("make", "arguments", "message"),
    [
        (make_circulant_skip_links, {"n_graphs": 0}, "n_graphs=0.*at least 1"),
        (make_circulant_skip_links, {"n_graphs": 3, "skips": ()}, "no skips.*at least one"),
        (make_circulant_skip_links, {"n_graphs": 3, "skips": (1,)}, "skip 1 .*between 2 and 39"),
        (make_circulant_skip_links, {"n_graphs": 3, "n_nodes": 10, "skips": (5,)}, "skip 5 .*half of n_nodes"),
        (make_circulant_skip_links, {"n_graphs": 3, "skips": (2, 39)}, "skips 2 and 39 make the same.*drop one"),
        (make_circulant_skip_links, {"n_graphs": 3, "skips": (6, 7)}, "skips 6 and 7 make the same.*drop one"),
        (make_planted_partitions, {"n_graphs": 3, "p_in": 0.1, "p_out": 0.2}, "p_in=0.1.*p_out < p_in.*raise p_in"),
        (make_planted_partitions, {"n_graphs": 3, "communities": 1}, "communities=1.*at least 2"),
        (make_planted_partitions, {"n_graphs": 3, "n_nodes": 3}, "n_nodes=3.*at least 4"),
        (make_trees, {"n_graphs": 3, "n_nodes": 3}, "n_nodes=3.*at least 4"),
        (make_trees, {"n_graphs": True}, "n_graphs=True.*whole number"),
        (make_trees, {"n_graphs": 10**9}, "more than 100,000,000 nodes"),
        (make_trees, {"n_graphs": 3, "n_nodes": "many"}, "n_nodes='many'.*whole number"),
        (make_planted_partitions, {"n_graphs": 3, "n_nodes": 10**6}, "n_nodes=1000000.*at most 10,000"),
        (make_planted_partitions, {"n_graphs": 3, "p_in": "high"}, "p_in='high'.*finite number"),
        (make_circulant_skip_links, {"n_graphs": 3, "skips": 2}, "skips=2 was given; a list"),
        (make_regular_pairs, {"n_pairs": 1, "degrees": (10**400,)}, "degrees=.*at most"),
        (make_regular_pairs, {"n_pairs": 0}, "n_pairs=0.*at least 1"),
        (make_regular_pairs, {"n_pairs": 1, "degrees": ()}, "no degrees.*at least one"),
        (make_regular_pairs, {"n_pairs": 1, "degrees": (1,)}, "degree=1.*at least 2"),
        (make_regular_pairs, {"n_pairs": 1, "n_nodes": 18}, "n_nodes=18.*multiple of 4"),
        (make_regular_pairs, {"n_pairs": 1, "n_nodes": 4}, "n_nodes=4.*at least 6.*pass n_nodes=6"),
    ],
)
def test_bad_arguments_are_refused_with_a_way_out(make, arguments, message):
    with pytest.raises(ConfigError, match=message):
        make(**arguments, seed=0)


@pytest.mark.parametrize("seed", [-1, 1.5, "a", None, True])
def test_a_seed_that_is_none_is_refused(seed):
    with pytest.raises(ConfigError, match="seed="):
        make_trees(4, seed=seed)


@pytest.mark.parametrize(("smallest", "most"), [(2, 1), (3, 2), (4, 3), (4, 4)])
def test_triangles_that_no_graph_of_the_size_can_have_are_refused(smallest, most):
    with pytest.raises(ConfigError, match="or more"):
        make_triangles(4, nodes=(smallest, 9), most=most, seed=0)


@pytest.mark.parametrize(("size", "most"), [(3, 1), (4, 2), (5, 5), (6, 6)])
def test_the_smallest_graphs_can_have_every_number_of_triangles_up_to_the_most(size, most):
    assert sorted(set(make_triangles(most, nodes=(size, size), most=most, seed=0).labels.tolist())) == list(range(1, most + 1))


def test_triangles_are_as_many_as_the_label_says_at_every_size():
    graphs = make_triangles(40, nodes=(10, 60), seed=0)
    for graph in graphs:
        assert sum(nx.triangles(graph.to_networkx()).values()) == 3 * graph.label


def test_sizes_of_triangle_graphs_lie_between_the_two_given():
    sizes = make_triangles(200, nodes=(12, 20), seed=0).node_counts()
    assert (sizes.min(), sizes.max()) == (12, 20)


@pytest.mark.parametrize("nodes", [(9, 20), (20, 12), (12,)])
def test_sizes_that_cannot_carry_the_triangles_are_refused(nodes):
    with pytest.raises(ConfigError, match="10 or more"):
        make_triangles(10, nodes=nodes, seed=0)
