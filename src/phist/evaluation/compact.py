"""Figures in few characters: records are kept in version control, hundreds of epochs and thousands of predictions each."""

import math
from collections.abc import Mapping, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phist.checks import whole_number
from phist.errors import ConfigError
from phist.evaluation.record_schema import FINE_UNIT, UNIT

MERGED = 0.05  # the share of different values that five digits may make equal; ranks, and so ROC-AUC, hardly notice
DIGITS = 5  # significant digits of any other figure
MOST_ROWS, MOST_COLUMNS = 1_000_000, 100  # of a history: a count in a file is not believed beyond it

Rows = list[dict[str, Any]]


def plain(value: Any) -> Any:
    """``value`` as JSON has it: floats with five significant digits, what is not finite as ``None``, arrays as lists.

    >>> plain({"loss": np.float32(0.123456789), "layers": (2, 3), "best": float("nan")})
    {'loss': 0.12346, 'layers': [2, 3], 'best': None}
    """
    if isinstance(value, np.generic | np.ndarray):
        value = value.tolist()
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") if math.isfinite(value) else None
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [plain(item) for item in value]
    return value if value is None or isinstance(value, bool | int | str) else str(value)


def columns_of(rows: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Rows by column, so that names are written once; a column that is all alike, or counts, takes no more room than that.

    >>> columns_of([{"epoch": 1, "loss": 0.5}, {"epoch": 2, "loss": 0.25}, {"epoch": 3, "loss": 0.125}])
    {'epoch': {'first': 1, 'step': 1, 'count': 3}, 'loss': [0.5, 0.25, 0.125]}
    """
    names = dict.fromkeys(name for row in rows for name in row)
    return {str(name): _squeezed([plain(row.get(name)) for row in rows]) for name in names}


def rows_of(columns: Mapping[str, Any]) -> Rows:
    """The inverse of `columns_of`; a value that a row lacks comes back as ``None``."""
    if len(columns) > MOST_COLUMNS:
        raise ConfigError(f"a history of {len(columns):,} columns was given; at most {MOST_COLUMNS:,} are possible")
    lists = [_stretched(values) for values in columns.values()]
    return [dict(zip(columns, values, strict=True)) for values in zip(*lists, strict=True)]


def pack_probabilities(probabilities: NDArray[np.float64]) -> Any:
    """Probabilities as whole numbers of `UNIT`, class by class; the last class is what is left of one.

    Where five digits would merge many different values, as of a support vector machine that is sure of the larger class
    whatever the graph, they are whole numbers of `FINE_UNIT`, and the unit stands beside them.
    """
    if _distinct(probabilities, UNIT) >= (1 - MERGED) * _distinct(probabilities, FINE_UNIT):
        return _shares(probabilities, UNIT)
    return {"unit": FINE_UNIT, "columns": _shares(probabilities, FINE_UNIT)}


def unpack_probabilities(packed: Any, n_rows: int) -> NDArray[np.float64]:
    """The inverse of `pack_probabilities`, (graphs, classes)."""
    columns, unit = (packed["columns"], packed["unit"]) if isinstance(packed, Mapping) else (packed, UNIT)
    shares = np.array(columns, dtype=np.int64).reshape(len(columns), n_rows)
    last = np.maximum(0, unit - shares.sum(axis=0))
    return np.vstack([shares, last]).T / unit


def _shares(probabilities: NDArray[np.float64], unit: int) -> list[list[int]]:
    columns: list[list[int]] = np.rint(probabilities[:, :-1] * unit).astype(np.int64).T.tolist()
    return columns


def _distinct(probabilities: NDArray[np.float64], unit: int) -> int:
    """How many values the columns have between them, each column by itself."""
    return sum(len(np.unique(column)) for column in np.rint(probabilities * unit).T)


def _squeezed(values: list[Any]) -> Any:
    """Equal values, and evenly spaced whole numbers, as where they begin, their step and their count."""
    if len(values) < 3:
        return values
    if all(type(value) is int for value in values):
        step = values[1] - values[0]
        even = all(later - earlier == step for earlier, later in pairwise(values))
    else:
        step = 0
        even = all(type(value) is type(values[0]) and value == values[0] for value in values)
    return {"first": values[0], "step": step, "count": len(values)} if even else values


def _stretched(values: Any) -> list[Any]:
    if not isinstance(values, Mapping):
        return list(values)
    first, step = values["first"], values["step"]
    count = whole_number("count", values["count"], least=0, most=MOST_ROWS)
    return [first + step * number for number in range(count)] if step else [first] * count
