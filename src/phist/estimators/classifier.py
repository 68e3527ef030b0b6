"""StructuralClassifier."""

from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
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
from phist.estimators.features import Features, n_node_level
from phist.estimators.forest import ForestConfig, ForestHead, fold_numbers, forest_features, grow_trees, make_forest_config
from phist.estimators.forest_file import FOREST, pack_forest, unpack_forest
from phist.estimators.kernel_head import KernelHead
from phist.estimators.trees import Trees
from phist.graphs.convert import as_graphset
from phist.progress import waiting
from phist.training.checkpoint import State
from phist.training.loop import Examples
from phist.training.model_folder import read_tensors

KERNEL = "kernel.safetensors"
SINGLE: tuple[Head, ...] = ("linear", "forest", "kernel")
WITH_FOREST, WITH_KERNEL = ("forest", "all"), ("kernel", "all")
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
        head: ``"linear"``, the paper's; ``"forest"``, extra trees on the trained network's embeddings of graphs and nodes;
            ``"kernel"``, kernel ridge regression on those of nodes; or ``"all"``, the mean of the probabilities of the three.
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
        for further in ("forest_", "kernel_"):  # of an earlier fit
            self.__dict__.pop(further, None)
        if self.head == "linear":
            return self
        examples = make_examples(graphs, labels, self.classes_, sample_weight, self.class_weight)
        features = Features(self, examples.graphs)
        if self.head in WITH_FOREST:
            self.forest_ = ForestHead(tuple(self._grow_parts(examples, features, forest)), forest)
        if self.head in WITH_KERNEL:
            seen = features.node_level()
            with waiting("fitting the kernel head", self.progress):
                self.kernel_ = KernelHead.fit(seen, examples.targets, examples.weights, len(self.classes_), self.seed_)
        return self

    def _grow_parts(
        self, examples: Examples, features: Features, config: ForestConfig
    ) -> Iterator[tuple[StructuralEstimator, Trees]]:
        for number, estimator in enumerate(self._embedders(examples, config.folds)):
            own = features if estimator is self else Features(estimator, examples.graphs)
            n_classes, seed = len(self.classes_), self.seed_ + number
            seen = forest_features(own, config)
            with waiting("growing the forest", self.progress):
                trees = grow_trees(seen, examples.targets, examples.weights, n_classes, config.trees, seed)
            yield estimator, trees

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
        return self.predict_proba_by((self.head,), X)[self.head]

    def predict_proba_by(self, heads: Iterable[Head], X: Any) -> dict[Head, NDArray[np.float64]]:
        """`predict_proba` by each of ``heads`` that the model was fitted with; the graphs are embedded once for all of them."""
        check_is_fitted(self, "network_")
        members = {head: SINGLE if head == "all" else (head,) for head in heads}
        for head in members:
            absent = [member for member in members[head] if member != "linear" and not hasattr(self, f"{member}_")]
            if absent:
                raise ConfigError(f'this model was fitted without a {absent[0]} head; fit it again with head="{head}"')
        features = Features(self, as_graphset(X))
        alone = {member: self._read_by(member, features) for member in dict.fromkeys(chain(*members.values()))}
        return {head: np.mean([alone[member] for member in members[head]], axis=0) for head in members}

    def _read_by(self, head: str, features: Features) -> NDArray[np.float64]:
        if head == "forest":
            return self.forest_.predict_proba(features)
        if head == "kernel":
            return self.kernel_.predict_proba(features.node_level())
        probabilities: NDArray[np.float64] = softmax(self._read(features.embeddings).astype(np.float64), axis=1)
        return probabilities

    def predict(self, X: Any) -> Array:
        """The most probable class of each graph."""
        most_probable = (self._logits(X) if self.head == "linear" else self.predict_proba(X)).argmax(1)
        classes: Array = self.classes_[most_probable]
        return classes

    def _logits(self, X: Any) -> NDArray[np.float32]:
        return self._read(self.transform(X))

    @torch.no_grad()
    def _read(self, embeddings: NDArray[np.float32]) -> NDArray[np.float32]:
        """The linear head's scores; of a mean of embeddings they are the mean of scores."""
        scores: NDArray[np.float32] = self.network_.head(torch.from_numpy(embeddings).to(self._device())).cpu().numpy()
        return scores

    def _further_files(self) -> Mapping[str, State]:
        files: dict[str, State] = {}
        if hasattr(self, "forest_"):
            files[FOREST] = pack_forest(self.forest_, self)
        if hasattr(self, "kernel_"):
            files[KERNEL] = {name: torch.from_numpy(array) for name, array in self.kernel_.to_arrays().items()}
        return files

    def _restore_further(self, folder: Path) -> None:
        if self.head in WITH_FOREST or (folder / FOREST).exists():
            self.forest_ = unpack_forest(read_tensors(folder, FOREST), self)
        if self.head in WITH_KERNEL or (folder / KERNEL).exists():
            arrays = {name: tensor.numpy() for name, tensor in read_tensors(folder, KERNEL).items()}
            self.kernel_ = KernelHead.from_arrays(arrays, n_node_level(self), len(self.classes_))

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy on graphs ``X`` with labels ``y``, by default the graphs' own."""
        graphs, labels = as_labelled(X, y)
        return float(np.average(self.predict(graphs) == labels, weights=sample_weight))


def _log_probabilities(probabilities: NDArray[np.float64]) -> NDArray[np.float32]:
    """Logits of a forest, whose probabilities may be zero."""
    return np.log(np.maximum(probabilities, _SMALLEST)).astype(np.float32)
