"""FittedModel: what models of every kind can be asked, and reading them from a folder."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar, Self, get_args

import numpy as np
from numpy.typing import NDArray

from phist.checks import finite_number, truth_value, whole_number
from phist.engine.choice import Engine
from phist.errors import ConfigError, ModelFileError, check_choice
from phist.estimators.members.network import Network
from phist.estimators.model_folder import SavedModel, load_model
from phist.estimators.reading import Reading
from phist.estimators.trained import TrainedNetwork
from phist.graphs.canonical import in_canonical_order
from phist.graphs.graphset import GraphSet
from phist.graphs.labels import as_labels
from phist.nn.network import StructuralNetwork
from phist.training.inference import Inference
from phist.training.windows import put_in_order

Array = NDArray[Any]


class FittedModel(ABC):
    """A model that has been fitted; the estimators add how.

    Args:
        engine: ``"auto"``, ``"fused"`` or ``"reference"``.
        inference: see `phist.training.inference.average_over_roots`.
        progress: whether to show progress bars; on a terminal, unless given.
    """

    _saved_as: ClassVar[str]
    _learnt: ClassVar[str]  # what it has once it is fitted
    classes_: Array
    seed_: int
    reading_: Reading
    data_: dict[str, Any]

    def __init__(self, engine: str = "auto", inference: Inference = "auto", progress: bool | None = None) -> None:
        self.engine = engine
        self.inference = inference
        self.progress = progress

    def _check_parameters(self) -> None:
        check_choice("engine", self.engine, get_args(Engine))
        check_choice("inference", self.inference, get_args(Inference))

    def _check_fitted(self) -> None:  # noqa: B027  # a hook, with nothing to do where a model was read
        """An estimator may not have been; what was read from a folder has."""

    # Use --------------------------------------------------------------------------------------------------------------

    @abstractmethod
    def _members(self) -> list[Network]:
        """The fitted networks, in bags of one kind."""

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

    def _read(self, X: Any) -> GraphSet:
        """Graphs as the model sees them, in an order that does not depend on how their nodes are numbered."""
        return put_in_order(self._read_as_given(X))

    def _read_as_given(self, X: Any) -> GraphSet:
        self._check_fitted()
        for member in self._members():
            member.use(self.engine, self.inference, self.progress)
        graphs: GraphSet = self.reading_.read(X)
        return graphs.with_labels(None)

    def transform(self, X: Any) -> NDArray[np.float32]:
        """Graph embeddings, averaged over root samples, of every network side by side: (graphs, embedding).

        Args:
            X: graphs: a `GraphSet`, or anything `as_graphset` takes.
        """
        graphs = self._read(X)
        _ = self.network_  # or an error that says why there is none
        return np.concatenate([trained.embeddings(graphs) for trained in self._networks()], axis=1)

    def node_embeddings(self, X: Any) -> list[NDArray[np.float32]]:
        """For every graph the embeddings of its nodes, each node as the root, of every network side by side.

        Args:
            X: graphs: a `GraphSet`, or anything `as_graphset` takes.
        """
        ordered = in_canonical_order(self._read_as_given(X))
        _ = self.network_
        tables = [trained.node_embeddings(ordered.graphs) for trained in self._networks()]
        return [np.concatenate(rows, axis=1)[ordered.places(graph)] for graph, rows in enumerate(zip(*tables, strict=True))]

    # On disk ----------------------------------------------------------------------------------------------------------

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read a model saved by `save`; nothing in the folder is executed or unpickled.

        Args:
            path: the folder that `save` wrote.
        """
        return cls.restore(load_model(path), path)

    @classmethod
    def restore(cls, saved: SavedModel, path: str | Path) -> Self:
        """The fitted model that a folder, read from ``path``, holds.

        Args:
            saved: the content of a model folder.
            path: where it was read, for messages.
        """
        saved.check_kind(path, (cls._saved_as,))
        settings = saved.settings
        try:
            model = cls._with_parameters(settings["parameters"])
            model._check_parameters()
            model.classes_ = as_labels(settings["classes"])
            model.seed_ = whole_number("seed", settings["seed"], least=0)
            model.reading_ = Reading.from_dict(settings["reading"])
            model.data_ = _checked_data(settings["data"])
            model._restore(saved)
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            if isinstance(error, ModelFileError):
                raise
            raise ModelFileError(f"{path} does not describe a {cls._saved_as} ({error!r:.200}); save the model again") from error
        return model

    @classmethod
    def _with_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        """Those that concern its use; the others told how to fit it."""
        return cls(parameters["engine"], parameters["inference"])

    @abstractmethod
    def _restore(self, saved: SavedModel) -> None:
        """Take over what only this kind of model has."""


def _checked_data(data: Any) -> dict[str, Any]:
    """What a saved model tells of its training graphs, as far as anything is computed of it."""
    whole_number("graphs", data["graphs"], least=1)
    finite_number("nodes", data["nodes"]["mean"], least=0, above=True)
    for name in ("directed", "weighted"):
        truth_value(name, data[name])
    return dict(data)
