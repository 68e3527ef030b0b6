"""Predictions as a table, and what a person should know of graphs that a model was fitted to."""

import csv
import io
from typing import TYPE_CHECKING, Any

from phist.cli.text import csv_cell

if TYPE_CHECKING:
    from phist.graphs.graphset import GraphSet
    from phist.metrics import Probabilities


def predictions_csv(graphs: "GraphSet", classes: list[Any], probabilities: "Probabilities", *, labels: bool = False) -> str:
    """A line for each graph: its id, its label if asked for, the predicted one, and the probability of each class."""
    lines = io.StringIO()
    writer = csv.writer(lines, lineterminator="\n")
    writer.writerow(["graph", *(["label"] if labels else []), "predicted", *(csv_cell(f"p({label})") for label in classes)])
    true = graphs.label_list() if labels else []
    for number, (identity, row) in enumerate(zip(graphs.ids.tolist(), probabilities, strict=True)):
        known = [csv_cell(true[number])] if labels else []
        writer.writerow([csv_cell(identity), *known, csv_cell(classes[row.argmax()]), *(f"{value:.6f}" for value in row.tolist())])
    return lines.getvalue()


def fitted_notice(flags: list[list[str]]) -> list[str]:
    """A sentence where most graphs look like graphs of the training, else none."""
    seen = sum("look-alike" in own for own in flags)
    if 2 * seen <= len(flags):
        return []
    return [
        f"{seen} of {len(flags)} graphs look exactly like graphs that the model was fitted to; how well it does on them "
        "is no measure of it (see card.md, or 'phist validate')"
    ]
