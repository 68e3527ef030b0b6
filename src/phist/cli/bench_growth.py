"""phist bench growth"""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phist.cli.bench_records import RECORD_DEFAULTS, Folders, RecordOptions, read_study
from phist.cli.options import Json
from phist.cli.output import write_text
from phist.cli.screen import WIDTH, console, print_json
from phist.cli.text import printable

if TYPE_CHECKING:
    from phist.report.growth import Growth
    from phist.report.study import Study

Figure = Annotated[
    Path | None, typer.Option(metavar="PATH", help="Draw it too, as PATH-DATASET.png and .svg, one figure for each dataset.")
]


def growth(
    folders: Folders = None,
    which: RecordOptions = RECORD_DEFAULTS,
    figure: Figure = None,
    as_json: Json = False,
) -> None:
    """Score and time against the number of labelled graphs, of studies that keep only some.

    Examples:
      phist bench growth experiments/labels
      phist bench growth experiments/growth --figure docs/images/growth
      phist bench growth experiments/labels --json
    """
    study = read_study(folders, which)

    from phist.errors import GraphInputError
    from phist.report.growth import NO_NUMBERS, growth_of, growth_tables
    from phist.report.render import to_text

    found = growth_of(study)
    if not found:
        raise GraphInputError(f"{study.name} has nothing that grows: {NO_NUMBERS}")
    if as_json:
        print_json({"metric": study.metric, "datasets": [_content(own) for own in found]})
    else:
        write_text(None, printable("\n".join(to_text(table, WIDTH) for table in growth_tables(study))))
    if figure is not None:
        for path in _draw(study, found, figure):
            console(as_json).print(f"{path} is drawn")


def _content(growth: "Growth") -> dict[str, Any]:
    """The curves of a dataset, ready for JSON."""
    methods = {
        label: [
            {
                "labelled": point.labelled,
                "mean": point.result.mean,
                "deviation": point.result.deviation,
                "records": len(point.result.records),
                "seconds": point.seconds,
                "prediction_seconds": point.prediction_seconds,
            }
            for point in curve
        ]
        for label, curve in growth.curves.items()
    }
    return {"dataset": growth.dataset, "clock": growth.clock, "methods": methods}


def _draw(study: "Study", found: "list[Growth]", figure: Path) -> list[Path]:
    """A figure for each dataset."""
    from phist.drawing.growth import GrowthPoint, plot_growth
    from phist.drawing.style import save_figure
    from phist.metrics import METRICS

    shown, written = METRICS[study.metric], []
    for own in found:
        curves = {
            label: [GrowthPoint(point.labelled, point.seconds, point.result.mean) for point in curve]
            for label, curve in own.curves.items()
        }
        drawn = plot_growth(curves, own.dataset, f"test {shown.title}{', %' if shown.percent else ''}", f"median {own.clock}")
        written += save_figure(drawn, f"{figure}-{own.dataset}")
    return written
