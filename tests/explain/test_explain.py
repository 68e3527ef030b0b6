"""Explanations of fitted models: shares, deletions, edits and the forms they come in."""

import json

import networkx as nx
import numpy as np
import pytest
import torch
from scipy.special import softmax
from small_models import NETWORK, QUICK, quick_classifier, quick_embedder, quick_network

from phist import as_graphset
from phist.errors import ConfigError, GraphInputError
from phist.explain import delete, explain, graphs_that_fill, what_if
from phist.explain.deletions import default_limit
from phist.explain.export import plain
from phist.graphs.generate import make_trees
from phist.graphs.motifs import make_ba_2motifs

TREES = make_trees(24, n_nodes=9, seed=0)


@pytest.fixture(scope="module")
def ensemble():
    return quick_classifier().fit(TREES)


@pytest.fixture(scope="module")
def network():
    return quick_network().fit(TREES)


@pytest.fixture(scope="module")
def explained(ensemble):
    return explain(ensemble, TREES[:4])


def test_the_model_explains_itself(ensemble, explained):
    again = ensemble.explain(TREES[:4])
    for one, other in zip(explained, again, strict=True):
        np.testing.assert_array_equal(one.network.shares, other.network.shares)
        np.testing.assert_array_equal(one.network.votes, other.network.votes)
        np.testing.assert_array_equal(one.deletions.edges, other.deletions.edges)
        np.testing.assert_array_equal(one.deletions.nodes, other.deletions.nodes)


def test_a_model_from_disk_explains_alike(ensemble, explained, tmp_path):
    ensemble.save(tmp_path / "model")
    loaded = type(ensemble).load(tmp_path / "model").set_params(engine="reference")
    one = explain(loaded, TREES[:4])[2]
    np.testing.assert_allclose(one.network.shares, explained[2].network.shares, atol=1e-6)
    np.testing.assert_allclose(one.deletions.edges, explained[2].deletions.edges, atol=1e-6)


def test_probabilities_are_those_of_the_model(ensemble, explained):
    np.testing.assert_allclose([one.probabilities for one in explained], ensemble.predict_proba(TREES[:4]), atol=1e-6)
    assert [one.predicted for one in explained] == [one.target for one in explained] == ensemble.predict(TREES[:4]).tolist()


def test_shares_of_one_network_add_up_to_the_logarithm_of_its_odds(network):
    found = explain(network, TREES, edges=False, nodes=False, votes=False)
    total = np.array([one.network.base + one.network.size + one.network.shares.sum(0) for one in found])
    np.testing.assert_allclose(softmax(total, axis=1), network.predict_proba(TREES), atol=1e-4)
    assert all(one.covered == 1 for one in found)


def test_shares_of_a_bag_add_up_to_what_its_linear_heads_say():
    model = quick_classifier(effort="medium", members=("network",), heads=("linear",)).fit(TREES)
    found = explain(model, TREES[:6], edges=False, nodes=False, votes=False)
    assert len(model.networks_) == 5
    total = np.array([one.network.base + one.network.size + one.network.shares.sum(0) for one in found])
    temperature = model.ensemble_.temperature
    np.testing.assert_allclose(softmax(total / temperature, axis=1), model.predict_proba(TREES[:6]), atol=1e-3)


def test_covered_is_the_weight_of_the_linear_heads(ensemble, explained):
    weights = ensemble.ensemble_.weights
    assert explained[0].covered == pytest.approx(weights.get("network/linear", 0.0))
    assert explained[0].weights == weights
    assert ("node shares cover" in str(explained[0])) == (explained[0].covered > 0)


def test_without_a_linear_head_the_shares_cover_nothing_and_nodes_are_judged_by_deletion():
    one = explain(quick_network(heads=("forest",)).fit(TREES), TREES[:1])[0]
    assert one.covered == 0 and "cover none of the prediction" in str(one)
    np.testing.assert_array_equal(one.node_values, one.node_effects)


def test_a_model_without_networks_is_explained_by_deletions():
    one = explain(quick_classifier(members=("colours",)).fit(TREES), TREES[:1])[0]
    assert one.network is None and one.node_shares is None and one.root_votes is None
    assert not np.isnan(one.node_effects).any() and "no node shares" in str(one)
    assert json.loads(json.dumps(one.to_dict(), allow_nan=False))["network"] is None


