"""Tables as HTML: they sort by a click on a head, and every measured number opens its records."""

from phist.report.figures import mark
from phist.report.order import FAMILIES
from phist.report.render import NOTHING, entry_text, figure_text
from phist.report.svg import tag, words
from phist.report.tables import Entry, Row, Table


def table_html(table: Table) -> str:
    """The table; where there is a best, each number is shaded by its place between the worst and the best of its column."""
    heads = [_head(name) for name in ("method", *table.columns)]
    shaded = any(entry.best for row in table.rows for entry in row.entries)
    reaches = [
        _reach([row.entries[place] for row in table.rows], table.larger_is_better) if shaded else (0.0, 0.0)
        for place in range(len(table.columns))
    ]
    families = [row.family for row in table.rows]
    rows = [_row(row, table, reaches, place > 0 and families[place - 1] != row.family) for place, row in enumerate(table.rows)]
    content = tag("thead", tag("tr", *heads)) + tag("tbody", *rows)
    return tag("div", tag("table", content, data_sortable="", id=f"table-{table.name}"), class_="scroll", tabindex=0)


def notes_html(table: Table) -> str:
    """What the raised numbers refer to, and where figures come from."""
    notes = [tag("li", tag("sup", words(number)), words(f" {note}")) for number, note in enumerate(table.notes, 1)]
    return tag("ul", *notes, *(tag("li", words(text)) for text in table.legend), class_="notes")


def family_key(table: Table, toggle: bool = False) -> str:
    """The signs of the families, and with ``toggle`` the switch for published figures."""
    families = dict.fromkeys(row.family for row in table.rows)
    keys = [tag("span", family_sign(family), words(FAMILIES[family]), class_="key") for family in families]
    box = tag("label", '<input type="checkbox" id="show-printed" checked> published figures') if toggle else ""
    return tag("div", *keys, box, class_="controls")


def family_sign(family: str) -> str:
    """The mark of a family, small."""
    return tag("svg", mark(family), viewBox="-7 -7 14 14", aria_hidden="true")


def _head(name: str) -> str:
    return tag("th", tag("button", words(name), type="button"), scope="col", aria_sort="none")


def _row(row: Row, table: Table, reaches: list[tuple[float, float]], first: bool) -> str:
    cells = [
        _cell(entry, row.label, dataset, reach) for entry, dataset, reach in zip(row.entries, table.columns, reaches, strict=True)
    ]
    head = tag("th", family_sign(row.family), words(row.label), scope="row", data_value=row.label)
    measured = any(entry.mean is not None or entry.absent for entry in row.entries)
    classes = [name for name, holds in (("unmeasured", not measured), ("family-start", first)) if holds]
    return tag("tr", head, *cells, class_=" ".join(classes) or None)


def _cell(entry: Entry, label: str, dataset: str, reach: tuple[float, float]) -> str:
    note = tag("sup", words(entry.note)) if entry.note else ""
    printed = tag("span", words(figure_text(entry.published)), class_="printed", title="published") if entry.published else ""
    if entry.mean is None:
        text = words(entry.absent or NOTHING)
        shown = _opener(text, label, dataset, entry) if entry.absent == "failed" else tag("span", text, class_="none")
        return tag("td", shown.replace("</span>", f"{note}</span>", 1), printed)
    if entry.interval is not None:
        return _difference(entry, label, dataset)
    worst, best = reach
    share = (entry.mean - worst) / (best - worst) if best != worst else 0.0
    text = tag("span", f"{entry.mean:.{entry.digits}f}", class_="mean")
    text += "" if entry.deviation is None else tag("span", f" ± {entry.deviation:.{entry.digits}f}", class_="spread")
    text += "" if entry.complete else tag("span", f" {entry.folds}/{entry.expected}", class_="part")
    classes = "heat best" if entry.best else "heat"
    content = _opener(text + note, label, dataset, entry) + printed
    return tag("td", content, class_=classes, data_value=f"{entry.mean:.6f}", style=f"--share: {share:.3f}")


def _difference(entry: Entry, label: str, dataset: str) -> str:
    """A difference, coloured only where its interval leaves out zero."""
    mean, (low, high) = entry.mean or 0.0, entry.interval or (0.0, 0.0)
    kind = "gain" if low > 0 else "loss" if high < 0 else None
    text = tag("span", f"{mean:+.{entry.digits}f}", class_=f"mean {kind}" if kind else "mean")
    text += tag("span", f"{low:.{entry.digits}f} to {high:.{entry.digits}f}", class_="range")
    return tag("td", _opener(text, label, dataset, entry), data_value=f"{mean:.6f}")


def _opener(content: str, label: str, dataset: str, entry: Entry) -> str:
    what = entry_text(entry)
    spoken = f"{label} on {dataset}: {what}; open its records"
    return tag("button", content, class_="figure", type="button", data_label=label, data_dataset=dataset, aria_label=spoken)


def _reach(entries: list[Entry], larger_is_better: bool) -> tuple[float, float]:
    """The worst and the best mean."""
    means = [entry.mean for entry in entries if entry.mean is not None]
    low, high = min(means, default=0.0), max(means, default=0.0)
    return (low, high) if larger_is_better else (high, low)
