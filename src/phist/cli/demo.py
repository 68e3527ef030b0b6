"""phist demo"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from phist.cli.holdout import hold_out
from phist.cli.options import EFFORTS, Seed, use_threads
from phist.cli.output_checks import check_folder_place, check_model_place
from phist.cli.screen import console, show_bounds
from phist.cli.training import train
from phist.errors import OutputError
from phist.progress import waiting

if TYPE_CHECKING:
    from phist.estimators import StructuralClassifier
    from phist.graphs.graphset import GraphSet

DATASET = "MUTAG"
HELD_OUT = 0.2  # twice the usual share: of 188 graphs a tenth would say very little

Out = Annotated[Path, typer.Option(help="The folder to write; what an earlier demo left there is replaced.")]
Effort = Annotated[str, typer.Option(metavar="|".join(EFFORTS), help="How much is tried.")]


def demo(out: Out = Path("phist-demo"), seed: Seed = 0, effort: Effort = "medium") -> None:
    """Fit a model to MUTAG, test it on held-out graphs, and save it with its metrics and pictures.

    MUTAG is 188 molecules, mutagenic (1) or not (-1). It comes from PHIST_DATA,
    the cache or the installed grakel, which not every Python has, and is
    downloaded only if it is in none of them. All this takes about a minute.

    Examples:
      phist demo
      phist demo --out elsewhere --seed 1
    """
    from phist.extras import require

    require("matplotlib", "report", "the demo")
    check_folder_place(out)
    check_model_place(out / "model")
    _check_own_files(out)

    with waiting("loading PyTorch and scikit-learn"):
        from phist.estimators import StructuralClassifier
        from phist.files import write_json
        from phist.graphs.checkup import check_graphs
        from phist.graphs.datasets import find_dataset, load_dataset

    screen = console()
    source = find_dataset(DATASET).source
    graphs = load_dataset(DATASET)
    screen.print(f"{DATASET}, from {source}: {graphs!r}", style="bold")
    with waiting("looking at the graphs"):
        checkup = check_graphs(graphs)
    show_bounds(screen, checkup)
    training, test = hold_out(graphs, HELD_OUT, seed)
    assert test is not None
    screen.print(f"\nFitting to {len(training)} graphs; {len(test)} are held out")

    use_threads(1)
    model = StructuralClassifier(effort, random_state=seed, progress=True)  # type: ignore[arg-type]
    trained = train(model, training, test)
    trained.show(screen)
    trained.save(out / "model")
    write_json(out / "metrics.json", {"data": DATASET, **trained.metrics()})
    draw(model, training, test, out)
    screen.print(_where_things_are(out))
    trained.exit_if_interrupted()


def _check_own_files(out: Path) -> None:
    """Files of these names are replaced only beside a model, that is where an earlier demo left them."""
    names = ["metrics.json", *(f"{name}.{kind}" for name in ("responses", "plane", "history") for kind in ("png", "svg"))]
    found = [name for name in names if (out / name).exists()]
    if found and not (out / "model").exists():
        raise OutputError(f"{out} holds {found[0]} and is not the folder of an earlier demo; choose another name")


def draw(model: "StructuralClassifier", training: "GraphSet", test: "GraphSet", out: Path) -> None:
    """The pictures of a trained model: responses, the held-out graphs in the plane, and the history."""
    from phist.drawing import plot_history, plot_plane, plot_responses, save_figure

    correct = model.predict(test) == test.labels
    plane = plot_plane(
        model.transform(test), test.label_list(), correct, background=model.transform(training),
        title=f"{len(test)} held-out graphs of {DATASET} in the plane",
    )  # fmt: skip
    save_figure(plot_responses(model, test), out / "responses")
    save_figure(plane, out / "plane")
    save_figure(plot_history(model.histories_[0]), out / "history")


def _where_things_are(out: Path) -> str:
    return f"""
In {out}:
  model/           the trained model; begin with model/card.md
  metrics.json     everything measured
  responses.png    a root's learned response and projective histogram, in a graph of each class (also .svg)
  plane.png        the held-out graphs in the plane (also .svg)
  history.png      loss and accuracy of the first network over the epochs (also .svg)
Next:
  phist predict {out / "model"} {DATASET} --out predictions.csv
  phist embed {out / "model"} {DATASET} --out embeddings.npz
  phist check ENZYMES
  phist fit YOUR_GRAPHS --out YOUR_MODEL
"""
