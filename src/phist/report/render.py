"""A table as text, Markdown, LaTeX or JSON."""

from collections.abc import Callable
from dataclasses import asdict
from itertools import groupby
from textwrap import wrap
from typing import Any

from phist.errors import check_choice
from phist.report.published import Figure
from phist.report.tables import Entry, Row, Table

NOTHING = "\N{EN DASH}"  # where nothing was run
FORMATS = ("text", "markdown", "latex", "json")
_LATEX_SPECIAL = {
    "\\": r"\textbackslash{}",
    **{sign: "\\" + sign for sign in "&%$#_{}"},
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "±": r"$\pm$",
    "≈": r"$\approx$",
    "\N{EN DASH}": "--",
    "ε": r"$\epsilon$",
    **{raised: rf"\textsuperscript{{{digit}}}" for digit, raised in enumerate("⁰¹²³⁴⁵⁶⁷⁸⁹")},
}
_RAISED = str.maketrans("0123456789", "⁰¹²³⁴⁵⁶⁷⁸⁹")


def render(table: Table, form: str = "text") -> Any:
    """The table in one of the formats: a string, or for ``json`` plain values."""
    check_choice("format", form, FORMATS)
    if form == "json":
        return to_json(table)
    written: str = {"text": to_text, "markdown": to_markdown, "latex": to_latex}[form](table)
    return written


def to_text(table: Table, width: int | None = None) -> str:
    """Aligned columns; published figures stand below the measured ones, and a star marks the best.

    Args:
        width: of the screen; columns that it has no room for follow below, with the methods named again, and sentences are
            broken between words.
    """
    lines = [["", *table.columns]]
    for rows in _groups(table):
        lines.append([])
        for row in rows:
            lines.append(
                [row.label, *(entry_text(entry) + ("*" if entry.best else "≈" if entry.tied else "") for entry in row.entries)]
            )
            if _is_published(row):
                lines.append(["  published", *(figure_text(entry.published) for entry in row.entries)])
    sentences = [*_wrapped(table.title, width), "", *stacked(lines, width)]
    sentences += [line for text in (*_notes(table), *table.legend) for line in _wrapped(text, width)]
    return "\n".join(sentences) + "\n"


def stacked(lines: list[list[str]], width: int | None) -> list[str]:
    """Lines of cells as aligned text, an empty one as a gap; columns that ``width`` has no room for follow below.

    >>> stacked([["", "MUTAG", "ENZYMES"], ["phist", "10/10", "3/10"]], 14)
    ['       MUTAG', 'phist  10/10', '', '       ENZYMES', 'phist     3/10', '']
    """
    widths = [max(map(len, column)) for column in zip(*filter(None, lines), strict=True)]
    body: list[str] = []
    for places in _stacks(widths, width):
        chosen = [[line[place] for place in places] if line else [] for line in lines]
        body += ["  ".join(_aligned(line, [widths[place] for place in places])).rstrip() for line in chosen] + [""]
    return body


def to_markdown(table: Table) -> str:
    """A table that also reads well unrendered; published figures in italics below the measured ones."""
    lines = [
        f"**{_markdown(table.title)}**",
        "",
        "| | " + " | ".join(table.columns) + " |",
        "|---" * (len(table.columns) + 1) + "|",
    ]
    for rows in _groups(table):
        for row in rows:
            cells = [_markdown_entry(entry, row) for entry in row.entries]
            lines.append(f"| {_markdown(row.label)} | {' | '.join(cells)} |")
    remarks = [_markdown(text) for text in (*_notes(table), *table.legend)]
    italics = ["In italics: published.", ""] if any(map(_is_published, table.rows)) else []
    return "\n".join([*lines, "", *italics, *(f"- {text}" for text in remarks)]) + "\n"


def to_latex(table: Table) -> str:
    """A ``tabular`` in the style of booktabs, with its notes below."""
    lines = [r"\begin{tabular}{l" + "c" * len(table.columns) + "}", r"\toprule", _latex_line(["", *table.columns])]
    for rows in _groups(table):
        lines.append(r"\midrule")
        for row in rows:
            cells = [_latex(entry_text(entry)) for entry in row.entries]
            cells = [_latex_mark(cell, entry) for cell, entry in zip(cells, row.entries, strict=True)]
            lines.append(" & ".join([_latex(row.label), *cells]) + r" \\")
            if _is_published(row):
                lines.append(_latex_line([r"published", *(figure_text(entry.published) for entry in row.entries)]))
    notes = [rf"\par\footnotesize {_latex(text)}" for text in (*_notes(table), *table.legend)]
    return "\n".join([f"% {table.title}", *lines, r"\bottomrule", r"\end{tabular}", *notes]) + "\n"


