"""phist bench methods"""

from itertools import groupby
from typing import Any

from phist.cli.options import Json
from phist.cli.screen import console, print_json
from phist.progress import waiting


def methods(as_json: Json = False) -> None:
    """The methods that a study can name: ours, the rivals, and those of installed packages.

    Each with what it does and the rule by which it chooses epochs and
    hyper-parameters, stated before anything is run.

    Examples:
      phist bench methods
      phist bench methods --json
    """
    rows = _rows()
    if as_json:
        print_json(rows)
        return

    from phist.report.order import FAMILIES

    screen = console()
    for family, members in groupby(rows, key=lambda row: row["family"]):
        screen.print(FAMILIES[family], style="bold")
        for selection, own in groupby(members, key=lambda row: row["selection"]):
            for row in own:
                needs = f" (needs phist[{row['extra']}])" if row["extra"] else ""
                screen.print(f"  {row['name']:<20} {row['about']}{needs}")
            screen.print(f"    rule: {selection}", style="dim")


def _rows() -> list[dict[str, Any]]:
    """Family by family, in the order of the tables."""
    with waiting("looking at what is installed"):
        from phist.baselines.registry import methods as known_methods
        from phist.report.order import FAMILIES, OTHER, method_place

    families = list(FAMILIES)
    rows = [
        {
            "name": name,
            "family": method.family if method.family in FAMILIES else OTHER,
            "about": (method.__doc__ or "").partition("\n")[0],
            "selection": method.selection,
            "extra": method.extra,
            "randomized": method.randomized,
        }
        for name, method in known_methods().items()
    ]
    return sorted(rows, key=lambda row: (families.index(row["family"]), method_place(row["name"], row["name"])))
