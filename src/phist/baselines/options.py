"""A method's options, as a specification gives them, in a frozen dataclass that knows its own range."""

from dataclasses import dataclass, fields
from typing import Any, TypeVar

from phist.checks import finite_number, whole_number
from phist.errors import ConfigError

Options = TypeVar("Options")


def read_options(kind: type[Options], method: str, given: dict[str, Any]) -> Options:
    """``given`` as an instance of the dataclass ``kind``; a list, or one value where several may be named, becomes a tuple."""
    known = {field.name: field for field in fields(kind)}  # type: ignore[arg-type]  # every kind is a dataclass
    unknown = sorted(set(given) - set(known))
    if unknown:
        raise ConfigError(f"{method} has no option {unknown[0]!r}; choose from {', '.join(map(repr, known))}")
    return kind(**{name: _normalised(value, known[name].default) for name, value in given.items()})


@dataclass(frozen=True)
class NoOptions:
    """Of a method that leaves nothing to choose."""


def check_positive(**values: Any) -> None:
    """Raise a `ConfigError` unless every value, and every entry of a tuple, is a whole number of at least one."""
    for name, value in values.items():
        entries = value if isinstance(value, tuple) else (value,)
        if not entries:
            raise ConfigError(f"{name}=[] was given; whole numbers of at least 1 are needed")
        for entry in entries:
            whole_number(name, entry, least=1)


def check_above_zero(**values: Any) -> None:
    """Raise a `ConfigError` unless every value, and every entry of a tuple, is a finite number above zero."""
    for name, value in values.items():
        entries = value if isinstance(value, tuple) else (value,)
        if not entries:
            raise ConfigError(f"{name}=[] was given; numbers above 0 are needed")
        for entry in entries:
            finite_number(name, entry, least=0, above=True)


def _normalised(value: Any, default: Any) -> Any:
    if not isinstance(default, tuple):
        return value
    return tuple(value) if isinstance(value, list | tuple) else (value,)
