"""The estimators as users of scikit-learn have them."""

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.base import clone
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from small_models import NETWORK, quick_classifier, quick_embedder, quick_network

from phist import StructuralClassifier, as_graphset, load_estimator
from phist.errors import ConfigError, GraphInputError
from phist.estimators.members.network import Network
from phist.graphs.generate import make_planted_partitions, make_trees
from phist.training.loop import Trainer


@pytest.fixture(scope="module")
def graphs():
    return make_planted_partitions(30, n_nodes=12, seed=0)


@pytest.fixture(scope="module")
def fitted(graphs):
    """All members and all heads, weighed by all graphs."""
    return quick_classifier(effort="medium", training={"epochs": 3, "restarts": 1}).fit(graphs)


@pytest.fixture(scope="module")
def one_network(graphs):
    return quick_network().fit(graphs)


# Learning ---------------------------------------------------------------------------------------------------------------


def test_trees_of_two_kinds_are_learnt():
    trees = make_trees(80, n_nodes=24, seed=0)
    model = StructuralClassifier(effort="low", random_state=0, progress=False, engine="reference").fit(trees[:60])
    assert model.score(trees[60:]) >= 0.8
    assert "beats the best floor" in model.report_.verdict or "does as well" in model.report_.verdict


def test_directed_graphs_are_told_apart_by_direction():
    inward = [nx.DiGraph([(leaf, 0) for leaf in range(1, size)]) for size in range(4, 12)]
    outward = [nx.DiGraph([(0, leaf) for leaf in range(1, size)]) for size in range(4, 12)]
    graphs = as_graphset(inward + outward, ["in"] * 8 + ["out"] * 8, directed="keep")
    model = quick_network(network={**NETWORK, "operator": "random-walk"}, training={"epochs": 30, "learning_rate": 1e-2})
    assert model.fit(graphs).score(graphs) == 1.0


def test_own_labels_of_the_graphs_are_the_default(fitted, graphs):
    assert fitted.classes_.tolist() == ["planted", "rewired"]
    assert fitted.score(graphs) == fitted.score(graphs, graphs.labels)


# The ensemble -----------------------------------------------------------------------------------------------------------


def test_every_member_and_head_is_weighed(fitted):
    names = {"colours/subtree", "colours/assignment", "colours/paths", "profiles/trees"}
    assert {own.name for own in fitted.report_.candidates} == names | {f"network/{head}" for head in ("linear", "forest", "kernel")}
    assert sum(own.weight for own in fitted.report_.candidates) == pytest.approx(1)
    assert len(fitted.networks_) == 5 and len(fitted.histories_) == 5


def test_probabilities_are_the_tempered_mean_of_the_members(fitted, graphs):
    ensemble, total = fitted.ensemble_, 0
    warmth = {own.name: own.temperature for own in ensemble.candidates}
    for member in ensemble.members:
        for predictor, own in member.predict_proba(graphs).items():
            name = f"{member.label}/{predictor}"
            powers = np.maximum(own, 1e-4) ** (1 / warmth[name])
            total = total + ensemble.weights.get(name, 0) * powers / powers.sum(1, keepdims=True)
    powers = np.maximum(total, 1e-4) ** (1 / ensemble.temperature)
    np.testing.assert_allclose(fitted.predict_proba(graphs), powers / powers.sum(1, keepdims=True), rtol=1e-6)


def test_networks_have_not_seen_the_part_they_are_asked_about(graphs, monkeypatch):
    trained_on = []
    plain = Network._trainer
    monkeypatch.setattr(
        Network, "_trainer", lambda own, lesson, part: trained_on.append(lesson.parts.training(part)) or plain(own, lesson, part)
    )
    quick_classifier(effort="medium", members="network", heads="linear").fit(graphs)
    left_out = [np.setdiff1d(np.arange(30), positions) for positions in trained_on]
    assert sorted(np.concatenate(left_out).tolist()) == list(range(30))


def test_low_effort_trains_one_network_and_says_what_that_means(graphs):
    model = quick_classifier().fit(graphs)
    assert len(model.networks_) == 1 and model.report_.metrics.n == 6
    assert "one part of 5 was held out" in model.report_.notes[0]


def test_members_without_weight_are_forgotten(graphs):
    model = quick_classifier(members="colours").fit(graphs)
    assert model.networks_ == [] and set(model.ensemble_.weights) <= {"colours/subtree", "colours/assignment", "colours/paths"}


def test_effort_sets_what_is_not_given(graphs, monkeypatch):
    seen = []
    monkeypatch.setattr(Trainer, "run_epoch", lambda own: seen.append(own.config) or (_ for _ in ()).throw(KeyboardInterrupt))
    quick_classifier(effort="medium", training={"learning_rate": 0.5}).fit(graphs)
    assert (seen[0].epochs, seen[0].restarts, seen[0].learning_rate) == (105, 2, 0.5)


