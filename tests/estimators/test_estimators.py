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

from phist import StructuralClassifier, StructuralEmbedder, as_graphset
from phist.errors import ConfigError, GraphInputError
from phist.graphs.generate import make_planted_partitions, make_trees
from phist.testing import graph_estimator_checks


def test_binary_decision_function_is_the_lead_of_the_second_class(fitted, graphs):
    lead, probabilities = fitted.decision_function(graphs), fitted.predict_proba(graphs)
    assert np.allclose(1 / (1 + np.exp(-lead)), probabilities[:, 1], atol=1e-6)


def small(**changes):
    return StructuralClassifier(**{"max_epochs": 2, "channels": (4, 6), "bins": 4, "roots": 6, "random_state": 0, **changes})


@pytest.fixture(scope="module")
def graphs():
    return make_planted_partitions(40, n_nodes=16, seed=0)


@pytest.fixture(scope="module")
def fitted(graphs):
    return small(max_epochs=3).fit(graphs)


@pytest.mark.parametrize("check", list(graph_estimator_checks()), ids=lambda check: check.__name__)
@pytest.mark.parametrize("kind", [StructuralClassifier, StructuralEmbedder])
def test_conforms(kind, check):
    check(kind(max_epochs=2, channels=(4, 6), bins=4, roots=6, random_state=0))


def test_trees_of_two_kinds_are_learnt():
    trees = make_trees(80, n_nodes=24, seed=0)
    model = StructuralClassifier(max_epochs=30, random_state=0).fit(trees[:60])
    assert model.score(trees[60:]) >= 0.8


def test_cross_validation(graphs):
    assert len(cross_val_score(small(), graphs, graphs.labels, cv=2)) == 2


def test_grid_search_over_the_network_shape(graphs):
    search = GridSearchCV(small(), {"bins": [2, 4], "orders": [(2, 2), (3, 3)]}, cv=2).fit(graphs, graphs.labels)
    assert search.best_params_["bins"] in (2, 4)


def test_pipeline_with_a_forest(graphs):
    embedder = StructuralEmbedder(max_epochs=1, channels=(4, 6), bins=4, random_state=0)
    model = make_pipeline(embedder, ExtraTreesClassifier(10, random_state=0)).fit(graphs, graphs.labels)
    assert model.predict(graphs).shape == (40,)


def test_calibration(graphs):
    model = CalibratedClassifierCV(small(), cv=2).fit(list(graphs), graphs.labels)
    assert model.predict_proba(list(graphs[:3])).shape == (3, 2)


@pytest.mark.parametrize("engine", ["fused", "reference"])
@pytest.mark.parametrize("is_labelled", [True, False])
def test_embedder_knows_which_engine_computed_it(graphs, engine, is_labelled):
    embedder = StructuralEmbedder(channels=(4, 6), bins=4, random_state=0, max_epochs=1, engine=engine)
    assert embedder.fit(graphs if is_labelled else graphs.with_labels(None)).engine_ == engine


def test_embedder_without_labels_gives_standardised_random_features(graphs):
    embedder = StructuralEmbedder(channels=(4, 6), bins=4, random_state=0).fit(graphs.with_labels(None))
    embeddings = embedder.transform(graphs)
    assert embeddings.shape == (40, len(embedder.get_feature_names_out()))
    assert abs(embeddings.mean()) < 0.5


def test_node_embeddings_are_one_row_per_node(fitted, graphs):
    rows = fitted.node_embeddings(graphs[:3])
    assert [len(block) for block in rows] == graphs[:3].node_counts().tolist()
    assert rows[0].shape[1] == fitted.network_.f_node.out_channels


def test_own_labels_of_the_graphs_are_the_default(fitted, graphs):
    assert fitted.classes_.tolist() == ["planted", "rewired"]
    assert fitted.score(graphs) == fitted.score(graphs, graphs.labels)


def test_given_validation_graphs_select_the_epoch(graphs):
    model = small().fit(graphs[:30], validation=(graphs[30:], graphs.labels[30:]))
    assert model.history_.epochs[0].validation_loss is not None
    assert model.data_["graphs"] == 30


def test_selection_by_validation_sets_graphs_aside(graphs):
    assert small(selection="validation-loss").fit(graphs).history_.epochs[0].validation_loss is not None


def test_any_field_of_the_training_can_be_given(graphs):
    assert small(training={"schedule": "constant", "warmup": 0}).fit(graphs).training_config_.learning_rate_at(1) == 3e-3