def test_deletions_are_what_the_model_says_of_the_smaller_graph(ensemble, explained):
    graph, one = TREES[2].to_networkx(), explained[2]
    edges = TREES[2].edges()
    for number in (0, 3):
        smaller = graph.copy()
        smaller.remove_edge(*edges[number].tolist())
        expected = one.probabilities - ensemble.predict_proba([smaller])[0]
        np.testing.assert_allclose(one.deletions.edges[number], expected, atol=1e-6)
    for node in (0, 5):
        smaller = nx.convert_node_labels_to_integers(nx.induced_subgraph(graph, sorted(set(graph) - {node})), ordering="sorted")
        expected = one.probabilities - ensemble.predict_proba([smaller])[0]
        np.testing.assert_allclose(one.deletions.nodes[node], expected, atol=1e-6)


def test_sets_are_deleted_together(ensemble):
    edge = TREES[0].edges()[0].tolist()
    effects = delete(ensemble, TREES[0], [3, tuple(edge), [1, 2, tuple(edge)]])
    found = explain(ensemble, TREES[:1])[0].deletions
    np.testing.assert_allclose(effects[:2], [found.nodes[3], found.edges[0]], atol=1e-6)
    together = what_if(ensemble, TREES[0], remove=[1, 2, tuple(edge)])
    np.testing.assert_allclose(effects[2], -together.change, atol=1e-6)
    assert delete(ensemble, TREES[0], []).shape == (0, 2)
    np.testing.assert_array_equal(delete(ensemble, TREES[0], (node for node in [3, 4])), delete(ensemble, TREES[0], [3, 4]))


def test_edits_add_and_remove_edges_and_nodes(ensemble):
    path = as_graphset([nx.path_graph(9)])
    ring = what_if(ensemble, path, add=[(0, 8)])
    np.testing.assert_allclose(ring.after, ensemble.predict_proba([nx.cycle_graph(9)])[0], atol=1e-6)
    np.testing.assert_allclose(ring.before, ensemble.predict_proba(path)[0], atol=1e-6)
    longer = what_if(ensemble, path, add=[(8, 9), (9, 10)], remove=[0])
    np.testing.assert_allclose(longer.after, ensemble.predict_proba([nx.path_graph(10)])[0], atol=1e-6)
    alone = what_if(ensemble, path, add=[9])
    assert (alone.graph.n_nodes, alone.graph.n_edges) == (10, 8)
    np.testing.assert_allclose(what_if(ensemble, path).change, 0, atol=1e-9)


def test_edits_keep_weights():
    graphs = as_graphset([(4, [(0, 1, 2.0), (1, 2, 3.0), (2, 3, 1.0)]), (4, [(0, 1, 1.0), (1, 2, 5.0)])] * 6, labels=[0, 1] * 6)
    model = quick_network().fit(graphs)
    edit = what_if(model, graphs[0], add=[(0, 3, 4.0)], remove=[(2, 1)])
    assert sorted(data for *_, data in edit.graph.to_networkx().edges(data="weight")) == [1.0, 2.0, 4.0]


@pytest.mark.parametrize(
    ("edit", "message"),
    [
        ({"remove": [(0, 8)]}, "has no edge 0-8; node 0 is joined to"),
        ({"remove": [12]}, "has no node 12; its nodes are 0 to 8"),
        ({"remove": [(3, 12)]}, "has no node 12"),
        ({"remove": ["C"]}, "neither a node nor an edge"),
        ({"remove": np.array(3)}, "in a list"),
        ({"add": [np.array(3)]}, "neither a node nor an edge"),
        ({"remove": list(range(9))}, "no node .* would be left"),
        ({"add": [(0, 1)]}, "edge 0-1 cannot be added: it is there already"),
        ({"add": [(1, 0)]}, "it is there already"),
        ({"add": [(2, 2)]}, "edge 2-2 .* name two nodes"),
        ({"add": [(2, 5, 0)]}, "positive weight"),
        ({"add": [(2, 5, -1)]}, "weight=-1 was given; a finite number"),
        ({"add": [(2, 5, "heavy")]}, "weight='heavy' was given; a finite number"),
        ({"add": [(2, 5, float("inf"))]}, "weight=inf was given; a finite number"),
        ({"add": [(2, 5, 10**400)]}, "a finite number"),
        ({"add": [(0, 11)]}, "must follow the last: 9 comes next"),
        ({"add": [3]}, "node 3 is there already"),
        ({"add": [(0, 8)], "remove": [8]}, "ends at a node that is removed"),
    ],
    ids=str,
)
def test_edits_of_what_is_not_there_are_refused(network, edit, message):
    with pytest.raises((GraphInputError, ConfigError), match=message):
        what_if(network, nx.path_graph(9), **edit)