def test_an_interrupt_leaves_what_was_ready(graphs, monkeypatch):
    monkeypatch.setattr(Trainer, "run_epoch", lambda own: (_ for _ in ()).throw(KeyboardInterrupt))
    model = quick_classifier().fit(graphs)
    assert model.networks_ == [] and model.predict(graphs).shape == (30,)
    assert any("no network was ready" in note for note in model.report_.notes)
    with pytest.raises(KeyboardInterrupt):
        quick_classifier(members="network").fit(graphs)


def test_a_second_fit_forgets_the_first(graphs):
    model = quick_classifier().fit(graphs).set_params(preset="MUTAG").fit(graphs)
    assert not any(hasattr(model, name) for name in ("report_", "neighbours_", "out_of_fold_"))


# One network, as the paper has it -----------------------------------------------------------------------------------------


def test_a_preset_by_name_trains_one_network_on_every_graph(one_network):
    assert len(one_network.networks_) == 1 and not hasattr(one_network, "report_")
    assert one_network.ensemble_.weights == {"network/linear": 1.0}
    assert one_network.histories_[0].epochs[0].validation_loss is None


def test_several_heads_of_one_network_are_averaged(graphs):
    model = quick_network(heads=("linear", "forest", "kernel")).fit(graphs)
    alone = model._members()[0].predict_proba(graphs)
    np.testing.assert_allclose(model.predict_proba(graphs), np.mean(list(alone.values()), axis=0), rtol=1e-6)


def test_given_validation_graphs_select_the_epoch(graphs):
    model = quick_network().fit(graphs[:24], validation=(graphs[24:], graphs.labels[24:]))
    assert model.histories_[0].epochs[0].validation_loss is not None
    assert model.data_["graphs"] == 24


@pytest.mark.parametrize("training", [{"selection": "validation-loss"}, {"patience": 5}])
def test_selection_by_validation_sets_graphs_aside(graphs, training):
    model = quick_network(training={"epochs": 2, **training})
    assert model.fit(graphs).histories_[0].epochs[0].validation_loss is not None
    assert model.fit(graphs[:12]).histories_[0].epochs[0].validation_loss is None  # too few to spare any


def test_unknown_validation_label_is_an_error(graphs):
    with pytest.raises(GraphInputError, match="'other' does not occur"):
        quick_network().fit(graphs, validation=(graphs[:2], ["planted", "other"]))


def test_the_ensemble_takes_no_validation_graphs(graphs):
    with pytest.raises(ConfigError, match="validation graphs were given"):
        quick_classifier().fit(graphs, validation=(graphs, graphs.labels))


def test_an_interrupted_network_says_so(graphs, monkeypatch):
    plain = Trainer.run_epoch
    monkeypatch.setattr(
        Trainer, "run_epoch", lambda own: plain(own) if not own.history.epochs else (_ for _ in ()).throw(KeyboardInterrupt)
    )
    with pytest.warns(UserWarning, match="interrupted; the model is that of epoch 1"):
        quick_network().fit(graphs)


def test_all_nodes_as_roots_need_no_seed_to_predict(graphs):
    model = quick_network(network={**NETWORK, "roots": "all"}).fit(graphs)
    before = model.predict_proba(graphs)
    member = model._members()[0]
    member.trained = [type(own)(own.network, own.seed + 1, own.engine, own.inference, False) for own in member.trained]
    assert np.array_equal(before, model.predict_proba(graphs))


# scikit-learn -----------------------------------------------------------------------------------------------------------


def test_cross_validation(graphs):
    scores = cross_val_score(quick_network(), graphs, graphs.labels, cv=2, scoring="roc_auc")
    assert len(scores) == 2 and np.isfinite(scores).all()


def test_grid_search_over_the_network_shape(graphs):
    shapes = [{**NETWORK, "bins": bins} for bins in (2, 4)]
    search = GridSearchCV(quick_network(), {"network": shapes}, cv=2, error_score="raise").fit(graphs, graphs.labels)
    assert search.best_params_["network"] in shapes


def test_pipeline_with_a_forest(graphs):
    model = make_pipeline(quick_embedder(), ExtraTreesClassifier(10, random_state=0)).fit(graphs, graphs.labels)
    assert model.predict(graphs).shape == (30,)


def test_calibration(graphs):
    model = CalibratedClassifierCV(quick_network(), cv=2).fit(list(graphs), graphs.labels)
    assert model.predict_proba(list(graphs[:3])).shape == (3, 2)


def test_a_clone_is_unfitted_with_the_same_parameters(fitted, graphs):
    copy = clone(fitted)
    assert copy.get_params() == fitted.get_params()
    with pytest.raises(NotFittedError):
        copy.predict(graphs)


