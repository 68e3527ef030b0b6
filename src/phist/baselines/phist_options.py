"""What a study may choose for our methods: parameters of the estimator, and fields of its configurations by their names."""

from collections.abc import Mapping
from dataclasses import fields
from typing import Any

from phist.errors import ConfigError
from phist.nn.config import NetworkConfig
from phist.training.config import TrainingConfig
from phist.training.presets import ONE, appendix_name

PLAIN = ("effort", "members", "heads", "preset", "engine", "inference", "class_weight", "time_budget")  # passed on as they are
NETWORK = {*(item.name for item in fields(NetworkConfig))} - {"sampler"} | {"roots"}
TRAINING = {*(item.name for item in fields(TrainingConfig))} - {"seed", "time_budget"}  # the seed is the study's


def estimator_parameters(method: str, given: Mapping[str, Any]) -> dict[str, Any]:
    """``given`` as parameters of `StructuralClassifier`; a name that nothing goes by, or a bad value, is a `ConfigError`."""
    parameters: dict[str, Any] = {}
    for name, value in given.items():
        if name in PLAIN:
            parameters[name] = tuple(value) if isinstance(value, list) else value
        elif name in NETWORK:
            parameters.setdefault("network", {})[name] = tuple(value) if isinstance(value, list) else value
        elif name in TRAINING:
            parameters.setdefault("training", {})[name] = value
        else:
            known = ", ".join(sorted({*PLAIN, *NETWORK, *TRAINING}))
            raise ConfigError(f"{method} has no option {name!r:.50}; choose from {known}")
    return parameters


def check_parameters(parameters: Mapping[str, Any]) -> None:
    """Raise a `ConfigError` for values that a fit would refuse, so that the study does not even begin."""
    from phist.estimators import StructuralClassifier

    StructuralClassifier(**parameters).check_parameters()


def preset_of(dataset: str, prefix: str = "") -> str:
    """The preset that the appendix has for ``dataset``, else one network with sizes by the graphs."""
    found = appendix_name(dataset)
    return ONE if found is None else prefix + found
