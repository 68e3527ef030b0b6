"""phist theory sum, histogram, proposition and roots: what the theory constructs and measures, for one's own data."""

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from phist.cli.options import Data, Json, Seed, use_threads
from phist.cli.screen import console, print_json
from phist.errors import GraphInputError
from phist.progress import waiting

if TYPE_CHECKING:
    from phist.graphs.graphset import GraphSet
    from phist.theory.multiset import Multiset

Files = Annotated[list[Path], typer.Argument(help="Multisets of vectors, two or more (.csv, .npy).", show_default=False)]
Delta = Annotated[float, typer.Option(help="Precision: multisets that are delta-equal need not be told apart.")]
Norm = Annotated[str, typer.Option(metavar="NUMBER|inf", help="Order of the norm, from 1.")]
SumKind = Annotated[str, typer.Option(metavar="entries|subsets|weights", help="phi: 1 in a cell each, 0 or 1, or whole numbers.")]
HistogramKind = Annotated[str, typer.Option(metavar="star|corner|coordinates|labels|scatter", help="Where phi sends cells.")]
Dim = Annotated[int | None, typer.Option(help="Outputs d of phi; the dimension of the vectors where left out.")]
Bins = Annotated[int, typer.Option(help="Bins b of each coordinate.")]
Confined = Annotated[bool, typer.Option("--confined", help="Keep phi within [-1, 1]^d, as behind a tanh.")]
OtherGraphs = Annotated[str | None, typer.Argument(metavar="B", help="Where the second graph is; A where left out.")]
Index = Annotated[int, typer.Option(min=0, help="Which graph of A.")]
OtherIndex = Annotated[int, typer.Option(min=0, help="Which graph of B, on the same nodes.")]
Channels = Annotated[int, typer.Option(min=1, help="Channels of the convolution, whose kernels are random.")]
Order = Annotated[int, typer.Option(min=1, help="Terms of each polynomial kernel.")]
KERNELS = ("uniform", "smooth-rectangle", "gaussian", "triangle", "raised-cosine")  # of phist.nn.kernels, which imports torch
Kernel = Annotated[str, typer.Option(metavar="|".join(KERNELS), help="Shape of the histogram's bins.")]
Density = Annotated[bool, typer.Option("--density", help="Histograms of densities, not of counts.")]
Model = Annotated[Path | None, typer.Option(help="A model folder; a random network of the default shape where left out.")]
Samples = Annotated[int, typer.Option(min=1, help="Graphs to measure on, at most: the first ones.")]
Draws = Annotated[int, typer.Option(min=1, help="Draws of roots for each graph and number.")]


def sum_(files: Files, delta: Delta = 0.0, p: Norm = "inf", method: SumKind = "entries", as_json: Json = False) -> None:
    """A phi for which sum tells the given multisets apart, with its certificate (theorem 2.2).

    Examples:
      phist theory sum a.csv b.csv c.csv --delta 0.1
      phist theory sum a.csv b.csv --method weights --json
    """
    from phist.theory.geometry import check_norm
    from phist.theory.separation import most_sum_outputs, separate_by_sum

    multisets = _multisets(files)
    made = separate_by_sum(multisets, delta, check_norm(p), method)  # type: ignore[arg-type]
    _show_construction(
        {
            "method": method,
            "multisets": len(multisets),
            "outputs": made.outputs,
            "most_outputs": most_sum_outputs(len(multisets), made.method),
            "verified": made.verify(),
            "cells": [{"cell": key, "phi": image} for key, image in zip(made.keys.tolist(), made.images.tolist(), strict=True)],
            "sums": [made.aggregate(multiset).tolist() for multiset in multisets],
        },
        as_json,
    )


