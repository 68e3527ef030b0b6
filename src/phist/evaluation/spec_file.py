"""A study as a TOML file: read, and checked before anything is run."""

import json
import tomllib
from collections import Counter
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

from phist.baselines import registry
from phist.errors import ConfigError, PhistError, brief, check_choice, shown
from phist.evaluation.cell import PROTOCOLS, Protocol
from phist.evaluation.generated import Recipe
from phist.evaluation.spec import Dataset, Options, Run, Spec
from phist.evaluation.spec_tables import check_keys, file_name, hint, names, need
from phist.evaluation.splits import count_folds
from phist.graphs.catalog import dataset_facts, known_dataset
from phist.graphs.datasets import DATASETS, load_graphs
from phist.graphs.read import as_path
from phist.metrics import METRICS

_KEYS = ("name", "protocol", "metric", "folds", "seeds", "repeats", "no_duplicates", "runs", "methods", "generated", "left_out")


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
    A table ``[generated.NAME]`` names the ``family`` and ``arguments`` of a set that is generated. ``labelled`` in ``[[runs]]``
    keeps so many labelled graphs, a cell for each number, and ``tested`` so many test graphs. ``[[left_out]]`` gives the
    ``reason`` why ``methods`` are not run on ``datasets``, which reports show.
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
        raise ConfigError(f"{path}: {brief(error, 400)}") from error  # names and values may be of any length


def parse_spec(content: Mapping[str, Any], folder: Path) -> Spec:
    """The study that the content of a TOML file describes; paths start at ``folder``."""
    check_keys("the study", content, _KEYS)
    protocol: Protocol = need("the study", content, "protocol", str)
    check_choice("protocol", protocol, PROTOCOLS)
    choices = {label: _choice(label, table) for label, table in need("the study", content, "methods", dict, {}).items()}
    runs = _runs(content, choices, _generated(content), folder)
    _check_left_out(content, runs)
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
        no_duplicates=need("the study", content, "no_duplicates", bool, False),
        metric=_metric(content),
    )


def name_of_dataset(given: str) -> str:
    """The name that cells have: that of the catalogue however it is spelt, else as given."""
    facts = known_dataset(given)
    return given if facts is None else facts.name


def _runs(content: Mapping[str, Any], choices: Mapping[str, _Choice], generated: Mapping[str, Dataset], folder: Path) -> list[Run]:
    """Every method on every dataset of its block, the datasets outermost."""
    runs: list[Run] = []
    blocks = need("the study", content, "runs", list)
    if not blocks:
        raise ConfigError("the study has no [[runs]]; add one with methods and datasets")
    for number, block in enumerate(blocks, start=1):
        place = f"[[runs]] number {number}"
        check_keys(place, block, ("methods", "datasets", "options", "labelled", "tested"))
        labels = [file_name(place, label) for label in names(place, block, "methods")]
        datasets = [generated.get(given) or _dataset(place, given, folder) for given in names(place, block, "datasets")]
        common = need(place, block, "options", dict, {})
        sample = _sample(place, block)
        for dataset in datasets:
            for label in labels:
                choice = choices.get(label, _Choice(label))
                options = {**common, **choice.options, **choice.on.get(dataset.name, {})}
                runs.append(Run(label, choice.method, dataset, options, *sample))
    return runs


def _generated(content: Mapping[str, Any]) -> dict[str, Dataset]:
    """The sets that the study generates, by name."""
    found = {}
    for name, table in need("the study", content, "generated", dict, {}).items():
        place = f"[generated.{name}]"
        check_keys(place, table, ("family", "arguments"))
        if known_dataset(file_name(place, name)) is not None:
            raise ConfigError(f"{place} has the name of a dataset that is known; choose another")
        try:
            recipe = Recipe.make(need(place, table, "family", str), need(place, table, "arguments", dict))
        except ConfigError as error:
            raise ConfigError(f"{place}: {error}") from error
        found[name] = Dataset(name, recipe.fingerprint, recipe)
    return found


