"""Weights of graphs: what training takes, and what it refuses."""

import numpy as np
import pytest

from phist import StructuralClassifier
from phist.errors import ConfigError, GraphInputError
from phist.estimators.examples import as_labelled, make_examples, split_off
from phist.graphs.generate import make_planted_partitions
from phist.graphs.labels import as_labels, distinct_labels

GRAPHS = make_planted_partitions(24, n_nodes=12, seed=0)
LABELS = GRAPHS.labels
CLASSES = as_labels(distinct_labels(LABELS))
PLANTED = LABELS == "planted"


def weights_of(**given):
    return make_examples(GRAPHS, LABELS, CLASSES, **given).weights


def small(**given):
    network, training = {"channels": (4, 6), "bins": 4, "roots": 6}, {"epochs": 2, "batch_size": 1}
    return StructuralClassifier("low", network=network, training=training, random_state=0, progress=False, **given)


def test_continuous_values_are_no_labels():
    with pytest.raises(GraphInputError, match="Unknown label type: continuous"):
        as_labelled(GRAPHS, np.linspace(0, 1, 24))


def test_whole_numbers_written_as_fractions_are_labels():
    assert as_labelled(GRAPHS, np.arange(24) % 2.0)[1].tolist() == [0.0, 1.0] * 12


@pytest.mark.parametrize(
    ("shape", "advice"), [((24, 1), r"try y\.ravel\(\)"), ((24, 3), r"try y\.argmax"), ((2, 3, 4), "1d array")]
)
def test_labels_of_another_shape_are_refused_with_what_to_do(shape, advice):
    with pytest.raises(GraphInputError, match=advice):
        as_labelled(GRAPHS, np.zeros(shape))


def test_graphs_without_weights_all_count_one():
    assert (weights_of() == 1).all()


@pytest.mark.parametrize("factor", [1e-300, 1e300, 5e-324])
def test_extreme_sample_weights_are_scaled(factor):
    weights = weights_of(sample_weight=np.where(PLANTED, 2 * factor, factor))
    assert (weights[PLANTED] == 2 * weights[~PLANTED]).all() and 1 <= weights.max() < 2


def test_product_of_extreme_weights_stays_finite():
    weights = weights_of(sample_weight=np.full(24, 1.9), class_weight={"planted": 1.7e308, "rewired": 1.7e307})
    assert weights[PLANTED][0] / weights[~PLANTED][0] == pytest.approx(10) and 1 <= weights.max() < 4


def test_class_of_weight_zero_does_not_spoil_the_model():
    for seed in range(3):
        model = small(class_weight={"planted": 0.0}).set_params(random_state=seed).fit(GRAPHS)
        assert np.isfinite(model.predict_proba(GRAPHS)).all()


@pytest.mark.parametrize("weight", [-1.0, np.nan, np.inf, "heavy", None])
def test_class_weights_that_are_no_weights_are_refused(weight):
    with pytest.raises(ConfigError, match="class_weight"):
        weights_of(class_weight={"planted": weight})


@pytest.mark.parametrize("given", ["balancd", 3, ["planted"], np.array(["balanced", "x"])], ids=str)
def test_class_weight_of_another_kind_is_refused(given):
    with pytest.raises(ConfigError, match="balanced"):
        weights_of(class_weight=given)


def test_class_weight_for_an_unknown_label_is_refused():
    with pytest.raises(ConfigError, match=r"'planned', which is no label; labels are \['planted', 'rewired'\]"):
        weights_of(class_weight={"planned": 2.0})


@pytest.mark.parametrize("given", [["a"] * 24, np.ones((24, 2)), [10**400] * 24, -np.ones(24), np.full(24, np.nan), np.zeros(24)])
def test_sample_weights_that_are_no_weights_are_refused(given):
    with pytest.raises(GraphInputError, match="sample_weight must be 24 finite numbers"):
        weights_of(sample_weight=given)


def test_weights_that_cancel_each_other_are_refused():
    with pytest.raises(GraphInputError, match="every graph with weight 0"):
        weights_of(sample_weight=PLANTED.astype(float), class_weight={"planted": 0})


def test_balanced_weights_allow_for_absent_classes():
    only = np.flatnonzero(PLANTED)
    examples = make_examples(GRAPHS[only], LABELS[only], CLASSES, class_weight="balanced")
    assert np.isfinite(examples.weights).all() and examples.weights.all()


def test_validation_graphs_that_do_not_count_are_an_error():
    weights = np.zeros(24)
    weights[:1] = 1
    for seed in range(4):
        with pytest.raises(GraphInputError, match=r"chosen for (training|validation) have weight 0"):
            split_off(make_examples(GRAPHS, LABELS, CLASSES, weights), 0.25, seed)
