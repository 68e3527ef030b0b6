"""phist bench costs"""

from pathlib import Path
from typing import Annotated

import typer

from phist.cli.bench_records import Folders, Metric, NoDuplicates, Protocol, read_study
from phist.cli.output import write_text
from phist.cli.screen import WIDTH, console
from phist.cli.text import printable

Figure = Annotated[Path | None, typer.Option(metavar="PATH", help="Draw it too, as PATH.png and PATH.svg.")]


def costs(
    folders: Folders = None,
    protocol: Protocol = None,
    no_duplicates: NoDuplicates = None,
    metric: Metric = None,
    figure: Figure = None,
) -> None:
    """Accuracy against time: what every method reaches, what a fold takes, and which of them no other beats in both.

    Examples:
      phist bench costs experiments/paper
      phist bench costs experiments/paper experiments/gnns --figure docs/images/costs
    """
    from phist.report.costs import compare_costs, costs_table
    from phist.report.render import to_text

    study = read_study(folders, protocol, no_duplicates, metric)
    write_text(None, printable(to_text(costs_table(study), WIDTH)))
    if figure is not None:
        from phist.drawing.costs import Point, plot_costs
        from phist.drawing.style import save_figure
        from phist.errors import GraphInputError
        from phist.metrics import METRICS

        found = compare_costs(study)
        if not found.costs:
            raise GraphInputError(
                "there is nothing to draw: no dataset on which phist is complete; 'phist bench run' makes records"
            )
        points = [Point(cost.label, cost.family, cost.seconds, cost.score, cost.on_front) for cost in found.costs]
        shown = METRICS[study.metric]
        name = f"mean {shown.title} over {len(found.datasets)} datasets{', %' if shown.percent else ''}"
        for path in save_figure(plot_costs(points, name, found.clock), figure):
            console().print(f"{path} is drawn")
