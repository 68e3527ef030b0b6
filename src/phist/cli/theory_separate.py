"""phist theory separate"""

import csv
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phist.cli.options import READING_DEFAULTS, Json, ReadingOptions, Seed
from phist.cli.screen import console, print_json
from phist.errors import GraphInputError
from phist.progress import waiting

if TYPE_CHECKING:
    from phist.estimators.fitted.model import FittedModel
    from phist.graphs.graphset import GraphSet
    from phist.theory.comparison import View
    from phist.theory.multiset import Multiset

GRAPH_COLUMNS = {"graph", "source", "target"}
MOST_DISTANCES = 4_000_000  # distances between distinct vectors that are worth a matching
SHOWN_ENTRIES = 8

SIDE_HELP = "Vectors (.csv, .npy), or graphs in any format 'phist check' reads."
First = Annotated[str, typer.Argument(metavar="A", help=SIDE_HELP, show_default=False)]
Second = Annotated[str, typer.Argument(metavar="B", help=SIDE_HELP, show_default=False)]
Dim = Annotated[int, typer.Option(help="Outputs d of the random projections.")]
Bins = Annotated[int, typer.Option(help="Bins b of the histogram.")]
Delta = Annotated[float, typer.Option(help="Precision at which the multisets are matched as well.")]
Norm = Annotated[str, typer.Option(metavar="NUMBER|inf", help="Order of the norm for --delta.")]
Index = Annotated[int, typer.Option(min=0, help="Which graph of A (and of B, unless --other-index is given).")]
OtherIndex = Annotated[int | None, typer.Option(min=0, help="Which graph of B.", show_default=False)]
Model = Annotated[
    Path | None, typer.Option(help="A model folder, to see graphs as its network does; a random network where left out.")
]


def separate(
    first: First,
    second: Second,
    dim: Dim = 4,
    bins: Bins = 4,
    delta: Delta = 0.0,
    p: Norm = "inf",
    index: Index = 0,
    other_index: OtherIndex = None,
    model: Model = None,
    seed: Seed = 0,
    as_json: Json = False,
    reading: ReadingOptions = READING_DEFAULTS,
) -> None:
    """Which aggregation tells two multisets, or two graphs, apart: mean, max, sum, histogram; with witness or reason.

    Two graphs are compared as multisets of 1-WL colours, of impulse responses and of node embeddings, and by e_G, the
    network's embedding of the graph with every node a root, which decides whether the network tells them apart.

    Examples:
      phist theory separate a.csv b.csv --bins 8 --delta 0.1
      phist theory separate MUTAG MUTAG --index 3 --other-index 7 --json
    """
    with waiting("loading NumPy"):
        from phist.theory.geometry import check_delta, check_norm

    check_delta(delta)
    order = check_norm(p)
    kinds = {_holds_vectors(side) for side in (first, second)}
    if len(kinds) > 1:
        raise GraphInputError(f"one of {first} and {second} holds vectors, the other graphs; give two of a kind")
    if kinds == {True}:
        views = _vector_views(first, second)
    else:
        with waiting("loading PyTorch"):
            from phist.theory.graph_views import color_view, network_views

        fitted = None if model is None else _fitted(model)
        pair = _pair(first, index, second, index if other_index is None else other_index, reading.arguments(fitted))
        views = [color_view(pair), *network_views(pair, None if fitted is None else fitted.network_, seed)]
    report = {
        "first": first,
        "second": second,
        "kind": "vectors" if kinds == {True} else "graphs",
        "views": [_judge(view, dim, bins, delta, order, seed) for view in views],
    }
    if as_json:
        print_json(report)
    else:
        _show(report)


def _holds_vectors(side: str) -> bool:
    path = Path(side).expanduser()
    if path.suffix.lower() != ".csv" or not path.is_file():
        return path.suffix.lower() in (".npy", ".csv")
    with path.open(encoding="utf-8-sig", newline="", errors="replace") as text:
        header = next(csv.reader(text), [])
    return not {cell.strip().lower() for cell in header} >= GRAPH_COLUMNS


