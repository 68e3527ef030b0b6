"""The report: one HTML file that needs nothing else, in which every number opens the records it was made of."""

import base64
import hashlib
from collections.abc import Callable, Iterable
from importlib.resources import files
from string import Template

from phist import __version__
from phist.metrics import METRICS
from phist.report.figures import plot_accuracy_against_time, plot_folds, plot_training
from phist.report.growth import growth_of
from phist.report.growth_figures import plot_growth
from phist.report.html_controls import controls_html, summary_html
from phist.report.html_tables import family_key, notes_html, table_html
from phist.report.order import sort_datasets
from phist.report.payload import embed, make_payload
from phist.report.plan import WAITING
from phist.report.ranks import Ranks, rank_methods, ranks_table
from phist.report.study import Result, Study, describe, title_of
from phist.report.svg import tag, words
from phist.report.tables import NO_RECORDS, generalisation_table, main_table

Section = tuple[str, str, str]  # anchor, title, content
DrawRanks = Callable[[Ranks | None, str], str]  # ranks, and a name that keeps the ids of several drawings apart

# In the order of their use: each may call what stands above it.
SCRIPTS = ("core", "tables", "records", "comparison", "method", "summary", "differences", "downloads", "controls", "permalinks")


def make_report(study: Study, against: str | None = None, draw_ranks: DrawRanks | None = None) -> str:
    """The page as text.

    Args:
        study: what to report; the page opens with its metric and can switch to the others.
        against: the method that is compared with all others when the page opens; the first, where it has no records.
        draw_ranks: draws ranks over datasets; without it there is their table only.
    """
    metrics = [name for name in METRICS if any(study.with_metric(name).measured(dataset) for dataset in study.datasets)]
    against = against if against in study.labels else next(iter(study.labels), None)
    sections = [section for section in _sections(study, metrics, draw_ranks) if section[2]]
    script = _script()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template(template_part("page.html")).substitute(
        title=words(f"phist study: {study.name}"),
        heading=words(f"Study: {study.name}"),
        lead=_lead(study),
        tiles="".join(tag("div", tag("dt", words(name)), tag("dd", words(value))) for name, value in _tiles(study)),
        navigation="".join(tag("a", words(title), href=f"#{anchor}") for anchor, title, _ in sections),
        controls=controls_html(study, metrics, against),
        sections="".join(tag("section", tag("h2", words(title)), content, id=anchor) for anchor, title, content in sections),
        footer=words(f"Made by phist {__version__} from records only. The file needs no network."),
        style=template_part("palette.css") + template_part("style.css"),
        script=script,
        script_hash=f"sha256-{digest}",
        data=embed(make_payload(study, metrics) | {"against": against}),
    )


def _sections(study: Study, metrics: list[str], draw_ranks: DrawRanks | None) -> Iterable[Section]:
    yield "summary", "At a glance", summary_html() if study.results else tag("p", words(NO_RECORDS), class_="empty")
    views = {name: study.with_metric(name) for name in metrics}
    yield "results", "Results", _by_metric(views, study, _results)
    yield "growth", "Growth", _by_metric(views, study, _growth)
    if len(study.labels) > 1:
        yield "differences", "Differences", tag("div", id="differences-table")
    yield "ranks", "Ranks", _by_metric(views, study, lambda view: _ranks(view, draw_ranks))
    yield "time", "Time", _by_metric(views, study, lambda view: _panels(view, plot_accuracy_against_time, TIME))
    yield "folds", "Folds", _by_metric(views, study, lambda view: _panels(view, plot_folds, FOLDS))
    yield "training", "Training", _training(study)
    if any(result.gaps for result in study.results):
        table = generalisation_table(study)
        yield "generalisation", "Generalisation error", tag("p", GENERALISATION) + table_html(table) + notes_html(table)


TIME = (
    "The mean on test graphs against the median time of a fold, fit and prediction together: processor time where it was "
    "recorded, else wall time, as the axis says. What all folds share, such as a Gram matrix, is computed once and is not in it. "
    "Left is faster. Arrow keys walk from mark to mark, Enter opens one."
)
FOLDS = (
    "Every test fold: a dot each, the box from the first to the third quartile, the stroke at the median. "
    "Methods are ordered by their mean, the best first. Arrow keys walk from method to method, Enter opens one."
)
TRAINING = (
    "Accuracy in percent by epoch: thin for a fold, thick for their mean as long as half of them train. A name opens the records."
)
GENERALISATION = (
    "Training accuracy minus test accuracy in points, at the chosen epoch and configuration, mean ± standard deviation over folds. "
    "In italics what was published. A small error is good only where accuracy is."
)
GROWTH = (
    "Time of fit and prediction, from nothing, and the mean on test graphs, against the number of labelled graphs; one line for "
    "each method. Times and numbers are on logarithmic axes, on which equal steps are equal factors."
)
RANKS = "The rank of every method by its mean on every dataset; 1 is the best. A rank opens the records it was made of."


