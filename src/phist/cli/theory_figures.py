"""phist theory figures"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from phist.cli.options import Json, use_threads
from phist.cli.output_checks import check_file_place, check_folder_place
from phist.cli.screen import console, print_json
from phist.cli.theory_robustness import with_bar
from phist.progress import waiting

if TYPE_CHECKING:
    from phist.theory.scaling import Curve

FIGURE_NAMES = "histogram|matrix|robustness|architecture|curse|complexity"

Out = Annotated[Path, typer.Option(metavar="DIR", help="The folder to draw into.", show_default=False)]
Only = Annotated[list[str] | None, typer.Option(metavar=FIGURE_NAMES, help="Draw this one; may be given several times.")]
Measured = Annotated[
    Path | None,
    typer.Option(metavar="FILE", help="Curves from benchmarks/scaling.py --json; without them a few small sizes are measured."),
]


def figures(out: Out, only: Only = None, complexity: Measured = None, as_json: Json = False) -> None:
    """Draw the figures of the theory, each as PNG and SVG.

    The projective histogram before and after a rotation, the matrix A with the star, the toy example of robustness, the
    network's architecture, the curse of dimensionality, and the time of a training step as measured.

    Examples:
      phist theory figures --out figures
      phist theory figures --out figures --only matrix --only curse
      phist theory figures --out figures --only complexity --complexity scaling.json
    """
    from phist.errors import check_choice
    from phist.extras import require

    with waiting("loading matplotlib and PyTorch"):
        require("matplotlib", "report", "drawing")

        from phist.drawing.style import save_figure
        from phist.drawing.theory import COMPLEXITY, FIGURES, plot_theory

        use_threads(1)
    for name in only or ():
        check_choice("--only", name, FIGURES)
    names = [name for name in FIGURES if only is None or name in only]
    check_folder_place(out)
    for name in names:
        for kind in ("png", "svg"):
            check_file_place(out / f"{name}.{kind}")

    curves = _curves(complexity) if COMPLEXITY in names else []
    out.mkdir(parents=True, exist_ok=True)
    written = {}
    for name in names:
        written[name] = [str(path) for path in save_figure(plot_theory(name, curves), out / name)]
        console(as_json).print(f"{name}: {', '.join(written[name])}")
    if as_json:
        print_json(written)


def _curves(path: Path | None) -> "list[Curve]":
    """Curves from a file, or measured here and now with a bar on standard error while a person watches."""
    from phist.theory.scaling import QUICK, measure_curves, read_curves

    if path is not None:
        return read_curves(path)
    return list(with_bar(measure_curves(QUICK), len(QUICK), "measuring"))
