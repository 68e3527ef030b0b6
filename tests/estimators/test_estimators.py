from dataclasses import replace

import networkx as nx
import numpy as np
import pytest
import torch
from sklearn.calibration import CalibratedClassifierCV
from sklearn.ensemble import ExtraTreesClassifier
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline

from phist import StructuralClassifier, StructuralEmbedder, as_graphset
from phist.errors import ConfigError, GraphInputError
from phist.graphs.generate import make_planted_partitions, make_trees
from phist.testing import graph_estimator_checks


def test_binary_decision_function_is_the_lead_of_the_second_class(fitted, graphs):
    lead, probabilities = fitted.decision_function(graphs), fitted.predict_proba(graphs)
    assert np.allclose(1 / (1 + np.exp(-lead)), probabilities[:, 1], atol=1e-6)


NETWORK = {"channels": (4, 6), "bins": 4, "roots": 6}


def small(**changes):
    """The ensemble, one part held out, with a small network."""
    return StructuralClassifier(**{"effort": "low", "training": {"epochs": 2}, "network": NETWORK, "random_state": 0, **changes})


def one(epochs=2, network=(), training=(), **changes):
    """One small network under the linear head."""
    settings = {"network": {**NETWORK, "orders": (3, 3), **dict(network)}, "training": {"epochs": epochs, **dict(training)}}
    return StructuralClassifier(**{"preset": "MUTAG", "random_state": 0, **settings, **changes})


def embedder(**changes):
    return StructuralEmbedder(**{"training": {"epochs": 1}, "network": NETWORK, "random_state": 0, **changes})


@pytest.fixture(scope="module")
def graphs():
    return make_planted_partitions(40, n_nodes=16, seed=0)


@pytest.fixture(scope="module")
def fitted(graphs):
    return small().fit(graphs)


@pytest.mark.parametrize("check", list(graph_estimator_checks()), ids=lambda check: check.__name__)
@pytest.mark.parametrize("kind", [small, one, embedder], ids=["ensemble", "preset", "embedder"])
def test_conforms(kind, check):
    check(kind())


def test_trees_of_two_kinds_are_learnt():
    trees = make_trees(80, n_nodes=24, seed=0)
    model = StructuralClassifier("low", random_state=0).fit(trees[:60])
    assert model.score(trees[60:]) >= 0.8


def test_cross_validation(graphs):
    assert len(cross_val_score(small(), graphs, graphs.labels, cv=2)) == 2


def test_grid_search_over_the_network_shape(graphs):
    shapes = [{**NETWORK, "bins": bins} for bins in (2, 4)]
    search = GridSearchCV(one(), {"network": shapes}, cv=2).fit(graphs, graphs.labels)
    assert search.best_params_["network"] in shapes


def test_pipeline_with_a_forest(graphs):
    model = make_pipeline(embedder(), ExtraTreesClassifier(10, random_state=0)).fit(graphs, graphs.labels)
    assert model.predict(graphs).shape == (40,)


def test_calibration(graphs):
    model = CalibratedClassifierCV(small(), cv=2).fit(list(graphs), graphs.labels)
    assert model.predict_proba(list(graphs[:3])).shape == (3, 2)


def test_embedder_without_labels_gives_standardised_random_features(graphs):
    model = embedder().fit(graphs.with_labels(None))
    embeddings = model.transform(graphs)
    assert embeddings.shape == (40, len(model.get_feature_names_out()))
    assert abs(embeddings.mean()) < 0.5


def test_node_embeddings_are_one_row_per_node(fitted, graphs):
    rows = fitted.node_embeddings(graphs[:3])
    assert [len(block) for block in rows] == graphs[:3].node_counts().tolist()
    assert rows[0].shape[1] == sum(network.f_node.out_channels for network in fitted.networks_)


def test_own_labels_of_the_graphs_are_the_default(fitted, graphs):
    assert fitted.classes_.tolist() == ["planted", "rewired"]
    assert fitted.score(graphs) == fitted.score(graphs, graphs.labels)


def test_given_validation_graphs_select_the_epoch(graphs):
    model = one().fit(graphs[:30], validation=(graphs[30:], graphs.labels[30:]))
    assert model.histories_[0].epochs[0].validation_loss is not None
    assert model.data_["graphs"] == 30


def test_the_ensemble_selects_nothing_by_validation_graphs(graphs):
    with pytest.raises(ConfigError, match="leave them out"):
        small().fit(graphs[:30], validation=(graphs[30:], graphs.labels[30:]))


@pytest.mark.parametrize("training", [{"selection": "validation-loss"}, {"patience": 5}], ids=str)
def test_selection_by_validation_sets_graphs_aside(graphs, training):
    assert one(training=training).fit(graphs).histories_[0].epochs[0].validation_loss is not None
    assert one(training=training).fit(graphs[:12]).histories_[0].epochs[0].validation_loss is None  # too few to spare any


def test_keeping_the_last_epoch_trains_on_every_graph(graphs):
    assert one().fit(graphs).histories_[0].epochs[0].validation_loss is None


