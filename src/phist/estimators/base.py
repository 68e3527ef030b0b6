"""What the classifier and the embedder share beside their use: parameters, and what of them is saved."""

import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from os import PathLike
from pathlib import Path
from typing import Any, Self

import numpy as np
from sklearn.base import BaseEstimator
from sklearn.utils.validation import check_is_fitted

from phist.errors import ConfigError, GraphInputError, shown
from phist.estimators.examples import Array
from phist.estimators.fitted.model import FittedModel
from phist.estimators.settings import NetworkSettings, TrainingSettings
from phist.graphs.labels import as_labels, as_python, check_savable, distinct_labels
from phist.training.history import History

LOCAL = ("checkpoint", "progress")  # parameters that mean something on one machine only; never saved, never read


class StructuralEstimator(FittedModel, BaseEstimator):  # type: ignore[misc]
    """A model with scikit-learn's manners; a subclass has the constructor, and fits networks."""

    preset: str
    network: NetworkSettings
    training: TrainingSettings
    checkpoint: str | Path | None
    random_state: Any

    def _check_fitted(self) -> None:
        check_is_fitted(self, self._learnt)

    def _check_parameters(self) -> None:
        super()._check_parameters()
        if not isinstance(self.preset, str):
            raise ConfigError(f"preset={shown(self.preset)} was given; 'auto' or the name of a dataset is needed")
        if self.checkpoint is not None and not isinstance(self.checkpoint, str | PathLike):
            raise ConfigError(f"checkpoint={shown(self.checkpoint)} was given; the path of a file is needed, or None")

    def check_parameters(self) -> None:
        """Raise a `ConfigError` for a parameter that `fit` would refuse."""
        self._check_parameters()

    @contextmanager
    def _all_or_nothing(self) -> Iterator[None]:
        """A fit that fails leaves the model as it was. One that Ctrl-C ends early first makes a model of what is ready."""
        before = dict(self.__dict__)
        try:
            yield
        except BaseException:
            self.__dict__.clear()
            self.__dict__.update(before)
            raise
        if any(member.bag.ending == "interrupted" for member in self._members()):
            raise KeyboardInterrupt("the fit was interrupted; what was ready is in the model, which can be used and saved")

    def _read_classes(self, y: Array) -> Array:
        classes = as_labels(distinct_labels(y))
        if len(classes) < 2:
            raise GraphInputError(f"all {len(y)} graphs are labelled {classes.tolist()[0]!r}; two classes are needed to learn from")
        return classes

    @property
    def histories_(self) -> list[History]:
        """How the training of each network went; empty for a model that was loaded."""
        return [history for member in self._members() for history in member.histories]

    def get_feature_names_out(self, input_features: Any = None) -> Array:
        """Names of the columns of `transform`.

        Args:
            input_features: ignored; scikit-learn passes it.
        """
        self._check_fitted()
        _ = self.network_
        columns = sum(int(trained.network.head.in_features) for trained in self._networks())
        return np.array([f"phist{number}" for number in range(columns)], dtype=object)

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False
        tags.input_tags.allow_nan = False
        tags.non_deterministic = self.random_state is None
        return tags

    # In a notebook ----------------------------------------------------------------------------------------------------

    def _repr_html_inner(self) -> str:
        """scikit-learn's diagram, and below it the report of a fitted model."""
        return f"{super()._repr_html_inner()}{self._report_html()}"

    def _repr_mimebundle_(self, **options: Any) -> dict[str, str]:
        bundle: dict[str, str] = super()._repr_mimebundle_(**options)
        return {kind: text + self._report_html() if kind == "text/html" else text for kind, text in bundle.items()}

    def _report_html(self) -> str:
        report = getattr(self, "report_", None)
        return "" if report is None else report._repr_html_()

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
    def _with_parameters(cls, parameters: Mapping[str, Any]) -> Self:
        kept = {name: value for name, value in parameters.items() if name not in LOCAL}
        if isinstance(kept.get("class_weight"), list):
            kept["class_weight"] = dict(kept["class_weight"])
        return cls(**kept)


def _plain_parameters(estimator: StructuralEstimator) -> dict[str, Any]:
    """Constructor parameters that JSON can hold and that still mean something on another machine."""
    parameters = {name: value for name, value in estimator.get_params(deep=False).items() if name not in LOCAL}
    for name in ("network", "training"):
        if hasattr(parameters[name], "to_dict"):
            parameters[name] = parameters[name].to_dict()
    if not isinstance(parameters["random_state"], int | np.integer):
        parameters["random_state"] = None
    if isinstance(parameters["class_weight"], Mapping):  # as pairs: keys of JSON are text, labels need not be
        parameters["class_weight"] = [(as_python(label), weight) for label, weight in parameters["class_weight"].items()]
    try:
        plain: dict[str, Any] = json.loads(json.dumps(parameters, default=_plain_number))
    except TypeError as error:
        raise ConfigError(f"the parameters cannot be saved as JSON ({error}); use plain values and string labels") from error
    return plain


def _plain_number(value: Any) -> Any:
    """A NumPy scalar as JSON has it; what is none cannot be saved."""
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{shown(value)} is of type {type(value).__name__}")
