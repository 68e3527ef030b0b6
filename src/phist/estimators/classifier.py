"""StructuralClassifier."""

from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import ClassifierMixin
from sklearn.utils.validation import check_is_fitted

from phist.estimators.base import StructuralEstimator
from phist.estimators.examples import Array, as_labelled


class StructuralClassifier(ClassifierMixin, StructuralEstimator):  # type: ignore[misc]
    """Classify graphs by their structure alone.

    Graphs come as a `GraphSet`, or as anything `as_graphset` takes: lists of networkx graphs, matrices, PyG data.

    Args:
        preset: ``"auto"``, a dataset's name for the appendix's sizes with our recipe (``"ENZYMES"``), or ``"paper:ENZYMES"``
            for the network and training as printed.
        max_epochs: passes over the training graphs, at most.
        engine: ``"auto"`` computes by the fused engine wherever it can; ``"fused"`` insists on it, ``"reference"`` takes the
            plain PyTorch network.
        time_budget: seconds of training, at most.
        random_state: seed of everything random; the same seed gives the same model.
        orders, channels, bins, kernel: shape of the network, in place of the preset's; see `NetworkConfig`.
        roots: roots drawn per graph, or ``"all"`` for every node once.
        batch_size, learning_rate, weight_decay, selection, patience: training, in place of the preset's; see `TrainingConfig`.
            Patience alone selects by validation loss.
        network: any further fields of `NetworkConfig`.
        training: any further fields of `TrainingConfig`, such as the schedule; the seed is drawn from ``random_state``.
        validation_fraction: share of the training graphs set aside to select the epoch by; unless given, a tenth where the
            selection needs it and none where the last epoch is kept.
        class_weight: ``"balanced"``, or a weight for each label.
        inference: ``"sampled"`` averages the logits over ``realizations`` draws of roots; ``"exact"`` takes every node.
        checkpoint: a file in which training can be resumed after a kill.
        device: where to compute; a CUDA device if there is one, unless given.
        progress: whether to show a progress bar; on a terminal, unless given.

    Example:
        >>> from phist.graphs.generate import make_planted_partitions
        >>> graphs = make_planted_partitions(40, seed=0)
        >>> classifier = StructuralClassifier(max_epochs=3, random_state=0).fit(graphs)
        >>> classifier.predict(graphs[:2]).shape
        (2,)
    """

    _saved_as = "classifier"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, validation: tuple[Any, Any] | None = None) -> Self:
        """Train on graphs ``X`` with labels ``y``, by default the graphs' own.

        Args:
            sample_weight: how much each graph counts.
            validation: graphs and labels to select the epoch by, in place of a part of ``X``.
        """
        graphs, labels = as_labelled(X, y)
        self._fit_network(graphs, labels, sample_weight, validation)
        return self

    def decision_function(self, X: Any) -> NDArray[np.float32]:
        """Logits, averaged over root samples: (graphs, classes); of two classes the lead of the second: (graphs)."""
        logits = self._logits(X)
        return logits[:, 1] - logits[:, 0] if len(self.classes_) == 2 else logits

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class, in the order of ``classes_``: (graphs, classes)."""
        probabilities: NDArray[np.float64] = softmax(self._logits(X).astype(np.float64), axis=1)
        return probabilities

    def predict(self, X: Any) -> Array:
        """The most probable class of each graph."""
        most_probable = self._logits(X).argmax(1)
        classes: Array = self.classes_[most_probable]
        return classes

    def _logits(self, X: Any) -> NDArray[np.float32]:
        check_is_fitted(self, "network_")
        return self._average(X, "scores")

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy on graphs ``X`` with labels ``y``, by default the graphs' own."""
        graphs, labels = as_labelled(X, y)
        return float(np.average(self.predict(graphs) == labels, weights=sample_weight))