def test_balanced_class_weights_move_the_decision(graphs):
    few = graphs[np.r_[0:40:2, 1:7:2]]
    plain, balanced = (one(8, class_weight=weight).fit(few).predict_proba(few)[:, 1].mean() for weight in (None, "balanced"))
    assert balanced > plain


def test_class_weights_by_label_equal_sample_weights(graphs):
    by_class = one(class_weight={"planted": 3.0}).fit(graphs)
    by_sample = one().fit(graphs, sample_weight=np.where(graphs.labels == "planted", 3.0, 1.0))
    assert torch.equal(by_class.network_.head.weight, by_sample.network_.head.weight)


def test_weightless_graphs_do_not_matter(graphs):
    weights = np.r_[np.ones(30), np.zeros(10)]
    model = one().fit(graphs, sample_weight=weights)
    flipped = graphs.labels.copy()
    flipped[30:] = np.where(flipped[30:] == "planted", "rewired", "planted")
    assert torch.equal(model.network_.head.weight, one().fit(graphs, flipped, sample_weight=weights).network_.head.weight)


def test_all_nodes_as_roots_need_no_seed_to_predict(graphs):
    model = one(network={"roots": "all"}).fit(graphs)
    before = model.predict_proba(graphs)
    member = model.ensemble_.members[0]
    member.trained = [replace(trained, seed=trained.seed + 1) for trained in member.trained]
    assert np.array_equal(before, model.predict_proba(graphs))


def test_directed_graphs_are_classified_by_the_random_walk():
    cycles = [nx.cycle_graph(6, create_using=nx.DiGraph) for _ in range(6)]
    stars = [nx.DiGraph([(0, leaf) for leaf in range(1, 6)]) for _ in range(6)]
    graphs = as_graphset(cycles + stars, ["cycle"] * 6 + ["star"] * 6, directed="keep")
    model = small(members="network", training={"epochs": 30, "learning_rate": 1e-2}).fit(graphs)
    assert model.network_.config.operator == "random-walk"
    assert model.score(cycles + stars, graphs.labels) == 1.0  # read as in training, though lists are symmetrised by default


def test_checkpoint_is_continued(graphs, tmp_path):
    one(checkpoint=tmp_path / "run").fit(graphs)
    again = one(checkpoint=tmp_path / "run").fit(graphs)
    assert torch.equal(again.network_.head.weight, one().fit(graphs).network_.head.weight)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "transform", "node_embeddings"])
def test_unfitted_model_says_so(graphs, method):
    with pytest.raises(NotFittedError):
        getattr(small(), method)(graphs)


def test_a_model_without_networks_says_so(graphs):
    with pytest.raises(ConfigError, match="without a network"):
        _ = small(members="colours").fit(graphs).network_


def test_missing_labels_are_an_error(graphs):
    with pytest.raises(GraphInputError, match="pass y"):
        small().fit(graphs.with_labels(None))


def test_one_class_is_an_error(graphs):
    with pytest.raises(GraphInputError, match="two classes are needed"):
        small().fit(graphs, ["a"] * 40)


@pytest.mark.parametrize("labels", [[0, None] * 20, [0.0, float("nan")] * 20])
def test_missing_label_is_an_error(graphs, labels):
    with pytest.raises(GraphInputError, match="label of graph 1 is missing"):
        small().fit(graphs, labels)


def test_labels_in_a_column_are_an_error_that_says_what_to_do(graphs):
    with pytest.raises(GraphInputError, match=r"ravel"):
        small().fit(graphs, np.zeros((40, 1)))


def test_unknown_validation_label_is_an_error(graphs):
    with pytest.raises(GraphInputError, match="'other' does not occur"):
        one().fit(graphs, validation=(graphs[:2], ["planted", "other"]))


@pytest.mark.parametrize("weights", [np.ones(3), np.full(40, -1.0), np.zeros(40), np.full(40, np.nan)])
def test_wrong_sample_weights_are_an_error(graphs, weights):
    with pytest.raises(GraphInputError, match="sample_weight"):
        small().fit(graphs, sample_weight=weights)


@pytest.mark.parametrize(
    "wrong",
    [{"engine": "warp"}, {"inference": "guess"}, {"preset": "ours"}, {"preset": 5}, {"effort": "much"}, {"members": "friends"},
     {"heads": ("linear", "round")}, {"time_budget": 0}, {"time_budget": "x"}, {"network": {"colour": 3}}, {"network": 3},
     {"network": {"kernel": "box"}}, {"network": {"bins": 0}}, {"network": {"roots": 0}}, {"training": {"colour": 3}},
     {"training": {"epochs": 2.5}}, {"random_state": -1}, {"random_state": "x"}],
    ids=str,
)  # fmt: skip
def test_wrong_parameters_are_named_at_fit(graphs, wrong):
    name, value = next(iter(wrong.items()))
    named = next(iter(value)) if isinstance(value, dict) and next(iter(value)) != "colour" else name
    with pytest.raises(ConfigError, match="sampler|roots|count" if named == "roots" else named):
        small(**wrong).fit(graphs)


def test_a_generator_is_a_random_state(graphs):
    first, second = (one(random_state=None).set_params(random_state=np.random.default_rng(3)).fit(graphs) for _ in range(2))
    assert first.seed_ == second.seed_
