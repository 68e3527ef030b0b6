"""Salvage: the good rows of a batch that has bad ones, and which those are."""

import re
from collections.abc import Callable, Iterator
from typing import Literal, TypeVar

from phist.errors import DivergenceError, GraphInputError
from phist.scale.rows import Parsed, Rows

Found = TypeVar("Found")
OnError = Literal["stop", "skip"]
Refuse = Callable[[int, int | None, str], None]  # a row, how many, and why
_ALONE = re.compile(r"^(row|graph) 0 ")  # what a row is called that is read alone


def salvage(
    rows: Rows, ask: Callable[[Rows], tuple[Parsed, Found]], refuse: Refuse, begin: int = 0
) -> Iterator[tuple[int, Parsed, Found]]:
    """Ask about all rows at once; where that fails about halves of them, down to the single row that is at fault."""
    try:
        yield begin, *ask(rows)
    except (GraphInputError, DivergenceError) as error:
        if len(rows) == 1:
            refuse(begin, 1, _ALONE.sub("it ", str(error)))
            return
        middle = len(rows) // 2
        yield from salvage(rows.part(0, middle), ask, refuse, begin)
        yield from salvage(rows.part(middle, len(rows)), ask, refuse, begin + middle)