@pytest.mark.parametrize(
    "method", ["predict", "predict_proba", "predict_set", "similar", "decision_function", "transform", "node_embeddings"]
)
def test_unfitted_model_says_so(graphs, method):
    with pytest.raises(NotFittedError):
        getattr(quick_classifier(), method)(graphs)


# Use --------------------------------------------------------------------------------------------------------------------


def test_binary_decision_function_is_the_lead_of_the_second_class(fitted, graphs):
    lead, probabilities = fitted.decision_function(graphs), fitted.predict_proba(graphs)
    assert np.allclose(1 / (1 + np.exp(-lead)), probabilities[:, 1], atol=1e-6)


def test_decision_function_of_three_classes_has_three_columns():
    trees = make_trees(18, n_nodes=8, seed=0)
    model = quick_network().fit(trees, np.arange(18) % 3)
    np.testing.assert_allclose(np.exp(model.decision_function(trees)).sum(1), 1)


def test_prediction_sets_hold_the_most_probable_class_or_are_empty(fitted, graphs):
    most = fitted.predict(graphs)
    for coverage in (0.5, 0.9):
        sets = fitted.predict_set(graphs, coverage)
        assert all(not own or label in own for own, label in zip(sets, most, strict=True))
    everything = fitted.predict_set(graphs, 0.99)
    assert all(own == ["planted", "rewired"] for own in everything)  # 30 graphs cannot promise that otherwise


def test_sets_cover_the_graphs_left_out(fitted):
    probabilities, targets = fitted.out_of_fold_
    from phist.estimators.conformal import thresholds_of

    least = thresholds_of(probabilities, targets, 0.8, by_class=False)
    assert (probabilities[np.arange(30), targets] >= least[targets]).mean() >= 0.8


def test_the_most_similar_graph_is_the_graph_itself(fitted, graphs):
    found = fitted.similar(graphs[:4], k=3)
    assert [own[0][0] for own in found] == [0, 1, 2, 3]
    assert all(own[0][1] < 0.01 and [pair[1] for pair in own] == sorted(pair[1] for pair in own) for own in found)


def test_similar_graphs_go_by_their_ids(tmp_path):
    graphs = make_planted_partitions(12, n_nodes=8, seed=0)
    named = as_graphset(list(graphs), graphs.labels, ids=[f"g{number}" for number in range(12)])
    model = quick_classifier(members="network").fit(named)
    assert model.similar(named[3:4], k=1)[0][0][0] == "g3"
    model.save(tmp_path / "model")
    assert load_estimator(tmp_path / "model").similar(named[3:4], k=1)[0][0][0] == "g3"


@pytest.mark.parametrize("k", [0, -1, 1.5, True, "x"])
def test_the_number_of_similar_graphs_is_checked(fitted, graphs, k):
    with pytest.raises(ConfigError, match="k="):
        fitted.similar(graphs[:1], k)


def test_numbers_of_numpy_are_numbers(fitted, graphs):
    assert len(fitted.similar(graphs[:1], np.int64(2))[0]) == 2


def test_one_network_has_no_sets_and_no_neighbours(one_network, graphs):
    with pytest.raises(ConfigError, match='preset="auto"'):
        one_network.predict_set(graphs)
    with pytest.raises(ConfigError, match='preset="auto"'):
        one_network.similar(graphs)


@pytest.mark.parametrize("method", ["transform", "node_embeddings", "similar", "get_feature_names_out"])
def test_a_model_without_networks_says_so(graphs, method):
    model = quick_classifier(members="colours").fit(graphs)
    with pytest.raises(NotFittedError, match="without a network"):
        getattr(model, method)(graphs)


def test_embeddings_are_those_of_all_networks_side_by_side(fitted, graphs):
    widths = [network.head.in_features for network in fitted.networks_]
    assert fitted.transform(graphs).shape == (30, sum(widths)) == (30, len(fitted.get_feature_names_out()))


def test_node_embeddings_are_one_row_per_node(fitted, graphs):
    rows = fitted.node_embeddings(graphs[:3])
    assert [len(block) for block in rows] == graphs[:3].node_counts().tolist()
    assert rows[0].shape[1] == sum(network.f_node.out_channels for network in fitted.networks_)


# The embedder -----------------------------------------------------------------------------------------------------------


def test_embedder_without_labels_gives_standardised_random_features(graphs):
    embedder = quick_embedder().fit(graphs.with_labels(None))
    embeddings = embedder.transform(graphs)
    assert embeddings.shape == (30, len(embedder.get_feature_names_out()))
    assert abs(embeddings.mean()) < 0.5


