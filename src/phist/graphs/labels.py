"""Labels and ids: any hashable values, held in one flat array."""

import json
from collections.abc import Hashable, Iterable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phist.errors import ConfigError, GraphInputError, brief, shown

Array = NDArray[Any]
_MOST_BITS = 3300  # of a number that is a label: Python refuses to write those of more than 4,300 digits


def as_labels(values: Iterable[Hashable], what: str = "label") -> Array:
    """One flat array of labels or ids: numbers or strings where all are, else Python objects.

    >>> as_labels([1, 2]).dtype, as_labels(["a", "b"]).dtype, as_labels([1, "b"]).dtype
    (dtype('int64'), dtype('<U1'), dtype('O'))

    Args:
        values: one hashable value for each graph, none of them missing.
        what: what messages call one of the values.
    """
    if isinstance(values, np.ndarray) and values.ndim == 1 and values.dtype.kind in "biuU":
        return values
    items = _items(values, what)
    kinds = {type(item) for item in items}
    if kinds == {int} and all(-(2**63) <= item < 2**63 for item in items):
        return np.array(items, dtype=np.int64)
    if kinds == {str} and any(item.endswith("\0") for item in items):
        return _object_array(items)  # numpy strings forget the zeros at their end
    if len(kinds) == 1 and kinds <= {bool, float, str}:
        return np.array(items)
    return _object_array(items)


def distinct_labels(labels: Array) -> list[Hashable]:
    """The distinct labels: sorted where they can be compared, else in order of first appearance."""
    distinct: list[Any] = list(dict.fromkeys(labels.tolist()))
    try:
        return sorted(distinct)
    except TypeError:
        return distinct


def labels_by_id(ids: Array, labels: Mapping[Any, Hashable]) -> Array:
    """The labels of graphs in their order, looked up by id; an id may be written as a number or as text.

    >>> labels_by_id(np.array([7, 8]), {"8": "tree", 7: "ring"}).tolist()
    ['ring', 'tree']
    """
    texts = {str(as_python(key)): value for key, value in labels.items()}
    wanted = [str(identity) for identity in ids.tolist()]
    for identity in wanted:
        if identity not in texts:
            raise GraphInputError(
                f"graph {brief(identity, 60)} has no label among the {len(texts)} given; label it or remove the graph"
            )
    return as_labels([texts[identity] for identity in wanted])


def as_python(value: Any) -> Any:
    """A numpy scalar as the plain Python value it holds; anything else as it is."""
    return value.item() if isinstance(value, np.generic) else value


def plain_ids(ids: Iterable[Any]) -> list[str | int]:
    """Ids as files hold them: names and whole numbers as they are, anything else as it is written.

    >>> plain_ids([7, "ring", 0.5, (1, 2)])
    [7, 'ring', '0.5', '(1, 2)']
    """
    return [one if isinstance(one, str | int) else str(one) for one in map(as_python, ids)]


def check_savable(labels: Iterable[Any]) -> None:
    """Raise a `ConfigError` unless JSON gives every label back as it is, which dates and halves of characters are not."""
    for label in labels:
        if not _survives_json(label):
            raise ConfigError(
                f"the label {repr(label)[:80]} ({type(label).__name__}) cannot be saved with a model; "
                "train with labels that are strings or numbers"
            )


def _survives_json(label: Any) -> bool:
    try:
        copy = json.loads(json.dumps(label, ensure_ascii=False).encode())
    except (TypeError, ValueError, RecursionError):
        return False
    return type(copy) is type(label) and bool(copy == label)


def _items(values: Any, what: str) -> list[Any]:
    if isinstance(values, str | bytes | Mapping) or not hasattr(values, "__iter__"):
        raise GraphInputError(f"{what}s were given as one {type(values).__name__}; give a list with one {what} for each graph")
    given = values.tolist() if hasattr(values, "tolist") else values
    if not isinstance(given, Iterable):  # an array without axes
        raise GraphInputError(f"{what}s were given as one value, {shown(given)}; give a list with one {what} for each graph")
    items = [as_python(value) for value in given]
    for number, item in enumerate(items):
        if not _is_hashable(item):
            raise GraphInputError(
                f"the {what} of graph {number} is a {type(item).__name__}, which cannot be compared; give one number or name"
            )
        if _is_missing(item):
            raise GraphInputError(
                f"the {what} of graph {number} is missing ({shown(item)}); give every graph one or give none at all"
            )
        if isinstance(item, int) and item.bit_length() > _MOST_BITS:
            raise GraphInputError(f"the {what} of graph {number} is a number of more than a thousand digits; give a name instead")
    return items


def _is_hashable(item: Any) -> bool:
    """Whether it can be a key: a tuple may hold what cannot."""
    try:
        hash(item)
    except Exception:  # code of others
        return False
    return True


def _is_missing(item: Any) -> bool:
    """None and what is not equal to itself, such as NaN; what cannot even say so, such as pandas' NA, is missing too."""
    try:
        return item is None or bool(item != item)
    except Exception:  # code of others
        return True


def _object_array(items: list[Any]) -> Array:
    array = np.empty(len(items), dtype=object)
    for position, item in enumerate(items):  # one by one: numpy would take tuples apart
        array[position] = item
    return array
