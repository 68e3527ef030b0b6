"""Local profiles and spectra: their numbers against networkx and by hand, and the methods built on them."""

import networkx as nx
import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from phist.baselines import descriptors, feature_cache
from phist.baselines.descriptors import METHODS, LaplacianSpectrum, LocalDegreeProfile
from phist.descriptors.profiles import Profile, degree_profile, edge_profile, histograms
from phist.descriptors.spectrum import smallest_eigenvalues
from phist.errors import ConfigError
from phist.graphs.convert import as_graphset
from phist.graphs.generate import make_trees
from phist.graphs.packing import Reading, pack

every_descriptor = pytest.mark.parametrize("descriptor", METHODS, ids=lambda method: method.name)
FEW = {"trees": 20}


@pytest.fixture(autouse=True)
def nothing_remembered():
    feature_cache._recent.clear()


@st.composite
def networks(draw):
    """Small networks, sparse to dense, often disconnected."""
    n_nodes, chance, seed = draw(st.integers(1, 14)), draw(st.floats(0, 1)), draw(st.integers(0, 1000))
    return nx.gnp_random_graph(n_nodes, chance, seed=seed)


def local_degree_score(network, u, v):
    """The definition, one edge at a time."""
    scores = []
    for end, other in ((u, v), (v, u)):
        degrees = [network.degree[neighbour] for neighbour in network[end]]
        rank = 1 + sum(degree > network.degree[other] for degree in degrees)
        scores.append(1 - np.log(rank) / np.log(len(degrees)) if len(degrees) > 1 else 1.0)
    return max(scores)


