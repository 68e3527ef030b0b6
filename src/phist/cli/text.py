"""Names that others have chosen, made harmless to print and to open in a spreadsheet."""

import re
from typing import Any

# Control characters without tab and line feed, line and paragraph separators, changes of direction, halves of characters.
_UNPRINTABLE = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u2028\u2029\u202a-\u202e\u2066-\u2069\ud800-\udfff]")
_FORMULA = ("=", "+", "-", "@", "\t")


def printable(text: str) -> str:
    r"""Text with everything spelled out that a terminal would obey or hide.

    >>> print(printable("a\x1b[2Jb"))
    a\x1b[2Jb
    """
    return _UNPRINTABLE.sub(lambda found: found[0].encode("unicode_escape").decode(), text)


def csv_cell(value: Any) -> Any:
    """An id or label for a CSV file: text that a spreadsheet would take for a formula begins with an apostrophe.

    >>> csv_cell("=1+1"), csv_cell("-1"), csv_cell(-1), csv_cell("tree")
    ("'=1+1", '-1', -1, 'tree')
    """
    if isinstance(value, int | float):
        return value
    text = printable(str(value))
    return f"'{text}" if text.startswith(_FORMULA) and not _is_number(text) else text


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return text.isascii() and "_" not in text
