"""Tables of a study's file: values of the right kind, known keys, names that files can have; what is wrong is a `ConfigError`."""

import re
from collections.abc import Collection, Mapping
from difflib import get_close_matches
from typing import Any

from phist.errors import ConfigError

_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")  # studies, labels and datasets are names of files and folders
_MISSING = object()


def file_name(place: str, given: str) -> str:
    if not _FILE_NAME.fullmatch(given):
        raise ConfigError(f"{place} has the name {given!r}; it becomes a file: use letters, digits and ._+- only")
    return given


def names(place: str, block: Mapping[str, Any], key: str) -> list[str]:
    names: list[str] = need(place, block, key, list)
    if not names or not all(isinstance(name, str) for name in names):
        raise ConfigError(f"{place} has {key} = {names}; a list of names is needed")
    return names


def need(place: str, table: Mapping[str, Any], key: str, kind: type, default: Any = _MISSING) -> Any:
    """The value of ``key``, of the kind that it must have."""
    value = table.get(key, default)
    if value is _MISSING:
        raise ConfigError(f"{place} has no {key!r}; add it")
    if type(value) is not kind:
        raise ConfigError(f"{place} has {key} = {value!r}; a value of type {kind.__name__} is needed")
    return value


def check_keys(place: str, table: Any, known: Collection[str]) -> None:
    if not isinstance(table, Mapping):
        raise ConfigError(f"{place} is {table!r}; a table with {', '.join(known)} is needed")
    for key in table:
        if key not in known:
            raise ConfigError(f"{place} has {key!r}, which means nothing there.{hint(key, known)}")


def hint(given: str, known: Collection[str]) -> str:
    nearest = get_close_matches(given, known, n=1)
    return f" Did you mean {nearest[0]!r}?" if nearest else f" Known are {', '.join(known)}"