@settings(max_examples=40, deadline=None)
@given(st.lists(networks(), min_size=1, max_size=3))
def test_edge_profiles_equal_their_definitions(batch):
    profile = edge_profile(as_graphset(batch))
    for network, start, stop in zip(batch, profile.ptr[:-1], profile.ptr[1:], strict=True):
        edges = sorted(tuple(sorted(edge)) for edge in network.edges)
        betweenness = nx.edge_betweenness_centrality(network, normalized=False)
        expected = [
            (betweenness[edge], jaccard, local_degree_score(network, *edge))
            for edge, (_, _, jaccard) in zip(edges, nx.jaccard_coefficient(network, edges), strict=True)
        ]
        np.testing.assert_allclose(profile.values[start:stop], np.array(expected).reshape(-1, 3), rtol=1e-5, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(networks())
def test_degree_profiles_equal_their_definition(network):
    expected = np.zeros((len(network), 5))
    for node in network:
        around = [network.degree[neighbour] for neighbour in network[node]]
        expected[node, 0] = len(around)
        if around:
            expected[node, 1:] = min(around), max(around), np.mean(around), np.std(around)
    np.testing.assert_allclose(degree_profile(as_graphset([network])).values, expected, rtol=1e-6, atol=1e-6)


@settings(max_examples=40, deadline=None)
@given(networks())
def test_spectra_equal_those_of_the_whole_matrix(network):
    expected = np.linalg.eigvalsh(nx.normalized_laplacian_matrix(network).toarray())
    found = smallest_eigenvalues(as_graphset([network]), count=20)[0]
    np.testing.assert_allclose(found[: len(network)], expected, atol=1e-5)
    assert (found[len(network) :] == 0).all()


def test_threads_do_not_change_edge_profiles():
    graphs = make_trees(40, seed=0)
    np.testing.assert_array_equal(edge_profile(graphs, threads=3).values, edge_profile(graphs).values)


def test_directions_loops_and_weights_are_left_out():
    source, target = np.array([0, 1, 1, 2]), np.array([1, 0, 1, 0])
    odd = pack(np.array([3]), source, target, np.array([2.0, 3.0, 1.0, 5.0]), reading=Reading("keep", "keep"))
    path = pack(np.array([3]), np.array([0, 0]), np.array([1, 2]))
    for measure in (degree_profile, edge_profile):
        np.testing.assert_array_equal(measure(odd).values, measure(path).values)
    np.testing.assert_array_equal(smallest_eigenvalues(odd, 3), smallest_eigenvalues(path, 3))


def test_own_bins_lie_between_the_extremes_of_each_graph():
    profile = Profile(np.array([0, 4, 4, 6]), np.array([[1], [2], [3], [5], [7], [7]], np.float32))
    own = histograms(profile, bins=4, scale="own", training=np.array([0]))
    assert own.tolist() == [[1, 1, 1, 1], [0, 0, 0, 0], [0, 0, 2, 0]]


def test_shared_bins_reach_to_the_largest_training_value_and_hold_what_lies_beyond():
    values = np.expm1(np.array([[0], [1], [4], [9]], np.float64)).astype(np.float32)
    shared = histograms(Profile(np.array([0, 3, 4]), values), bins=4, scale="shared", training=np.array([0]))
    assert shared.tolist() == [[1, 1, 0, 1], [0, 0, 0, 1]]


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_what_no_training_graph_has_is_in_the_last_shared_bin():
    profile = Profile(np.array([0, 1, 4]), np.array([[0], [0], [1], [1e6]], np.float32))
    assert histograms(profile, 4, "shared", np.array([0])).tolist() == [[1, 0, 0, 0], [1, 0, 0, 2]]


@every_descriptor
def test_descriptors_tell_kinds_of_trees_apart(descriptor, make_fold):
    task = make_fold(make_trees(100, n_nodes=60, seed=0))
    predicted = descriptor(**FEW).fit(task).predict(np.arange(80, 100)).argmax(1)
    assert np.mean(predicted == task.labels[:20]) > 0.8  # classes take turns, so the first twenty stand for the last


@every_descriptor
def test_probabilities_add_up_and_do_not_change_with_the_same_seed(descriptor, make_fold):
    task = make_fold(make_trees(30, seed=0))
    first, second = (descriptor(**FEW).fit(task).predict(np.arange(30)) for _ in range(2))
    np.testing.assert_allclose(first.sum(1), 1.0)
    np.testing.assert_array_equal(first, second)


@every_descriptor
def test_awkward_graphs_are_fine(descriptor, make_fold, make_odd_graphs):
    task = make_fold(make_odd_graphs(), np.arange(20) % 2)
    np.testing.assert_allclose(descriptor(**FEW).fit(task).predict(np.arange(20)).sum(1), 1.0)


@every_descriptor
def test_the_best_table_on_validation_is_kept_and_all_are_told(descriptor, make_fold):
    account = descriptor(**FEW).fit(make_fold(make_trees(60, seed=0))).account
    best = max(account.tried, key=lambda trial: (trial["validation_accuracy"], -trial["validation_squared_error"]))
    assert len(account.tried) in (3, 4)
    assert account.chosen.items() <= best.items()
    assert account.validation_accuracy == best["validation_accuracy"]
    assert account.training_accuracy > 0.9


@every_descriptor
def test_features_come_from_the_cache_the_second_time(descriptor, make_fold, tmp_path, monkeypatch):
    task = make_fold(make_trees(20, seed=0), cache=tmp_path)
    first = descriptor(**FEW).fit(task).predict(task.validation)
    feature_cache._recent.clear()
    for name in ("degree_profile", "edge_profile", "smallest_eigenvalues"):
        monkeypatch.delattr(descriptors, name)
    np.testing.assert_array_equal(descriptor(**FEW).fit(task).predict(task.validation), first)


def test_a_damaged_cache_is_computed_anew(make_fold, tmp_path):
    task = make_fold(make_trees(20, seed=0), cache=tmp_path)
    first = LocalDegreeProfile(**FEW).fit(task).predict(task.validation)
    feature_cache._recent.clear()
    (stored,) = tmp_path.iterdir()
    stored.write_bytes(stored.read_bytes()[:100])
    np.testing.assert_array_equal(LocalDegreeProfile(**FEW).fit(task).predict(task.validation), first)


@pytest.mark.parametrize("options", [{"bins": [0]}, {"bins": 2.5}, {"scales": ["cubic"]}, {"trees": 0}, {"leaves": 3}])
def test_profiles_refuse_options_out_of_range(options, make_fold):
    with pytest.raises(ConfigError):
        LocalDegreeProfile(**options).fit(make_fold(make_trees(10, seed=0)))


def test_spectrum_refuses_a_share_of_no_eigenvalue(make_fold):
    with pytest.raises(ConfigError, match="shares"):
        LaplacianSpectrum(shares=[0.0]).fit(make_fold(make_trees(10, seed=0)))


def test_spectrum_takes_as_many_eigenvalues_as_shares_of_the_mean_size_say(make_fold):
    method = LaplacianSpectrum(shares=[0.5, 1.0, 4.0], most=40, **FEW).fit(make_fold(make_trees(20, n_nodes=30, seed=0)))
    assert [trial["eigenvalues"] for trial in method.account.tried] == [15, 30, 40]
