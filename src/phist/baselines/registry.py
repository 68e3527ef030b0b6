"""The methods of the study by name: ours, and those that installed packages register by entry point."""

from functools import cache
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any

from phist.baselines.method import Method
from phist.errors import ConfigError, check_choice

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
        if entry.name in known:
            raise ConfigError(f"the entry point {entry.value} registers {entry.name!r}, which is taken; rename it")
        known[entry.name] = _checked(entry.name, entry.load())
    return known


def make_method(name: str, **options: Any) -> Method:
    """A fresh instance of the method called ``name``."""
    check_choice("method", name, methods())
    return methods()[name](**options)


def _checked(name: str, method: Any) -> type[Method]:
    if not (isinstance(method, type) and issubclass(method, Method)):
        raise ConfigError(f"the entry point {name!r} names {method!r}; a subclass of phist.baselines.method.Method is needed")
    return method
