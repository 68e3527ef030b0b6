"""What the readers of text files share: decoding, and numbers for names."""

import re
from collections.abc import Hashable, Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from phist.errors import GraphInputError, shown
from phist.graphs.arrays import IntArray

_WHOLE_NUMBER = re.compile(r"(0|-?[1-9][0-9]{0,17})\Z", re.ASCII)  # 007 is a name: as a number it would be another one's


def read_text(path: Path) -> str:
    """The file as text; empty files and files of bytes are errors."""
    try:
        text = path.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise GraphInputError(f"{path} is not text ({error.reason} at byte {error.start}); save it as UTF-8") from error
    if not text.strip():
        raise GraphInputError(f"{path} is empty; it should hold graphs")
    return text


def as_values(texts: Sequence[Any]) -> list[Any]:
    """Texts as whole numbers where all of them are, else as they are.

    >>> as_values(["1", "-2"]), as_values(["1", "b"]), as_values(["1", "007"])
    ([1, -2], ['1', 'b'], ['1', '007'])
    """
    if all(isinstance(text, str) and _WHOLE_NUMBER.match(text) for text in texts):
        return [int(text) for text in texts]
    return list(texts)


def number_names(names: Iterable[Hashable]) -> tuple[list[Hashable], IntArray]:
    """The distinct names in order, numbers by size and texts by letter, and the position of each name given.

    >>> number_names(["10", "9", "10"])
    ([9, 10], array([1, 0, 1]))
    """
    given = list(names)
    distinct = list(dict.fromkeys(given))
    values = as_values(distinct)
    order = sorted(range(len(values)), key=lambda position: _sort_key(values[position]))
    number = {distinct[position]: rank for rank, position in enumerate(order)}
    return [values[position] for position in order], np.array([number[name] for name in given], dtype=np.int64)


def as_weight(text: Any, place: str) -> float:
    """A weight, or an error that says where it stands."""
    try:
        return float(text)
    except (TypeError, ValueError, OverflowError) as error:
        raise GraphInputError(f"{place}: {shown(text)} was found where a weight should be; weights must be numbers") from error


def _sort_key(value: Any) -> tuple[str, Any]:
    return ("", value) if isinstance(value, int | float) else (type(value).__name__, str(value))
