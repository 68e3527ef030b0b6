"""What a line of a study must be before a record is made of it; a value of the wrong kind is a `ConfigError` that names it."""

from collections.abc import Callable, Collection, Mapping
from typing import Any

from phist.checks import finite_number, text_value, truth_value, whole_number
from phist.errors import ConfigError, check_choice, shown
from phist.evaluation.cell import PROTOCOLS

STATUSES = ("ok", "failed", "skipped")
UNIT, FINE_UNIT = 10**5, 10**8  # probabilities are written as whole numbers of such parts: five digits, or eight
Check = Callable[[str, Any], object]


def check_line(line: Any) -> None:
    """The fields of a record, and of what is in it."""
    _fields("the record", line, _RECORD, optional=_ADDED)
    _fields("cell", line["cell"], _CELL, optional=_SAMPLE)
    _fields("account", line["account"], _ACCOUNT, optional=_ACCOUNT.keys())
    if (line["status"] == "ok") != (line["outcome"] is not None):
        raise ConfigError(f"status={line['status']!r} was given {'with' if line['outcome'] else 'without'} an outcome")
    if line["outcome"] is not None:
        _check_outcome(line["outcome"])


def _fields(place: str, content: Any, checks: Mapping[str, Check], *, optional: Collection[str] = ()) -> None:
    _table(place, content)
    unknown, missing = content.keys() - checks.keys(), checks.keys() - content.keys() - set(optional)
    if unknown or missing:
        raise ConfigError(f"{place} has unknown fields {shown(sorted(unknown))} and lacks {shown(sorted(missing))}")
    for name, value in content.items():
        checks[name](name, value)


def _check_outcome(outcome: Any) -> None:
    lists = dict.fromkeys(("classes", "positions", "truth", "predicted"), _list)
    _fields("outcome", outcome, {**lists, "probabilities": _packed})
    classes, rows = outcome["classes"], len(outcome["positions"])
    _texts("classes", classes)
    if not classes or not rows:
        raise ConfigError("the outcome has no classes or no graphs")
    _whole_numbers("positions", outcome["positions"], rows, most=2**40)
    for name in ("truth", "predicted"):
        _whole_numbers(name, outcome[name], rows, most=len(classes) - 1)
    packed = outcome["probabilities"]
    columns, unit = (packed["columns"], packed["unit"]) if isinstance(packed, dict) else (packed, UNIT)
    if len(columns) != len(classes) - 1:
        raise ConfigError(f"there are probabilities of {len(columns)} classes; {len(classes) - 1} are needed")
    for column in columns:
        _whole_numbers("probabilities", column, rows, most=unit)


def _packed(name: str, value: Any) -> None:
    """Columns of whole numbers, alone where they are parts of `UNIT`, else beside the unit that they are parts of."""
    if not isinstance(value, dict):
        return _list(name, value)
    _fields(name, value, {"unit": lambda field, unit: check_choice(field, unit, (FINE_UNIT,)), "columns": _list})
    return None


def _whole_numbers(name: str, values: Any, count: int, most: int) -> None:
    _list(name, values)
    if len(values) != count or not all(type(value) is int and 0 <= value <= most for value in values):
        raise ConfigError(f"{name}={shown(values)} was given; {count} whole numbers from 0 to {most} are needed")


def _table(name: str, value: Any) -> None:
    if not isinstance(value, dict):
        raise ConfigError(f"{name}={shown(value)} was given; an object is needed")


def _list(name: str, value: Any) -> None:
    if not isinstance(value, list):
        raise ConfigError(f"{name}={shown(value)} was given; a list is needed")


def _texts(name: str, value: Any) -> None:
    for entry in value if isinstance(value, list) else [None]:
        text_value(name, entry)


def _tables(name: str, value: Any) -> None:
    for entry in value if isinstance(value, list) else [None]:
        _table(name, entry)


def _text_table(name: str, value: Any) -> None:
    _table(name, value)
    _texts(name, list(value.values()))


def _or_none(check: Check) -> Check:
    return lambda name, value: None if value is None else check(name, value)


def _count(name: str, value: Any) -> None:
    whole_number(name, value, least=0, most=2**63)


def _amount(name: str, value: Any) -> None:
    finite_number(name, value, least=0)


def _share(name: str, value: Any) -> None:
    finite_number(name, value, least=0, most=1)


def _status(name: str, value: Any) -> None:
    check_choice(name, value, STATUSES)


def _protocol(name: str, value: Any) -> None:
    check_choice(name, value, PROTOCOLS)


def _anything(name: str, value: Any) -> None:
    """Looked at elsewhere."""


_RECORD: dict[str, Check] = {
    "hash": text_value,
    "status": _status,
    "label": text_value,
    "cell": _table,
    "split": text_value,
    "reason": _or_none(text_value),
    "seconds": _amount,
    "processor_seconds": _or_none(_amount),
    "prediction_seconds": _or_none(_amount),
    "peak_memory": _amount,
    "threads": _count,
    "engine": _or_none(text_value),
    "finished": text_value,
    "versions": _text_table,
    "account": _table,
    "outcome": _anything,
}
_ADDED = ("processor_seconds", "prediction_seconds")  # fields that earlier records lack
_CELL: dict[str, Check] = {
    "method": text_value,
    "options": _table,
    "dataset": text_value,
    "fingerprint": text_value,
    "protocol": _protocol,
    "repeat": _count,
    "fold": _count,
    "seed": _count,
    "no_duplicates": truth_value,
    "schema": _count,
    "labelled": _count,
    "tested": _count,
}
_SAMPLE = ("labelled", "tested")  # fields that only cells with a sample have
_ACCOUNT: dict[str, Check] = {
    "chosen": _table,
    "tried": _tables,
    "history": _table,
    "training_accuracy": _or_none(_share),
    "validation_accuracy": _or_none(_share),
    "notes": _texts,
}
