"""The scikit-learn face: StructuralClassifier and StructuralEmbedder."""

import hashlib
import json
import warnings
from collections.abc import Hashable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self

import numpy as np
import torch
from numpy.typing import NDArray
from scipy.special import softmax
from sklearn.base import BaseEstimator, ClassifierMixin, TransformerMixin
from sklearn.model_selection import StratifiedShuffleSplit
from sklearn.utils import check_random_state
from sklearn.utils.class_weight import compute_class_weight
from sklearn.utils.validation import check_is_fitted

from phist.card import write_card
from phist.errors import ConfigError, GraphInputError, ModelFileError, check_choice
from phist.graphs.checkup import Checkup
from phist.graphs.convert import as_graphset
from phist.graphs.graphset import GraphSet
from phist.graphs.labels import as_labels, distinct_labels
from phist.nn.network import StructuralNetwork, make_network
from phist.nn.sampling import RootSampler
from phist.training.config import Selection, TrainingConfig
from phist.training.history import History
from phist.training.inference import Inference, Measure, average_over_roots, embed_nodes, settle_statistics
from phist.training.loop import Examples, fit_network
from phist.training.model_folder import load_model, save_model
from phist.training.presets import Preset, make_preset

Array = NDArray[Any]
ClassWeight = Mapping[Hashable, float] | Literal["balanced"] | None
FEWEST_FOR_VALIDATION = 20  # below this a tenth of the graphs says nothing


