"""The Gram matrices of the six kernels against GraKeL's, on graphs small enough for it."""

import warnings

import networkx as nx
import numpy as np
import pytest

from phist import as_graphset
from phist.descriptors.grams.graphlets import graphlet_gram
from phist.descriptors.grams.pyramid_match import pyramid_match_gram
from phist.descriptors.grams.shortest_path import shortest_path_gram
from phist.descriptors.grams.svm_theta import node_weights, theta_levels
from phist.descriptors.grams.wl_shortest_path import wl_shortest_path_gram
from phist.descriptors.grams.wl_subtree import wl_subtree_gram

grakel = pytest.importorskip("grakel", reason="GraKeL is the oracle; pip install 'phist[dev]'")


def small_graphs(seed=0, smallest=1, count=25):
    """Random graphs, many of them disconnected or with isolated nodes, and the shapes that trip kernels up."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(smallest, 14, size=count).tolist()
    graphs = [nx.gnp_random_graph(size, rng.uniform(0.1, 0.6), seed=int(rng.integers(2**31))) for size in sizes]
    shapes = [
        nx.empty_graph(1),
        nx.empty_graph(4),
        nx.star_graph(5),
        nx.cycle_graph(6),
        nx.disjoint_union(nx.path_graph(3), nx.empty_graph(2)),
    ]
    return graphs + [shape for shape in shapes if len(shape) >= smallest]


def as_grakel(graphs):
    """Dense adjacency and a constant label for every node, which GraKeL takes without trouble."""
    return [grakel.Graph(nx.to_numpy_array(graph).tolist(), dict.fromkeys(range(len(graph)), 0)) for graph in graphs]


def their_gram(kernel, graphs):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        return kernel.fit_transform(as_grakel(graphs))


@pytest.mark.parametrize("rounds", [1, 2, 5])
def test_wl_subtree_gram_is_that_of_grakel(rounds):
    graphs = small_graphs()
    theirs = their_gram(grakel.WeisfeilerLehman(n_iter=rounds), graphs)
    np.testing.assert_array_equal(wl_subtree_gram(as_graphset(graphs), rounds), theirs)


def test_shortest_path_gram_is_that_of_grakel():
    graphs = small_graphs()
    theirs = their_gram(grakel.ShortestPath(), graphs)
    np.testing.assert_array_equal(shortest_path_gram(as_graphset(graphs)), theirs)


@pytest.mark.parametrize("rounds", [1, 3])
def test_wl_shortest_path_gram_is_that_of_grakel(rounds):
    graphs = small_graphs()
    theirs = their_gram(grakel.WeisfeilerLehman(n_iter=rounds, base_graph_kernel=grakel.ShortestPath), graphs)
    np.testing.assert_array_equal(wl_shortest_path_gram(as_graphset(graphs), rounds), theirs)


def has_stable_pyramid(graph):
    """Whether the kernel is well defined: the eigenvectors unique, and no coordinate on the border of a cell."""
    values, vectors = np.linalg.eigh(nx.to_numpy_array(graph))
    magnitudes = np.sort(np.abs(values))[::-1]
    is_cut_clear = len(graph) <= 7 or magnitudes[5] - magnitudes[6] > 1e-4
    from_border = np.abs(np.abs(vectors) * 8 - np.round(np.abs(vectors) * 8))
    is_inside = (from_border > 1e-6) | (np.abs(vectors) < 1e-6) | (np.abs(vectors) > 1 - 1e-6)
    return bool(is_cut_clear and (np.diff(values) > 1e-4).all() and is_inside.all())


@pytest.mark.parametrize("levels", [1, 4])
def test_pyramid_match_gram_is_that_of_grakel_where_eigenvectors_are_unique(levels):
    graphs = [graph for seed in range(4) for graph in small_graphs(seed) if has_stable_pyramid(graph)]
    assert len(graphs) > 20
    assert min(map(len, graphs)) == 1
    graphs.append(nx.empty_graph(3))  # not unique, but the axes themselves for everybody
    theirs = their_gram(grakel.PyramidMatch(L=levels), graphs)
    np.testing.assert_array_equal(pyramid_match_gram(as_graphset(graphs), levels, 6), theirs)


def test_pyramid_match_gram_is_that_of_grakel_on_graphs_beyond_the_dense_solver():
    graphs = [nx.barabasi_albert_graph(size, 3, seed=size) for size in (210, 250, 230)]
    theirs = their_gram(grakel.PyramidMatch(), graphs)
    np.testing.assert_array_equal(pyramid_match_gram(as_graphset(graphs), 4, 6), theirs)


def test_svm_theta_levels_are_those_of_grakel_when_both_draw_the_same_subsets():
    graphs = small_graphs(smallest=2)  # GraKeL cannot do one node
    graphs.append(nx.barabasi_albert_graph(230, 2, seed=0))  # beyond the dense solver
    kernel = grakel.SvmTheta(random_state=7)
    their_gram(kernel, graphs)
    random = np.random.RandomState(7)
    levels = np.array([theta_levels(node_weights(graph), 50, random) for graph in as_graphset(graphs)])
    np.testing.assert_allclose(levels, np.array(kernel.X)[:, :, 0], rtol=1e-9)


def test_svm_theta_of_grakel_compares_subsets_of_two_nodes_only():
    """Why our Gram matrix is not GraKeL's: its inner product takes one of seven numbers, ours takes all."""
    kernel = grakel.SvmTheta(random_state=7)
    theirs = their_gram(kernel, small_graphs(smallest=2))
    first_level = np.array(kernel.X)[:, 0, 0]
    np.testing.assert_allclose(theirs, np.outer(first_level, first_level))


def their_graphlet_gram(graphs, samples, seed=0):
    """GraKeL's Gram matrix of graphlet counts, without the one it counts too much.

    The first graph to show a kind of graphlet counts it right; whenever a later graph shows it first, GraKeL counts two.
    """
    kernel = grakel.GraphletSampling(k=5, sampling={"n_samples": samples}, random_state=seed)
    their_gram(kernel, graphs)
    counts = kernel._phi_X.copy()
    if counts.sum(axis=1).max() > samples:
        kinds = np.arange(counts.shape[1])
        first_graphs = (counts > 0).argmax(axis=0)
        counts -= counts > 0
        counts[first_graphs, kinds] += 1
    np.testing.assert_array_equal(counts.sum(axis=1), samples)
    return counts @ counts.T


def test_graphlet_gram_is_that_of_grakel_where_only_one_graphlet_can_be_drawn():
    graphs = [nx.path_graph(1), nx.path_graph(2), nx.empty_graph(2), nx.path_graph(3), nx.complete_graph(3), nx.star_graph(2)]
    np.testing.assert_array_equal(graphlet_gram(as_graphset(graphs), 30, seed=0), their_graphlet_gram(graphs, 30))


def test_graphlet_gram_approaches_that_of_grakel():
    graphs = [nx.gnp_random_graph(4, 0.5, seed=1), nx.gnp_random_graph(9, 0.4, seed=2), nx.star_graph(8), nx.cycle_graph(12)]
    samples = 4000
    ours = graphlet_gram(as_graphset(graphs), samples, seed=0) / samples**2
    theirs = their_graphlet_gram(graphs, samples) / samples**2
    np.testing.assert_allclose(ours, theirs, atol=0.02)  # about four deviations of the larger entries
