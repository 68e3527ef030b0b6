"""From the constructor's parameters to the network and training that are meant."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from sklearn.utils import check_random_state

from phist.errors import ConfigError, check_choice, shown
from phist.nn.config import NetworkConfig
from phist.nn.sampling import RootSampler
from phist.training.config import TrainingConfig
from phist.training.presets import Preset

NetworkSettings = NetworkConfig | Mapping[str, Any] | None
TrainingSettings = TrainingConfig | Mapping[str, Any] | None


def resolve(preset: Preset, network: NetworkSettings, training: TrainingSettings) -> Preset:
    """``preset`` with the user's choices in place of its own: whole configurations, or fields of them by name."""
    return Preset(_resolve_network(preset.network, network), _resolve_training(preset.training, training))


def _resolve_network(chosen: NetworkConfig, given: NetworkSettings) -> NetworkConfig:
    if given is None or isinstance(given, NetworkConfig):
        return given or chosen
    fields = dict(_mapping("network", given))
    if "roots" in fields:
        roots = fields.pop("roots")
        fields["sampler"] = RootSampler("all") if isinstance(roots, str) and roots == "all" else RootSampler(count=roots)
    elif isinstance(fields.get("sampler"), Mapping):  # as a saved model has it
        fields["sampler"] = _sampler(fields["sampler"])
    network: NetworkConfig = _replaced("network", "NetworkConfig", chosen, fields)
    return network


def _resolve_training(chosen: TrainingConfig, given: TrainingSettings) -> TrainingConfig:
    if given is None or isinstance(given, TrainingConfig):
        return given or chosen
    fields = dict(_mapping("training", given))
    if fields.get("patience") is not None:
        fields.setdefault("selection", "validation-loss")
    training: TrainingConfig = _replaced("training", "TrainingConfig", chosen, fields)
    return training


def _sampler(fields: Mapping[str, Any]) -> RootSampler:
    sampler: RootSampler = _replaced("sampler", "RootSampler", RootSampler(), fields)
    return sampler


def choose_names(name: str, given: Any, word: str, meant: tuple[str, ...], known: tuple[str, ...]) -> tuple[str, ...]:
    """Names that a user chose from ``known``, each once; ``word`` stands for those that are ``meant``."""
    if isinstance(given, str) and given == word:
        return meant
    chosen = (given,) if isinstance(given, str) else tuple(given) if isinstance(given, tuple | list) else ()
    if not chosen:
        raise ConfigError(f"{name}={shown(given)} was given; {word!r}, or one or more of {', '.join(map(repr, known))} are needed")
    for own in chosen:
        check_choice(name, own, known)
    return tuple(dict.fromkeys(chosen))


def check_ensemble_training(training: TrainingConfig) -> None:
    """Graphs left out decide when training ends; settings that would be ignored are refused."""
    if training.selection != "last":
        raise ConfigError(
            f"training has selection={training.selection!r}, which only presets by name heed: leave it and patience out, "
            "or choose a preset"
        )
    if training.time_budget is not None:
        raise ConfigError(f"training has time_budget={training.time_budget}; give time_budget to the classifier itself instead")


def draw_seed(random_state: Any) -> int:
    """A seed for everything random in a fit."""
    if isinstance(random_state, np.random.Generator):
        return int(random_state.integers(np.iinfo(np.int32).max))
    try:
        return int(check_random_state(random_state).randint(np.iinfo(np.int32).max))
    except ValueError as error:
        raise ConfigError(
            f"random_state={random_state!r:.100} was given; a number from 0 to 2**32 - 1, a generator, or None is needed"
        ) from error


def _mapping(name: str, given: Any) -> Mapping[str, Any]:
    if not isinstance(given, Mapping):
        raise ConfigError(f"{name}={given!r:.100} was given; a configuration, or a mapping of its fields, is needed")
    return given


def _replaced(name: str, kind: str, chosen: Any, fields: Mapping[str, Any]) -> Any:
    try:
        return replace(chosen, **fields)
    except (TypeError, ValueError) as error:
        if isinstance(error, ConfigError):
            raise
        raise ConfigError(f"{name}={dict(fields)!r:.100} does not fit {kind}: {error!s:.150}") from error
