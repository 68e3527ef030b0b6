"""phist theory robustness"""

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, TypeVar

import typer

from phist.cli.options import READING_DEFAULTS, Data, Json, Labels, Model, ReadingOptions, Seed
from phist.cli.output_checks import check_file_place
from phist.cli.saved_models import MODEL_DEFAULTS, load_classifier, with_labels_of
from phist.cli.screen import console, print_json
from phist.errors import ConfigError
from phist.progress import somebody_looks

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from phist.estimators.fitted import FittedClassifier
    from phist.graphs.arrays import IntArray
    from phist.graphs.graphset import GraphSet
    from phist.theory.spectral_sensitivity import Band
    from phist.theory.stability import Shift

Result = TypeVar("Result")

Out = Annotated[Path | None, typer.Option(help="A picture to draw, as picture.png and picture.svg.")]
Samples = Annotated[int, typer.Option(min=1, help="Graphs to measure on, at most; drawn at random where there are more.")]
Draws = Annotated[int, typer.Option(min=1, help="Random errors to average over, at each strength.")]


def robustness(
    model: Model,
    data: Data,
    out: Out = None,
    as_json: Json = False,
    seed: Seed = 0,
    samples: Samples = 100,
    draws: Draws = 3,
    labels: Labels = None,
    reading: ReadingOptions = READING_DEFAULTS,
) -> None:
    """Which parts of the spectrum a classifier uses, and how far its predictions move when graphs are slightly wrong.

    Bands are intervals of the normalised Laplacian's spectrum. Energy is the share of the first layer's response to an
    impulse; muted is what becomes of the predictions when a band is taken out of the impulses. Errors are edges dropped,
    added or rewired with every degree kept, as a share of a graph's edges, and weights with a relative error.

    Examples:
      phist theory robustness mymodel mine.jsonl
      phist theory robustness mymodel MUTAG --samples 50 --out robustness.png
      phist theory robustness mymodel mine.jsonl --json
    """
    picture = None if out is None else _picture_place(out)

    classifier = load_classifier(model, MODEL_DEFAULTS)

    from phist.graphs.datasets import load_graphs

    graphs = with_labels_of(classifier, load_graphs(data, labels, **reading.arguments(classifier)))
    chosen = _choose(graphs, samples, seed)
    bands, measured = _measure_bands(classifier, chosen, seed)
    shifts = _shake(classifier, chosen, seed, draws)

    if as_json:
        print_json(_content(chosen, measured, bands, shifts, seed))
    else:
        _show(console(), data, chosen, measured, bands, shifts)
    if picture is not None:
        from phist.drawing.robustness import plot_robustness
        from phist.drawing.style import save_figure

        written = save_figure(plot_robustness(bands, shifts), picture)
        console(to_program=as_json).print(f"picture: {', '.join(map(str, written))}")


def _picture_place(out: Path) -> Path:
    """The picture's path without its ending; asked before anything long begins."""
    from phist.extras import require

    require("matplotlib", "report", "drawing")
    if out.suffix not in ("", ".png", ".svg"):
        raise ConfigError(f"--out {out} was given; pictures are drawn as .png and .svg: try --out {out.with_suffix('.png')}")
    stem = out.with_suffix("")
    for ending in (".png", ".svg"):
        check_file_place(Path(f"{stem}{ending}"))
    return stem


def _choose(graphs: "GraphSet", samples: int, seed: int) -> "GraphSet":
    import numpy as np

    if len(graphs) <= samples:
        return graphs
    return graphs[np.sort(np.random.default_rng(seed).choice(len(graphs), samples, replace=False))]