def test_other_bad_input_is_refused(network):
    with pytest.raises(ConfigError, match="target='oak' is no class of this model; its classes are"):
        explain(network, TREES[:1], target="oak")
    for unhashable in (["oak"], {}, np.zeros(2)):
        with pytest.raises(ConfigError, match="is no class of this model"):
            explain(network, TREES[:1], target=unhashable)
    for no_list in (5, "all", np.array(5)):
        with pytest.raises(GraphInputError, match="a list of sets is needed"):
            delete(network, TREES[0], no_list)
    with pytest.raises(GraphInputError, match="has no node"):
        explain(network, [nx.Graph()])
    with pytest.raises(GraphInputError, match="2 graphs were given; one is needed"):
        what_if(network, TREES[:2])
    with pytest.raises(ConfigError, match="max_deletions=-1"):
        explain(network, TREES[:1], max_deletions=-1)
    with pytest.raises(ConfigError, match="a fitted StructuralClassifier is needed"):
        explain(quick_embedder().fit(TREES), TREES[:1])


def test_a_class_can_be_asked_for(network):
    one, other = (explain(network, TREES[:1], target=label)[0] for label in ("uniform", "recursive"))
    np.testing.assert_allclose(one.node_shares, -other.node_shares, atol=1e-9)  # of two classes, one's gain is the other's loss
    np.testing.assert_allclose(one.edge_effects, -other.edge_effects, atol=1e-9)
    assert one.predicted == other.predicted


def test_deletions_are_limited_to_what_matters_most(network):
    one = explain(network, TREES[:1], max_deletions=3)[0]
    done = ~np.isnan(one.node_effects)
    assert done.sum() == 3 and (~np.isnan(one.edge_effects)).sum() == 3
    sizes = np.abs(one.network.shares).max(1)
    assert sizes[done].min() >= sizes[~done].max()
    assert not explain(network, TREES[:1], edges=False, max_deletions=0)[0].edge_values.any()


def test_large_graphs_have_fewer_deletions():
    small, large = TREES[0], make_trees(1, n_nodes=5000, seed=0)[0]
    assert default_limit(small) > small.n_edges and default_limit(large) == 20


def test_a_graph_of_one_node_is_explained(network):
    one = explain(network, [nx.empty_graph(1)])[0]
    assert np.isnan(one.node_effects).all() and one.deletions.edges.shape == (0, 2)
    assert "graph 0" in str(one)
    json.dumps(one.to_dict(), allow_nan=False)


def test_directed_and_weighted_graphs_are_explained():
    graphs = as_graphset([(5, [(0, 1), (1, 2), (2, 3)]), (5, [(0, 1), (0, 2), (4, 0)])] * 6, labels=[0, 1] * 6, directed="keep")
    model = quick_network(network={**NETWORK, "operator": "random-walk"}).fit(graphs)
    one = explain(model, graphs[:1])[0]
    assert one.edge_index.shape == (2, 3) and one.edge_effects.shape == (3,)
    smaller = as_graphset([(5, [(1, 2), (2, 3)])], directed="keep")
    np.testing.assert_allclose(one.deletions.edges[0], one.probabilities - model.predict_proba(smaller)[0], atol=1e-6)


