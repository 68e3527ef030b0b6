"""Weisfeiler-Lehman features as sparse tables: their inner products are the kernels'."""

from collections import Counter
from itertools import combinations

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import csr_array

from phist import as_graphset
from phist.descriptors.colours import (
    assignment_counts,
    hashed_table,
    pair_counts,
    path_counts,
    subtree_counts,
)
from phist.descriptors.grams.shortest_path import shortest_path_gram
from phist.descriptors.grams.wl_subtree import wl_subtree_gram
from phist.graphs.symmetry import weisfeiler_lehman_colors

MANY = 1 << 30  # columns: no two of a few hundred keys meet
every_feature = pytest.mark.parametrize("features", [subtree_counts, assignment_counts, path_counts])


@st.composite
def networks(draw):
    """A few random graphs, sparse ones with isolated nodes among them."""
    sizes = draw(st.lists(st.integers(1, 12), min_size=1, max_size=5))
    density, seed = draw(st.floats(0, 0.6)), draw(st.integers(0, 1000))
    return [nx.gnp_random_graph(size, density, seed=seed + place) for place, size in enumerate(sizes)]


def some(n_graphs=12, seed=0):
    return as_graphset([nx.gnp_random_graph(4 + place, 0.3, seed=seed + place) for place in range(n_graphs)])


def normalised(gram):
    lengths = np.sqrt(np.diag(gram))
    return np.divide(gram, np.outer(lengths, lengths), out=np.zeros_like(gram), where=np.outer(lengths, lengths) > 0)


def inner_products(counts, columns=MANY):
    table = hashed_table(counts, columns)
    used, places = np.unique(table.indices, return_inverse=True)  # a product over all columns would take gigabytes
    narrow = csr_array((table.data, places, table.indptr), shape=(table.shape[0], len(used))).toarray()
    return narrow @ narrow.T


def by_graph(counts):
    return [
        dict(zip(counts.keys[begin:end].tolist(), counts.counts[begin:end].tolist(), strict=True))
        for begin, end in zip(counts.ptr[:-1], counts.ptr[1:], strict=True)
    ]


def gram_of(rows, product=lambda one, other: one * other):
    return np.array(
        [[sum(product(own[key], other[key]) for key in own.keys() & other.keys()) for other in rows] for own in rows], float
    )


@settings(max_examples=20, deadline=None)
@given(networks(), st.integers(0, 3))
def test_subtree_features_are_those_of_the_subtree_kernel(graphs, rounds):
    graphs = as_graphset(graphs)
    expected = wl_subtree_gram(graphs, rounds)
    counts = subtree_counts(graphs, rounds)
    np.testing.assert_allclose(inner_products(counts), normalised(expected), atol=1e-6)
    np.testing.assert_allclose(counts.lengths() ** 2, np.diag(expected))


@settings(max_examples=20, deadline=None)
@given(networks(), st.integers(0, 3))
def test_assignment_features_add_up_the_smaller_of_two_counts(graphs, rounds):
    graphs = as_graphset(graphs)
    expected = gram_of(by_graph(subtree_counts(graphs, rounds)), min)
    np.testing.assert_allclose(inner_products(assignment_counts(graphs, rounds)), normalised(expected), atol=1e-6)


def path_rows(graphs, rounds):
    """Pairs of nodes by distance and colours, one at a time."""
    packed = as_graphset(graphs)
    rows = [Counter() for _ in graphs]
    for finished in range(rounds + 1):
        colours = np.split(weisfeiler_lehman_colors(packed, finished), packed.node_ptr[1:-1])
        for row, graph, own in zip(rows, graphs, colours, strict=True):
            distances = dict(nx.all_pairs_shortest_path_length(graph))
            for one, other in combinations(range(len(graph)), 2):
                if other in distances[one]:
                    row[finished, distances[one][other], *sorted((own[one], own[other]))] += 1
    return rows


@settings(max_examples=20, deadline=None)
@given(networks(), st.integers(0, 2))
def test_path_features_are_pairs_of_colours_and_their_distance(graphs, rounds):
    rows, counts = path_rows(graphs, rounds), path_counts(as_graphset(graphs), rounds)
    assert [sorted(row.values()) for row in rows] == [sorted(own.values()) for own in by_graph(counts)]
    np.testing.assert_allclose(inner_products(counts), normalised(gram_of(rows)), atol=1e-6)


def test_paths_without_colours_are_those_of_the_shortest_path_kernel():
    graphs = some()
    np.testing.assert_allclose(inner_products(path_counts(graphs, 0)), normalised(shortest_path_gram(graphs)), atol=1e-6)


@every_feature
def test_few_columns_cost_little(features):
    graphs = some()
    counts = features(graphs, 3)
    missed = inner_products(counts) - inner_products(counts, 1 << 10)
    assert 0 < np.sqrt((missed**2).mean()) < 3 / np.sqrt(1 << 10)


@every_feature
def test_rows_have_unit_length_in_enough_columns(features):
    np.testing.assert_allclose(np.diag(inner_products(features(some(), 3))), 1, atol=1e-6)


@every_feature
def test_features_ignore_node_order_and_the_graphs_beside(features):
    graphs = [nx.gnp_random_graph(9, 0.3, seed=seed) for seed in range(4)]
    shuffled = [nx.relabel_nodes(graph, dict(enumerate(np.random.default_rng(1).permutation(9)))) for graph in graphs]
    moved = [nx.Graph() for _ in shuffled]
    for graph, own in zip(moved, shuffled, strict=True):
        graph.add_nodes_from(range(9))
        graph.add_edges_from(own.edges)
    expected = by_graph(features(as_graphset(graphs), 3))
    assert by_graph(features(as_graphset(moved), 3)) == expected
    assert by_graph(features(as_graphset(graphs[2:3]), 3)) == expected[2:3]


@every_feature
def test_graphs_that_colours_cannot_tell_apart_have_equal_features(features):
    hexagon, triangles = nx.cycle_graph(6), nx.disjoint_union(nx.cycle_graph(3), nx.cycle_graph(3))
    one, other = by_graph(features(as_graphset([hexagon, triangles]), 3))
    assert (one == other) is (features is not path_counts)  # whose distances can


@every_feature
def test_graphs_without_edges_have_finite_rows(features):
    graphs = as_graphset([(1, []), (3, []), (2, [(0, 1)])])
    table = hashed_table(features(graphs, 2), 64)
    assert table.shape == (3, 64) and np.isfinite(table.data).all()


@every_feature
def test_no_graphs_have_no_rows(features):
    assert hashed_table(features(some()[:0], 2), 64).shape == (0, 64)


def test_pairs_are_counted_before_they_are_made():
    assert pair_counts(as_graphset([(1, []), (4, [(0, 1)]), (5, [])])).tolist() == [0, 6, 10]
