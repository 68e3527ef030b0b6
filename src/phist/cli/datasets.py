"""phist datasets"""

from itertools import groupby
from typing import TYPE_CHECKING, Any

from phist.cli.options import Json
from phist.cli.screen import console, print_json

if TYPE_CHECKING:
    from rich.console import Console


def datasets(as_json: Json = False) -> None:
    """List the datasets known by name, with where each is found and its statistics.

    They are grouped: the paper's nine, a suite for development, and two that
    are large or a control. A dataset is taken from the folder in PHIST_DATA,
    else from the cache, else (MUTAG) from the installed grakel, else it is
    downloaded on first use; MOLHIV is not in the collection.

    Examples:
      phist datasets
      PHIST_DATA=~/tudatasets phist datasets --json
    """
    rows = _rows()
    if as_json:
        print_json(rows)
        return

    _show(console(), rows)


def _show(screen: "Console", rows: list[dict[str, Any]]) -> None:
    """The table, and below it the folders in which datasets were found, each once."""
    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0))
    for name in ("dataset", "found in"):
        table.add_column(name, no_wrap=True)
    for name in ("graphs", "classes", "mean nodes", "mean edges"):
        table.add_column(name, justify="right", no_wrap=True)
    for group, members in groupby(rows, key=lambda row: row["group"]):
        table.add_section()
        table.add_row(group, style="bold")
        for row in members:
            figures = [f"{row['graphs']:,}", str(row["classes"]), f"{row['mean_nodes']:,.1f}", f"{row['mean_edges']:,.1f}"]
            table.add_row(row["name"], row["found"], *figures)
    screen.print(table)
    for kind, folder in dict.fromkeys((row["found"], row["folder"]) for row in rows if row["folder"]):
        screen.print(f" {kind}: {folder}")


def _rows() -> list[dict[str, Any]]:
    from phist.graphs.catalog import GROUPS
    from phist.graphs.locate import find_dataset

    rows = []
    for group, facts in ((group, facts) for group, members in GROUPS.items() for facts in members):
        place = find_dataset(facts.name)
        rows.append({
            "name": facts.name,
            "group": group,
            "found": place.kind,
            "place": str(place),
            "folder": str(place.path.parent) if place.path else (place.url or "").rpartition("/")[0],
            "graphs": facts.graphs,
            "classes": facts.classes,
            "mean_nodes": round(facts.nodes / facts.graphs, 2),
            "mean_edges": round(facts.edges / facts.graphs, 2),
            "official_split": bool(facts.split_digest),
        })  # fmt: skip
    return rows