def test_masks_have_the_shapes_of_pyg_and_are_never_negative(explained):
    for one in explained:
        assert one.node_mask.shape == (9, 1) and one.edge_mask.shape == (16,)
        assert one.node_mask.dtype == torch.float32 and one.node_mask.min() >= 0 and one.edge_mask.min() >= 0
        np.testing.assert_allclose(one.node_mask[:, 0], np.maximum(one.node_values, 0), rtol=1e-6)
        ends = {tuple(edge): value for edge, value in zip(one.graph.edges().tolist(), one.edge_values.tolist(), strict=True)}
        for (a, b), value in zip(one.edge_index.T.tolist(), one.edge_mask.tolist(), strict=True):
            assert value == pytest.approx(max(ends[min(a, b), max(a, b)], 0), abs=1e-7)


def test_subgraphs_are_those_of_pyg(explained):
    pytest.importorskip("torch_geometric")
    for one in explained:
        pyg = one.to_pyg()
        assert pyg.validate(raise_on_error=True)
        theirs, rest = pyg.get_explanation_subgraph(), pyg.get_complement_subgraph()
        ours, left = one.explanation_subgraph(), one.complement_subgraph()
        assert (ours.n_nodes, len(ours.indices)) == (theirs.num_nodes, theirs.num_edges)
        assert (left.n_nodes, len(left.indices)) == (rest.num_nodes, rest.num_edges)
        np.testing.assert_allclose(pyg.prediction[0], one.probabilities, atol=1e-6)
        assert int(pyg.target) == one.target_number


def test_the_best_nodes_make_an_induced_subgraph(explained):
    one = explained[0]
    ours, rest = one.explanation_subgraph(top_k=4), one.complement_subgraph(top_k=4)
    assert (ours.n_nodes, rest.n_nodes) == (4, 5)
    kept = one.graph.to_networkx().subgraph(one.top_nodes(4).tolist())
    assert ours.n_edges == kept.number_of_edges()
    assert one.complement_subgraph(top_k=9).n_nodes == 0


def test_other_forms_hold_the_same_numbers(explained):
    one = explained[0]
    graph, frame, content = one.to_networkx(), one.to_frame(), one.to_dict()
    assert [graph.nodes[node]["share"] for node in graph] == pytest.approx(one.node_shares.tolist(), abs=1e-6)
    assert frame[frame.kind == "node"].share.tolist() == pytest.approx(one.node_shares.tolist(), abs=1e-6)
    assert frame[frame.kind == "edge"].effect.tolist() == pytest.approx(one.edge_effects.tolist(), abs=1e-6)
    assert frame.logit_effect.tolist() == pytest.approx([*one.node_logit_effects, *one.edge_logit_effects], abs=1e-6)
    assert np.array(content["network"]["shares"]) == pytest.approx(one.network.shares, abs=1e-6)
    assert content["edges"] == one.graph.edges().tolist() and content["label"] == TREES[0].label


def test_numbers_that_json_does_not_know_become_null():
    assert json.dumps(plain(np.array([[1.0, np.nan], [np.inf, -np.inf]])), allow_nan=False) == "[[1.0, null], [null, null]]"


def test_a_picture_is_drawn_and_written(explained, tmp_path):
    pytest.importorskip("matplotlib")
    figure = explained[0].visualize(tmp_path / "tree")
    assert len(figure.axes) == 2 and (tmp_path / "tree.png").stat().st_size > 1000


def test_a_picture_of_a_large_graph_shows_part_of_it():
    pytest.importorskip("matplotlib")
    from phist.drawing.explanation import MOST_NODES, _most_telling

    graph = make_trees(1, n_nodes=1500, seed=0)[0]
    values = np.random.default_rng(0).normal(size=1500)
    small, nodes, edges = _most_telling(graph, values, np.ones(graph.n_edges))
    assert small.n_nodes == len(nodes) == MOST_NODES and small.n_edges == len(edges)
    assert np.abs(nodes).min() >= np.sort(np.abs(values))[500 - 1]


def test_graphs_that_fill_a_bin_come_fullest_first(explained):
    strongest = explained[0].network.bins[0]
    found = graphs_that_fill(explained, strongest.network, strongest.channel, strongest.bin, k=3)
    assert len(found) == 3 and [value for _, value in found] == sorted((value for _, value in found), reverse=True)
    with pytest.raises(ConfigError, match="none of those explained"):
        graphs_that_fill(explained, "crystal ball", 0, 0)


