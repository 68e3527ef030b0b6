"""phist datasets"""

from typing import Any

from phist.cli.options import Json
from phist.cli.screen import console, print_json


def datasets(as_json: Json = False) -> None:
    """List the nine datasets known by name, with where each is found and its statistics.

    A dataset is taken from the folder in PHIST_DATA, else from the cache, else
    (MUTAG) from the installed grakel, else it is downloaded on first use.

    Examples:
      phist datasets
      PHIST_DATA=~/tudatasets phist datasets --json
    """
    rows = _rows()
    if as_json:
        print_json(rows)
        return

    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), caption="nodes and edges: on average", caption_justify="left")
    for name in ("dataset", "found in"):
        table.add_column(name, no_wrap=True)
    for name in ("graphs", "classes", "nodes", "edges"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("place", overflow="fold")
    for row in rows:
        figures = [f"{row['graphs']:,}", str(row["classes"]), f"{row['mean_nodes']:,.1f}", f"{row['mean_edges']:,.1f}"]
        table.add_row(row["name"], row["found"], *figures, row["place"])
    console().print(table)


def _rows() -> list[dict[str, Any]]:
    from phist.graphs.datasets import DATASETS, find_dataset

    rows = []
    for name, facts in DATASETS.items():
        place = find_dataset(name)
        rows.append({
            "name": name,
            "found": place.kind,
            "place": str(place),
            "graphs": facts.graphs,
            "classes": facts.classes,
            "mean_nodes": round(facts.nodes / facts.graphs, 2),
            "mean_edges": round(facts.edges / facts.graphs, 2),
        })  # fmt: skip
    return rows
