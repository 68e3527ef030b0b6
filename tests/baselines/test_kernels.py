"""The six kernels as methods of the study."""

import networkx as nx
import numpy as np
import pytest
from renumbering import renumbered

from phist import as_graphset
from phist.baselines.kernels import METHODS, GraphletSampling, ShortestPath, SVMTheta, WLShortestPath, WLSubtree
from phist.errors import ConfigError, GraphInputError

every_kernel = pytest.mark.parametrize("kernel", METHODS, ids=lambda method: method.name)
randomized = pytest.mark.parametrize("kernel", [SVMTheta, GraphletSampling], ids=lambda method: method.name)


def rings_and_trees(n_graphs=40):
    """Rings with chords and trees in turn, of 12 to 15 nodes."""
    rng = np.random.default_rng(0)
    graphs = []
    for number in range(n_graphs):
        size = int(rng.integers(12, 16))
        dense = nx.connected_watts_strogatz_graph(size, 4, 0.3, seed=number)
        graphs.append(dense if number % 2 else nx.random_labeled_tree(size, seed=number))
    return as_graphset(graphs, labels=np.arange(n_graphs) % 2)


def test_names_are_those_of_the_study():
    names = ["wl-subtree", "wl-shortest-path", "svm-theta", "shortest-path", "pyramid-match", "graphlet-sampling"]
    assert [method.name for method in METHODS] == names


@pytest.mark.parametrize("kernel", [kernel for kernel in METHODS if kernel is not SVMTheta], ids=lambda method: method.name)
def test_kernel_tells_dense_graphs_from_trees(kernel, make_fold):
    task = make_fold(rings_and_trees())
    answers = kernel().fit(task).predict(np.arange(32, 40)).argmax(axis=1)
    assert (answers == np.arange(32, 40) % 2).mean() >= 0.75


@every_kernel
def test_kernels_do_not_read_how_nodes_are_numbered(kernel, make_fold):
    graphs = rings_and_trees()
    answers = [kernel().fit(make_fold(some)).predict(np.arange(40)) for some in (graphs, renumbered(graphs)[0])]
    np.testing.assert_array_equal(*answers)


@every_kernel
def test_awkward_graphs_are_fine(kernel, make_fold, make_odd_graphs):
    task = make_fold(make_odd_graphs(), np.arange(20) % 2)
    probabilities = kernel().fit(task).predict(np.arange(20))
    np.testing.assert_allclose(probabilities.sum(axis=1), 1.0)


@every_kernel
def test_account_says_what_was_tried_and_chosen(kernel, make_fold):
    fitted = kernel(penalties=[0.1, 10.0]).fit(make_fold(rings_and_trees()))
    assert [tried["C"] for tried in fitted.account.tried] == [0.1, 10.0]
    assert fitted.account.chosen["C"] in (0.1, 10.0)
    assert 0 <= fitted.account.training_accuracy <= 1
    assert 0 <= fitted.account.validation_accuracy <= 1


@every_kernel
def test_a_kept_gram_gives_the_same_probabilities(kernel, make_fold, tmp_path):
    graphs = rings_and_trees()
    runs = [kernel().fit(make_fold(graphs, cache=cache)).predict(np.arange(40)) for cache in (None, tmp_path, tmp_path)]
    np.testing.assert_array_equal(runs[0], runs[1])
    np.testing.assert_array_equal(runs[1], runs[2])
    assert len(list(tmp_path.iterdir())) == 1


@randomized
def test_each_seed_has_a_gram_of_its_own(kernel, make_fold, tmp_path):
    for seed in (0, 1):
        kernel().fit(make_fold(rings_and_trees(), seed=seed, cache=tmp_path))
    assert len(list(tmp_path.iterdir())) == 2


def test_the_seed_does_not_matter_where_nothing_is_drawn(make_fold, tmp_path):
    for seed in (0, 1):
        WLSubtree().fit(make_fold(rings_and_trees(), seed=seed, cache=tmp_path))
    assert len(list(tmp_path.iterdir())) == 1


def test_penalties_share_a_gram_and_rounds_do_not(make_fold, tmp_path):
    for options in ({"penalties": [1.0]}, {"penalties": [2.0]}, {"rounds": 2}):
        WLSubtree(**options).fit(make_fold(rings_and_trees(), cache=tmp_path))
    assert len(list(tmp_path.iterdir())) == 2


def test_weights_of_edges_do_not_matter(make_fold):
    plain = rings_and_trees()
    weighted = [graph.to_networkx() for graph in plain]
    for number, graph in enumerate(weighted):
        nx.set_edge_attributes(graph, 1.0 + number % 3, "weight")
    folds = [make_fold(graphs) for graphs in (plain, as_graphset(weighted, labels=plain.labels))]
    first, second = (WLShortestPath().fit(fold).predict(np.arange(40)) for fold in folds)
    np.testing.assert_array_equal(first, second)


def test_directed_graphs_are_refused(make_fold):
    graphs = as_graphset([nx.DiGraph([(0, 1)])] * 10, labels=[0, 1] * 5, directed="keep")
    with pytest.raises(GraphInputError, match="symmetrise"):
        ShortestPath().fit(make_fold(graphs))


@pytest.mark.parametrize(
    "options", [{"rounds": 0}, {"rounds": 1.5}, {"penalties": []}, {"penalties": [-1.0]}, {"penalties": ["1"]}, {"depth": 3}]
)
def test_options_out_of_range_are_refused(options, make_fold):
    with pytest.raises(ConfigError):
        WLSubtree(**options).fit(make_fold(rings_and_trees()))


@every_kernel
def test_no_dataset_is_left_out(kernel):
    assert kernel().skip("REDDIT-BINARY") is None and kernel().skip_size(2000) is None


@pytest.mark.parametrize("method", METHODS)
def test_a_set_whose_gram_matrix_is_out_of_reach_is_skipped_with_its_size(method):
    assert "41,127 graphs takes 13.5 GB" in method().skip_size(41127)
    assert method().skip_size(9629) is None
