"""phist theory: the paper's theorems on the command line."""

from typing import Annotated, Any

import typer

from phist.cli.options import Json
from phist.cli.screen import console, print_json
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
WithPacking = Annotated[bool, typer.Option("--packing", help="Make the packing that witnesses the bound, for small cases.")]


@theory_app.command()
def capacity(dim: Dim = 3, bins: Bins = 4, as_json: Json = False) -> None:
    """How many multisets a projective histogram tells apart, whoever chooses them (theorem 2.3, corrected).

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
        screen.print(f"  {text:<64}{value:>12}")
    screen.print("Theorem 2.3 as printed, t <= bd:", style="bold")
    for part, judgement in report["theorem_2_3"].items():
        screen.print(f"  {part:<24}{judgement}")
    screen.print("Parameters of an MLP with 64 hidden units, at equal capacity:", style="bold")
    for row in report["parameters"]:
        screen.print(
            f"  t = {_short(row['capacity']):<16}histogram {row['histogram_parameters']:,} ({row['histogram_outputs']} outputs), "
            f"sum {row['sum_parameters']:,} ({row['sum_outputs']} outputs)"
        )


@theory_app.command()
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


theory_app.command()(separate)
theory_app.command()(robustness)
theory_app.command()(expressiveness)
theory_app.command()(figures)


def _packing(place: Any, delta: float, order: float) -> dict[str, Any]:
    from phist.theory.packing import make_packing

    made = make_packing(place, delta, order)
    return {"points": made.points.tolist(), "count": len(made.points), "verified": made.verify()}


def _show_bound(report: dict[str, Any]) -> None:
    screen = console()
    screen.print(
        f"{report['domain']} in dimension {report['dimension']}, delta {report['delta']}, norm {report['p']}", style="bold"
    )
    screen.print(f"  printed bound, points more than 2 delta apart       {_count(report['outputs'], report['log10_outputs'])}")
    screen.print(
        "  delta apart is enough                               "
        + _count(report["sharper_outputs"], report["sharper_log10_outputs"])
    )
    if report["counted_outputs"] is not None:
        screen.print(f"  outputs that count, multisets of up to {report['size']:<13,}{report['counted_outputs']:,}")
    screen.print("  any function into computable numbers                1: the printed proof compares two countable sets")
    if "packing" in report:
        checked = "verified" if report["packing"]["verified"] else "NOT verified"
        screen.print(f"  packing                                             {report['packing']['count']:,} points, {checked}")


def _capacity_rows(report: dict[str, Any]) -> list[tuple[str, str]]:
    best, ceiling = report["guaranteed"], report["ceiling"]
    return [
        ("star, phi may leave [-1, 1]^d to discard: d(b-1)+2", _short(report["capacity"])),
        ("star, phi within [-1, 1]^d: d(b-1)+1", _short(report["capacity_bounded"])),
        ("printed: bd", _short(report["printed"])),
        ("best proved, phi free in every coordinate", _short(best["free"])),
        ("best proved, phi within [-1, 1]^d", _short(best["confined"])),
        ("never more than, phi free: (b+1)^d", _short(ceiling["free"])),
        ("never more than, phi within [-1, 1]^d: b^d", _short(ceiling["confined"])),
    ]


def _short(number: int) -> str:
    return f"{number:,}" if number < 10**9 else f"{number:.3g}" if number < 10**300 else f"1e{len(str(number)) - 1}"


def _count(number: int | None, log10: float) -> str:
    return f"about 10^{log10:.1f}" if number is None else f"{number:,}"
