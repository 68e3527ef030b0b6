"""phist validate"""

from pathlib import Path
from typing import Annotated

import typer

from phist.cli.options import READING_DEFAULTS, Data, Json, Labels, ReadingOptions, load_labelled, use_threads
from phist.cli.output_checks import check_file_place
from phist.cli.screen import console, notes, print_json
from phist.cli.training import INTERRUPTED
from phist.cli.training_options import TRAINING_DEFAULTS, TrainingOptions
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
    options: TrainingOptions = TRAINING_DEFAULTS,
    as_json: Json = False,
    reading: ReadingOptions = READING_DEFAULTS,
) -> None:
    """Cross-validate: how good would a model of these graphs be on others?

    Every fold is predicted by a model that was fitted without it. 'phist fit'
    estimates the same from within one fit; this is the slower and surer way.

    Examples:
      phist validate MUTAG --effort low
      phist validate mine.jsonl --folds 5 --records mine-validation.jsonl
    """
    options.check()
    if records is not None:
        check_file_place(records, data, labels, reading.node_table)
    graphs = load_labelled(data, labels, **reading.arguments())

    with waiting("loading PyTorch and scikit-learn"):
        from phist.estimators.validation import CrossValidation

        model = options.estimator(progress=None)
    use_threads(options.threads)
    validation = CrossValidation(model, graphs, folds, options.seed, records)
    screen, told = console(to_program=as_json), notes(to_program=as_json)
    told.print(f"{data}: {graphs!r}", style="bold")
    known = set(validation.results)
    if known:
        told.print(f"{len(known)} of {folds} folds are in {records}")
    try:
        for result in validation.run():
            if result.fold not in known:
                told.print(f"  fold {result.fold + 1} of {folds}: {len(result.positions)} graphs, {result.seconds:.0f} s")
    except KeyboardInterrupt as error:
        told.print(f"Stopped; {_how_to_go_on(len(validation.results), folds, records)}")
        raise typer.Exit(INTERRUPTED) from error
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


def _how_to_go_on(done: int, folds: int, records: Path | None) -> str:
    if records is None:
        return "nothing was kept. With --records FILE every fold is, and the same command goes on"
    return f"{done} of {folds} folds are in {records}. Type the same command to go on"
