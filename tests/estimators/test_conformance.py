"""Both estimators pass the conformance kit, and the kit finds estimators that should not pass."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.utils.validation import check_is_fitted
from small_models import quick_classifier, quick_embedder, quick_network

from phist.graphs.convert import as_graphset
from phist.testing import check_graph_estimator, graph_estimator_checks

KINDS = {
    "ensemble": lambda: quick_classifier(members=("network", "colours")),
    "network": lambda: quick_network(heads=("linear", "kernel")),
    "embedder": quick_embedder,
}


@pytest.mark.parametrize("check", list(graph_estimator_checks()), ids=lambda check: check.__name__)
@pytest.mark.parametrize("kind", KINDS.values(), ids=KINDS)
def test_conforms(kind, check):
    check(kind())


class Flawed(ClassifierMixin, BaseEstimator):
    """Answers by the position of a graph in the list, which is no way to classify."""

    def __init__(self, random_state=None):
        self.random_state = random_state

    def fit(self, X, y):
        self.classes_ = np.unique(y)
        return self

    def predict_proba(self, X):
        check_is_fitted(self)
        second = np.arange(len(as_graphset(X))) % 2
        return np.stack([1 - second, second], axis=1)


def test_the_kit_names_the_check_that_fails():
    with pytest.raises(AssertionError, match="check_order_of_graphs_does_not_matter: the order of graphs changed their results"):
        check_graph_estimator(Flawed())
