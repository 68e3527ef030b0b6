"""phist evaluate"""

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phist.cli.options import (
    Data,
    Directed,
    Empty,
    Json,
    Labels,
    MaxBytes,
    Model,
    NodeTable,
    OtherEngine,
    SelfLoops,
    Threads,
    Weights,
    direction_of,
    use_engine,
    use_threads,
)
from phist.cli.output_checks import check_file_place, model_files
from phist.cli.predict import Exact
from phist.cli.screen import console, print_json
from phist.errors import GraphInputError
from phist.progress import waiting

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
    exact: Exact = False,
    engine: OtherEngine = None,
    threads: Threads = None,
    labels: Labels = None,
    directed: Directed = None,
    self_loops: SelfLoops = None,
    weights: Weights = "use",
    empty: Empty = "error",
    node_table: NodeTable = None,
    max_bytes: MaxBytes = None,
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
        check_file_place(out, data, labels, node_table, *model_files(model))

    with waiting("loading PyTorch and the model"):
        from phist.estimators.fitted import FittedClassifier
        from phist.graphs.datasets import load_graphs
        from phist.metrics import compute_metrics, confusion

        use_threads(threads)
        classifier = FittedClassifier.load(model)
    if exact:
        classifier.inference = "exact"
    use_engine(classifier, engine)
    reading: dict[str, Any] = {"directed": direction_of(classifier, directed), "self_loops": self_loops, "weights": weights}
    reading |= {"empty": empty, "nodes": node_table, "max_bytes": max_bytes}
    graphs = load_graphs(data, labels, **reading)
    classes, targets = _targets(graphs, classifier.classes_.tolist(), data)
    probabilities = _widened(classifier.predict_proba(graphs), len(classes))

    metrics, counts = compute_metrics(probabilities, targets), confusion(probabilities, targets)
    if out is not None:
        _write_csv(out, graphs, classes, probabilities)
    if as_json:
        print_json({
            "model": str(model),
            "data": data,
            "metrics": metrics.to_dict(),
            "classes": [_plain(label) for label in classes],
            "unknown_classes": [_plain(label) for label in classes[len(classifier.classes_) :]],
            "confusion": counts.tolist(),
        })  # fmt: skip
        return
    _show(console(), metrics, classes, counts, len(classifier.classes_))


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


def _write_csv(out: Path, graphs: "GraphSet", classes: list[Any], probabilities: "Probabilities") -> None:
    from phist.files import atomic_path

    answers = [classes[number] for number in probabilities.argmax(axis=1)]
    with atomic_path(out) as temporary, temporary.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(["graph", "label", "predicted", *(f"p({label})" for label in classes)])
        for name, label, answer, row in zip(graphs.ids.tolist(), graphs.label_list(), answers, probabilities.tolist(), strict=True):
            writer.writerow([name, label, answer, *(f"{value:.6f}" for value in row)])


def _show(screen: "Console", metrics: "Metrics", classes: list[Any], counts: "Numbers", n_known: int) -> None:
    low, high = metrics.interval
    area = "not defined: one class only" if metrics.roc_auc is None else f"{100 * metrics.roc_auc:.1f} %"
    rows = {
        "accuracy": f"{100 * metrics.accuracy:.1f} % (95 % interval {100 * low:.1f} to {100 * high:.1f} %)",
        "balanced accuracy": f"{100 * metrics.balanced_accuracy:.1f} %",
        "ROC-AUC": area,
        "log-loss": f"{metrics.log_loss:.3f}",
        "calibration error": f"{100 * metrics.calibration_error:.1f} %",
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
