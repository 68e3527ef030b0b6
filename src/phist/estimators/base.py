"""What the classifier and the embedder share: parameters, use and files."""

import json
from os import PathLike
from pathlib import Path
from typing import Any, Self, get_args

import numpy as np
from numpy.typing import NDArray
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from phist.checks import whole_number
from phist.engine.choice import Engine
from phist.errors import ConfigError, GraphInputError, ModelFileError, check_choice, shown
from phist.estimators.examples import Array
from phist.estimators.members.network import Network
from phist.estimators.model_folder import SavedModel, load_model
from phist.estimators.reading import Reading
from phist.estimators.settings import NetworkSettings, TrainingSettings
from phist.estimators.trained import TrainedNetwork
from phist.graphs.graphset import GraphSet
from phist.graphs.labels import as_labels, check_savable, distinct_labels
from phist.nn.network import StructuralNetwork
from phist.training.history import History
from phist.training.inference import Inference

LOCAL = ("checkpoint", "progress")  # parameters that mean something on one machine only; never saved, never read


class StructuralEstimator(BaseEstimator):  # type: ignore[misc]
    """Use and files; a subclass has the constructor, and fits networks."""

    _saved_as: str
    preset: str
    network: NetworkSettings
    training: TrainingSettings
    engine: str
    inference: Inference
    checkpoint: str | Path | None
    progress: bool | None
    random_state: Any

    def _check_parameters(self) -> None:
        check_choice("engine", self.engine, get_args(Engine))
        check_choice("inference", self.inference, get_args(Inference))
        if not isinstance(self.preset, str):
            raise ConfigError(f"preset={shown(self.preset)} was given; 'auto' or the name of a dataset is needed")
        if self.checkpoint is not None and not isinstance(self.checkpoint, str | PathLike):
            raise ConfigError(f"checkpoint={shown(self.checkpoint)} was given; the path of a file is needed, or None")

    def check_parameters(self) -> None:
        """Raise a `ConfigError` for a parameter that `fit` would refuse."""
        self._check_parameters()

    def _read_classes(self, y: Array) -> Array:
        classes = as_labels(distinct_labels(y))
        if len(classes) < 2:
            raise GraphInputError(f"all {len(y)} graphs are labelled {classes.tolist()[0]!r}; two classes are needed to learn from")
        return classes

    # Use --------------------------------------------------------------------------------------------------------------

    def _members(self) -> list[Network]:
        """The fitted networks, in bags of one kind."""
        raise NotImplementedError

    def _networks(self) -> list[TrainedNetwork]:
        return [trained for member in self._members() for trained in member.trained]

    @property
    def networks_(self) -> list[StructuralNetwork]:
        """The trained networks."""
        return [trained.network for trained in self._networks()]

    @property
    def network_(self) -> StructuralNetwork:
        """The first of them."""
        networks = self.networks_
        if not networks:
            raise ConfigError("this model was fitted without a network; fit it with members that include 'network'")
        return networks[0]

    @property
    def histories_(self) -> list[History]:
        """How the training of each network went; empty for a model that was loaded."""
        return [history for member in self._members() for history in member.histories]

    def _read(self, X: Any) -> GraphSet:
        check_is_fitted(self, "reading_")
        for member in self._members():
            member.use(self.engine, self.inference, self.progress)
        graphs: GraphSet = self.reading_.read(X)
        return graphs.with_labels(None)

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Graph embeddings, averaged over root samples, of every network side by side: (graphs, embedding)."""
        graphs = self._read(X)
        _ = self.network_  # or an error that says why there is none
        return np.concatenate([trained.embeddings(graphs) for trained in self._networks()], axis=1)

    def node_embeddings(self, X: Any) -> list[NDArray[np.float32]]:
        """For every graph the embeddings of its nodes, each node as the root, of every network side by side."""
        graphs = self._read(X)
        _ = self.network_
        tables = [trained.node_embeddings(graphs) for trained in self._networks()]
        return [np.concatenate(rows, axis=1) for rows in zip(*tables, strict=True)]

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns of `transform`."""
        check_is_fitted(self, "reading_")
        _ = self.network_
        columns = sum(int(trained.network.head.in_features) for trained in self._networks())
        return np.array([f"phist{number}" for number in range(columns)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.allow_nan = False
        tags.non_deterministic = self.random_state is None
        return tags

    # On disk ----------------------------------------------------------------------------------------------------------

    def _settings(self) -> dict[str, Any]:
        """What every kind of model says of itself."""
        check_savable(self.classes_.tolist())
        return {
            "estimator": self._saved_as,
            "parameters": _plain_parameters(self),
            "classes": self.classes_.tolist(),
            "seed": self.seed_,
            "reading": self.reading_.to_dict(),
            "data": self.data_,
        }

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model saved by `save`; nothing in the folder is executed or unpickled."""
        return cls.restore(load_model(path), path)

    @classmethod
    def restore(cls, saved: SavedModel, path: str | Path) -> Self:
        """The fitted estimator that a model folder, read from ``path``, holds."""
        settings = saved.settings
        try:
            if settings["estimator"] != cls._saved_as:
                raise ModelFileError(f"{path} holds a {settings['estimator']!s:.50}; load it as one, not with {cls.__name__}.load")
            parameters = {name: value for name, value in settings["parameters"].items() if name not in LOCAL}
            estimator = cls(**parameters)
            estimator._check_parameters()
            estimator.classes_ = as_labels(settings["classes"])
            estimator.seed_ = whole_number("seed", settings["seed"], least=0)
            estimator.reading_ = Reading.from_dict(settings["reading"])
            estimator.data_ = settings["data"]
            whole_number("graphs", estimator.data_["graphs"], least=1)
            estimator._restore(saved)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, ModelFileError):
                raise
            raise ModelFileError(f"{path} does not describe a {cls.__name__} ({error!r:.200}); save the model again") from error
        return estimator

    def _restore(self, saved: SavedModel) -> None:
        raise NotImplementedError


def _plain_parameters(estimator: StructuralEstimator) -> dict[str, Any]:
    """Constructor parameters that JSON can hold and that still mean something on another machine."""
    parameters = {name: value for name, value in estimator.get_params(deep=False).items() if name not in LOCAL}
    for name in ("network", "training"):
        if hasattr(parameters[name], "to_dict"):
            parameters[name] = parameters[name].to_dict()
    if not isinstance(parameters["random_state"], int):
        parameters["random_state"] = None
    try:
        plain: dict[str, Any] = json.loads(json.dumps(parameters))
    except TypeError as error:
        raise ConfigError(f"the parameters cannot be saved as JSON ({error}); use plain values and string labels") from error
    return plain
