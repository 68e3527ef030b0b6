"""phist theory: the paper's theorems on the command line."""

from typing import Annotated, Any

import typer

from phist.cli.commands import add_command
from phist.cli.options import Json
from phist.cli.screen import console, print_json
from phist.cli.theory_constructions import histogram, proposition, roots, sum_
from phist.cli.theory_expressiveness import expressiveness
from phist.cli.theory_figures import figures
from phist.cli.theory_robustness import robustness
from phist.cli.theory_separate import separate

theory_app = typer.Typer(no_args_is_help=True, help="The paper's theorems, to run: capacity, bounds, constructions.")

Dim = Annotated[int, typer.Option(help="Dimension d: outputs of the projection, or entries of the vectors.")]
Bins = Annotated[int, typer.Option(help="Bins b of each coordinate.")]
Delta = Annotated[float, typer.Option(help="Precision: elements this near count as the same.")]
Norm = Annotated[str, typer.Option(metavar="NUMBER|inf", help="Order of the norm, from 1.")]
DomainKind = Annotated[str, typer.Option("--domain", metavar="box|ball", help="[-1, 1]^d, or the unit ball of the norm.")]
Size = Annotated[int, typer.Option(help="Most elements of a multiset, for the bound that holds for outputs that count.")]
SUM_NAMES = {"entries": "phi 1 in a cell each", "subsets": "phi 0 or 1", "weights": "phi in whole numbers"}
WithPacking = Annotated[bool, typer.Option("--packing", help="Make the packing that witnesses the bound, for small cases.")]


def capacity(dim: Dim = 3, bins: Bins = 4, as_json: Json = False) -> None:
    """How many multisets a projective histogram tells apart, however they are chosen (theorem 2.3, corrected).

    Examples:
      phist theory capacity --dim 3 --bins 4
      phist theory capacity --dim 32 --bins 8 --json
    """
    from phist.theory.capacity import capacity_report, parameters_at_capacity

    report = {**capacity_report(dim, bins), "parameters": parameters_at_capacity(dim, bins)}
    if as_json:
        print_json(report)
        return
    screen = console()
    screen.print(f"{dim} coordinates, {bins} uniform bins each: {report['outputs']} outputs, rank {report['rank']}", style="bold")
    for text, value in _capacity_rows(report):
        screen.print(f"  {text:<64} {value:>12}")
    screen.print("Theorem 2.3 as printed, t <= m = bd, by at least m! maps:", style="bold")
    for part, judgement in report["theorem_2_3"].items():
        screen.print(f"  {part:<24}{judgement}")
    for text, value in _map_rows(report["log10_maps"]):
        screen.print(f"  {text:<64} {value:>12}")
    screen.print(
        "Parameters of an MLP phi with 64 hidden units, at equal capacity; what sum needs depends on its phi:", style="bold"
    )
    for row in report["parameters"]:
        _show_parameters(screen, row)


def bound(
    dim: Dim = 3,
    delta: Delta = 0.1,
    p: Norm = "inf",
    domain: DomainKind = "box",
    size: Size = 1000,
    packing: WithPacking = False,
    as_json: Json = False,
) -> None:
    """The curse of dimensionality: outputs of an aggregation that tells all multisets apart (theorem 2.1, with its limits).

    Examples:
      phist theory bound --dim 8 --delta 0.1
      phist theory bound --dim 2 --delta 0.2 --p 2 --domain ball --packing --json
    """
    from phist.errors import check_choice
    from phist.theory.bounds import counted_outputs, outputs_lower_bound
    from phist.theory.geometry import Ball, Box, check_norm

    check_choice("domain", domain, ("box", "ball"))
    order = check_norm(p)
    place = Box.cube(dim) if domain == "box" else Ball(dim, p=order)
    found = outputs_lower_bound(place, delta, order)
    report: dict[str, Any] = {"domain": domain, **found.to_dict(), "size": size, "counted_outputs": None, "any_function": 1}
    if found.sharper_outputs is not None and found.sharper_outputs <= 10_000:
        report["counted_outputs"] = counted_outputs(found.sharper_outputs, size)
    if packing:
        report["packing"] = _packing(place, delta, order)
    if as_json:
        print_json(report)
    else:
        _show_bound(report)


