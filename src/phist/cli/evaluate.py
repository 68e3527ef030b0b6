"""phist evaluate"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phist.cli.options import READING_DEFAULTS, Data, Json, Labels, Model, ReadingOptions
from phist.cli.output import write_text
from phist.cli.output_checks import check_file_place, model_files
from phist.cli.predictions import fitted_notice, predictions_csv
from phist.cli.saved_models import MODEL_DEFAULTS, ModelOptions, input_notices, load_classifier, with_labels_of
from phist.cli.screen import console, print_json
from phist.errors import GraphInputError

if TYPE_CHECKING:
    from rich.console import Console

    from phist.graphs.graphset import GraphSet
    from phist.metrics import Metrics, Numbers, Probabilities

CLASSES_SHOWN = 8  # a wider table does not fit 80 columns
PAIRS_SHOWN = 10

Out = Annotated[
    Path | None, typer.Option(help="A CSV file to write: for every graph its label, the predicted one and the probabilities.")
]


def evaluate(
    model: Model,
    data: Data,
    out: Out = None,
    as_json: Json = False,
    how: ModelOptions = MODEL_DEFAULTS,
    labels: Labels = None,
    reading: ReadingOptions = READING_DEFAULTS,
) -> None:
    """How good a saved model is on labelled graphs: all metrics, and which classes it takes for which.

    Accuracy with its 95 % interval, balanced accuracy, ROC-AUC (of more than
    two classes, the mean of one against the rest), log-loss, calibration error
    and Brier score. Graphs that the model has learnt from flatter it. A label
    that the model never saw counts as a class to which it gives no probability.

    Examples:
      phist evaluate mymodel test.jsonl
      phist evaluate mymodel test.jsonl --out graphs.csv --json
    """
    if out is not None:
        check_file_place(out, data, labels, reading.node_table, *model_files(model))
    classifier = load_classifier(model, how)

    from phist.graphs.datasets import load_graphs
    from phist.metrics import compute_metrics, confusion

    graphs = with_labels_of(classifier, load_graphs(data, labels, **reading.arguments(classifier)))
    classes, targets = _targets(graphs, classifier.classes_.tolist(), data)
    with input_notices() as notices:
        probabilities = _widened(classifier.predict_proba(graphs), len(classes))
    notices += fitted_notice(classifier.flags(graphs))

    metrics, counts = compute_metrics(probabilities, targets), confusion(probabilities, targets)
    if out is not None:
        write_text(out, predictions_csv(graphs, classes, probabilities, labels=True))
    if as_json:
        print_json({
            "model": str(model),
            "data": data,
            "metrics": metrics.to_dict(),
            "classes": [_plain(label) for label in classes],
            "unknown_classes": [_plain(label) for label in classes[len(classifier.classes_) :]],
            "confusion": counts.tolist(),
            "notices": notices,
        })  # fmt: skip
    else:
        _show(console(), metrics, classes, counts, len(classifier.classes_))
    for notice in notices:
        console(to_program=True).print(f"note: {notice}")


def _targets(graphs: "GraphSet", known: list[Any], data: str) -> tuple[list[Any], list[int]]:
    """The model's classes and after them those that only the data have, and the number of every graph's class."""
    true = graphs.label_list()
    if not true:
        raise GraphInputError(
            f"the graphs of {data} have no labels to compare with; give them with --labels FILE, or use 'phist predict'"
        )
    if not set(known) & set(true):
        raise GraphInputError(
            f"the labels of {data} ({true[0]!r}, ...) are none of the model's ({', '.join(map(repr, known[:5]))}, ...); "
            "give labels of the same kind with --labels FILE"
        )
    classes = list(dict.fromkeys([*known, *graphs.classes]))
    numbers = {label: number for number, label in enumerate(classes)}
    return classes, [numbers[label] for label in true]


def _widened(probabilities: "Probabilities", n_classes: int) -> "Probabilities":
    import numpy as np

    return np.pad(probabilities, ((0, 0), (0, n_classes - probabilities.shape[1])))


def _show(screen: "Console", metrics: "Metrics", classes: list[Any], counts: "Numbers", n_known: int) -> None:
    low, high = metrics.interval
    area = "not defined: one class only" if metrics.roc_auc is None else f"{metrics.roc_auc:.3f}"
    rows = {
        "accuracy": f"{100 * metrics.accuracy:.1f} % (95 % interval {100 * low:.1f} to {100 * high:.1f} %)",
        "balanced accuracy": f"{100 * metrics.balanced_accuracy:.1f} %",
        "ROC-AUC": area,
        "log-loss": f"{metrics.log_loss:.3f}",
        "calibration error": f"{metrics.calibration_error:.3f}",
        "Brier score": f"{metrics.brier:.3f}",
    }
    screen.print(f"On {metrics.n} graphs:", style="bold")
    for name, value in rows.items():
        screen.print(f"  {name:<18} {value}")
    _show_confusion(screen, classes, counts)
    if len(classes) > n_known:
        screen.print(f"The model never saw {', '.join(map(str, classes[n_known:]))}: their graphs count as missed")


def _show_confusion(screen: "Console", classes: list[Any], counts: "Numbers") -> None:
    """The matrix, or where it would be too wide for a terminal the pairs of classes that are confused most often."""
    if len(classes) > CLASSES_SHOWN:
        screen.print(f"The {PAIRS_SHOWN} most frequent confusions (--json has all):")
        for count, true, taken in _confusions(classes, counts)[:PAIRS_SHOWN]:
            screen.print(f"  {count:>6}  {true} predicted as {taken}")
        return

    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table("true class", box=SIMPLE_HEAD, title="Graphs by true class and predicted class", title_justify="left")
    for label in classes:
        table.add_column(str(label), justify="right", no_wrap=True)
    for label, row in zip(classes, counts.tolist(), strict=True):
        table.add_row(str(label), *map(str, row))
    screen.print(table)


def _confusions(classes: list[Any], counts: "Numbers") -> list[tuple[int, Any, Any]]:
    """How often, the true class and the predicted one, the most frequent first."""
    rows = enumerate(counts.tolist())
    wrong = [(n, classes[i], classes[j]) for i, row in rows for j, n in enumerate(row) if i != j and n]
    return sorted(wrong, key=lambda pair: -pair[0])


def _plain(label: Any) -> Any:
    return label if isinstance(label, str | int | float | bool) else str(label)
