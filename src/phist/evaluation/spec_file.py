"""A study as a TOML file: read, and checked before anything is run."""

import json
import re
import tomllib
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from functools import cache
from pathlib import Path
from typing import Any

from phist.baselines import registry
from phist.errors import ConfigError, PhistError, brief, check_choice, shown
from phist.evaluation.cell import PROTOCOLS, Protocol
from phist.evaluation.spec import Dataset, Options, Run, Spec
from phist.evaluation.splits import count_folds
from phist.graphs.catalog import dataset_facts, known_dataset
from phist.graphs.datasets import DATASETS, load_graphs
from phist.metrics import METRICS

_KEYS = ("name", "protocol", "metric", "folds", "seeds", "repeats", "no_duplicates", "runs", "methods")
_FILE_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]*")  # studies, labels and datasets are names of files and folders
_MISSING = object()


@dataclass(frozen=True)
class _Choice:
    """What a label stands for: a method and its options, for all datasets and for single ones."""

    method: str
    options: Options = field(default_factory=dict)
    on: Mapping[str, Options] = field(default_factory=dict)  # by the dataset's name


def read_spec(path: str | Path) -> Spec:
    """Read a study from a TOML file; whatever is wrong with it is a `ConfigError` that names file and place.

    The file has ``name``, ``protocol``, and one or more ``[[runs]]`` with ``methods`` and ``datasets`` (names, or paths from
    the file's folder), and perhaps ``options`` for all of them. ``folds``, ``seeds``, ``repeats``, ``no_duplicates`` and
    ``metric`` may be given. A table ``[methods.LABEL]`` gives a method ``options``, options ``on.DATASET``, and with
    ``method`` the name of the method that the label stands for. Of options that contradict each other the more special one holds.
    """
    path = Path(path)
    if path.exists() and not path.is_file() and not path.is_dir():
        raise ConfigError(f"{path} is no regular file; give the TOML file that describes the study")
    try:
        content = tomllib.loads(path.read_text(encoding="utf-8"))
    except FileNotFoundError as error:
        raise ConfigError(f"there is no study {path}; give the TOML file that describes one") from error
    except IsADirectoryError as error:
        raise ConfigError(f"{path} is a folder; give the TOML file that describes the study, such as {path}.toml") from error
    except (OSError, ValueError, RecursionError) as error:
        raise ConfigError(f"{path} cannot be read as TOML: {brief(error)}") from error
    try:
        return parse_spec(content, path.parent)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error}") from error


def parse_spec(content: Mapping[str, Any], folder: Path) -> Spec:
    """The study that the content of a TOML file describes; paths start at ``folder``."""
    _check_keys("the study", content, _KEYS)
    protocol: Protocol = _need("the study", content, "protocol", str)
    check_choice("protocol", protocol, PROTOCOLS)
    choices = {label: _choice(label, table) for label, table in _need("the study", content, "methods", dict, {}).items()}
    runs = _runs(content, choices, folder)
    _check_choices(choices, runs)
    _check_runs(runs)
    if protocol == "official":
        _check_official(content, runs)
    n_folds = count_folds(protocol)
    return Spec(
        name=_name(content),
        protocol=protocol,
        runs=tuple(runs),
        folds=_numbers(content, "folds", tuple(range(n_folds)), n_folds),
        seeds=_numbers(content, "seeds", (0,), 2**32),
        repeats=_repeats(content, protocol),
        no_duplicates=_need("the study", content, "no_duplicates", bool, False),
        metric=_metric(content),
    )


def name_of_dataset(given: str) -> str:
    """The name that cells have: that of the catalogue however it is spelt, else as given."""
    facts = known_dataset(given)
    return given if facts is None else facts.name


def _runs(content: Mapping[str, Any], choices: Mapping[str, _Choice], folder: Path) -> list[Run]:
    """Every method on every dataset of its block, the datasets outermost."""
    runs: list[Run] = []
    blocks = _need("the study", content, "runs", list)
    if not blocks:
        raise ConfigError("the study has no [[runs]]; add one with methods and datasets")
    for number, block in enumerate(blocks, start=1):
        place = f"[[runs]] number {number}"
        _check_keys(place, block, ("methods", "datasets", "options"))
        labels = [_file_name(place, label) for label in _names(place, block, "methods")]
        datasets = [_dataset(place, given, folder) for given in _names(place, block, "datasets")]
        common = _need(place, block, "options", dict, {})
        for dataset in datasets:
            for label in labels:
                choice = choices.get(label, _Choice(label))
                options = {**common, **choice.options, **choice.on.get(dataset.name, {})}
                runs.append(Run(label, choice.method, dataset, options))
    return runs


def _dataset(place: str, given: str, folder: Path) -> Dataset:
    facts = known_dataset(given)
    if facts is not None:
        return Dataset(facts.name, facts.fingerprint, None)
    path = folder / Path(given).expanduser()
    try:
        if not path.exists():
            dataset_facts(given)  # which knows the nearest name
        return Dataset(_file_name(place, path.name.partition(".")[0]), _fingerprint(path), path)
    except PhistError as error:
        raise ConfigError(f"{place}, dataset {given!r}: {error}") from error