def test_draws_spread_about_their_mean(network):
    one = explain(network, TREES[:1])[0].network
    assert one.draws.shape == (10, 2) and one.draws[:, 0].std() > 0
    np.testing.assert_allclose(one.draws.mean(0), one.base + one.size + one.shares.sum(0), atol=1e-4)
    exact = explain(quick_network(inference="exact").fit(TREES), TREES[:1])[0].network
    assert exact.draws.shape == (1, 2)


def test_both_engines_explain_alike():
    graphs, _ = make_ba_2motifs(16, seed=0)
    model = quick_network(**{**QUICK, "engine": "fused"}).fit(graphs)
    fused = explain(model, graphs[:3])
    reference = explain(model.set_params(engine="reference"), graphs[:3])
    for one, other in zip(fused, reference, strict=True):
        np.testing.assert_allclose(one.network.shares, other.network.shares, atol=1e-3)
        np.testing.assert_allclose(one.network.votes, other.network.votes, atol=1e-3)
        np.testing.assert_allclose(one.deletions.edges, other.deletions.edges, atol=1e-3)


def test_deletions_are_predicted_a_few_at_a_time(network, monkeypatch):
    expected = explain(network, TREES[:3])
    seen, predict = [], network.ensemble_.predict_proba
    monkeypatch.setattr("phist.explain.deletions.NODES_AT_ONCE", 40)
    monkeypatch.setattr(
        network.ensemble_, "predict_proba", lambda graphs, known: seen.append(graphs.n_nodes) or predict(graphs, known)
    )
    for one, other in zip(explain(network, TREES[:3]), expected, strict=True):
        np.testing.assert_allclose(one.deletions.edges, other.deletions.edges, atol=1e-6)
        np.testing.assert_allclose(one.deletions.nodes, other.deletions.nodes, atol=1e-6)
    assert max(seen) <= 40 and len(seen) > 3 and sum(seen) < 27 + 3 * (8 * 9 + 9 * 8)  # equal parts are asked about once


def test_nodes_are_judged_by_what_covers_most_of_the_prediction(explained, network):
    from dataclasses import replace

    one = explained[0]
    np.testing.assert_array_equal(replace(one, covered=0.6).node_values, one.node_shares)
    np.testing.assert_array_equal(replace(one, covered=0.4).node_values, one.node_effects)
    alone = explain(network, TREES[:1], nodes=False)[0]
    np.testing.assert_array_equal(replace(alone, covered=0.4).node_values, alone.node_shares)


def test_logits_without_an_edge_are_those_of_the_networks(network):
    one = explain(network, TREES[:1])[0]
    changed = what_if(network, TREES[0], remove=[tuple(TREES[0].edges()[2].tolist())])
    logs = np.log(np.stack([one.probabilities, changed.after]))
    centred = logs - logs.mean(1, keepdims=True)  # of one network alone, whose temperature is one
    np.testing.assert_allclose(one.deletions.edge_logits[2], centred[0] - centred[1], atol=1e-4)
    assert np.isnan(explain(quick_classifier(members=("colours",)).fit(TREES), TREES[:1])[0].deletions.node_logits).all()


def test_edges_are_judged_by_logits_where_these_cover_most_of_the_prediction(explained):
    from dataclasses import replace

    one = explained[0]
    np.testing.assert_array_equal(replace(one, covered=0.6).edge_values, one.edge_logit_effects)
    np.testing.assert_array_equal(replace(one, covered=0.4).edge_values, one.edge_effects)


def test_an_explanation_is_named_in_one_line(explained):
    found = explained[0]
    assert repr(found).startswith(f"Explanation(Graph({found.graph.n_nodes} nodes, ")
    assert f"{found.target!r} with probability 0." in repr(found) or "probability 1." in repr(found)


def test_no_line_of_its_numbers_is_wider_than_a_terminal(explained):
    assert all(len(line) <= 80 for one in explained for line in str(one).splitlines() if "cover" not in line)
