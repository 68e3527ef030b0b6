"""The methods of the study by name: ours, and those that installed packages register by entry point."""

import warnings
from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from phist.baselines.method import Method
from phist.errors import ConfigError, brief, check_choice, shown

GROUP = "phist.methods"  # an entry point's name is the method's, its value the class
BUILT_IN = (
    "phist.baselines.floors",
    "phist.baselines.descriptors",
    "phist.baselines.kernels",
    "phist.baselines.gnns",
    "phist.baselines.phist_methods",
)


@cache
def methods() -> dict[str, type[Method]]:
    """Every known method by its name; a module lists its own in ``METHODS``."""
    known: dict[str, type[Method]] = {}
    for module in BUILT_IN:
        known |= {method.name: method for method in import_module(module).METHODS}
    for entry in entry_points(group=GROUP):
        try:
            if entry.name in known:
                raise ConfigError(f"{entry.name!r} is taken")
            known[entry.name] = _checked(entry.load())
        except Exception as error:  # code of others, and no reason to do without all the other methods
            warnings.warn(
                f"the method {entry.name!r} of an installed package ({entry.value}) cannot be used: {brief(error)}; update or "
                "remove that package",
                stacklevel=2,
            )
    return known


def make_method(name: str, **options: Any) -> Method:
    """A fresh instance of the method called ``name``."""
    check_choice("method", name, methods())
    return methods()[name](**options)


def _checked(method: Any) -> type[Method]:
    if not (isinstance(method, type) and issubclass(method, Method)):
        raise ConfigError(f"it is {shown(method)}; a subclass of phist.baselines.method.Method is needed")
    return method
