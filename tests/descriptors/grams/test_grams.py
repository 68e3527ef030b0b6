"""What all six Gram matrices have in common, whatever they compare."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phist import as_graphset
from phist.descriptors.grams import coloured
from phist.descriptors.grams.counts import check_range
from phist.descriptors.grams.graphlets import graphlet_gram
from phist.descriptors.grams.pyramid_match import pyramid_match_gram
from phist.descriptors.grams.shortest_path import shortest_path_gram
from phist.descriptors.grams.svm_theta import svm_theta_gram
from phist.descriptors.grams.wl_shortest_path import wl_shortest_path_gram
from phist.descriptors.grams.wl_subtree import wl_subtree_gram
from phist.errors import GraphInputError

OF_STRUCTURE = {
    "wl-subtree": lambda graphs: wl_subtree_gram(graphs, rounds=3),
    "wl-shortest-path": lambda graphs: wl_shortest_path_gram(graphs, rounds=2),
    "shortest-path": shortest_path_gram,
}
EVERY = OF_STRUCTURE | {
    "pyramid-match": lambda graphs: pyramid_match_gram(graphs, levels=4, dimensions=6),
    "svm-theta": lambda graphs: svm_theta_gram(graphs, samples=50, seed=3),
    "graphlet-sampling": lambda graphs: graphlet_gram(graphs, samples=200, seed=3),
}
every_kernel = pytest.mark.parametrize("kernel", EVERY.values(), ids=EVERY)
kernels_of_structure = pytest.mark.parametrize("kernel", OF_STRUCTURE.values(), ids=OF_STRUCTURE)


@st.composite
def networks(draw):
    """A few random graphs, sparse ones with isolated nodes among them."""
    sizes = draw(st.lists(st.integers(1, 12), min_size=1, max_size=6))
    density, seed = draw(st.floats(0, 0.6)), draw(st.integers(0, 1000))
    return [nx.gnp_random_graph(size, density, seed=seed + place) for place, size in enumerate(sizes)]


@every_kernel
@settings(max_examples=15, deadline=None)
@given(graphs=networks())
def test_gram_is_symmetric_and_has_no_negative_eigenvalue(kernel, graphs):
    gram = kernel(as_graphset(graphs))
    np.testing.assert_array_equal(gram, gram.T)
    assert np.linalg.eigvalsh(gram).min() >= -1e-9 * max(1.0, gram.max())


@every_kernel
@settings(max_examples=15, deadline=None)
@given(graphs=networks(), others=networks())
def test_two_graphs_compare_the_same_whatever_stands_beside_them(kernel, graphs, others):
    alone = kernel(as_graphset(graphs))
    together = kernel(as_graphset(others + graphs))
    np.testing.assert_allclose(together[len(others) :, len(others) :], alone, rtol=1e-12)


@kernels_of_structure
@settings(max_examples=15, deadline=None)
@given(graphs=networks(), seed=st.integers(0, 100))
def test_gram_ignores_node_order(kernel, graphs, seed):
    rng = np.random.default_rng(seed)
    shuffled = [nx.from_numpy_array(nx.to_numpy_array(graph, nodelist=rng.permutation(len(graph)).tolist())) for graph in graphs]
    np.testing.assert_array_equal(kernel(as_graphset(shuffled)), kernel(as_graphset(graphs)))


@every_kernel
def test_awkward_graphs_have_finite_similarities(kernel, make_odd_graphs):
    assert np.isfinite(kernel(make_odd_graphs(10))).all()


def test_wl_shortest_path_gram_does_not_depend_on_the_size_of_its_blocks(monkeypatch):
    graphs = as_graphset([nx.gnp_random_graph(15, 0.2, seed=seed) for seed in range(8)])
    expected = wl_shortest_path_gram(graphs, rounds=3)
    for size in (1, 100):
        monkeypatch.setattr(coloured, "_ENTRIES_AT_A_TIME", size)
        np.testing.assert_array_equal(wl_shortest_path_gram(graphs, rounds=3), expected)


def test_a_path_compares_with_itself_by_hand():
    path = as_graphset([nx.path_graph(4)])
    assert shortest_path_gram(path).tolist() == [[6**2 + 4**2 + 2**2]]
    assert wl_subtree_gram(path, rounds=1).tolist() == [[4**2 + 2**2 + 2**2]]

    ends_and_middles = 2**2 + 2**2 + 2 * (2**2 + 2**2)  # (end, end, 3), (middle, middle, 1), (end, middle, 1 and 2) both ways
    assert wl_shortest_path_gram(path, rounds=1).tolist() == [[56 + ends_and_middles]]


def test_features_that_cannot_be_numbered_are_refused():
    with pytest.raises(GraphInputError, match="63 bits"):
        check_range(2**60, 1000)
