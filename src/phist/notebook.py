"""What notebooks show of an object: a small table. Names that come from data are escaped."""

from collections.abc import Iterable, Sequence
from html import escape

_CELL = "text-align:left;padding:1px 12px 1px 0"


def html_table(title: str, rows: Iterable[Sequence[object]], header: Sequence[object] = (), note: str = "") -> str:
    """A table with a title, as HTML.

    >>> html_table("a <b>", [("x", 1)])[:29]
    '<div><strong>a &lt;b&gt;</str'

    Args:
        title: above the table.
        rows: one sequence of cells for each; the last cell of a short one spans the columns that are left.
        header: the names of the columns, if any.
        note: a sentence below.
    """
    rows = list(rows)
    columns = max(map(len, [header, *rows]))
    lines = [_row(header, "th", columns)] if header else []
    content = "".join([*lines, *(_row(row, "td", columns) for row in rows)])
    table = f'<table style="margin-left:0">{content}</table>'
    below = f"<div>{escape(note)}</div>" if note else ""
    return f"<div><strong>{escape(title)}</strong>{table}{below}</div>"


def _row(cells: Sequence[object], kind: str, columns: int) -> str:
    spans = [1] * (len(cells) - 1) + [columns - len(cells) + 1]
    filled = "".join(
        f'<{kind} style="{_CELL}" colspan="{span}">{escape(str(cell))}</{kind}>' for cell, span in zip(cells, spans, strict=True)
    )
    return f"<tr>{filled}</tr>"
