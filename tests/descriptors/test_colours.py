"""Weisfeiler-Lehman features as sparse tables: the kernels of the same names, and the same for graphs not seen before."""

from collections import Counter
from itertools import combinations

import networkx as nx
import numpy as np
import pytest

from phist import as_graphset
from phist.descriptors import colours
from phist.descriptors.colours import assignment_counts, count_pairs, hashed_table, path_counts, subtree_counts
from phist.descriptors.grams.wl_subtree import wl_subtree_gram
from phist.graphs.symmetry import refinement_rounds

MANY = 1 << 22  # columns: keys hardly ever meet


@pytest.fixture(scope="module")
def graphs():
    return as_graphset([nx.gnp_random_graph(9, 0.3, seed=seed) for seed in range(12)] + [nx.empty_graph(4), nx.path_graph(1)])


def products(counts):
    """Inner products of counts, by dictionaries."""
    cuts = zip(counts.ptr, counts.ptr[1:], strict=False)
    rows = [dict(zip(counts.keys[a:b].tolist(), counts.counts[a:b].tolist(), strict=True)) for a, b in cuts]
    return np.array([[sum(value * other.get(key, 0) for key, value in row.items()) for other in rows] for row in rows])


def test_inner_products_of_subtree_counts_are_the_kernel(graphs):
    np.testing.assert_allclose(products(subtree_counts(graphs, 3)), wl_subtree_gram(graphs, 3))


def test_a_hashed_table_has_the_normalised_kernel(graphs):
    gram = wl_subtree_gram(graphs, 3)
    lengths = np.sqrt(np.diagonal(gram))
    table = hashed_table(subtree_counts(graphs, 3), MANY)
    np.testing.assert_allclose((table @ table.T).toarray(), gram / np.outer(lengths, lengths), atol=1e-6)


def test_few_columns_leave_inner_products_right_but_for_noise(graphs):
    exact, rough = (hashed_table(path_counts(graphs, 2), columns) for columns in (MANY, 1 << 12))
    assert np.abs((exact @ exact.T - rough @ rough.T).toarray()).max() < 0.1


def test_counts_in_unary_add_up_the_smaller_of_two_counts(graphs):
    expected = np.zeros((len(graphs), len(graphs)))
    for colour in refinement_rounds(graphs, 3):
        rows = [Counter(colour[a:b].tolist()) for a, b in zip(graphs.node_ptr, graphs.node_ptr[1:], strict=False)]
        expected += [[sum((row & other).values()) for other in rows] for row in rows]
    np.testing.assert_allclose(products(assignment_counts(graphs, 3)), expected)


def test_pairs_are_counted_by_their_colours_and_their_distance(graphs):
    counts = path_counts(graphs, 1)
    rounds = list(refinement_rounds(graphs, 1))
    for position, graph in enumerate(graphs):
        distances, first = dict(nx.all_pairs_shortest_path_length(graph.to_networkx())), graphs.node_ptr[position]
        expected = Counter(
            (number, *sorted((int(colour[first + u]), int(colour[first + v]))), distances[u][v])
            for number, colour in enumerate(rounds)
            for u, v in combinations(range(graph.n_nodes), 2)
            if v in distances[u]
        )
        found = counts.counts[counts.ptr[position] : counts.ptr[position + 1]]
        assert sorted(found.tolist()) == sorted(expected.values())


def test_a_graph_has_the_same_row_in_every_set(graphs):
    whole = hashed_table(subtree_counts(graphs), 1 << 14)
    alone = hashed_table(subtree_counts(graphs[3:4]), 1 << 14)
    np.testing.assert_array_equal(whole[[3]].toarray(), alone.toarray())


def test_the_order_of_nodes_does_not_matter(graphs):
    graph = graphs[0].to_networkx()
    other = as_graphset([nx.relabel_nodes(graph, dict(zip(graph, reversed(list(graph)), strict=True)))])
    for counts in (subtree_counts, assignment_counts, path_counts):
        np.testing.assert_array_equal(counts(graphs[:1]).keys, counts(other).keys)


def test_a_graph_with_too_many_nodes_has_no_pairs(graphs, monkeypatch):
    monkeypatch.setattr(colours, "MOST_NODES", 8)
    assert count_pairs(graphs) == 6  # those of the four nodes without edges
    assert np.diff(path_counts(graphs).ptr).max() == 0
