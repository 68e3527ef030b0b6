"""phist fit"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from phist.cli.bulk import refuse_in_streams
from phist.cli.help import TRAINING
from phist.cli.holdout import hold_out
from phist.cli.options import (
    READING_DEFAULTS,
    Data,
    Json,
    Labels,
    ReadingOptions,
    check_labelled,
    load_labelled,
    use_threads,
)
from phist.cli.output_checks import check_checkpoint_place, check_model_place, check_outside
from phist.cli.screen import console, notes, print_json
from phist.cli.streams import check_standard_output
from phist.cli.together import begin_anew, end_at_once, gathered, remove_gathered, together
from phist.cli.training import Trained, train
from phist.cli.training_options import TRAINING_DEFAULTS, TrainingOptions
from phist.errors import OutputError
from phist.progress import waiting
from phist.training.checkpoint_files import remove_checkpoint

if TYPE_CHECKING:
    from rich.console import Console

    from phist.graphs.graphset import GraphSet
    from phist.training.group import Group

Out = Annotated[Path, typer.Option(help="The model folder to write; an earlier model there is replaced.", show_default=False)]
BatchSize = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Graphs of a training step, of all processes together; found from the graphs, or the preset's, unless given.",
        rich_help_panel=TRAINING,
    ),
]
TestFraction = Annotated[
    float,
    typer.Option(
        metavar="SHARE",
        help="Share of graphs, stratified by class, to hold out and test the model on. Out-of-fold predictions estimate the "
        "accuracy without it.",
    ),
]
Checkpoint = Annotated[
    Path | None,
    typer.Option(
        metavar="PATH",
        help="Prefix of the checkpoint files from which a killed run resumes; OUT.checkpoint, unless given.",
        rich_help_panel=TRAINING,
    ),
]
Fresh = Annotated[
    bool,
    typer.Option("--fresh", help="Discard the checkpoint of an earlier run and start again.", rich_help_panel=TRAINING),
]


def fit(
    data: Data,
    out: Out,
    labels: Labels = None,
    options: TrainingOptions = TRAINING_DEFAULTS,
    test_fraction: TestFraction = 0.0,
    batch_size: BatchSize = None,
    checkpoint: Checkpoint = None,
    fresh: Fresh = False,
    as_json: Json = False,
    reading: ReadingOptions = READING_DEFAULTS,
) -> None:
    """Fit a classifier to labelled graphs and save it as a folder with its card.

    Everything is found from the graphs: how long networks train, what each
    member weighs. The fit ends with a verdict from out-of-fold predictions: how
    good the model is on new graphs, and whether that beats the floors. Type the
    same command again to resume a run that was killed. Ctrl-C keeps what is
    ready. A folder or pattern of Parquet or JSONL files may exceed memory; and
    torchrun --nproc-per-node N -m phist fit ... trains on N processes.

    Examples:
      phist fit ENZYMES --out enzymes
      phist fit mine.jsonl --out mine --effort low
      phist fit edges.csv --labels labels.csv --out mine --json > mine.json
      phist fit ENZYMES --out printed --preset paper:ENZYMES
      phist fit 'lake/*.parquet' --out mine
    """
    resumable = checkpoint or Path(f"{out.absolute()}.checkpoint")
    check_model_place(out)
    check_outside(out, data)
    check_checkpoint_place(resumable, out)
    check_outside(resumable, data)
    if as_json:
        check_standard_output()
    options.check()

    with together() as group:
        graphs = _load(data, labels, resumable, group, reading)
        with waiting("loading PyTorch and scikit-learn"):
            from phist.graphs.labels import check_savable

            model = options.estimator(batch_size=batch_size, checkpoint=resumable, progress=True)
        check_savable(graphs.classes)
        kept, test = hold_out(graphs, test_fraction, options.seed)
        begin_anew(resumable, fresh, group)
        told = notes(to_program=as_json)
        what = f"effort {options.effort}" if options.preset == "auto" else f"preset {options.preset}"
        if group.is_first:
            _announce(told, data, graphs, kept, test, what, resumable)
        use_threads(options.threads)
        trained = train(model, kept, test)
        if group.is_first:
            _save(trained, out, data, resumable)
    trained.show(console(to_program=as_json))
    told.print(f"Saved {out}. Next:\n  phist predict {out} DATA")
    if as_json:
        print_json({"model": str(out), "data": data, "preset": options.preset, **trained.metrics()})
    trained.exit_if_interrupted("; type the same command to go on, or add --fresh to begin anew")
    remove_checkpoint(resumable)
    remove_gathered(resumable)
    end_at_once(group)


def _load(data: str, labels: Path | None, resumable: Path, group: "Group", reading: ReadingOptions) -> "GraphSet":
    """Labelled graphs; those of many files are gathered beside the checkpoint, and mapped."""
    from phist.scale.sources import is_stream

    if not is_stream(data):
        return load_labelled(data, labels, **reading.arguments())
    refuse_in_streams(labels=labels, node_table=reading.node_table)
    return check_labelled(gathered(data, resumable, group, reading.of_streams()), data)


def _announce(
    told: "Console", data: str, graphs: "GraphSet", kept: "GraphSet", test: "GraphSet | None", what: str, resumable: Path
) -> None:
    from phist.training.checkpoint_files import checkpoint_files

    told.print(f"{data}: {graphs!r}", style="bold")
    held_out = "" if test is None else f"; {len(test)} are held out"
    resumed = f", resuming from {resumable.name}" if checkpoint_files(resumable) else ""
    told.print(f"Fitting to {len(kept)} graphs, {what}{resumed}{held_out}")


def _save(trained: Trained, out: Path, data: str, checkpoint: Path) -> None:
    """Save the model; where that fails, tell how it can be had without training again."""
    try:
        trained.save(out)
    except OutputError as error:
        again = f"phist fit {data} --out ELSEWHERE --checkpoint {checkpoint}"
        raise OutputError(f"{error}. The training is kept: '{again}' with the same options saves the model elsewhere") from error