for verb in (capacity, bound, separate, histogram, proposition, roots, robustness, expressiveness, figures):
    add_command(theory_app, verb)
add_command(theory_app, sum_, "sum")


def _packing(place: Any, delta: float, order: float) -> dict[str, Any]:
    from phist.theory.packing import make_packing

    made = make_packing(place, delta, order)
    return {"points": made.points.tolist(), "count": len(made.points), "verified": made.verify()}


def _show_bound(report: dict[str, Any]) -> None:
    screen = console()
    screen.print(
        f"{report['domain']} in dimension {report['dimension']}, delta {report['delta']}, norm {report['p']}", style="bold"
    )
    sharper = "delta apart is enough, exactly" if report["exact"] else "delta apart is enough, at least"
    rows = [
        ("printed bound, points more than 2 delta apart", _count(report["outputs"], report["log10_outputs"])),
        (sharper, _count(report["sharper_outputs"], report["sharper_log10_outputs"])),
    ]
    if report["counted_outputs"] is not None:
        rows.append((f"outputs that count, multisets of up to {report['size']:,}", f"{report['counted_outputs']:,}"))
    rows.append(("any function into computable numbers", "1: the printed proof compares two countable sets"))
    if "packing" in report:
        checked = "verified" if report["packing"]["verified"] else "NOT verified"
        rows.append(("packing, points more than 2 delta apart", f"{report['packing']['count']:,} points, {checked}"))
    width = max(len(text) for text, _ in rows)
    for text, value in rows:
        screen.print(f"  {text:<{width}}  {value}")


def _capacity_rows(report: dict[str, Any]) -> list[tuple[str, str]]:
    best, ceiling, logs = report["guaranteed"], report["ceiling"], report["log10"]
    inside = report["by_method"]["confined"]
    return [
        ("star, phi may leave [-1, 1]^d to discard: d(b-1)+2", _count(report["capacity"])),
        ("star, phi within [-1, 1]^d: d(b-1)+1", _count(report["capacity_bounded"])),
        ("star and a corner, phi within [-1, 1]^d: d(b-1)+2", _count(inside["corner"])),
        ("printed: bd", _count(report["printed"])),
        ("best proved, phi free in every coordinate", _count(best["free"], logs["guaranteed"]["free"])),
        ("best proved, phi within [-1, 1]^d", _count(best["confined"], logs["guaranteed"]["confined"])),
        ("never more than, phi free: (b+1)^d", _count(ceiling["free"], logs["ceiling"]["free"])),
        ("never more than, phi within [-1, 1]^d: b^d", _count(ceiling["confined"], logs["ceiling"]["confined"])),
    ]


def _map_rows(maps: dict[str, float | None]) -> list[tuple[str, str]]:
    """How many assignments of cells work, against the printed m!."""
    names = {
        "coordinates": "maps of bd cells, phi free: m! as printed",
        "star": "maps of d(b-1)+1 cells to the star, phi within [-1, 1]^d",
        "scatter": "maps of bd cells to any cells, phi within [-1, 1]^d, at least",
    }
    return [(text, f"10^{value:.1f}") for name, text in names.items() if (value := maps[name]) is not None]


def _show_parameters(screen: Any, row: dict[str, Any]) -> None:
    sums = [
        f"{_count(outputs, row['log10_capacity'])} {'output' if outputs == 1 else 'outputs'} ({SUM_NAMES[name]})"
        for name, outputs in row["sum_outputs"].items()
    ]
    screen.print(
        f"  t = {_count(row['capacity'], row['log10_capacity'])} ({row['method']}): histogram {row['histogram_outputs']} outputs, "
        f"{row['histogram_parameters']:,} weights"
    )
    sizes = [_count(size, row["log10_capacity"]) for size in row["sum_parameters"].values()]
    screen.print(f"      sum {'; '.join(f'{text}, {size} weights' for text, size in zip(sums, sizes, strict=True))}")


def _count(number: int | None, log10: float = 0.0) -> str:
    if number is None:
        return f"about 10^{log10:.1f}"
    return f"{number:,}" if number < 10**15 else f"{number:.3g}"
