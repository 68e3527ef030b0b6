"""phist fit"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phist.cli.bulk import refuse_in_streams
from phist.cli.help import COMPUTING, TRAINING
from phist.cli.holdout import hold_out
from phist.cli.options import (
    EFFORTS,
    ENGINES,
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
    check_labelled,
    load_labelled,
    use_threads,
)
from phist.cli.output_checks import check_checkpoint_place, check_model_place, check_outside
from phist.cli.screen import console, notes, print_json
from phist.cli.streams import check_standard_output
from phist.cli.together import begin_anew, end_at_once, gathered, remove_gathered, together
from phist.cli.training import Trained, train
from phist.errors import OutputError, check_choice
from phist.progress import waiting
from phist.training.checkpoint_files import remove_checkpoint

if TYPE_CHECKING:
    from rich.console import Console

    from phist.graphs.graphset import GraphSet
    from phist.training.group import Group

Out = Annotated[Path, typer.Option(help="The model folder to write; an earlier model there is replaced.", show_default=False)]
Effort = Annotated[
    str,
    typer.Option(
        metavar="|".join(EFFORTS),
        help="How much is tried: one short network; five networks and all members; longer training and networks of a second kind.",
    ),
]
Preset = Annotated[
    str,
    typer.Option(
        metavar="NAME",
        help="'auto' finds everything from the graphs. A dataset's name trains one network with the paper's sizes and our recipe, "
        "'paper:NAME' one with everything as printed.",
        rich_help_panel=TRAINING,
    ),
]
Members = Annotated[
    str,
    typer.Option(
        metavar="NAMES",
        help="What to try, separated by commas: network, colours, profiles; or auto, by effort.",
        rich_help_panel=TRAINING,
    ),
]
Heads = Annotated[
    str,
    typer.Option(
        metavar="NAMES",
        help="Heads of the networks, separated by commas: linear, forest, kernel; or auto.",
        rich_help_panel=TRAINING,
    ),
]
Epochs = Annotated[
    int | None,
    typer.Option(
        min=1, help="Epochs of each network; found by validation, or the preset's, unless given.", rich_help_panel=TRAINING
    ),
]
BatchSize = Annotated[
    int | None,
    typer.Option(
        min=1,
        help="Graphs of a training step, of all processes together; found from the graphs, or the preset's, unless given.",
        rich_help_panel=TRAINING,
    ),
]
Budget = Annotated[float | None, typer.Option(metavar="SECONDS", help="How long the fit may take, about.")]
Engine = Annotated[
    str,
    typer.Option(
        metavar="|".join(ENGINES),
        help="The fused engine wherever it can, the fused engine or an error, or the plain PyTorch network (see 'phist info').",
        rich_help_panel=COMPUTING,
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
    effort: Effort = "medium",
    time_budget: Budget = None,
    seed: Seed = 0,
    test_fraction: TestFraction = 0.0,
    preset: Preset = "auto",
    members: Members = "auto",
    heads: Heads = "auto",
    epochs: Epochs = None,
    batch_size: BatchSize = None,
    engine: Engine = "auto",
    checkpoint: Checkpoint = None,
    fresh: Fresh = False,
    threads: Threads = None,
    as_json: Json = False,
    directed: Directed = None,
    self_loops: SelfLoops = None,
    weights: Weights = "use",
    empty: Empty = "error",
    node_table: NodeTable = None,
    max_bytes: MaxBytes = None,
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
    check_choice("effort", effort, EFFORTS)
    check_choice("engine", engine, ENGINES)
    reading: dict[str, Any] = {"directed": directed, "self_loops": self_loops, "weights": weights, "empty": empty}
    training = {name: value for name, value in (("epochs", epochs), ("batch_size", batch_size)) if value is not None}
    settings = {"preset": preset, "members": names(members), "heads": names(heads), "training": training or None, "engine": engine}

    with together() as group:
        graphs = _load(data, labels, resumable, group, **reading, nodes=node_table, max_bytes=max_bytes)
        with waiting("loading PyTorch and scikit-learn"):
            from phist.estimators import StructuralClassifier
            from phist.graphs.labels import check_savable

        check_savable(graphs.classes)
        model = StructuralClassifier(effort, time_budget, random_state=seed, checkpoint=resumable, progress=True, **settings)  # type: ignore[arg-type]
        model.check_parameters()
        kept, test = hold_out(graphs, test_fraction, seed)
        begin_anew(resumable, fresh, group)
        told = notes(to_program=as_json)
        what = f"effort {effort}" if preset == "auto" else f"preset {preset}"
        if group.is_first:
            _announce(told, data, graphs, kept, test, what, resumable)
        use_threads(threads)
        trained = train(model, kept, test)
        if group.is_first:
            _save(trained, out, data, resumable)
    trained.show(console(to_program=as_json))
    told.print(f"Saved {out}. Next:\n  phist predict {out} DATA")
    if as_json:
        print_json({"model": str(out), "data": data, "preset": preset, **trained.metrics()})
    trained.exit_if_interrupted("; type the same command to go on, or add --fresh to begin anew")
    remove_checkpoint(resumable)
    remove_gathered(resumable)
    end_at_once(group)


def _load(data: str, labels: Path | None, resumable: Path, group: "Group", **reading: Any) -> "GraphSet":
    """Labelled graphs; those of many files are gathered beside the checkpoint, and mapped."""
    from phist.scale.sources import is_stream

    if not is_stream(data):
        return load_labelled(data, labels, **reading)
    refuse_in_streams(labels=labels, node_table=reading.pop("nodes"))
    return check_labelled(gathered(data, resumable, group, reading), data)


def _announce(
    told: "Console", data: str, graphs: "GraphSet", kept: "GraphSet", test: "GraphSet | None", what: str, resumable: Path
) -> None:
    from phist.training.checkpoint_files import checkpoint_files

    told.print(f"{data}: {graphs!r}", style="bold")
    held_out = "" if test is None else f"; {len(test)} are held out"
    resumed = f", resuming from {resumable.name}" if checkpoint_files(resumable) else ""
    told.print(f"Fitting to {len(kept)} graphs, {what}{resumed}{held_out}")


def names(given: str) -> str | tuple[str, ...]:
    """Names separated by commas, as the estimator takes them."""
    return tuple(given.split(",")) if "," in given else given


def _save(trained: Trained, out: Path, data: str, checkpoint: Path) -> None:
    """Save the model; where that fails, tell how it can be had without training again."""
    try:
        trained.save(out)
    except OutputError as error:
        again = f"phist fit {data} --out ELSEWHERE --checkpoint {checkpoint}"
        raise OutputError(f"{error}. The training is kept: '{again}' with the same options saves the model elsewhere") from error