def test_patience_sets_graphs_aside(graphs):
    assert small(patience=5).fit(graphs).history_.epochs[0].validation_loss is not None


def test_keeping_the_last_epoch_trains_on_every_graph(graphs):
    assert small().fit(graphs).history_.epochs[0].validation_loss is None


def test_small_sets_train_without_validation(graphs):
    assert small(selection="validation-loss").fit(graphs[:12]).history_.epochs[0].validation_loss is None


def test_balanced_class_weights_move_the_decision(graphs):
    few = graphs[np.r_[0:40:2, 1:7:2]]
    plain, balanced = (
        small(class_weight=weight, max_epochs=8).fit(few).predict_proba(few)[:, 1].mean() for weight in (None, "balanced")
    )
    assert balanced > plain


def test_class_weights_by_label_equal_sample_weights(graphs):
    by_class = small(class_weight={"planted": 3.0}).fit(graphs)
    by_sample = small().fit(graphs, sample_weight=np.where(graphs.labels == "planted", 3.0, 1.0))
    assert torch.equal(by_class.network_.head.weight, by_sample.network_.head.weight)


def test_weightless_graphs_do_not_matter(graphs):
    weights = np.r_[np.ones(30), np.zeros(10)]
    model = small(validation_fraction=0).fit(graphs, sample_weight=weights)
    flipped = graphs.labels.copy()
    flipped[30:] = np.where(flipped[30:] == "planted", "rewired", "planted")
    assert torch.equal(
        model.network_.head.weight, small(validation_fraction=0).fit(graphs, flipped, sample_weight=weights).network_.head.weight
    )


def test_all_nodes_as_roots_need_no_seed_to_predict(graphs):
    model = small(roots="all").fit(graphs)
    before = model.predict_proba(graphs)
    model.seed_ += 1
    assert np.array_equal(before, model.predict_proba(graphs))


def test_more_realizations_vary_less(fitted, graphs):
    def spread(realizations):
        model = clone(fitted)
        model.__dict__.update(fitted.__dict__ | {"realizations": realizations})
        logits = []
        for seed in range(6):
            model.seed_ = seed
            logits.append(model.decision_function(graphs))
        return np.std(logits, axis=0).mean()

    assert spread(16) < spread(1)


def test_directed_graphs_are_classified_by_the_random_walk():
    cycles = [nx.cycle_graph(6, create_using=nx.DiGraph) for _ in range(6)]
    stars = [nx.DiGraph([(0, leaf) for leaf in range(1, 6)]) for _ in range(6)]
    graphs = as_graphset(cycles + stars, ["cycle"] * 6 + ["star"] * 6, directed="keep")
    model = small(max_epochs=30, learning_rate=1e-2).fit(graphs)
    assert model.network_config_.operator == "random-walk"
    assert model.score(graphs) == 1.0


def test_checkpoint_is_continued(graphs, tmp_path):
    small(max_epochs=2, checkpoint=tmp_path / "run").fit(graphs)
    again = small(max_epochs=2, checkpoint=tmp_path / "run").fit(graphs)
    assert torch.equal(again.network_.head.weight, small(max_epochs=2).fit(graphs).network_.head.weight)


@pytest.mark.parametrize("method", ["predict", "predict_proba", "transform", "node_embeddings"])
def test_unfitted_model_says_so(graphs, method):
    with pytest.raises(NotFittedError):
        getattr(small(), method)(graphs)


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
        small().fit(graphs, validation=(graphs[:2], ["planted", "other"]))


@pytest.mark.parametrize("weights", [np.ones(3), np.full(40, -1.0), np.zeros(40), np.full(40, np.nan)])
def test_wrong_sample_weights_are_an_error(graphs, weights):
    with pytest.raises(GraphInputError, match="sample_weight"):
        small().fit(graphs, sample_weight=weights)


@pytest.mark.parametrize(
    "wrong",
    [{"engine": "warp"}, {"inference": "guess"}, {"preset": "ours"}, {"realizations": 0}, {"validation_fraction": 1.0},
     {"network": {"colour": 3}}, {"training": {"colour": 3}}, {"kernel": "box"}, {"bins": 0}, {"roots": 0}],
)  # fmt: skip
def test_wrong_parameters_are_named_at_fit(graphs, wrong):
    with pytest.raises(ConfigError, match=next(iter(wrong))):
        small(**wrong).fit(graphs)
