"""phist check"""

from typing import TYPE_CHECKING

from phist.cli.options import Data, Json, Labels, ReadingOptions
from phist.cli.screen import console, print_json, show_bounds
from phist.progress import waiting

if TYPE_CHECKING:
    from rich.console import Console
    from rich.table import Table

    from phist.graphs.checkup import Checkup, Duplicates

CLASSES_SHOWN = 12
LOOKING = ReadingOptions(empty="drop")  # they are counted, and said to be left out


def check(
    data: Data,
    labels: Labels = None,
    as_json: Json = False,
    reading: ReadingOptions = LOOKING,
) -> None:
    """Look at graphs before training: sizes, duplicates, the floors any method has to beat and the 1-WL ceiling.

    Accuracies are in percent. The ceiling is what the best classifier reaches
    that answers alike on graphs 1-WL cannot tell apart; the floors need hardly
    a look at the structure.

    Examples:
      phist check MUTAG
      phist check mine.csv --labels labels.csv
      phist check IMDB-MULTI --json
    """
    with waiting("loading NumPy and SciPy"):
        from phist.graphs.checkup import check_graphs
        from phist.graphs.datasets import load_graphs

    graphs = load_graphs(data, labels, **reading.arguments())
    with waiting("looking at the graphs"):
        checkup = check_graphs(graphs)
    if as_json:
        print_json({"data": data, **checkup.to_dict()})
    else:
        _show(console(), data, checkup)


def _show(screen: "Console", data: str, checkup: "Checkup") -> None:
    kinds = ", ".join(kind for kind in ("directed", "weighted") if getattr(checkup, kind)) or "undirected, unweighted"
    screen.print(f"{data}: {checkup.n_graphs:,} graphs, {kinds}", style="bold")
    screen.print(f"classes: {_describe_classes(checkup)}")
    screen.print(_spreads(checkup))
    screen.print(f"isolated nodes: {checkup.isolated_nodes:,}")
    if checkup.empty_graphs:
        screen.print(f"graphs without nodes: {checkup.empty_graphs:,}, left out here; the other commands need --empty drop")
    screen.print(f"duplicates: {_describe_duplicates(checkup.duplicates)}\n")
    show_bounds(screen, checkup)
    if checkup.floors is not None and checkup.floors.reason:
        screen.print(f"  no other floors: {checkup.floors.reason}")


def _spreads(checkup: "Checkup") -> "Table":
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD)
    table.add_column("per graph", no_wrap=True)
    for name in ("minimum", "median", "mean", "maximum"):
        table.add_column(name, justify="right", no_wrap=True)
    for name in ("nodes", "edges", "density", "components", "degrees"):
        spread = getattr(checkup, name)
        values = (spread.minimum, spread.median, spread.mean, spread.maximum)
        table.add_row("degrees (per node)" if name == "degrees" else name, *(_short(value) for value in values))
    return table


def _describe_classes(checkup: "Checkup") -> str:
    texts = [f"{label} ({count:,})" for label, count in checkup.class_counts.items()]
    more = f" and {len(texts) - CLASSES_SHOWN} more" if len(texts) > CLASSES_SHOWN else ""
    return ", ".join(texts[:CLASSES_SHOWN]) + more if texts else "no labels"


def _describe_duplicates(found: "Duplicates") -> str:
    if found.groups == 0:
        return "none, 1-WL tells all graphs apart"
    text = f"{found.graphs:,} graphs in {found.groups:,} groups that 1-WL cannot tell apart"
    return text if found.across_classes is None else f"{text}, {found.across_classes:,} of them across classes"


def _short(value: float) -> str:
    return f"{value:,.0f}" if value.is_integer() or abs(value) >= 1000 else f"{value:.4g}"