def _vector_views(first: str, second: str) -> "list[View]":
    from phist.theory.comparison import View
    from phist.theory.multiset import check_same_dimension, read_multiset

    sides = read_multiset(first), read_multiset(second)
    check_same_dimension(sides)
    return [View("vectors", *sides, "equal multisets: no aggregation function tells them apart")]


def _pair(first: str, index: int, second: str, other_index: int, reading: dict[str, Any]) -> "GraphSet":
    from phist.graphs.datasets import load_graphs
    from phist.graphs.graphset import GraphSet

    chosen = []
    for side, number in ((first, index), (second, other_index)):
        graphs = load_graphs(side, **reading)
        if number >= len(graphs):
            raise GraphInputError(f"graph {number} of {side} was asked for, which has {len(graphs)}; count from 0")
        chosen.append(graphs[[number]].with_labels(None))
    return GraphSet.concatenate(chosen)


def _fitted(model: Path) -> "FittedModel":
    from phist.estimators.fitted import load_fitted

    return load_fitted(model)


def _judge(view: "View", dim: int, bins: int, delta: float, p: float, seed: int) -> dict[str, Any]:
    from phist.theory.comparison import compare_aggregations

    verdicts = compare_aggregations(view.first, view.second, dim=dim, bins=bins, seed=seed)
    equal = view.first == view.second
    return {
        "view": view.name,
        "sizes": [view.first.size, view.second.size],
        "dimension": view.first.dimension,
        "equal": equal,
        **_matched(view.first, view.second, delta, p),
        "certificate": view.meaning if equal else None,
        "verdicts": [{**verdict.to_dict(), "verified": verdict.verify()} for verdict in verdicts],
    }


def _matched(first: "Multiset", second: "Multiset", delta: float, p: float) -> dict[str, Any]:
    """Delta-equality and the bottleneck distance, left out where there are too many vectors to match."""
    from phist.theory.matching import bottleneck_distance, delta_equal

    found: dict[str, Any] = {"delta": delta, "delta_equal": None, "bottleneck_distance": None}
    if first.size == second.size and len(first.counts) * len(second.counts) <= MOST_DISTANCES:
        found |= {
            "delta_equal": bool(delta_equal(first, second, delta, p)),
            "bottleneck_distance": bottleneck_distance(first, second, p),
        }
    elif first.size != second.size:
        found["delta_equal"] = False
    return found


def _show(report: dict[str, Any]) -> None:
    screen = console()
    for view in report["views"]:
        sizes = " and ".join(f"{size:,}" for size in view["sizes"])
        screen.print(f"{view['view']}: {sizes} elements of dimension {view['dimension']}", style="bold")
        if view["certificate"]:
            screen.print(f"  {view['certificate']}")
            continue
        if view["bottleneck_distance"] is not None:
            screen.print(
                f"  bottleneck distance {view['bottleneck_distance']:.6g}; delta-equal: {'yes' if view['delta_equal'] else 'no'}"
            )
        for verdict in view["verdicts"]:
            screen.print(f"  {verdict['aggregation']:<10} {_describe(verdict)}")


def _describe(verdict: dict[str, Any]) -> str:
    if not verdict["tells_apart"]:
        return f"cannot: {verdict['reason']}"
    how = "tells them apart as they are" if verdict["as_is"] else "tells them apart after a projection"
    entries = [f"{entry:.4g}" for entry in verdict["vector"][:SHOWN_ENTRIES]]
    more = ", ..." if len(verdict["vector"]) > SHOWN_ENTRIES else ""
    found = verdict["projection"]
    chance = "no random projection found" if found is None else f"a random projection differs by {found['gap']:.3g}"
    return f"{how} (the indicator of ({', '.join(entries)}{more}); {chance})"
