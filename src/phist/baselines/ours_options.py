"""The options of our methods: any choice of network, training, forest and inference by its name."""

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any, get_args

from phist.checks import whole_number
from phist.engine.choice import Engine
from phist.errors import ConfigError, check_choice, shown
from phist.estimators.base import Head
from phist.estimators.forest import ForestConfig, make_forest_config
from phist.graphs.facts import known_dataset
from phist.nn.config import NetworkConfig
from phist.nn.sampling import RootSampler
from phist.training.config import MOST_REALIZATIONS, TrainingConfig
from phist.training.inference import Inference
from phist.training.presets import make_preset

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
        whole_number("ensemble", self.ensemble, least=1, most=1000)
        _check_network(self.estimator.get("network", {}), self.estimator.get("training", {}))
        make_forest_config(self.estimator.get("forest"))
        _check_plain(self.estimator)


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
    candidates = given.get("candidates", heads)
    if not isinstance(candidates, list | tuple):
        raise ConfigError(f"candidates={shown(candidates)} was given; a list of heads is needed")
    return OurOptions({**plain, **parts}, given.get("ensemble", 1), tuple(candidates))


def _check_network(network: Mapping[str, Any], training: Mapping[str, Any]) -> None:
    """As `fit` would, before anything is run: all presets have two layers, as the default has."""
    NetworkConfig(**network)
    waiting = {"selection": "validation-loss"} if "patience" in training else {}
    TrainingConfig(**{**waiting, **training})


def _check_plain(given: Mapping[str, Any]) -> None:
    if "preset" in given:
        make_preset(given["preset"])
    check_choice("engine", given.get("engine", "auto"), get_args(Engine))
    check_choice("inference", given.get("inference", "auto"), get_args(Inference))
    whole_number("realizations", given.get("realizations", 1), least=1, most=MOST_REALIZATIONS)
    if given.get("roots", "all") != "all":
        RootSampler(count=given["roots"])
    if given.get("class_weight") not in (None, "balanced") and not isinstance(given["class_weight"], Mapping):
        raise ConfigError(f'class_weight={shown(given["class_weight"])} was given; use "balanced" or a weight for each label')


def preset_of(dataset: str, prefix: str = "") -> str:
    """The preset that the appendix has for ``dataset``, else the automatic one."""
    facts = known_dataset(dataset)
    return "auto" if facts is None else prefix + facts.name


def _names(config: type[Any]) -> set[str]:
    return {item.name for item in fields(config)} - TAKEN