def _by_metric(views: dict[str, Study], study: Study, content: Callable[[Study], str]) -> str:
    """The same part once for each metric, of which the page shows one."""
    parts = {name: content(view) for name, view in views.items()}
    if not any(parts.values()):
        return ""
    return "".join(tag("div", part, data_metric=name, hidden=None if name == study.metric else "") for name, part in parts.items())


def _results(study: Study) -> str:
    table = main_table(study)
    toggle = any(entry.published for row in table.rows for entry in row.entries)
    published = "; in italics what was published" if toggle else ""
    about = (
        f"{title_of(study)}{published}. In bold the best of a dataset, underlined what cannot be told apart from it: the "
        "interval of the difference holds zero. Shaded from the best floor, which has no colour, up to the best. A number opens "
        "its records, a word why there are none, and the name of a dataset sorts."
    )
    return tag("p", words(about)) + family_key(table, toggle) + table_html(table, study.metric) + notes_html(table)


def _growth(study: Study) -> str:
    panels = [plot_growth(growth, study.metric) for growth in growth_of(study)]
    return tag("p", words(GROWTH)) + family_key(main_table(study)) + tag("div", *panels, class_="panels") if panels else ""


def _ranks(study: Study, draw_ranks: DrawRanks | None) -> str:
    ranks = rank_methods(study)
    if ranks is None:
        return tag("p", words(ranks_table(study).legend[0]), class_="empty") if study.results else ""
    drawing = "" if draw_ranks is None else draw_ranks(ranks, study.metric)
    return drawing + tag("p", words(RANKS)) + table_html(ranks_table(study), study.metric)


def _lead(study: Study) -> str:
    if study.setting is None:
        return words(NO_RECORDS)
    last = max((record.finished for record in study.records), default="")
    text = f"Structural graph classification, {describe(study.setting)}. Every number opens the records it was made of."
    return words(text + (f" Last record: {last[:16].replace('T', ' ')} UTC." if last else ""))


def _tiles(study: Study) -> list[tuple[str, str]]:
    failed = sum(len(result.failed) for result in study.results)
    partial = sum(1 for result in study.results if result.records and not result.complete)
    hours = sum(record.seconds for record in study.records) / 3600
    tiles = [
        ("methods", f"{len(study.labels)}"),
        ("datasets", f"{len(study.datasets)}"),
        ("records", f"{len(study.records):,}"),
        ("hours of computing", f"{hours:,.1f}"),
        ("incomplete results", f"{partial}"),
    ]
    waiting = sum(entry.missing == WAITING for row in main_table(study).rows for entry in row.entries)
    return tiles + [(name, f"{count}") for name, count in (("results not run yet", waiting), ("failed", failed)) if count]


def _panels(study: Study, plot: Callable[[list[Result]], str], explanation: str) -> str:
    panels = [plot(results) for dataset in study.datasets if (results := study.measured(dataset))]
    if not any(panels):
        return ""
    return tag("p", words(explanation)) + family_key(main_table(study)) + tag("div", *panels, class_="panels")


def _training(study: Study) -> str:
    groups: list[str] = []
    for dataset in sort_datasets(study.datasets):
        curves = [drawn for result in study.measured(dataset) if (drawn := plot_training(result))]
        if curves:
            content = tag("div", *curves, class_="curves")
            shown = None if groups else ""
            group = tag("details", tag("summary", words(dataset)), content, class_="group", open=shown, data_column=dataset)
            groups.append(group)
    key = tag("span", tag("span", class_="swatch"), " training graphs", class_="key")
    key += tag("span", tag("span", class_="swatch validation"), " validation graphs", class_="key")
    return tag("p", words(TRAINING)) + tag("div", key, class_="controls") + "".join(groups) if groups else ""


def _script() -> str:
    parts = "\n".join(template_part(f"script/{name}.js") for name in SCRIPTS)
    return f'"use strict";\n(() => {{\n{parts}\n}})();\n'


def template_part(name: str) -> str:
    """A file of the page; the palette serves other pages too."""
    return files("phist.report").joinpath("templates", name).read_text(encoding="utf-8")