def histogram(
    files: Files,
    bins: Bins = 4,
    dim: Dim = None,
    delta: Delta = 0.0,
    p: Norm = "inf",
    method: HistogramKind = "star",
    confined: Confined = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """A phi for which the projective histogram tells the given multisets apart, with its certificate (theorem 2.3, corrected).

    Examples:
      phist theory histogram a.csv b.csv c.csv --bins 4 --confined
      phist theory histogram a.csv b.csv --method scatter --json
    """
    from phist.theory.capacity import guaranteed_capacity
    from phist.theory.geometry import check_norm
    from phist.theory.histogram_separation import separate_by_histogram

    multisets = _multisets(files)
    made = separate_by_histogram(
        multisets, bins, delta, dim=dim, p=check_norm(p), method=method, confined=confined, seed=seed  # type: ignore[arg-type]
    )  # fmt: skip
    capacity = guaranteed_capacity(made.dim, bins, made.method, confined)
    _show_construction(
        {
            "method": method,
            "multisets": len(multisets),
            "outputs": made.dim,
            "capacity": capacity if capacity < 10**300 else None,
            "verified": made.verify(),
            "cells": [{"cell": key, "phi": image} for key, image in zip(made.keys.tolist(), made.images.tolist(), strict=True)],
            "elsewhere": made.rest.tolist(),
            "histograms": [made.aggregate(multiset).tolist() for multiset in multisets],
        },
        as_json,
    )


def proposition(
    first: Annotated[str, typer.Argument(metavar="A", help="Graphs in any format 'phist check' reads.", show_default=False)],
    second: OtherGraphs = None,
    index: Index = 0,
    other_index: OtherIndex = 1,
    channels: Channels = 4,
    order: Order = 4,
    bins: Bins = 8,
    kernel: Kernel = "gaussian",
    density: Density = False,
    seed: Seed = 0,
    as_json: Json = False,
) -> None:
    """How far node embeddings move between two graphs on the same nodes, beside the bounds of the proposition on robustness.

    The network is that of the proposition: one convolution with random kernels, a tanh, a projective histogram.

    Examples:
      phist theory proposition before-and-after.jsonl --index 0 --other-index 1
      phist theory proposition before.jsonl after.jsonl --other-index 0 --json
    """
    from dataclasses import asdict

    with waiting("loading PyTorch"):
        from phist.theory.robustness import random_embedding, robustness_bounds

        use_threads(1)
    graphs = [_graph(first, index), _graph(second or first, other_index)]
    found = robustness_bounds(random_embedding(channels, order, bins, kernel, density, seed), *graphs)
    report = {
        **{name: value for name, value in asdict(found).items() if name not in ("steps", "distances")},
        "edges": found.steps.edges.tolist(),
        "levels": found.steps.levels.tolist(),
        "errors": found.steps.errors.tolist(),
        "distances": found.distances.tolist(),
        "holds": {"sound": found.actual <= found.sound, "printed": found.actual <= found.printed},
    }
    if as_json:
        print_json(report)
        return
    screen = console()
    screen.print(f"{first} against {second or first}: {graphs[0].n_nodes:,} nodes, {channels} random kernels", style="bold")
    for name, value in (("actual change", found.actual), ("sound bound", found.sound), ("printed bound", found.printed)):
        broken = " (exceeded)" if value < found.actual else ""
        screen.print(f"  {name:<16}{value:.6g}{broken}")
    for low, high, distance in zip(found.steps.edges[:-1], found.steps.edges[1:], found.distances, strict=True):
        screen.print(f"  eigenspace of [{low:.3f}, {high:.3f}) moves by {distance:.4g}")


def roots(data: Data, model: Model = None, samples: Samples = 20, draws: Draws = 20, seed: Seed = 0, as_json: Json = False) -> None:
    """How far what is seen from r sampled roots is from its limit: the mean node embedding, and e_G.

    Examples:
      phist theory roots MUTAG
      phist theory roots mine.jsonl --model mymodel --json
    """
    from dataclasses import asdict

    with waiting("loading PyTorch"):
        from phist.graphs.datasets import load_graphs
        from phist.nn.config import NetworkConfig
        from phist.nn.network import make_network
        from phist.theory.root_sampling import measure_sampling

        use_threads(1)
    graphs = load_graphs(data)[:samples].with_labels(None)
    network = make_network(NetworkConfig(), 2, seed)
    if model is not None:
        from phist.estimators.fitted import load_fitted

        network = load_fitted(model).network_
    with waiting("drawing roots"):
        found = list(measure_sampling(network, graphs, draws=draws, seed=seed))
    if as_json:
        print_json({"graphs": len(graphs), "draws": draws, "distances": [asdict(row) for row in found]})
        return
    screen = console()
    screen.print(f"{data}: {len(graphs)} graphs, {draws} draws each; distances from the limit", style="bold")
    screen.print(f"  {'roots':>5}  {'1/sqrt(r)':>9}  {'mean node embedding':>19}  {'e_G':>6}")
    for row in found:
        mean = "-" if row.mean is None else f"{row.mean:.3f}"
        screen.print(f"  {row.roots:>5}  {row.expected:>9.3f}  {mean:>19}  {row.graph_embedding:>6.3f}")


def _multisets(files: list[Path]) -> "list[Multiset]":
    from phist.theory.multiset import check_same_dimension, read_multiset

    multisets = [read_multiset(path) for path in files]
    check_same_dimension(multisets)
    return multisets


def _graph(side: str, number: int) -> Any:
    from phist.graphs.datasets import load_graphs

    graphs: GraphSet = load_graphs(side)
    if number >= len(graphs):
        raise GraphInputError(f"graph {number} of {side} was asked for, which has {len(graphs)}; count from 0")
    return graphs[number]


def _show_construction(report: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print_json(report)
        return
    screen = console()
    checked = "verified" if report["verified"] else "NOT verified"
    screen.print(
        f"{report['multisets']} multisets, method {report['method']}: {report['outputs']} outputs of phi, {checked}", style="bold"
    )
    for cell in report["cells"]:
        screen.print(f"  cell {_short(cell['cell'])} -> {_short(cell['phi'])}")
    screen.print(f"  all else -> {_short(report.get('elsewhere', [0] * report['outputs']))}")


def _short(entries: list[Any], shown: int = 8) -> str:
    text = ", ".join(f"{entry:.6g}" if isinstance(entry, float) else str(entry) for entry in entries[:shown])
    return f"({text}{', ...' if len(entries) > shown else ''})"