def _measure_bands(classifier: "FittedClassifier", graphs: "GraphSet", seed: int) -> tuple[list["Band"], int]:
    """The bands, and the number of graphs they were measured on; none where no graph has a spectrum."""
    from phist.theory.spectral_sensitivity import LARGEST, measure_graphs, summarise_bands

    n_measured = 0 if graphs.directed else int((graphs.node_counts() <= LARGEST).sum())
    if n_measured == 0:
        return [], 0
    measured = list(with_bar(measure_graphs(classifier.network_, graphs, seed=seed), n_measured, "measuring"))
    return summarise_bands(measured), n_measured


def _shake(classifier: "FittedClassifier", graphs: "GraphSet", seed: int, draws: int) -> list["Shift"]:
    from phist.theory.perturbation import PERTURBATIONS
    from phist.theory.stability import STRENGTHS, measure_shifts

    shifts = measure_shifts(classifier.predict_proba, graphs, _targets(classifier, graphs), seed=seed, draws=draws)
    return list(with_bar(shifts, 1 + len(PERTURBATIONS) * len(STRENGTHS), "shaking"))


def _targets(classifier: "FittedClassifier", graphs: "GraphSet") -> "IntArray | None":
    """The place of each label among the classifier's classes, -1 for others; none where no label is known to it."""
    import numpy as np

    place = {label: number for number, label in enumerate(classifier.classes_.tolist())}
    targets = np.array([place.get(label, -1) for label in graphs.label_list()], dtype=np.int64)
    return targets if (targets >= 0).any() else None


def with_bar(results: Iterable[Result], total: int, name: str) -> Iterator[Result]:
    """The same results, with a bar on standard error while a person watches."""
    from rich.console import Console
    from rich.progress import track

    screen = Console(stderr=True)
    yield from track(results, name, total=total, console=screen, transient=True, disable=not somebody_looks(None))


def _content(graphs: "GraphSet", measured: int, bands: list["Band"], shifts: list["Shift"], seed: int) -> dict[str, Any]:
    return {
        "graphs": len(graphs),
        "graphs_measured": measured,
        "seed": seed,
        "bands": [_rounded(asdict(band)) for band in bands],
        "shifts": [_rounded(asdict(shift)) for shift in shifts],
    }


def _rounded(values: dict[str, Any]) -> dict[str, Any]:
    return {name: round(value, 6) if isinstance(value, float) else value for name, value in values.items()}


def _show(screen: "Console", data: str, graphs: "GraphSet", measured: int, bands: list["Band"], shifts: list["Shift"]) -> None:
    before = shifts[0].accuracy
    known = "" if before is None else f", accuracy {100 * before:.1f} % as they are"
    screen.print(f"{data}: {len(graphs):,} graphs{known}; all figures in percent\n", style="bold")
    if bands:
        screen.print(
            "Bands of the spectrum" + ("" if measured == len(graphs) else f" ({measured:,} graphs; the others are too large)")
        )
        screen.print(_band_table(bands))
    else:
        screen.print("Bands of the spectrum: none, the graphs are directed or too large for their spectra\n")
    screen.print("Predictions when graphs are slightly wrong")
    screen.print(_shift_table(shifts))


def _band_table(bands: list["Band"]) -> "Table":
    table = _table("band", "eigenvalues", "energy", "flips if muted", "probability moved")
    for band in bands:
        values = (band.eigenvalues, band.energy, band.flipped, band.moved)
        table.add_row(f"{band.low:.2f} to {band.high:.2f}", *(_percent(value) for value in values))
    return table


def _shift_table(shifts: list["Shift"]) -> "Table":
    table = _table("error", "strength", "flips", "probability moved", "accuracy")
    for shift in shifts[1:]:
        values = (shift.flipped, shift.moved, shift.accuracy)
        table.add_row(shift.perturbation, f"{100 * shift.strength:g}", *(_percent(value) for value in values))
    return table


def _table(first: str, *others: str) -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD)
    table.add_column(first, no_wrap=True)
    for name in others:
        table.add_column(name, justify="right", no_wrap=True)
    return table


def _percent(value: float | None) -> str:
    return "-" if value is None else f"{100 * value:.1f}"
