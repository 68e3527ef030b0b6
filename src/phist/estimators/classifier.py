"""StructuralClassifier."""

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Self, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import ClassifierMixin, clone
from sklearn.utils.validation import check_is_fitted

from phist.errors import ConfigError
from phist.estimators.base import Head, StructuralEstimator
from phist.estimators.examples import Array, as_labelled, make_examples
from phist.estimators.forest import ForestConfig, ForestHead, fold_numbers, forest_features, grow_trees, make_forest_config
from phist.estimators.forest_file import FOREST, pack_forest, unpack_forest
from phist.estimators.trees import Trees
from phist.graphs.convert import as_graphset
from phist.training.checkpoint import State
from phist.training.loop import Examples
from phist.training.model_folder import read_tensors

_SMALLEST = 1e-6  # probability; less than any forest in use can tell apart


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
        inference: ``"auto"`` averages the logits over ``realizations`` draws of roots and embeds each node once, whichever
            draws it is in; ``"sampled"`` begins every draw afresh, as the paper does; ``"exact"`` takes every node.
        checkpoint: a file in which training can be resumed after a kill.
        device: where to compute; a CUDA device if there is one, unless given.
        progress: whether to show a progress bar; on a terminal, unless given.
        head: ``"linear"``, the paper's; ``"forest"``, extra trees on the trained network's embeddings of graphs and nodes; or
            ``"both"``, the mean of their probabilities.
        forest: fields of `ForestConfig`, for the forest head.

    Example:
        >>> from phist.graphs.generate import make_planted_partitions
        >>> graphs = make_planted_partitions(40, seed=0)
        >>> classifier = StructuralClassifier(max_epochs=3, random_state=0).fit(graphs)
        >>> classifier.predict(graphs[:2]).shape
        (2,)
    """

    _saved_as = "classifier"
    _heads = get_args(Head)

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, validation: tuple[Any, Any] | None = None) -> Self:
        """Train on graphs ``X`` with labels ``y``, by default the graphs' own.

        Args:
            sample_weight: how much each graph counts.
            validation: graphs and labels to select the epoch by, in place of a part of ``X``.
        """
        graphs, labels = as_labelled(X, y)
        forest = make_forest_config(self.forest)  # what is wrong with it is said before anything is trained
        self._fit_network(graphs, labels, sample_weight, validation)
        self.__dict__.pop("forest_", None)  # of an earlier fit
        if self.head != "linear":
            examples = make_examples(graphs, labels, self.classes_, sample_weight, self.class_weight)
            self.forest_ = ForestHead(tuple(self._grow_parts(examples, forest)), forest)
        return self

    def _grow_parts(self, examples: Examples, config: ForestConfig) -> Iterator[tuple[StructuralEstimator, Trees]]:
        for number, estimator in enumerate(self._embedders(examples, config.folds)):
            features = forest_features(estimator, examples.graphs, config)
            n_classes, seed = len(self.classes_), self.seed_ + number
            yield estimator, grow_trees(features, examples.targets, examples.weights, n_classes, config.trees, seed)

    def _embedders(self, examples: Examples, folds: int) -> Iterator[StructuralEstimator]:
        """Estimators with the networks to grow forests on: this one, or one for each fold that was trained without it."""
        if folds == 1:
            yield self
            return
        numbers = fold_numbers(examples.targets, folds, self.seed_)
        for fold in range(folds):
            rest = numbers != fold
            other = clone(self).set_params(
                head="linear",
                random_state=(self.seed_ + 1 + fold) % 2**31,
                validation_fraction=0,
                class_weight=None,
                checkpoint=None,
            )
            yield other.fit(examples.graphs[rest], examples.targets[rest], sample_weight=examples.weights[rest])

    def decision_function(self, X: Any) -> NDArray[np.float32]:
        """Logits, averaged over root samples: (graphs, classes); of two classes the lead of the second: (graphs)."""
        logits = self._logits(X) if self.head == "linear" else _log_probabilities(self.predict_proba(X))
        return logits[:, 1] - logits[:, 0] if len(self.classes_) == 2 else logits

    def predict_proba(self, X: Any) -> NDArray[np.float64]:
        """Probability of each class, in the order of ``classes_``: (graphs, classes)."""
        if self.head == "linear":
            return _softmax(self._logits(X))
        forest, graphs = self._forest_head(), as_graphset(X)
        if self.head == "forest":
            return forest.predict_proba(graphs)
        embeddings = self.transform(graphs)
        shared = embeddings if forest.config.folds == 1 else None  # else each forest has a network of its own
        probabilities: NDArray[np.float64] = (_softmax(self._read(embeddings)) + forest.predict_proba(graphs, shared)) / 2
        return probabilities

    def predict(self, X: Any) -> Array:
        """The most probable class of each graph."""
        most_probable = (self._logits(X) if self.head == "linear" else self.predict_proba(X)).argmax(1)
        classes: Array = self.classes_[most_probable]
        return classes

    def _forest_head(self) -> ForestHead:
        check_is_fitted(self, "network_")
        if not hasattr(self, "forest_"):
            raise ConfigError(f'this model was fitted with head="linear" and has no forest; fit it again with head="{self.head}"')
        return self.forest_

    def _logits(self, X: Any) -> NDArray[np.float32]:
        return self._read(self.transform(X))

    @torch.no_grad()
    def _read(self, embeddings: NDArray[np.float32]) -> NDArray[np.float32]:
        """The linear head's scores; of a mean of embeddings they are the mean of scores."""
        scores: NDArray[np.float32] = self.network_.head(torch.from_numpy(embeddings).to(self._device())).cpu().numpy()
        return scores

    def _further_files(self) -> Mapping[str, State]:
        return {FOREST: pack_forest(self.forest_, self)} if hasattr(self, "forest_") else {}

    def _restore_further(self, folder: Path) -> None:
        if self.head != "linear" or (folder / FOREST).exists():
            self.forest_ = unpack_forest(read_tensors(folder, FOREST), self)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy on graphs ``X`` with labels ``y``, by default the graphs' own."""
        graphs, labels = as_labelled(X, y)
        return float(np.average(self.predict(graphs) == labels, weights=sample_weight))


def _softmax(logits: NDArray[np.float32]) -> NDArray[np.float64]:
    probabilities: NDArray[np.float64] = softmax(logits.astype(np.float64), axis=1)
    return probabilities


def _log_probabilities(probabilities: NDArray[np.float64]) -> NDArray[np.float32]:
    """Logits of a forest, whose probabilities may be zero."""
    return np.log(np.maximum(probabilities, _SMALLEST)).astype(np.float32)