def test_a_loaded_embedder_gives_the_same_embeddings(graphs, tmp_path):
    for number, given in enumerate((graphs, graphs.with_labels(None))):
        embedder = quick_embedder().fit(given)
        embedder.save(tmp_path / str(number))
        np.testing.assert_array_equal(load_estimator(tmp_path / str(number)).transform(graphs), embedder.transform(graphs))


# Seeds, weights and checkpoints -------------------------------------------------------------------------------------------


def test_generators_are_seeds(graphs):
    first, second = (quick_network(random_state=np.random.default_rng(7)).fit(graphs).predict_proba(graphs) for _ in range(2))
    assert np.array_equal(first, second)
    shared = np.random.default_rng(7)
    drawn = [quick_network(random_state=shared).fit(graphs).seed_ for _ in range(2)]
    assert drawn[0] != drawn[1]


def test_class_weights_by_label_equal_sample_weights(graphs):
    by_class = quick_network(class_weight={"planted": 3.0}).fit(graphs)
    by_sample = quick_network().fit(graphs, sample_weight=np.where(graphs.labels == "planted", 3.0, 1.0))
    assert torch.equal(by_class.network_.head.weight, by_sample.network_.head.weight)


def test_balanced_class_weights_move_the_decision(graphs):
    few = graphs[np.r_[0:30:2, 1:7:2]]
    for members in ("colours", "profiles"):
        plain, balanced = (
            quick_classifier(members=members, class_weight=weight).fit(few).ensemble_.members[0].predict_proba(few)
            for weight in (None, {"rewired": 50.0})
        )
        name = next(iter(balanced))
        assert balanced[name][:, 1].mean() > plain[name][:, 1].mean()


@pytest.mark.parametrize("members", ["network", "colours", "profiles"])
def test_labels_of_weightless_graphs_do_not_matter(graphs, members):
    weights = np.r_[np.ones(24), np.zeros(6)]
    flipped = graphs.labels.copy()
    flipped[24:] = np.where(flipped[24:] == "planted", "rewired", "planted")
    preset = {"preset": "MUTAG", "heads": ("linear", "forest", "kernel")} if members == "network" else {"members": members}
    first, second = (
        quick_classifier(**preset).fit(graphs, labels, sample_weight=weights).ensemble_.members[0]
        for labels in (graphs.labels, flipped)
    )
    if members == "network":
        for name, own in first.predict_proba(graphs).items():
            np.testing.assert_array_equal(own, second.predict_proba(graphs)[name])
    elif members == "profiles":  # parts of others are cut by the labels, and decide on weights; the fit to all graphs is compared
        np.testing.assert_array_equal(first.trees.threshold, second.trees.threshold)


def test_checkpoint_is_continued(graphs, tmp_path, monkeypatch):
    whole = quick_classifier(members="network").fit(graphs)
    model = quick_classifier(members="network", checkpoint=tmp_path / "run").fit(graphs)
    monkeypatch.setattr(Trainer, "run_epoch", None)  # nothing is left to train
    again = quick_classifier(members="network", checkpoint=tmp_path / "run").fit(graphs)
    for one, other in ((model, whole), (again, whole)):
        np.testing.assert_array_equal(one.predict_proba(graphs), other.predict_proba(graphs))


def test_a_checkpoint_of_other_data_is_refused(graphs, tmp_path):
    quick_classifier(members="network", checkpoint=tmp_path / "run").fit(graphs)
    with pytest.raises(ConfigError, match="another run"):
        quick_classifier(members="network", checkpoint=tmp_path / "run").fit(graphs[:20])


# Labels -----------------------------------------------------------------------------------------------------------------


def test_missing_labels_are_an_error(graphs):
    with pytest.raises(GraphInputError, match="pass y"):
        quick_classifier().fit(graphs.with_labels(None))


def test_one_class_is_an_error(graphs):
    with pytest.raises(GraphInputError, match="two classes are needed"):
        quick_classifier().fit(graphs, ["a"] * 30)


@pytest.mark.parametrize("labels", [[0, None] * 15, [0.0, float("nan")] * 15])
def test_missing_label_is_an_error(graphs, labels):
    with pytest.raises(GraphInputError, match="label of graph 1 is missing"):
        quick_classifier().fit(graphs, labels)


def test_labels_in_a_column_are_an_error_that_says_what_to_do(graphs):
    with pytest.raises(GraphInputError, match=r"ravel"):
        quick_classifier().fit(graphs, np.zeros((30, 1)))


@pytest.mark.parametrize("weights", [np.ones(3), np.full(30, -1.0), np.zeros(30), np.full(30, np.nan)])
def test_wrong_sample_weights_are_an_error(graphs, weights):
    with pytest.raises(GraphInputError, match="sample_weight"):
        quick_classifier().fit(graphs, sample_weight=weights)