class _StructuralEstimator(BaseEstimator):  # type: ignore[misc]
    """Parameters, fitting and files that the classifier and the embedder share."""

    _saved_as: str

    def __init__(
        self,
        preset: str = "auto",
        max_epochs: int | None = None,
        engine: str = "auto",
        time_budget: float | None = None,
        random_state: int | np.random.RandomState | None = None,
        *,
        orders: tuple[int, ...] | None = None,
        channels: tuple[int, ...] | None = None,
        bins: int | None = None,
        kernel: str | None = None,
        roots: int | Literal["all"] | None = None,
        batch_size: int | None = None,
        learning_rate: float | None = None,
        weight_decay: float | None = None,
        selection: Selection | None = None,
        patience: int | None = None,
        network: Mapping[str, Any] | None = None,
        validation_fraction: float | None = None,
        class_weight: ClassWeight = None,
        inference: Inference = "sampled",
        realizations: int = 10,
        checkpoint: str | Path | None = None,
        device: str | None = None,
        progress: bool | None = None,
    ) -> None:
        self.preset = preset
        self.max_epochs = max_epochs
        self.engine = engine
        self.time_budget = time_budget
        self.random_state = random_state
        self.orders = orders
        self.channels = channels
        self.bins = bins
        self.kernel = kernel
        self.roots = roots
        self.batch_size = batch_size
        self.learning_rate = learning_rate
        self.weight_decay = weight_decay
        self.selection = selection
        self.patience = patience
        self.network = network
        self.validation_fraction = validation_fraction
        self.class_weight = class_weight
        self.inference = inference
        self.realizations = realizations
        self.checkpoint = checkpoint
        self.device = device
        self.progress = progress

    # Settings ---------------------------------------------------------------------------------------------------------

    def _settle(self, graphs: GraphSet, seed: int) -> Preset:
        """The preset with what the constructor was given in place of its own choices."""
        check_choice("engine", self.engine, ("auto", "reference"))
        check_choice("inference", self.inference, ("sampled", "exact"))
        if self.realizations < 1:
            raise ConfigError(f"realizations={self.realizations} was given; at least 1 is needed")
        chosen = make_preset(self.preset, graphs)
        network = _given(orders=self.orders, channels=self.channels, bins=self.bins, kernel=self.kernel)
        if self.roots is not None:
            network["sampler"] = RootSampler("all") if self.roots == "all" else RootSampler(count=self.roots)
        training = _given(
            epochs=self.max_epochs,
            time_budget=self.time_budget,
            batch_size=self.batch_size,
            learning_rate=self.learning_rate,
            weight_decay=self.weight_decay,
            selection=self.selection or ("validation-loss" if self.patience else None),
            patience=self.patience,
        )
        try:
            shape = replace(chosen.network, **{**network, **(self.network or {})})
        except TypeError as error:
            raise ConfigError(f"network={self.network!r} does not fit NetworkConfig: {error}") from error
        return Preset(shape, replace(chosen.training, seed=seed, **training))

    def _device(self) -> torch.device:
        return torch.device(self.device or ("cuda" if torch.cuda.is_available() else "cpu"))

    # Fitting ----------------------------------------------------------------------------------------------------------

    def _fit_network(self, graphs: GraphSet, y: Array, sample_weight: Any, validation: tuple[Any, Any] | None) -> None:
        self.classes_ = as_labels(distinct_labels(y))
        if len(self.classes_) < 2:
            raise GraphInputError(
                f"all {len(y)} graphs are labelled {self.classes_.tolist()[0]!r}; two classes are needed to learn from"
            )
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        preset = self._settle(graphs, seed)
        examples = Examples(graphs.with_labels(None), self._codes(y), self._weights(y, sample_weight))
        training, held_out = self._split(examples, validation, preset.training)
        network = make_network(preset.network, len(self.classes_), seed).to(self._device())
        history = fit_network(
            network, training, held_out, preset.training,
            checkpoint=self.checkpoint, run=_run_name(preset, training, held_out), progress=self.progress,
        )  # fmt: skip
        if history.ending == "interrupted":
            warnings.warn(f"training was interrupted; the model is that of epoch {history.best + 1}", stacklevel=3)
        self._remember(network, preset.training, history, seed)
        self.data_ = describe_data(graphs.with_labels(y))

    def _remember(self, network: StructuralNetwork, training: TrainingConfig, history: History, seed: int) -> None:
        self.network_ = network
        self.network_config_ = network.config
        self.training_config_ = training
        self.history_ = history
        self.seed_ = seed

    def _codes(self, y: Array) -> NDArray[np.int64]:
        position = {label: number for number, label in enumerate(self.classes_.tolist())}
        unknown = [label for label in dict.fromkeys(y.tolist()) if label not in position]
        if unknown:
            raise GraphInputError(f"label {unknown[0]!r} does not occur among the training labels {list(position)}")
        return np.array([position[label] for label in y.tolist()], dtype=np.int64)

    def _weights(self, y: Array, sample_weight: Any) -> NDArray[np.float32]:
        weights = np.ones(len(y)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        if weights.shape != (len(y),) or not (np.isfinite(weights) & (weights >= 0)).all() or not weights.any():
            raise GraphInputError(f"sample_weight must be {len(y)} finite numbers >= 0, not all of them 0")
        if self.class_weight is not None:
            codes = self._codes(y)
            named = self.class_weight
            if not isinstance(named, str):
                named = {number: float(named.get(label, 1.0)) for number, label in enumerate(self.classes_.tolist())}
            weights = weights * compute_class_weight(named, classes=np.arange(len(self.classes_)), y=codes)[codes]
        return weights.astype(np.float32)

    def _split(
        self, examples: Examples, validation: tuple[Any, Any] | None, config: TrainingConfig
    ) -> tuple[Examples, Examples | None]:
        """Training and validation examples: as given, or a stratified part of the graphs, or none where there are too few."""
        if validation is not None:
            graphs, y = as_examples(*validation)
            return examples, Examples(graphs.with_labels(None), self._codes(y), self._weights(y, None))
        held_out = round(self._validation_share(config) * len(examples.graphs))
        rarest = np.bincount(examples.targets).min()
        if held_out < len(self.classes_) or len(examples.graphs) < FEWEST_FOR_VALIDATION or rarest < 2:
            return examples, None
        splitter = StratifiedShuffleSplit(1, test_size=held_out, random_state=config.seed)
        kept, held = next(splitter.split(np.zeros(len(examples.targets)), examples.targets))
        return _subset(examples, np.sort(kept)), _subset(examples, np.sort(held))

    def _validation_share(self, config: TrainingConfig) -> float:
        if self.validation_fraction is None:
            return 0.0 if config.selection == "last" else 0.1
        if not 0 <= self.validation_fraction < 1:
            raise ConfigError(f"validation_fraction={self.validation_fraction} was given; it must be at least 0 and less than 1")
        return self.validation_fraction

    # Use --------------------------------------------------------------------------------------------------------------

    def _average(self, X: Any, measure: Measure) -> NDArray[np.float32]:
        return average_over_roots(
            self.network_, as_graphset(X).with_labels(None), measure,
            realizations=self.realizations, seed=self.seed_, inference=self.inference,
        )  # fmt: skip

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Graph embeddings, averaged over root samples: (graphs, embedding)."""
        check_is_fitted(self, "network_")
        return self._average(X, self.network_.graph_embeddings)

    def node_embeddings(self, X: Any) -> list[NDArray[np.float32]]:
        """For every graph the embeddings of its nodes, each node as the root: a list of (nodes, embedding)."""
        check_is_fitted(self, "network_")
        return embed_nodes(self.network_, as_graphset(X).with_labels(None))

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns of `transform`."""
        check_is_fitted(self, "network_")
        return np.array([f"phist{number}" for number in range(self.network_.f_graph.out_channels)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.allow_nan = False
        tags.non_deterministic = self.random_state is None
        return tags

    # On disk ----------------------------------------------------------------------------------------------------------

    def save(self, path: str | Path, *, checkup: Checkup | None = None, metrics: Mapping[str, Any] | None = None) -> None:
        """Write the fitted model as a folder: weights, configuration, history, and a card to read.

        Args:
            checkup: floors and ceiling of the data for the card, from `check_graphs`.
            metrics: further figures for the card, such as accuracy on held-out graphs.
        """
        check_is_fitted(self, "network_")
        settings = {
            "estimator": self._saved_as,
            "parameters": _plain_parameters(self),
            "classes": _plain_classes(self.classes_),
            "seed": self.seed_,
            "training": self.training_config_.to_dict(),
            "data": self.data_,
            "metrics": dict(metrics or {}),
        }
        save_model(path, self.network_, settings, self.history_, write_card(settings, self.network_, self.history_, checkup))

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model saved by `save`; nothing in the folder is executed or unpickled."""
        saved = load_model(path)
        try:
            if saved.settings["estimator"] != cls._saved_as:
                raise ModelFileError(f"{path} holds a {saved.settings['estimator']}; load it as one, not with {cls.__name__}.load")
            estimator = cls(**saved.settings["parameters"])
            estimator.classes_ = as_labels(saved.settings["classes"])
            training = TrainingConfig(**saved.settings["training"])
            estimator._remember(saved.network.to(estimator._device()), training, saved.history, int(saved.settings["seed"]))
            estimator.data_ = saved.settings["data"]
        except (KeyError, TypeError, ConfigError) as error:
            raise ModelFileError(f"{path} does not describe a {cls.__name__} ({error}); save the model again") from error
        return estimator


class StructuralClassifier(ClassifierMixin, _StructuralEstimator):  # type: ignore[misc]
    """Classify graphs by their structure alone.

    Graphs come as a `GraphSet`, or as anything `as_graphset` takes: lists of networkx graphs, matrices, PyG data.

    Args:
        preset: ``"auto"``, a dataset's name for the appendix's sizes with our recipe (``"ENZYMES"``), or ``"paper:ENZYMES"``
            for the network and training as printed.
        max_epochs: passes over the training graphs, at most.
        engine: ``"auto"``, or ``"reference"`` for the plain PyTorch network.
        time_budget: seconds of training, at most.
        random_state: seed of everything random; the same seed gives the same model.
        orders, channels, bins, kernel: shape of the network, in place of the preset's; see `NetworkConfig`.
        roots: roots drawn per graph, or ``"all"`` for every node once.
        batch_size, learning_rate, weight_decay, selection, patience: training, in place of the preset's; see `TrainingConfig`.
            Patience alone selects by validation loss.
        network: any further fields of `NetworkConfig`.
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
        graphs, labels = as_examples(X, y)
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
        return self._average(X, self.network_)

    def score(self, X: Any, y: Any = None, sample_weight: Any = None) -> float:
        """Accuracy on graphs ``X`` with labels ``y``, by default the graphs' own."""
        graphs, labels = as_examples(X, y)
        return float(np.average(self.predict(graphs) == labels, weights=sample_weight))


class StructuralEmbedder(TransformerMixin, _StructuralEstimator):  # type: ignore[misc]
    """Embed graphs for whatever comes next in a pipeline; parameters as for `StructuralClassifier`.

    With labels the embeddings are those of a network trained to tell the classes apart. Without, those of a random network
    whose standardisation has seen the graphs: weaker, yet far from nothing.

    Example:
        >>> from phist.graphs.generate import make_trees
        >>> from sklearn.ensemble import ExtraTreesClassifier
        >>> from sklearn.pipeline import make_pipeline
        >>> trees = make_trees(20, n_nodes=10, seed=0)
        >>> model = make_pipeline(StructuralEmbedder(max_epochs=2, random_state=0), ExtraTreesClassifier(random_state=0))
        >>> model.fit(trees, trees.labels).predict(trees[:3]).shape
        (3,)
    """

    _saved_as = "embedder"

    def fit(self, X: Any, y: Any = None, sample_weight: Any = None, validation: tuple[Any, Any] | None = None) -> Self:
        """Learn an embedding of graphs ``X`` that tells the labels ``y`` apart, or a random one where there are none."""
        graphs = as_graphset(X)
        if y is None and graphs.labels is None:
            return self._fit_unlabelled(graphs)
        graphs, labels = as_examples(graphs, y)
        self._fit_network(graphs, labels, sample_weight, validation)
        return self

    def _fit_unlabelled(self, graphs: GraphSet) -> Self:
        self.classes_ = np.empty(0, dtype=np.int64)
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        preset = self._settle(graphs, seed)
        network = make_network(preset.network, 1, seed).to(self._device())
        settle_statistics(network, graphs, preset.training.batch_size, seed)
        self._remember(network, preset.training, History(), seed)
        self.data_ = describe_data(graphs)
        return self


def as_examples(X: Any, y: Any) -> tuple[GraphSet, Array]:
    """Graphs and one label for each: those given, else the graphs' own."""
    graphs = as_graphset(X)
    if y is None:
        if graphs.labels is None:
            raise GraphInputError("the graphs have no labels and none were given; pass y, one label for each graph")
        return graphs, graphs.labels
    y = np.asarray(y, dtype=object).tolist() if not isinstance(y, np.ndarray) else y
    if isinstance(y, np.ndarray) and y.ndim != 1:
        raise GraphInputError(f"labels of shape {y.shape} were given; a flat list is needed: try y.ravel()")
    labels = as_labels(y)
    if len(labels) != len(graphs):
        raise GraphInputError(f"{len(labels)} labels were given for {len(graphs)} graphs; give one for each graph")
    return graphs, labels


def describe_data(graphs: GraphSet) -> dict[str, Any]:
    """What a model's card says of the graphs it was trained on."""
    nodes = graphs.node_counts()
    labels = graphs.label_list()
    return {
        "graphs": len(graphs),
        "classes": {str(label): labels.count(label) for label in graphs.classes},
        "nodes": {"mean": round(float(nodes.mean()), 2), "max": int(nodes.max())},
        "edges": {"mean": round(graphs.n_edges / len(graphs), 2)},
        "directed": graphs.directed,
        "weighted": graphs.weights is not None,
        "fingerprint": graphs.fingerprint(),
    }


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


def _subset(examples: Examples, chosen: NDArray[np.int64]) -> Examples:
    return Examples(examples.graphs[chosen], examples.targets[chosen], examples.weights[chosen])


def _run_name(preset: Preset, training: Examples, held_out: Examples | None) -> str:
    """A hash of everything that decides what a run ends with."""
    settings = {"network": preset.network.to_dict(), "training": preset.training.to_dict()}
    digest = hashlib.sha256(json.dumps(settings, sort_keys=True).encode())
    for part in (training, held_out):
        if part is not None:
            digest.update(part.graphs.fingerprint().encode() + part.targets.tobytes() + part.weights.tobytes())
    return digest.hexdigest()


def _plain_classes(classes: Array) -> list[Any]:
    plain: list[Any] = classes.tolist()
    if any(not isinstance(label, str | int | float | bool) for label in plain):
        raise ConfigError(f"classes {plain} cannot be saved; train with labels that are strings or numbers")
    return plain


def _plain_parameters(estimator: _StructuralEstimator) -> dict[str, Any]:
    """Constructor parameters that JSON can hold and that still mean something on another machine."""
    parameters = estimator.get_params(deep=False)
    for local in ("checkpoint", "device", "progress"):
        parameters.pop(local)
    if not isinstance(parameters["random_state"], int):
        parameters["random_state"] = None
    try:
        plain: dict[str, Any] = json.loads(json.dumps(parameters))
    except TypeError as error:
        raise ConfigError(f"the parameters cannot be saved as JSON ({error}); use plain values and string labels") from error
    return plain