@cache
def _fingerprint(path: Path) -> str:
    return load_graphs(str(path)).fingerprint()


def _choice(label: str, table: Any) -> _Choice:
    place = f"[methods.{label}]"
    _check_keys(place, table, ("method", "options", "on"))
    on = _need(place, table, "on", dict, {})
    return _Choice(
        method=_need(place, table, "method", str, label),
        options=_need(place, table, "options", dict, {}),
        on={name_of_dataset(name): _need(f"{place} on", on, name, dict) for name in on},
    )


def _check_choices(choices: Mapping[str, _Choice], runs: Collection[Run]) -> None:
    """Every table of a method is used."""
    for label, choice in choices.items():
        datasets = {run.dataset.name for run in runs if run.label == label}
        if not datasets:
            raise ConfigError(f"[methods.{label}] belongs to no [[runs]]; add {label!r} to one or remove the table")
        for name in choice.on:
            if name not in datasets:
                raise ConfigError(f"[methods.{label}.on] names {name!r}, on which {label} is not run; add it or remove the table")


def _check_runs(runs: Collection[Run]) -> None:
    """Every method is known, takes its options, and is asked for once."""
    for run in runs:
        if run.method not in registry.methods():
            raise ConfigError(f"the method {run.method!r} is not known.{_hint(run.method, registry.methods())}")
        try:
            json.dumps(run.options, allow_nan=False)  # a record keeps them, and dates and infinities are not JSON
            registry.make_method(run.method, **run.options)
        except (TypeError, ValueError, RecursionError) as error:
            raise ConfigError(
                f"{run.label} on {run.dataset.name} does not take its options {shown(dict(run.options))}: {brief(error, 300)}"
            ) from error
    for (label, name), count in Counter((run.label, run.dataset.name) for run in runs).items():
        if count > 1:
            raise ConfigError(f"{label} on {name} is asked for twice; name it in one of the [[runs]] only")


def _check_official(content: Mapping[str, Any], runs: Collection[Run]) -> None:
    """Every dataset comes with a split, and nothing is asked of it that a split cannot have."""
    for run in runs:
        facts = None if run.dataset.source is not None else known_dataset(run.dataset.name)
        if facts is None or not facts.split_digest:
            known = ", ".join(other.name for other in DATASETS.values() if other.split_digest)
            raise ConfigError(f"{run.dataset.name} comes with no split; the protocol 'official' is for {known}: use 'paper'")
    if content.get("no_duplicates"):
        raise ConfigError("no_duplicates was given with the protocol 'official', whose splits are as they are; remove one of them")


def _metric(content: Mapping[str, Any]) -> str:
    metric: str = _need("the study", content, "metric", str, "accuracy")
    check_choice("metric", metric, METRICS)
    return metric


def _name(content: Mapping[str, Any]) -> str:
    return _file_name("the study", _need("the study", content, "name", str))


def _file_name(place: str, given: str) -> str:
    if not _FILE_NAME.fullmatch(given):
        raise ConfigError(f"{place} has the name {given!r}; it becomes a file: use letters, digits and ._+- only")
    return given


def _numbers(content: Mapping[str, Any], key: str, default: tuple[int, ...], below: int) -> tuple[int, ...]:
    numbers = _need("the study", content, key, list, list(default))
    fine = numbers and all(type(number) is int and 0 <= number < below for number in numbers)
    if not fine or len(set(numbers)) < len(numbers):
        raise ConfigError(f"{key} = {numbers} was given; a list of different whole numbers from 0 to {below - 1} is needed")
    return tuple(numbers)


def _repeats(content: Mapping[str, Any], protocol: Protocol) -> int:
    repeats: int = _need("the study", content, "repeats", int, 1)
    if repeats < 1 or (protocol == "repeated") != (repeats > 1):
        raise ConfigError(f"repeats = {repeats} with the protocol {protocol!r}; 'repeated' needs 2 or more, the others have none")
    return repeats


def _names(place: str, block: Mapping[str, Any], key: str) -> list[str]:
    names: list[str] = _need(place, block, key, list)
    if not names or not all(isinstance(name, str) for name in names):
        raise ConfigError(f"{place} has {key} = {names}; a list of names is needed")
    return names


def _need(place: str, table: Mapping[str, Any], key: str, kind: type, default: Any = _MISSING) -> Any:
    """The value of ``key``, of the kind that it must have."""
    value = table.get(key, default)
    if value is _MISSING:
        raise ConfigError(f"{place} has no {key!r}; add it")
    if type(value) is not kind:
        raise ConfigError(f"{place} has {key} = {value!r}; a value of type {kind.__name__} is needed")
    return value


def _check_keys(place: str, table: Any, known: Collection[str]) -> None:
    if not isinstance(table, Mapping):
        raise ConfigError(f"{place} is {table!r}; a table with {', '.join(known)} is needed")
    for key in table:
        if key not in known:
            raise ConfigError(f"{place} has {key!r}, which means nothing there.{_hint(key, known)}")


def _hint(given: str, known: Collection[str]) -> str:
    nearest = get_close_matches(given, known, n=1)
    return f" Did you mean {nearest[0]!r}?" if nearest else f" Known are {', '.join(known)}"
