"""What the report carries of every record, in few characters, and how it is put into a page without becoming part of it."""

import json
from collections import defaultdict
from collections.abc import Iterable
from typing import Any

import numpy as np

from phist.evaluation.records import Outcome, Record
from phist.metrics import METRICS
from phist.report.figures import thinned
from phist.report.study import Study, history_curve

MEASURES = ("loss", "accuracy", "validation_loss", "validation_accuracy")


def make_payload(study: Study) -> dict[str, Any]:
    """Every record of the study by method and dataset; what many records share is written once."""
    versions = _Shared()
    records: dict[str, dict[str, list[Any]]] = defaultdict(dict)
    for result in study.results:
        kept = [*result.records, *result.failed]
        records[result.label][result.dataset] = [_record(record, versions) | _score(record, study.metric) for record in kept]
    return {"study": study.name, "metric": METRICS[study.metric].title, "versions": versions.values, "records": records}


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

    def place(self, value: Any) -> int:
        if value not in self.values:
            self.values.append(value)
        return self.values.index(value)


def _record(record: Record, versions: _Shared) -> dict[str, Any]:
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
        "memory": record.peak_memory,
        "threads": record.threads,
        "engine": record.engine,
        "finished": record.finished,
        "versions": versions.place(dict(record.versions)),
        "chosen": account.chosen,
        "tried": len(account.tried),
        "notes": account.notes,
        "history": _history(account.history),
        "outcome": None if record.outcome is None else _outcome(record.outcome),
    }
    return {name: value for name, value in content.items() if value not in (None, "", [], {})}


def _score(record: Record, name: str) -> dict[str, str]:
    """The metric of the study as text, where it is not the accuracy, which every record has."""
    value = None if name == "accuracy" else record.score(name)
    metric = METRICS[name]
    return {} if value is None else {"score": f"{metric.scale * value:.{metric.digits}f}{' %' if metric.percent else ''}"}


def _history(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Curves by measure; ``epochs`` holds the epochs of all of them, as they are the same."""
    curves = {measure: thinned(history_curve(rows, measure)) for measure in MEASURES}
    found = {measure: curve for measure, curve in curves.items() if len(curve) > 1}
    values = {measure: [float(f"{value:.4g}") for _, value in curve] for measure, curve in found.items()}
    epochs = {measure: [int(epoch) for epoch, _ in curve] for measure, curve in found.items()}
    shared = next(iter(epochs.values()), [])
    return {"epochs": shared} | {measure: values[measure] for measure in values if epochs[measure] == shared} if shared else {}


def _outcome(outcome: Outcome) -> dict[str, Any]:
    """Classes, and how many graphs of each were taken for which."""
    return {"classes": outcome.classes, "confusion": confusion(outcome.truth, outcome.predicted, len(outcome.classes))}


def confusion(truth: Iterable[int], predicted: Iterable[int], n_classes: int) -> list[list[int]]:
    """Graphs by true class (rows) and predicted class (columns).

    >>> confusion([0, 0, 1], [0, 1, 1], 2)
    [[1, 1], [0, 1]]
    """
    table = np.zeros((n_classes, n_classes), dtype=np.int64)
    np.add.at(table, (list(truth), list(predicted)), 1)
    counts: list[list[int]] = table.tolist()
    return counts
