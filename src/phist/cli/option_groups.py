"""Options that several commands share as one parameter: a dataclass, of which every field is an option."""

import inspect
from collections.abc import Callable, Iterator
from dataclasses import dataclass, fields, replace
from functools import wraps
from typing import Any


@dataclass(frozen=True)
class OptionGroup:
    """Base of the groups. A command takes one as ``parameter: Group = DEFAULTS``, where ``DEFAULTS`` holds its own defaults."""


def with_option_groups(verb: Callable[..., None]) -> Callable[..., None]:
    """The same command with an option for every field of its groups."""
    signature = inspect.signature(verb)
    groups = {name: own.default for name, own in signature.parameters.items() if isinstance(own.default, OptionGroup)}

    @wraps(verb)
    def command(*arguments: Any, **settings: Any) -> None:
        for name, defaults in groups.items():
            settings[name] = replace(defaults, **{field.name: settings.pop(field.name) for field in fields(defaults)})
        verb(*arguments, **settings)

    parameters = [single for own in signature.parameters.values() for single in _spelled_out(own)]
    command.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    command.__annotations__ = {single.name: single.annotation for single in parameters}
    return command


def _spelled_out(parameter: inspect.Parameter) -> Iterator[inspect.Parameter]:
    if not isinstance(parameter.default, OptionGroup):
        yield parameter
        return
    for field in fields(parameter.default):
        yield parameter.replace(name=field.name, default=getattr(parameter.default, field.name), annotation=field.type)
