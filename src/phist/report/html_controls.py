"""What a reader of the report can choose: metric, method to compare, families and datasets; and the frame of the summary."""

from collections.abc import Iterable

from phist.metrics import METRICS
from phist.report.html_tables import family_sign
from phist.report.order import FAMILIES
from phist.report.study import Study
from phist.report.svg import tag, words


def controls_html(study: Study, metrics: list[str], against: str | None) -> str:
    """The bar of choices; nothing where there is nothing to choose from."""
    if not study.results:
        return ""
    families = list(dict.fromkeys(study.family(label) for label in study.labels))
    chooser = [
        tag(
            "details",
            tag("summary", "Filter", tag("span", id="filtered")),
            tag(
                "div",
                _boxes("Families", "family", ((family, family_sign(family) + words(FAMILIES[family])) for family in families)),
                _boxes("Datasets", "column", ((dataset, words(dataset)) for dataset in study.datasets)),
                tag("button", "Show all", type="button", id="filter-none", class_="quiet"),
                class_="choices",
            ),
            id="filters",
        ),
        _choice("metric", "Metric", ((name, METRICS[name].title) for name in metrics), study.metric),
        _choice("against", "Compare with the others", ((label, label) for label in study.labels), against),
    ]
    return tag("div", *chooser, class_="wide bar")


def summary_html() -> str:
    """The frame that the script fills for the method that is compared."""
    return (
        tag("p", id="finding", aria_live="polite")
        + tag("dl", id="score", class_="tiles")
        + tag("div", id="versus")
        + tag("noscript", tag("p", "This summary, differences and records need JavaScript; the tables and figures below do not."))
    )


def _choice(name: str, title: str, options: Iterable[tuple[str, str]], chosen: str | None) -> str:
    made = [tag("option", words(text), value=value, selected="" if value == chosen else None) for value, text in options]
    return tag("label", words(title), tag("select", *made, id=f"choose-{name}"))


def _boxes(title: str, kind: str, options: Iterable[tuple[str, str]]) -> str:
    boxes = [
        tag("label", f'<input type="checkbox" checked data-filter="{kind}" value="{words(value)}">', content)
        for value, content in options
    ]
    return tag("fieldset", tag("legend", words(title)), *boxes)
