"""Trees as plain arrays: the same answers as scikit-learn's, and nothing but trees is taken for trees."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.ensemble import ExtraTreesClassifier, RandomForestClassifier

from phist.errors import ModelFileError
from phist.estimators.trees import Trees


def grown(kind=ExtraTreesClassifier, seed=0, n_rows=40, n_classes=3, **settings):
    generator = np.random.default_rng(seed)
    features = generator.normal(size=(n_rows, 5)).astype(np.float32)
    labels = generator.integers(0, n_classes, n_rows)
    return kind(7, random_state=seed, **settings).fit(features, labels)


@pytest.fixture
def trees():
    return Trees.from_sklearn(grown(), 3)


@settings(max_examples=25, deadline=None)
@given(st.sampled_from([ExtraTreesClassifier, RandomForestClassifier]), st.integers(0, 1000), st.integers(1, 5))
def test_probabilities_equal_those_of_scikit_learn(kind, seed, leaf):
    forest = grown(kind, seed, min_samples_leaf=leaf)
    features = np.random.default_rng(seed + 1).normal(size=(30, 5))
    n_classes = int(forest.classes_.max()) + 1
    found = Trees.from_sklearn(forest, n_classes).predict_proba(features)
    np.testing.assert_allclose(found[:, forest.classes_], forest.predict_proba(features), atol=1e-12)


def test_a_class_that_no_tree_has_seen_gets_no_share():
    found = Trees.from_sklearn(grown(), 5).predict_proba(np.zeros((2, 5)))
    assert (found[:, 3:] == 0).all()


def test_a_tree_may_be_a_single_leaf():
    forest = ExtraTreesClassifier(2, max_depth=1, min_samples_split=100).fit(np.zeros((4, 1)), [0, 1, 1, 1])
    np.testing.assert_allclose(Trees.from_sklearn(forest, 2).predict_proba(np.zeros((3, 1))), [[0.25, 0.75]] * 3)


def test_arrays_and_back(trees):
    again = Trees.from_arrays(trees.to_arrays(), n_features=5, n_classes=3)
    rows = np.random.default_rng(0).normal(size=(9, 5))
    np.testing.assert_array_equal(again.predict_proba(rows), trees.predict_proba(rows))


def changed(trees, name, change):
    array = getattr(trees, name).copy()
    return replace(trees, **{name: change(array)}).to_arrays()


def setting(position, value):
    def change(array):
        array[position] = value
        return array

    return change


@pytest.mark.parametrize(
    ("name", "change"),
    [
        ("left", setting(0, 0)),  # a circle
        ("right", setting(0, 10**6)),  # out of the arrays
        ("right", setting(0, -7)),
        ("left", setting(0, 2**31 - 1)),
        ("feature", setting(0, 5)),
        ("feature", setting(0, -1)),
        ("threshold", setting(0, np.nan)),
        ("share", setting(0, -1.0)),
        ("share", setting(0, np.nan)),
        ("share", lambda array: array[:, :2]),
        ("share", lambda array: array[:-1]),
        ("left", lambda array: array[:-1]),
        ("left", lambda array: array[:, None]),
        ("first", setting(1, 0)),
        ("first", setting(-1, 10**12)),
        ("first", setting(0, -1)),
        ("first", lambda array: np.array([0, 2**62, -(2**63), -(2**62), 0, array[-1]])),  # differences wrap around to be positive
        ("first", lambda array: array[:1]),
        ("first", lambda array: array[:, None]),
        ("first", lambda array: array.astype(np.float64)),
        ("threshold", lambda array: array.astype(np.float32)),
    ],
)
def test_what_is_no_forest_is_refused(trees, name, change):
    with pytest.raises(ModelFileError, match="forest"):
        Trees.from_arrays(changed(trees, name, change), n_features=5, n_classes=3)


@pytest.mark.parametrize("name", ["first", "left", "right", "feature", "threshold", "share"])
def test_a_missing_array_is_named(trees, name):
    arrays = trees.to_arrays()
    del arrays[name]
    with pytest.raises(ModelFileError, match=name):
        Trees.from_arrays(arrays, n_features=5, n_classes=3)


def test_a_child_in_another_tree_is_refused(trees):
    with pytest.raises(ModelFileError, match="in its tree"):
        Trees.from_arrays(changed(trees, "right", setting(0, trees.first[1])), n_features=5, n_classes=3)
