"""phist datasets"""

from typing import Any

from phist.cli.options import Json
from phist.cli.screen import console, print_json


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

    from rich.box import SIMPLE_HEAD
    from rich.table import Table

    table = Table(box=SIMPLE_HEAD, padding=(0, 1, 0, 0), caption="nodes and edges: on average", caption_justify="left")
    for name in ("dataset", "found in"):
        table.add_column(name, no_wrap=True)
    for name in ("graphs", "classes", "nodes", "edges"):
        table.add_column(name, justify="right", no_wrap=True)
    table.add_column("place", overflow="fold")
    group = None
    for row in rows:
        if row["group"] != group:
            group = row["group"]
            table.add_section()
            table.add_row(group, style="bold")
        figures = [f"{row['graphs']:,}", str(row["classes"]), f"{row['mean_nodes']:,.1f}", f"{row['mean_edges']:,.1f}"]
        table.add_row(row["name"], row["found"], *figures, row["place"])
    console().print(table)


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
            "graphs": facts.graphs,
            "classes": facts.classes,
            "mean_nodes": round(facts.nodes / facts.graphs, 2),
            "mean_edges": round(facts.edges / facts.graphs, 2),
            "official_split": bool(facts.split_digest),
        })  # fmt: skip
    return rows
