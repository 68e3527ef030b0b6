"""Values that users give: to constructors, to fits, and to the theory's functions."""

import functools
import inspect
from dataclasses import fields

import numpy as np

from fuzzing.invariants import Violation
from fuzzing.memory import ODD
from fuzzing.models import SETTINGS, fuzz_graphs

MOST = 300  # a larger number is asked about, not fitted with: that a fit of so many epochs takes long is no fault
NAMES = (
    "auto",
    "low",
    "one",
    "MUTAG",
    "paper:MUTAG",
    "network",
    "colours",
    "forest",
    "balanced",
    "uniform",
    "gaussian",
    "all",
    "last",
)


def fuzz_settings(random, folder):
    """A classifier or an embedder with a few odd parameters: refused, or fitted to finite answers."""
    from phist import StructuralClassifier, StructuralEmbedder

    kind = random.choice((StructuralClassifier, StructuralClassifier, StructuralEmbedder))
    given = dict(SETTINGS, network=dict(SETTINGS["network"]), training={"epochs": 1})
    if kind is StructuralClassifier:
        given |= random.choice(({"preset": "MUTAG", "heads": "linear"}, {"effort": "low", "members": "colours"}))
    for _ in range(random.choice((1, 1, 2))):
        _spoil(random, kind, given)
    fit = {"y": random.choice(ODD)} if random.random() < 0.1 else {}
    if kind is StructuralClassifier and random.random() < 0.15:
        fit["sample_weight"] = random.choice((random.choice(ODD), [random.choice(ODD)] * 12, [0.0] * 11 + [random.choice(ODD)]))

    def use():
        model = kind(**given)
        model.check_parameters()
        if _is_small(given) and not ("checkpoint" in given and given["checkpoint"] is not None):
            _check_answers(model.fit(fuzz_graphs(), **fit))

    return use


def fuzz_options(random, folder):
    """A method of the study with odd options."""
    from phist.baselines.registry import make_method, methods

    name = random.choice(sorted(methods()))
    options = _options_of(name)
    given = {}
    for _ in range(random.choice((1, 1, 2))):
        given[random.choice((*options, "colour"))] = _odd(random)
    return lambda: make_method(name, **given)


SETTING_FORMATS = {"settings": fuzz_settings, "options": fuzz_options}


def _spoil(random, kind, given):
    from phist.nn.config import NetworkConfig
    from phist.training.config import TrainingConfig

    tables = {"network": NetworkConfig, "training": TrainingConfig}
    place = random.choice(("", "network", "training"))
    if place and isinstance(given[place], dict):
        names = [item.name for item in fields(tables[place])]
        given[place][random.choice((*names, "roots", "colour"))] = _odd(random)
    else:
        given[random.choice(sorted(set(inspect.signature(kind).parameters) - {"progress"}))] = _odd(random)


def _odd(random):
    odd = random.choice((random.choice(ODD), random.choice(NAMES), random.choice(ODD)))
    return random.choice((odd, odd, odd, [odd], (odd, 2), {"linear": odd}, {"path": odd, "cycle": 1.0}, np.array([1, 2])))


def _is_small(value):
    if isinstance(value, dict | list | tuple):
        return all(map(_is_small, value.values() if isinstance(value, dict) else value))
    return not isinstance(value, int | float) or abs(value) <= MOST or value != value


def _check_answers(model):
    answers = [model.transform(fuzz_graphs())] if not hasattr(model, "predict_proba") else [model.predict_proba(fuzz_graphs())]
    if not all(np.isfinite(answer).all() for answer in answers):
        raise Violation("an answer that is not finite")


@functools.cache
def _options_of(name):
    from phist.baselines.gnns import GnnOptions
    from phist.baselines.options import NoOptions
    from phist.baselines.phist_options import NETWORK, PLAIN, TRAINING
    from phist.baselines.registry import methods

    method = methods()[name]
    if method.family == "phist":
        return (*PLAIN, *sorted(NETWORK), *sorted(TRAINING))
    return tuple(item.name for item in fields(GnnOptions if method.family == "gnn" else getattr(method, "options_kind", NoOptions)))
