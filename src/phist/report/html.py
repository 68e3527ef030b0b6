"""The report: one HTML file that needs nothing else, in which every number opens the records it was made of."""

import base64
import hashlib
from collections.abc import Callable, Iterable
from importlib.resources import files
from string import Template

from phist import __version__
from phist.metrics import METRICS
from phist.report.differences import difference_table
from phist.report.figures import plot_accuracy_against_time, plot_folds, plot_training
from phist.report.html_tables import family_key, notes_html, table_html
from phist.report.order import sort_datasets
from phist.report.payload import embed, make_payload
from phist.report.study import Result, Study, describe, title_of
from phist.report.svg import tag, words
from phist.report.tables import NO_RECORDS, generalisation_table, main_table

Section = tuple[str, str, str]  # anchor, title, content


def make_report(study: Study, against: str | None = None, diagram: str | None = None) -> str:
    """The page as text.

    Args:
        study: what to report.
        against: the method whose differences to all others are shown; without it the section is left out.
        diagram: the drawing of ranks over datasets, if there is one.
    """
    sections = [section for section in _sections(study, against, diagram) if section[2]]
    script = _part("script.js")
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    return Template(_part("page.html")).substitute(
        title=words(f"phist study: {study.name}"),
        heading=words(f"Study: {study.name}"),
        lead=_lead(study),
        tiles="".join(tag("div", tag("dt", words(name)), tag("dd", words(value))) for name, value in _tiles(study)),
        navigation="".join(tag("a", words(title), href=f"#{anchor}") for anchor, title, _ in sections),
        sections="".join(tag("section", tag("h2", words(title)), content, id=anchor) for anchor, title, content in sections),
        footer=words(f"Made by phist {__version__} from records only. The file needs no network."),
        style=_part("style.css"),
        script=script,
        script_hash=f"sha256-{digest}",
        data=embed(make_payload(study)),
    )


def _sections(study: Study, against: str | None, diagram: str | None) -> Iterable[Section]:
    main = main_table(study)
    title = METRICS[study.metric].title
    yield (
        "accuracy",
        title[0].upper() + title[1:],
        _accuracy_note(study) + family_key(main, toggle=study.metric == "accuracy") + table_html(main) + notes_html(main),
    )
    if against is not None:
        table = difference_table(study, against)
        yield "differences", "Differences", tag("p", words(table.title + ".")) + table_html(table) + notes_html(table)
    yield "ranks", "Ranks", diagram or ""
    yield "time", "Time", _panels(study, plot_accuracy_against_time, TIME)
    yield "folds", "Folds", _panels(study, plot_folds, FOLDS)
    yield "training", "Training", _training(study)
    if any(result.gaps for result in study.results):
        table = generalisation_table(study)
        yield "generalisation", "Generalisation error", tag("p", GENERALISATION) + table_html(table) + notes_html(table)


TIME = (
    "The mean on test graphs against the median time of a fold, fit and prediction together: processor time where it was "
    "recorded, else wall time, as the axis says. Left is faster."
)
FOLDS = (
    "Every test fold: a dot each, the box from the first to the third quartile, the stroke at the median. "
    "Methods are ordered by their mean, the best first."
)
TRAINING = "Accuracy by epoch: thin for a fold, thick for their mean."
GENERALISATION = (
    "Training accuracy minus test accuracy in points, at the chosen epoch and configuration. "
    "A small error is good only where accuracy is."
)


def _lead(study: Study) -> str:
    if study.setting is None:
        return words(NO_RECORDS)
    last = max((record.finished for record in study.records), default="")
    text = f"Structural graph classification, {describe(study.setting)}. Every number opens the records it was made of."
    return words(text + (f" Last record: {last}." if last else ""))


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
    return tiles + ([("failed", f"{failed}")] if failed else [])


def _accuracy_note(study: Study) -> str:
    if study.setting is None:
        return tag("p", words(NO_RECORDS), class_="empty")
    published = "; in italics what was published" if study.metric == "accuracy" else ""
    return tag("p", words(f"{title_of(study)}{published}. Click a head to sort."))


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
            groups.append(tag("details", tag("summary", words(dataset)), content, class_="group", open=None if groups else ""))
    key = tag("span", tag("span", class_="swatch"), " training graphs", class_="key")
    key += tag("span", tag("span", class_="swatch validation"), " validation graphs", class_="key")
    return tag("p", words(TRAINING)) + tag("div", key, class_="controls") + "".join(groups) if groups else ""


def _part(name: str) -> str:
    return files("phist.report").joinpath("templates", name).read_text(encoding="utf-8")