def to_json(table: Table) -> dict[str, Any]:
    """Plain values: one object a row, its entries by column."""
    rows = [
        {**asdict(row), "entries": {column: asdict(entry) for column, entry in zip(table.columns, row.entries, strict=True)}}
        for row in table.rows
    ]
    return {**asdict(table), "rows": rows}


def entry_text(entry: Entry) -> str:
    """An entry as measured: mean, deviation, how much of it exists if not all, and the number of its note.

    >>> entry_text(Entry(88.25, 6.6, folds=7, expected=10, note=1))
    '88.2 ± 6.6 [7/10]¹'
    """
    note = superscript(entry.note) if entry.note else ""
    if entry.mean is None:
        return (entry.absent or NOTHING) + note
    if entry.interval is not None:
        low, high = (f"{bound:z.{entry.digits}f}" for bound in entry.interval)
        return f"{entry.mean:+z.{entry.digits}f} [{low}, {high}]{note}"
    spread = "" if entry.deviation is None else f" ± {entry.deviation:.{entry.digits}f}"
    part = "" if entry.complete else f" [{entry.folds}/{entry.expected}]"
    return f"{entry.mean:z.{entry.digits}f}{spread}{part}{note}"


def superscript(number: int) -> str:
    """The number of a note, which no reader takes for a count.

    >>> superscript(12)
    '¹²'
    """
    return str(number).translate(_RAISED)


def figure_text(figure: Figure | None, digits: int = 1) -> str:
    """A figure as it is printed, such as a published one."""
    if figure is None:
        return NOTHING
    return f"{figure.mean:z.{digits}f}" + ("" if figure.deviation is None else f" ± {figure.deviation:.{digits}f}")


def _groups(table: Table) -> list[list[Row]]:
    """The rows between two rules."""
    if not table.grouped:
        return [list(table.rows)]
    return [list(rows) for _, rows in groupby(table.rows, key=lambda row: row.family)]


def _is_published(row: Row) -> bool:
    """Whether anything of a row was published, on these datasets."""
    return row.published is not None and any(entry.published for entry in row.entries)


def _wrapped(text: str, width: int | None) -> list[str]:
    return [text] if width is None else wrap(text, width, break_long_words=False, break_on_hyphens=False) or [""]


def _stacks(widths: list[int], width: int | None) -> list[list[int]]:
    """Which columns stand side by side: the first in every stack, and as many others as there is room for, one at least."""
    if width is None:
        return [list(range(len(widths)))]
    stacks: list[list[int]] = [[0]]
    for place in range(1, len(widths)):
        taken = sum(widths[own] + 2 for own in stacks[-1]) + widths[place]
        if taken > width and len(stacks[-1]) > 1:
            stacks.append([0])
        stacks[-1].append(place)
    return stacks


def _aligned(line: list[str], widths: list[int]) -> list[str]:
    sides: list[Callable[[str, int], str]] = [str.ljust, *[str.rjust] * (len(widths) - 1)]
    return [side(text, width) for text, width, side in zip(line, widths, sides, strict=False)]


def _notes(table: Table) -> list[str]:
    return [f"{superscript(number)} {note}" for number, note in enumerate(table.notes, 1)]


def _markdown_entry(entry: Entry, row: Row) -> str:
    measured = f"**{entry_text(entry)}**" if entry.best else entry_text(entry) + (" ≈" if entry.tied else "")
    return f"{measured}<br>*{figure_text(entry.published)}*" if row.published and entry.published else measured


def _markdown(text: str) -> str:
    """Text that Markdown shows as it is."""
    for sign in "\\`*_|<>[]":
        text = text.replace(sign, "\\" + sign)
    return text


def _latex_mark(cell: str, entry: Entry) -> str:
    return rf"\textbf{{{cell}}}" if entry.best else rf"\underline{{{cell}}}" if entry.tied else cell


def _latex_line(cells: list[str]) -> str:
    return " & ".join(map(_latex, cells)) + r" \\"


def _latex(text: str) -> str:
    return "".join(_LATEX_SPECIAL.get(sign, sign) for sign in text)