def _sample(place: str, block: Mapping[str, Any]) -> tuple[tuple[int | None, ...], int | None]:
    """How many graphs a block keeps: numbers of labelled ones, and one number of test graphs."""
    labelled = need(place, block, "labelled", list, [None])
    tested = need(place, block, "tested", int, 0) if "tested" in block else None
    fine = labelled and all(number is None or (type(number) is int and number > 0) for number in labelled)
    if not fine or len(set(labelled)) < len(labelled) or tested == 0 or (tested or 1) < 1:
        raise ConfigError(
            f"{place} has labelled = {shown(labelled)}, tested = {shown(tested)}; different whole numbers above zero are needed"
        )
    return tuple(labelled), tested


def _check_left_out(content: Mapping[str, Any], runs: Collection[Run]) -> None:
    """What is left out is not run, and says why."""
    asked = {(run.label, run.dataset.name) for run in runs}
    for number, block in enumerate(need("the study", content, "left_out", list, []), start=1):
        place = f"[[left_out]] number {number}"
        check_keys(place, block, ("methods", "datasets", "reason"))
        need(place, block, "reason", str)
        pairs = {
            (label, name_of_dataset(name)) for label in names(place, block, "methods") for name in names(place, block, "datasets")
        }
        if both := sorted(pairs & asked):
            raise ConfigError(f"{place} names {both[0][0]} on {both[0][1]}, which [[runs]] asks for; remove it from one of them")


def _dataset(place: str, given: str, folder: Path) -> Dataset:
    facts = known_dataset(given)
    if facts is not None:
        return Dataset(facts.name, facts.fingerprint, None)
    try:
        path = folder / as_path(given)
        if not path.exists():
            dataset_facts(given)  # which knows the nearest name
        return Dataset(file_name(place, path.name.partition(".")[0]), _fingerprint(path), path)
    except (PhistError, OSError) as error:  # a name that no file can have is an OSError
        raise ConfigError(f"{place}, dataset {shown(given)}: {brief(error, 300)}") from error


@cache
def _fingerprint(path: Path) -> str:
    return load_graphs(str(path)).fingerprint()


def _choice(label: str, table: Any) -> _Choice:
    place = f"[methods.{label}]"
    check_keys(place, table, ("method", "options", "on"))
    on = need(place, table, "on", dict, {})
    return _Choice(
        method=need(place, table, "method", str, label),
        options=need(place, table, "options", dict, {}),
        on={name_of_dataset(name): need(f"{place} on", on, name, dict) for name in on},
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
            raise ConfigError(f"the method {run.method!r} is not known.{hint(run.method, registry.methods())}")
        try:
            json.dumps(run.options, allow_nan=False)  # a record keeps them, and dates and infinities are not JSON
            registry.make_method(run.method, **run.options)
        except (TypeError, ValueError, RecursionError) as error:
            raise ConfigError(
                f"{run.label} on {run.dataset.name} does not take its options {shown(dict(run.options))}: {brief(error, 300)}"
            ) from error
    asked = Counter((run.label, run.dataset.name, number) for run in runs for number in run.labelled)
    for (label, name, _), count in asked.items():
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
    metric: str = need("the study", content, "metric", str, "accuracy")
    check_choice("metric", metric, METRICS)
    return metric


def _name(content: Mapping[str, Any]) -> str:
    return file_name("the study", need("the study", content, "name", str))


def _numbers(content: Mapping[str, Any], key: str, default: tuple[int, ...], below: int) -> tuple[int, ...]:
    numbers = need("the study", content, key, list, list(default))
    fine = numbers and all(type(number) is int and 0 <= number < below for number in numbers)
    if not fine or len(set(numbers)) < len(numbers):
        raise ConfigError(f"{key} = {numbers} was given; a list of different whole numbers from 0 to {below - 1} is needed")
    return tuple(numbers)


def _repeats(content: Mapping[str, Any], protocol: Protocol) -> int:
    repeats: int = need("the study", content, "repeats", int, 1)
    if repeats < 1 or (protocol == "repeated") != (repeats > 1):
        raise ConfigError(f"repeats = {repeats} with the protocol {protocol!r}; 'repeated' needs 2 or more, the others have none")
    return repeats
