"""What the report carries of every record, in few characters, and how it is put into a page without becoming part of it."""

import json
from collections import defaultdict
from collections.abc import Sequence
from typing import Any

from phist.evaluation.records import Outcome, Record
from phist.metrics import METRICS
from phist.report.figures import thinned
from phist.report.order import FAMILIES
from phist.report.study import Study, history_curve
from phist.report.tables import main_table
from phist.report.views import make_view

SIGNS = "0123456789abcdefghijklmnopqrstuvwxyz"
MEASURES = ("loss", "accuracy", "validation_loss", "validation_accuracy")


def make_payload(study: Study, metrics: Sequence[str] = ("accuracy",)) -> dict[str, Any]:
    """Every record of the study by method and dataset, and what the page shows of them by metric; shared parts once.

    Args:
        metrics: those that the page can switch to.
    """
    versions, tests = _Shared(), _Shared()
    records: dict[str, dict[str, list[Any]]] = defaultdict(dict)
    for result in study.results:
        kept = [*result.records, *result.failed]
        records[result.label][result.dataset] = [
            _record(record, versions, tests) | _scores(record, metrics) | _spec(record, study) for record in kept
        ]
    return {
        "study": study.name,
        "metric": study.metric,
        "metrics": {name: _metric(name) for name in metrics},
        "families": FAMILIES,
        "labels": {label: study.family(label) for label in study.labels},
        "datasets": study.datasets,
        "views": {name: make_view(study.with_metric(name)) for name in metrics},
        "absent": _absent(study),
        "versions": versions.values,
        "tests": tests.values,
        "records": records,
    }


def _metric(name: str) -> dict[str, Any]:
    metric = METRICS[name]
    return {"title": metric.title, "digits": metric.digits, "unit": " in points" if metric.percent else ""}


def embed(content: Any) -> str:
    r"""JSON for a script element: no text in it can end the element, or open a comment in it.

    >>> print(embed("</script>"))
    "\u003c/script\u003e"
    """
    text = json.dumps(content, ensure_ascii=True, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c").replace(">", "\\u003e").replace("&", "\\u0026")


class _Shared:
    """Values that are referred to by their place."""

    def __init__(self) -> None:
        self.values: list[Any] = []
        self._places: dict[str, int] = {}

    def place(self, value: Any) -> int:
        place = self._places.setdefault(json.dumps(value, sort_keys=True), len(self.values))
        if place == len(self.values):
            self.values.append(value)
        return place


def _record(record: Record, versions: _Shared, tests: _Shared) -> dict[str, Any]:
    account = record.account
    content = {
        "hash": record.hash,
        "status": record.status,
        "reason": record.reason,
        "cell": record.cell.to_dict(),
        "split": record.split,
        "accuracy": record.accuracy,
        "training": account.training_accuracy,
        "validation": account.validation_accuracy,
        "seconds": record.seconds,
        "processor_seconds": record.processor_seconds,
        "prediction_seconds": record.prediction_seconds,
        "memory": record.peak_memory,
        "threads": record.threads,
        "engine": record.engine,
        "finished": record.finished,
        "versions": versions.place(dict(record.versions)),
        "chosen": account.chosen,
        "tried": len(account.tried),
        "notes": account.notes,
        "history": _history(account.history),
    }
    outcome = {} if record.outcome is None else _outcome(record.outcome, tests)
    return {name: value for name, value in content.items() if value not in (None, "", [], {})} | outcome


def _scores(record: Record, metrics: Sequence[str]) -> dict[str, Any]:
    """Every metric as text."""
    values = {name: record.score(name) for name in metrics}
    shown = {name: _written(name, value) for name, value in values.items() if value is not None}
    return {"scores": shown} if shown else {}


def _written(name: str, value: float) -> str:
    metric = METRICS[name]
    return f"{metric.scale * value:.{metric.digits}f}{' %' if metric.percent else ''}"


def _spec(record: Record, study: Study) -> dict[str, str]:
    return {"spec": study.specs[record.hash]} if record.hash in study.specs else {}


def _absent(study: Study) -> dict[str, dict[str, str]]:
    """Why there are no records, where there are none."""
    found: dict[str, dict[str, str]] = defaultdict(dict)
    for row in (table := main_table(study)).rows:
        for column, entry in zip(table.columns, row.entries, strict=True):
            if entry.mean is None and entry.why:
                found[row.label][column] = entry.why
    return found


def _history(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Curves by measure; ``epochs`` holds the epochs of all of them, as they are the same."""
    curves = {measure: thinned(history_curve(rows, measure)) for measure in MEASURES}
    found = {measure: curve for measure, curve in curves.items() if len(curve) > 1}
    values = {measure: [float(f"{value:.4g}") for _, value in curve] for measure, curve in found.items()}
    epochs = {measure: [int(epoch) for epoch, _ in curve] for measure, curve in found.items()}
    shared = next(iter(epochs.values()), [])
    return {"epochs": shared} | {measure: values[measure] for measure in values if epochs[measure] == shared} if shared else {}


def _outcome(outcome: Outcome, tests: _Shared) -> dict[str, Any]:
    """What was predicted; graphs, their classes and the names of these are shared by all methods that had the same test part."""
    n_classes = len(outcome.classes)
    test = {"classes": outcome.classes, "positions": outcome.positions, "truth": digits(outcome.truth, n_classes)}
    return {"test": tests.place(test), "predicted": digits(outcome.predicted, n_classes)}


def digits(numbers: Sequence[int], n_classes: int) -> str | list[int]:
    """Numbers of classes with one sign each, where there are signs enough.

    >>> digits([0, 11, 1], 12), digits([0, 40], 41)
    ('0b1', [0, 40])
    """
    return "".join(SIGNS[number] for number in numbers) if n_classes <= len(SIGNS) else list(numbers)
