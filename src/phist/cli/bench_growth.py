"""phist bench growth"""

from pathlib import Path
from typing import Annotated

import typer

from phist.cli.bench_records import Folders, Metric, NoDuplicates, Protocol, read_study
from phist.cli.output import write_text
from phist.cli.screen import WIDTH, console
from phist.cli.text import printable

Figure = Annotated[
    Path | None, typer.Option(metavar="PATH", help="Draw it too, as PATH-DATASET.png and .svg, one figure for each dataset.")
]


def growth(
    folders: Folders = None,
    protocol: Protocol = None,
    no_duplicates: NoDuplicates = None,
    metric: Metric = None,
    figure: Figure = None,
) -> None:
    """Score and time against the number of labelled graphs, of studies that keep only some.

    Examples:
      phist bench growth experiments/labels
      phist bench growth experiments/growth --figure docs/images/growth
    """
    from phist.errors import GraphInputError
    from phist.report.growth import NO_NUMBERS, growth_of, growth_tables
    from phist.report.render import to_text

    study = read_study(folders, protocol, no_duplicates, metric)
    found = growth_of(study)
    if not found:
        raise GraphInputError(f"{study.name} has nothing that grows: {NO_NUMBERS}")
    write_text(None, printable("\n".join(to_text(table, WIDTH) for table in growth_tables(study))))
    if figure is None:
        return

    from phist.drawing.growth import GrowthPoint, plot_growth
    from phist.drawing.style import save_figure
    from phist.metrics import METRICS

    shown = METRICS[study.metric]
    for own in found:
        curves = {
            label: [GrowthPoint(point.labelled, point.seconds, point.result.mean) for point in curve]
            for label, curve in own.curves.items()
        }
        drawn = plot_growth(curves, own.dataset, f"test {shown.title}{', %' if shown.percent else ''}", f"median {own.clock}")
        for path in save_figure(drawn, f"{figure}-{own.dataset}"):
            console().print(f"{path} is drawn")
