"""What a model is asked about graphs in bulk, as columns of a table: embeddings, or predictions."""

import hashlib
import warnings
from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from phist.errors import ConfigError, ModelFileError
from phist.estimators.fitted import FittedClassifier, FittedModel, load_fitted
from phist.estimators.model_folder import ARRAYS, CONFIG
from phist.estimators.reading import InputNotice
from phist.extras import require
from phist.graphs.graphset import GraphSet
from phist.scale.rows import plain_array


class Answers(ABC):
    """A model and a question.

    By the engine, the answer about a graph is the same to the last bit whichever graphs it is asked together with; by the
    reference, up to rounding.

    Args:
        path: the model's folder.
    """

    verb: ClassVar[str]

    def __init__(self, path: str | Path) -> None:
        self.model: FittedModel = load_fitted(path)
        self.model.progress = False
        self.fingerprint = model_fingerprint(path)
        self._ignores_weights, self._far_larger, self._graphs = False, 0, 0

    def columns(self, graphs: GraphSet) -> dict[str, Any]:
        """Arrow arrays of what the model says of each graph."""
        found = self._quiet_columns(graphs)
        self._ignores_weights = self._ignores_weights or self.model.reading_.ignores_weights(graphs)
        self._far_larger += int(self.model.reading_.is_far_larger(graphs).sum())
        self._graphs += len(graphs)
        return found

    def notices(self) -> list[str]:
        """What a person should know of all graphs that were asked about."""
        return self.model.reading_.describe(self._ignores_weights, self._far_larger, self._graphs)

    def _quiet_columns(self, graphs: GraphSet) -> dict[str, Any]:
        if len(graphs) == 1:  # products of one row are rounded otherwise than those of several
            both = self._quiet_columns(graphs[[0, 0]])
            return {name: values.slice(0, 1) for name, values in both.items()}
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", InputNotice)  # `notices` says once what would be said for every batch
            return self._columns(graphs)

    def no_columns(self) -> dict[str, Any]:
        """The same arrays for no graph, for the sake of their types."""
        single = GraphSet(np.array([0, 1]), np.zeros(2, np.int64), np.empty(0, np.int32))
        return {name: values.slice(0, 0) for name, values in self._quiet_columns(single).items()}

    @abstractmethod
    def _columns(self, graphs: GraphSet) -> dict[str, Any]: ...

    @abstractmethod
    def facts(self) -> dict[str, Any]:
        """What results say of their model, ready for JSON."""


class Embeddings(Answers):
    """A vector of each graph: ``embedding``, a list of fixed size in single precision."""

    verb = "embed"

    def _columns(self, graphs: GraphSet) -> dict[str, Any]:
        return {"embedding": _fixed_lists(self.model.transform(graphs))}

    def facts(self) -> dict[str, Any]:
        return {"verb": self.verb, "model": self.fingerprint}


class Predictions(Answers):
    """The most probable class, ``predicted``, and the ``probabilities`` of all, in the order of ``classes`` in the metadata."""

    verb = "predict"
    model: FittedClassifier

    def __init__(self, path: str | Path) -> None:
        super().__init__(path)
        if not isinstance(self.model, FittedClassifier):
            raise ConfigError(f"{path} holds an embedder, which has no classes; give a classifier, or use 'phist embed'")
        self._classes = plain_array(self.model.classes_.tolist())

    def _columns(self, graphs: GraphSet) -> dict[str, Any]:
        probabilities = self.model.predict_proba(graphs)
        return {"predicted": self._classes.take(probabilities.argmax(1)), "probabilities": _fixed_lists(probabilities)}

    def facts(self) -> dict[str, Any]:
        return {"verb": self.verb, "model": self.fingerprint, "classes": self._classes.to_pylist()}


def model_fingerprint(path: str | Path) -> str:
    """A hash of all that a model's answers depend on: its settings and its arrays, not its card or its history."""
    if not Path(path).is_dir():
        raise ModelFileError(f"there is no model folder at {path}; make one with 'phist fit' or save()")
    digest = hashlib.sha256()
    for file in sorted(Path(path).iterdir()):
        if file.name == CONFIG or file.suffix == ARRAYS:
            digest.update(file.name.encode() + b"\0" + hashlib.sha256(file.read_bytes()).digest())
    return digest.hexdigest()


def _fixed_lists(matrix: np.ndarray[Any, Any]) -> Any:
    pa = require("pyarrow", "tables", "writing Parquet")
    return pa.FixedSizeListArray.from_arrays(pa.array(matrix.reshape(-1)), matrix.shape[1])
