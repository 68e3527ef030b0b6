"""phist demo"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from phist.cli.holdout import hold_out
from phist.cli.options import EFFORTS, Json, Seed, Threads, use_threads
from phist.cli.output import write_text
from phist.cli.output_checks import check_folder_place, check_model_place
from phist.cli.screen import console, print_json, show_bounds
from phist.cli.training import train
from phist.errors import OutputError
from phist.progress import waiting

if TYPE_CHECKING:
    from phist.estimators import StructuralClassifier
    from phist.graphs.graphset import GraphSet

PREFERRED, EMBEDDED = "ENZYMES", "MUTAG"  # where structure pays, if it is on this machine; and what the extra "demo" brings
PAGE, EXPLAINED = "page.html", 16  # held-out graphs in full: a quarter of a minute
HELD_OUT = 0.2  # twice the usual share: a tenth of so few graphs would say very little

Out = Annotated[Path, typer.Option(help="The folder to write; what an earlier demo left there is replaced.")]
Effort = Annotated[str, typer.Option(metavar="|".join(EFFORTS), help="How much is tried.")]


def demo(
    out: Out = Path("phist-demo"), seed: Seed = 0, effort: Effort = "medium", threads: Threads = None, as_json: Json = False
) -> None:
    """Fit a model, test it on held-out graphs, and save it with its verdict and pictures.

    The graphs are ENZYMES, 600 proteins of six classes, where it is in
    PHIST_DATA or the cache; else MUTAG, 188 molecules, which the installed
    grakel brings, and which is downloaded only where that is missing. Degrees
    tell nearly all there is to know of MUTAG, and the verdict says so. It takes
    about a minute.

    Examples:
      phist demo
      phist demo --out elsewhere --seed 1
      phist demo --json
    """
    from phist.extras import require

    with waiting("loading matplotlib"):
        require("matplotlib", "report", "the demo")
    check_folder_place(out)
    check_model_place(out / "model")
    _check_own_files(out)

    with waiting("loading PyTorch and scikit-learn"):
        from phist.estimators import StructuralClassifier
        from phist.files import write_json
        from phist.graphs.checkup import check_graphs
        from phist.graphs.datasets import find_dataset, load_dataset

    screen = console(as_json)
    name = EMBEDDED if find_dataset(PREFERRED).kind == "download" else PREFERRED
    graphs = load_dataset(name)
    screen.print(f"{name}, from {find_dataset(name).source}: {graphs!r}", style="bold")
    with waiting("looking at the graphs"):
        checkup = check_graphs(graphs)
    show_bounds(screen, checkup)
    training, test = hold_out(graphs, HELD_OUT, seed)
    assert test is not None
    screen.print(f"\nFitting to {len(training)} graphs; {len(test)} are held out")

    use_threads(threads)
    model = StructuralClassifier(effort, random_state=seed, progress=True)  # type: ignore[arg-type]
    trained = train(model, training, test)
    trained.show(screen)
    trained.save(out / "model")
    metrics = {"data": name, **trained.metrics()}
    write_json(out / "metrics.json", metrics)
    draw(model, training, test, out, name)
    explain(model, graphs, test, out, name)
    if as_json:
        print_json(metrics)
    screen.print(_where_things_are(out, name))
    screen.print(f"Open this page in a browser: {out / PAGE}", style="bold")
    trained.exit_if_interrupted()


def _check_own_files(out: Path) -> None:
    """Files of these names are replaced only beside a model, that is where an earlier demo left them."""
    names = ["metrics.json", PAGE, *(f"{name}.{kind}" for name in ("responses", "plane", "history") for kind in ("png", "svg"))]
    found = [name for name in names if (out / name).exists()]
    if found and not (out / "model").exists():
        raise OutputError(f"{out} holds {found[0]} and is not the folder of an earlier demo; choose another name")


def draw(model: "StructuralClassifier", training: "GraphSet", test: "GraphSet", out: Path, name: str) -> None:
    """The pictures of a trained model: responses, the held-out graphs in the plane, and the history."""
    from phist.drawing import plot_history, plot_plane, plot_responses, save_figure

    correct = model.predict(test) == test.labels
    plane = plot_plane(
        model.transform(test), test.label_list(), correct, background=model.transform(training),
        title=f"{len(test)} held-out graphs of {name} in the plane",
    )  # fmt: skip
    save_figure(plot_responses(model, test), out / "responses")
    save_figure(plane, out / "plane")
    save_figure(plot_history(model.histories_[0]), out / "history")


def explain(model: "StructuralClassifier", graphs: "GraphSet", test: "GraphSet", out: Path, name: str) -> None:
    """The page of explanations: all graphs on its map, and some that were held out in full."""
    import numpy as np

    from phist.explain.page.html import make_page

    wanted = np.flatnonzero(np.isin(graphs.ids, test.ids[:EXPLAINED])).tolist()
    write_text(out / PAGE, make_page(model, graphs, wanted=wanted, name=name))


def _where_things_are(out: Path, name: str) -> str:
    return f"""
In {out}:
  model/           the trained model; begin with model/card.md
  metrics.json     everything measured
  responses.png    a root's learned response and projective histogram, in a graph of each class (also .svg)
  plane.png        the held-out graphs in the plane (also .svg)
  history.png      loss and accuracy of the first network over the epochs (also .svg)
  page.html        why: a map of all graphs, what nodes and edges do, and edits that move the prediction
Next:
  phist predict {out / "model"} {name} --out predictions.csv
  phist embed {out / "model"} {name} --out embeddings.npz
  phist serve {out / "model"}
  phist fit YOUR_GRAPHS --out YOUR_MODEL
"""
