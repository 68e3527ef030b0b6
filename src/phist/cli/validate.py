"""phist validate"""

from pathlib import Path
from typing import Annotated, Any

import typer

from phist.cli.fit import Budget, Effort, Engine, Epochs, Heads, Members, Preset, names
from phist.cli.options import (
    Data,
    Directed,
    Empty,
    Json,
    Labels,
    MaxBytes,
    NodeTable,
    Seed,
    SelfLoops,
    Threads,
    Weights,
    load_labelled,
    use_threads,
)
from phist.cli.output_checks import check_file_place
from phist.cli.screen import console, notes, print_json
from phist.progress import waiting

Folds = Annotated[int, typer.Option(min=2, help="Parts of the data; each is predicted by a model fitted to the others.")]
Records = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="A file of results, fold by fold, from which a killed run resumes.", show_default=False),
]


def validate(
    data: Data,
    records: Records = None,
    labels: Labels = None,
    folds: Folds = 10,
    effort: Effort = "medium",
    time_budget: Budget = None,
    seed: Seed = 0,
    preset: Preset = "auto",
    members: Members = "auto",
    heads: Heads = "auto",
    epochs: Epochs = None,
    engine: Engine = "auto",
    threads: Threads = None,
    as_json: Json = False,
    directed: Directed = None,
    self_loops: SelfLoops = None,
    weights: Weights = "use",
    empty: Empty = "error",
    node_table: NodeTable = None,
    max_bytes: MaxBytes = None,
) -> None:
    """Cross-validate: how good would a model of these graphs be on others?

    Every fold is predicted by a model that was fitted without it. 'phist fit'
    estimates the same from within one fit; this is the slower and surer way.

    Examples:
      phist validate MUTAG --effort low
      phist validate mine.jsonl --folds 5 --records mine-validation.jsonl
    """
    if records is not None:
        check_file_place(records, data, labels, node_table)
    reading: dict[str, Any] = {"directed": directed, "self_loops": self_loops, "weights": weights, "empty": empty}
    reading |= {"nodes": node_table, "max_bytes": max_bytes}
    graphs = load_labelled(data, labels, **reading)

    with waiting("loading PyTorch and scikit-learn"):
        from phist.estimators import StructuralClassifier
        from phist.estimators.validation import CrossValidation

    use_threads(threads)
    model = StructuralClassifier(
        effort, time_budget, random_state=seed, preset=preset, members=names(members), heads=names(heads),  # type: ignore[arg-type]
        training=None if epochs is None else {"epochs": epochs}, engine=engine, progress=None,
    )  # fmt: skip
    model.check_parameters()
    validation = CrossValidation(model, graphs, folds, seed, records)
    screen, told = console(to_program=as_json), notes(to_program=as_json)
    told.print(f"{data}: {graphs!r}", style="bold")
    done = len(validation.results)
    if done:
        told.print(f"{done} of {folds} folds are in {records}")
    for number, result in enumerate(validation.run()):
        if number >= done:
            told.print(f"  fold {result.fold + 1} of {folds}: {len(result.positions)} graphs, {result.seconds:.0f} s")
    found = validation.summary()
    if as_json:
        print_json({
            "data": data, "folds": folds, "metrics": found.metrics.to_dict(),
            "accuracies": found.accuracies, "estimates": found.estimates,
        })  # fmt: skip
        return

    from statistics import mean, stdev

    low, high = found.metrics.interval
    screen.print(
        f"accuracy {100 * found.metrics.accuracy:.1f} % (95 % interval {100 * low:.1f} to {100 * high:.1f}); "
        f"over folds {100 * mean(found.accuracies):.1f} ± {100 * stdev(found.accuracies):.1f}",
        style="bold",
    )
    area = "" if found.metrics.roc_auc is None else f", ROC-AUC {found.metrics.roc_auc:.3f}"
    screen.print(
        f"balanced accuracy {100 * found.metrics.balanced_accuracy:.1f} %{area}, log-loss {found.metrics.log_loss:.3f}, "
        f"calibration error {found.metrics.calibration_error:.3f}"
    )
    promised = [estimate for estimate in found.estimates if estimate is not None]
    if promised:
        screen.print(f"the fits' own estimates were {100 * mean(promised):.1f} % on average")
