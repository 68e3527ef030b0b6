"""Tables as HTML: they sort by a click on a head, and every measured number opens its records."""

from phist.report.figures import mark
from phist.report.order import FAMILIES
from phist.report.render import NOTHING, entry_text, figure_text
from phist.report.svg import tag, words
from phist.report.tables import Entry, Row, Table

Reach = tuple[float, float]  # of a column: what has no colour, and what has the most
MEAN_RANK = "mean rank"  # the one column that is of no dataset


def table_html(table: Table, metric: str = "accuracy") -> str:
    """The table with its downloads; where there is a best, numbers are shaded from the best floor of their column up to it."""
    heads = [_head("method", None), *(_head(name, name) for name in table.columns)]
    shaded = any(entry.best for row in table.rows for entry in row.entries)
    reaches = [_reach(table, place) if shaded else (0.0, 0.0) for place in range(len(table.columns))]
    families = [row.family for row in table.rows]
    firsts = [table.grouped and place > 0 and families[place - 1] != family for place, family in enumerate(families)]
    rows = [_row(row, table, reaches, first) for row, first in zip(table.rows, firsts, strict=True)]
    content = tag("thead", tag("tr", *heads)) + tag("tbody", *rows)
    name = f"table-{table.name}-{metric}"
    frame = tag("div", tag("table", content, data_sortable="", id=name), **_region(table.title))
    return frame + downloads_html(name, f"{table.name}-{metric}")


def downloads_html(table_id: str, file_name: str) -> str:
    """Buttons that save a table as it is shown, filters and order included."""
    buttons = [
        tag("button", title, type="button", class_="quiet", data_download=form, data_table=table_id, data_file=file_name)
        for form, title in (("csv", "CSV"), ("latex", "LaTeX"))
    ]
    return tag("p", "Download what is shown: ", *buttons, class_="downloads")


def notes_html(table: Table) -> str:
    """What the raised numbers refer to, and where figures come from."""
    notes = [tag("li", tag("sup", words(number)), words(f" {note}")) for number, note in enumerate(table.notes, 1)]
    return tag("ul", *notes, *(tag("li", words(text)) for text in table.legend), class_="notes")


def family_key(table: Table, toggle: bool = False) -> str:
    """The signs of the families, and with ``toggle`` the switch for published figures."""
    families = dict.fromkeys(row.family for row in table.rows)
    keys = [tag("span", family_sign(family), words(FAMILIES[family]), class_="key", data_family=family) for family in families]
    box = tag("label", '<input type="checkbox" id="show-printed" checked> published figures') if toggle else ""
    return tag("div", *keys, box, class_="controls")


def family_sign(family: str) -> str:
    """The mark of a family, small."""
    return tag("svg", mark(family), viewBox="-7 -7 14 14", aria_hidden="true")


def _region(title: str) -> dict[str, object]:
    """A table that may be wider than the screen: the keyboard can reach it and scroll."""
    return {"class_": "scroll", "tabindex": 0, "role": "region", "aria_label": title}


def _head(name: str, column: str | None) -> str:
    return tag("th", tag("button", words(name), type="button"), scope="col", aria_sort="none", data_column=column)


def _row(row: Row, table: Table, reaches: list[Reach], first: bool) -> str:
    cells = [
        _cell(entry, row.label, dataset, reach) for entry, dataset, reach in zip(row.entries, table.columns, reaches, strict=True)
    ]
    head = tag("th", family_sign(row.family), words(row.label), scope="row", data_value=row.label)
    measured = any(entry.mean is not None or entry.absent for entry in row.entries)
    classes = [name for name, holds in (("unmeasured", not measured), ("family-start", first)) if holds]
    return tag("tr", head, *cells, class_=" ".join(classes) or None, data_family=row.family)


def _cell(entry: Entry, label: str, dataset: str, reach: Reach) -> str:
    note = tag("sup", words(entry.note)) if entry.note else ""
    printed = tag("span", words(figure_text(entry.published)), class_="printed", title="published") if entry.published else ""
    if entry.mean is None:
        text = tag("span", words(entry.absent or entry.missing or NOTHING), class_="none")
        shown = _opener(text + note, label, dataset, entry) if entry.why else text
        return tag("td", shown, printed, data_column=dataset, data_text=NOTHING)
    text = tag("span", number_text(entry.mean, entry.digits), class_="mean")
    text += "" if entry.deviation is None else tag("span", f" ± {entry.deviation:.{entry.digits}f}", class_="spread")
    text += "" if entry.complete else tag("span", f" {entry.folds}/{entry.expected}", class_="part")
    kind = " best" if entry.best else " tied" if entry.tied else ""
    content = _opener(text + note, label, dataset, entry) + printed
    return tag("td", content, class_=f"heat{kind}", style=f"--share: {_share(entry.mean, reach):.3f}", **_data(entry, dataset))


def _data(entry: Entry, dataset: str) -> dict[str, object]:
    """What sorting and downloads read."""
    return {
        "data_column": dataset,
        "data_value": f"{entry.mean:.6f}",
        "data_text": entry_text(entry),
        "data_deviation": None if entry.deviation is None else f"{entry.deviation:.6f}",
        "data_records": f"{entry.folds}/{entry.expected}" if entry.expected else None,
        "data_published": entry.published and figure_text(entry.published),
    }


def _opener(content: str, label: str, dataset: str, entry: Entry) -> str:
    if entry.mean is None:
        spoken = f"{label} on {dataset}: {entry.absent or entry.missing or 'not asked for'}; open the reason"
    elif dataset == MEAN_RANK:
        spoken, dataset = f"{label}, mean rank {entry_text(entry)}; open all its results", ""
    else:
        spoken = f"{label} on {dataset}: {_shown(entry)}; open its records"
    return tag("button", content, class_="figure", type="button", data_label=label, data_dataset=dataset, aria_label=spoken)


def _shown(entry: Entry) -> str:
    """The text of a measured cell, letter by letter: whoever speaks to the page says what is seen."""
    spread = "" if entry.deviation is None else f" ± {entry.deviation:.{entry.digits}f}"
    part = "" if entry.complete else f" {entry.folds}/{entry.expected}"
    return f"{number_text(entry.mean or 0.0, entry.digits)}{spread}{part}{entry.note or ''}"


def number_text(value: float, digits: int) -> str:
    """A number with a minus as wide as a plus, and no sign before a zero.

    >>> number_text(-0.04, 1), number_text(-0.25, 2)
    ('0.0', '−0.25')
    """
    return f"{value:z.{digits}f}".replace("-", "\N{MINUS SIGN}")


def _share(mean: float, reach: Reach) -> float:
    low, high = reach
    return min(1.0, max(0.0, (mean - low) / (high - low))) if high != low else 0.0


def _reach(table: Table, place: int) -> Reach:
    """From the best floor of a column, or its worst mean where there is no floor, to its best."""
    means = {row.label: row.entries[place].mean for row in table.rows}
    known = [mean for mean in means.values() if mean is not None]
    floors = [mean for row in table.rows if row.family == "floor" and (mean := means[row.label]) is not None]
    best, worst = (max, min) if table.larger_is_better else (min, max)
    return (best(floors) if floors else worst(known, default=0.0), best(known, default=0.0))
