"""phist fit"""

from pathlib import Path
from typing import Annotated, Any

import typer

from phist.cli.holdout import TEST_FRACTION, hold_out
from phist.cli.options import (
    ENGINES,
    HEADS,
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
from phist.cli.places import check_file_place, check_model_place
from phist.cli.screen import console, print_json, show_bounds
from phist.cli.training import train
from phist.errors import check_choice
from phist.progress import waiting

Out = Annotated[Path, typer.Option(help="The model folder to write; an earlier model there is replaced.", show_default=False)]
Preset = Annotated[
    str | None,
    typer.Option(
        metavar="NAME",
        help="'auto', a dataset's name for the paper's sizes with our recipe, or 'paper:NAME' for everything as printed. "
        "Left out, one of the nine datasets takes its own by name, and other data take 'auto'.",
        show_default=False,
    ),
]
Epochs = Annotated[int | None, typer.Option(min=1, help="Passes over the training graphs; the preset's, unless given.")]
Budget = Annotated[float | None, typer.Option(metavar="SECONDS", help="No epoch begins that would end after this time.")]
Engine = Annotated[
    str,
    typer.Option(
        metavar="|".join(ENGINES),
        help="The fused engine wherever it can, the fused engine or an error, or the plain PyTorch network (see 'phist info').",
    ),
]
Head = Annotated[
    str,
    typer.Option(
        metavar="|".join(HEADS),
        help="What classifies the embeddings: the paper's linear layer, extra trees, kernel ridge regression, "
        "or the mean of all three.",
    ),
]
TestFraction = Annotated[
    float | None,
    typer.Option(
        metavar="SHARE",
        help="Share of graphs, stratified by class, to test on instead of training on them; 0 trains on everything. "
        f"Left out, it is {TEST_FRACTION} where that leaves every class on both sides.",
        show_default=False,
    ),
]
Checkpoint = Annotated[
    Path | None, typer.Option(metavar="FILE", help="Where a killed run is resumed from; OUT.checkpoint, unless given.")
]
Fresh = Annotated[bool, typer.Option("--fresh", help="Ignore the checkpoint of an earlier run and begin anew.")]


def fit(
    data: Data,
    out: Out,
    labels: Labels = None,
    preset: Preset = None,
    epochs: Epochs = None,
    time_budget: Budget = None,
    seed: Seed = 0,
    engine: Engine = "auto",
    head: Head = "linear",
    test_fraction: TestFraction = None,
    checkpoint: Checkpoint = None,
    fresh: Fresh = False,
    threads: Threads = 1,
    as_json: Json = False,
    directed: Directed = None,
    self_loops: SelfLoops = None,
    weights: Weights = "use",
    empty: Empty = "error",
    node_table: NodeTable = None,
    max_bytes: MaxBytes = None,
) -> None:
    """Train a classifier on labelled graphs and save it as a folder with its card.

    Floors and ceiling of the data come first. A run that was killed goes on
    where it was when the same command is typed again, and ends with the same
    weights. Ctrl-C keeps the best model so far. Accuracies are in percent.

    Examples:
      phist fit ENZYMES --out enzymes
      phist fit mine.jsonl --out mine --epochs 50 --test-fraction 0.2
      phist fit edges.csv --labels labels.csv --out mine --json > mine.json
    """
    resumable = checkpoint or Path(f"{out.absolute()}.checkpoint")
    check_model_place(out)
    check_file_place(resumable)
    check_choice("head", head, HEADS)
    check_choice("engine", engine, ENGINES)
    reading: dict[str, Any] = {"directed": directed, "self_loops": self_loops, "weights": weights, "empty": empty}
    reading |= {"nodes": node_table, "max_bytes": max_bytes}
    graphs = load_labelled(data, labels, **reading)

    from phist.estimators import StructuralClassifier
    from phist.graphs.checkup import check_graphs
    from phist.training.presets import make_preset

    chosen = preset or _own_preset(data)
    make_preset(chosen, graphs)  # an unknown name should be reported before the checkup
    training, test = hold_out(graphs, test_fraction, seed)
    if fresh:
        resumable.unlink(missing_ok=True)

    screen = console(to_program=as_json)
    screen.print(f"{data}: {graphs!r}", style="bold")
    with waiting("looking at the graphs"):
        checkup = check_graphs(graphs)
    show_bounds(screen, checkup)
    held_out = "none are held out" if test is None else f"{len(test)} are held out"
    going_on = f", going on from {resumable.name}" if resumable.exists() else ""
    screen.print(f"\nTraining on {len(training)} graphs with preset {chosen}{going_on}; {held_out}")

    use_threads(threads)
    model = StructuralClassifier(chosen, epochs, engine, time_budget, seed, checkpoint=resumable, progress=True)
    model.set_params(head=head)
    trained = train(model, training, test, checkup)
    trained.save(out)
    trained.show(screen)
    screen.print(f"Saved {out}. Next:\n  phist predict {out} DATA")
    if as_json:
        print_json({"model": str(out), "data": data, "preset": chosen, "head": head, **trained.metrics()})
    trained.exit_if_interrupted("; type the same command to go on, or add --fresh to begin anew")
    resumable.unlink(missing_ok=True)


def _own_preset(data: str) -> str:
    """One of the nine datasets, given by its name, takes its own preset; a path that exists is not such a name."""
    from phist.graphs.facts import known_dataset

    facts = None if Path(data).expanduser().exists() else known_dataset(data)
    return "auto" if facts is None else facts.name
