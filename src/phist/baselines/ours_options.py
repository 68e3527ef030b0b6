"""The options of our methods: any choice of network, training, forest and inference by its name."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, get_args

from phist.errors import ConfigError, check_choice
from phist.estimators.base import Head
from phist.estimators.forest import ForestConfig
from phist.nn.config import NetworkConfig
from phist.training.config import TrainingConfig
from phist.training.presets import appendix_name

PLAIN = ("preset", "engine", "roots", "realizations", "inference", "class_weight")  # the estimator's own, passed on as they are
TAKEN = {"sampler", "seed"}  # said by ``roots`` and by the study


@dataclass(frozen=True)
class OurOptions:
    """What a specification chose, sorted by where it goes."""

    estimator: dict[str, Any] = field(default_factory=dict)
    ensemble: int = 1  # networks that differ by their seed, their probabilities averaged
    candidates: tuple[Head, ...] = ()  # the heads to choose from

    def __post_init__(self) -> None:
        if not self.candidates:
            raise ConfigError(f"candidates=[] was given; name one or more of {', '.join(get_args(Head))}")
        for head in self.candidates:
            check_choice("candidates", head, get_args(Head))
        if not isinstance(self.ensemble, int) or self.ensemble < 1:
            raise ConfigError(f"ensemble={self.ensemble!r} was given; a whole number of at least 1 is needed")


def sort_options(method: str, given: Mapping[str, Any], heads: tuple[Head, ...]) -> OurOptions:
    """``given`` as parameters of the estimator; a name that nothing goes by is a `ConfigError`.

    Args:
        heads: the method's own; where there are several, the option ``candidates`` may name others.
    """
    own = {"ensemble", "candidates"} if len(heads) > 1 else {"ensemble"}
    parts: dict[str, dict[str, Any]] = {"network": {}, "training": {}, "forest": {}}
    names = {
        "network": _names(NetworkConfig),
        "training": _names(TrainingConfig),
        "forest": _names(ForestConfig),
    }
    plain: dict[str, Any] = {}
    for name, value in given.items():
        home = next((part for part, known in names.items() if name in known), None)
        if home is not None:
            parts[home][name] = value
        elif name in PLAIN:
            plain[name] = value
        elif name not in own:
            known = sorted({*own, *PLAIN, *names["network"], *names["training"], *names["forest"]})
            raise ConfigError(f"{method} has no option {name!r}; choose from {', '.join(known)}")
    plain.setdefault("inference", "sampled")  # as in the paper
    return OurOptions({**plain, **parts}, given.get("ensemble", 1), tuple(given.get("candidates", heads)))


def preset_of(dataset: str, prefix: str = "") -> str:
    """The preset that the appendix has for ``dataset``, else the automatic one."""
    name = appendix_name(dataset)
    return "auto" if name is None else prefix + name


def _names(config: type[Any]) -> set[str]:
    return {item.name for item in fields(config)} - TAKEN
