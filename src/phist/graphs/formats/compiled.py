"""The compiled loop that turns the bytes of an integer table into numbers; imported only when a table is read."""

import numpy as np
from numpy.typing import NDArray

from phist.jit import compiled

_TAB, _NEWLINE, _RETURN, _SPACE, _PLUS, _COMMA, _MINUS, _ZERO, _NINE = 9, 10, 13, 32, 43, 44, 45, 48, 57
_DIGITS = 18  # what certainly fits into 64 bits


@compiled
def parse_integers(text: NDArray[np.uint8], table: NDArray[np.int64]) -> tuple[int, int]:
    """Fill ``table`` (rows, columns) from whole lines of integers parted by commas or blanks; empty lines are skipped.

    Returns:
        The rows filled, and the line (from 0) that is not a row of integers, or the number of lines when all are.
        The second is negative, -1 - line, in the first case.
    """
    size, columns = len(text), table.shape[1]
    position, row, line = 0, 0, 0
    while position < size:
        column = 0
        while True:
            while position < size and (text[position] == _SPACE or text[position] == _TAB or text[position] == _RETURN):
                position += 1
            if position == size or text[position] == _NEWLINE:
                break
            if column > 0 and text[position] == _COMMA:
                position += 1
                while position < size and (text[position] == _SPACE or text[position] == _TAB):
                    position += 1
            negative = position < size and text[position] == _MINUS
            if position < size and (text[position] == _MINUS or text[position] == _PLUS):
                position += 1
            start, value = position, 0
            while position < size and _ZERO <= text[position] <= _NINE:
                value = 10 * value + (text[position] - _ZERO)
                position += 1
            if column == columns or position == start or position - start > _DIGITS:
                return row, -1 - line
            ends = position == size or text[position] == _COMMA or text[position] <= _SPACE
            if not ends:
                return row, -1 - line
            table[row, column] = -value if negative else value
            column += 1
        if column == columns:
            row += 1
        elif column > 0:
            return row, -1 - line
        position += 1
        line += 1
    return row, line
