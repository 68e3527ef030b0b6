"""What the classifier and the embedder share: parameters, fitting, use and files."""

import hashlib
import json
import warnings
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal, Self, get_args

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted

from phist.engine.choice import Engine, choose_engine
from phist.engine.computation import Computation, compute
from phist.errors import ConfigError, GraphInputError, ModelFileError, check_choice
from phist.estimators.card import write_card
from phist.estimators.examples import Array, ClassWeight, as_labelled, describe_data, make_examples, split_off
from phist.graphs.checkup import Checkup
from phist.graphs.convert import as_graphset
from phist.graphs.graphset import GraphSet
from phist.graphs.labels import as_labels, distinct_labels
from phist.nn.network import StructuralNetwork, make_network
from phist.nn.sampling import RootSampler
from phist.training.checkpoint import State
from phist.training.config import Selection, TrainingConfig
from phist.training.history import History
from phist.training.inference import Inference, average_over_roots, embed_nodes, node_moments
from phist.training.loop import Examples, fit_network
from phist.training.model_folder import SavedModel, load_model, save_model
from phist.training.presets import Preset, make_preset

Head = Literal["linear", "forest", "kernel", "all"]


class StructuralEstimator(BaseEstimator):  # type: ignore[misc]
    """Parameters, fitting, use and files; `StructuralClassifier` explains the parameters."""

    _saved_as: str
    _heads: tuple[Head, ...] = ("linear",)

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
        training: Mapping[str, Any] | None = None,
        validation_fraction: float | None = None,
        class_weight: ClassWeight = None,
        inference: Inference = "auto",
        realizations: int = 10,
        checkpoint: str | Path | None = None,
        device: str | None = None,
        progress: bool | None = None,
        head: Head = "linear",
        forest: Mapping[str, Any] | None = None,
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
        self.training = training
        self.validation_fraction = validation_fraction
        self.class_weight = class_weight
        self.inference = inference
        self.realizations = realizations
        self.checkpoint = checkpoint
        self.device = device
        self.progress = progress
        self.head = head
        self.forest = forest

    # Settings ---------------------------------------------------------------------------------------------------------

    def _settle(self, graphs: GraphSet, seed: int) -> Preset:
        """The preset with what the constructor was given in place of its own choices."""
        check_choice("engine", self.engine, get_args(Engine))
        check_choice("head", self.head, self._heads)
        check_choice("inference", self.inference, get_args(Inference))
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
        try:
            return Preset(shape, replace(chosen.training, **{**training, **(self.training or {}), "seed": seed}))
        except TypeError as error:
            raise ConfigError(f"training={self.training!r} does not fit TrainingConfig: {error}") from error

    def _device(self) -> torch.device:
        return torch.device(self.device or ("cuda" if torch.cuda.is_available() else "cpu"))

    def _draw_seed(self) -> int:
        return int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))

    def _validation_share(self, config: TrainingConfig) -> float:
        if self.validation_fraction is None:
            return 0.0 if config.selection == "last" else 0.1
        if not 0 <= self.validation_fraction < 1:
            raise ConfigError(f"validation_fraction={self.validation_fraction} was given; it must be at least 0 and less than 1")
        return self.validation_fraction

    # Fitting ----------------------------------------------------------------------------------------------------------

    def _fit_network(self, graphs: GraphSet, y: Array, sample_weight: Any, validation: tuple[Any, Any] | None) -> None:
        self.classes_ = as_labels(distinct_labels(y))
        if len(self.classes_) < 2:
            raise GraphInputError(
                f"all {len(y)} graphs are labelled {self.classes_.tolist()[0]!r}; two classes are needed to learn from"
            )
        seed = self._draw_seed()
        preset = self._settle(graphs, seed)
        training = make_examples(graphs, y, self.classes_, sample_weight, self.class_weight)
        if validation is None:
            training, held_out = split_off(training, self._validation_share(preset.training), seed)
        else:
            held_out = make_examples(*as_labelled(*validation), self.classes_, class_weight=self.class_weight)
        network = make_network(preset.network, len(self.classes_), seed).to(self._device())
        self.engine_ = choose_engine(self.engine, network, graphs)
        run = _run_name(preset, training, held_out)
        history = fit_network(
            network, training, held_out, preset.training,
            engine=self.engine_, checkpoint=self.checkpoint, run=run, progress=self.progress,
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

    # Use --------------------------------------------------------------------------------------------------------------

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Graph embeddings, averaged over root samples: (graphs, embedding)."""
        return average_over_roots(self._computation(X), "graph_embeddings", **self._inference())

    def node_embeddings(self, X: Any) -> list[NDArray[np.float32]]:
        """For every graph the embeddings of its nodes, each node as the root: a list of (nodes, embedding)."""
        return embed_nodes(self._computation(X), self.progress)

    def node_moments(self, X: Any) -> NDArray[np.float32]:
        """For every graph mean and deviation of its nodes' embeddings, each node as the root: (graphs, 2 · embedding).

        Of graphs with more nodes than ``realizations`` draws have roots only the drawn nodes are embedded, unless the inference
        is exact.
        """
        return node_moments(self._computation(X), **self._inference())

    def _computation(self, X: Any) -> Computation:
        check_is_fitted(self, "network_")
        return compute(self.network_, as_graphset(X).with_labels(None), self.engine)

    def _inference(self) -> dict[str, Any]:
        return {
            "realizations": self.realizations,
            "seed": self.seed_,
            "inference": self.inference,
            "progress": self.progress,
        }

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns of `transform`."""
        check_is_fitted(self, "network_")
        return np.array([f"phist{number}" for number in range(self.network_.out_channels)], dtype=object)

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
        card = write_card(settings, self.network_, self.history_, checkup)
        save_model(path, self.network_, settings, self.history_, card, self._further_files())

    def _further_files(self) -> Mapping[str, State]:
        """Tensors that a kind of estimator keeps beside its network, by the name of their file."""
        return {}

    def _restore_further(self, folder: Path) -> None:
        """Read what `_further_files` gave."""

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model saved by `save`; nothing in the folder is executed or unpickled."""
        return cls.restore(load_model(path), path)

    @classmethod
    def restore(cls, saved: SavedModel, path: str | Path) -> Self:
        """The fitted estimator that a model folder, read from ``path``, holds."""
        try:
            if saved.settings["estimator"] != cls._saved_as:
                raise ModelFileError(f"{path} holds a {saved.settings['estimator']}; load it as one, not with {cls.__name__}.load")
            estimator = cls(**saved.settings["parameters"])
            estimator.classes_ = as_labels(saved.settings["classes"])
            training = TrainingConfig(**saved.settings["training"])
            estimator._remember(saved.network.to(estimator._device()), training, saved.history, int(saved.settings["seed"]))
            estimator.data_ = saved.settings["data"]
            estimator._restore_further(Path(path))
        except (KeyError, TypeError, ConfigError) as error:
            raise ModelFileError(f"{path} does not describe a {cls.__name__} ({error}); save the model again") from error
        return estimator


def _given(**values: Any) -> dict[str, Any]:
    return {name: value for name, value in values.items() if value is not None}


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


def _plain_parameters(estimator: StructuralEstimator) -> dict[str, Any]:
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
