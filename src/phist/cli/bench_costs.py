"""phist bench costs"""

from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from phist.cli.bench_records import RECORD_DEFAULTS, Folders, RecordOptions, read_study
from phist.cli.options import Json
from phist.cli.output import write_text
from phist.cli.screen import WIDTH, console, print_json
from phist.cli.text import printable

if TYPE_CHECKING:
    from phist.report.study import Study

Over = Annotated[str, typer.Option("--method", metavar="NAME", help="Compare over the datasets on which this method is complete.")]
Figure = Annotated[Path | None, typer.Option(metavar="PATH", help="Draw it too, as PATH.png and PATH.svg.")]


def costs(
    folders: Folders = None,
    which: RecordOptions = RECORD_DEFAULTS,
    method: Over = "phist",
    figure: Figure = None,
    as_json: Json = False,
) -> None:
    """Accuracy against time: what every method reaches, what a fold takes, and which of them no other beats in both.

    Examples:
      phist bench costs experiments/paper
      phist bench costs experiments/paper experiments/gnns --figure costs
      phist bench costs experiments/paper --method phist-high
      phist bench costs experiments/paper --json
    """
    study = read_study(folders, which)

    from phist.report.costs import compare_costs, costs_table
    from phist.report.render import to_text

    if as_json:
        print_json({"metric": study.metric, **asdict(compare_costs(study, method))})
    else:
        write_text(None, printable(to_text(costs_table(study, method), WIDTH)))
    if figure is not None:
        for path in _draw(study, method, figure):
            console(as_json).print(f"{path} is drawn")


def _draw(study: "Study", method: str, figure: Path) -> list[Path]:
    from phist.drawing.costs import Point, plot_costs
    from phist.drawing.style import save_figure
    from phist.errors import GraphInputError
    from phist.metrics import METRICS
    from phist.report.costs import compare_costs

    found = compare_costs(study, method)
    if not found.costs:
        raise GraphInputError(
            f"there is nothing to draw: no dataset on which {method} is complete; 'phist bench run' makes records"
        )
    shown = [cost for cost in found.costs if cost.seconds >= 0.005] or found.costs  # no 0.00 on a logarithmic axis
    points = [Point(cost.label, cost.family, cost.seconds, cost.score, cost.on_front) for cost in shown]
    metric = METRICS[study.metric]
    name = f"mean {metric.title} over {len(found.datasets)} datasets{', %' if metric.percent else ''}"
    return save_figure(plot_costs(points, name, found.clock), figure)
