"""Tables, a snippet for the documentation, and a picture of what benchmarks/engine.py measured."""

from collections.abc import Sequence
from pathlib import Path
from statistics import geometric_mean, median
from typing import Any

from engine_scaling import slope

from phist.drawing.style import COLORS, INK, finish_axes, new_figure
from phist.files import atomic_path

AT_LEAST = {  # times faster than the PyG form: what we set out to reach
    "MUTAG": 18, "ENZYMES": 32, "PROTEINS": 15, "IMDB-BINARY": 55, "IMDB-MULTI": 70, "NCI1": 28, "DD": 140, "COLLAB": 130,
    "REDDIT-BINARY": 65,
}  # fmt: skip
AT_LEAST_IN_MEAN = 45
MEMORY_COLUMNS = ("pyg", "reference", "engine", "engine, first")

Table = list[list[str]]
Found = dict[str, Any]


def of_kind(found: Found, kind: str) -> list[Found]:
    """All results of one kind."""
    return [result for result in found.values() if result["kind"] == kind]


def ratio(result: Found, slower: str, faster: str = "engine") -> float:
    """How many times faster, the median over rounds: what disturbs a round disturbs both of its forms."""
    seconds = result["seconds"]
    return median(a / b for a, b in zip(seconds[slower], seconds[faster], strict=True))


def steps_table(found: Found) -> Table:
    """Milliseconds of a step and ratios."""
    header = ["a step", "PyG ms", "reference ms", "engine ms", "least", "against PyG", "aim", "against reference", "2 threads : 1"]
    rows = []
    for result in of_kind(found, "steps"):
        times = {name: 1000 * median(values) for name, values in result["seconds"].items()}
        rows.append([
            result["dataset"], f"{times['pyg']:.1f}", f"{times['reference']:.1f}", f"{times['engine']:.2f}",
            f"{1000 * min(result['seconds']['engine']):.2f}", f"{ratio(result, 'pyg'):.1f}x", f"{AT_LEAST[result['dataset']]}x",
            f"{ratio(result, 'reference'):.1f}x", f"{ratio(result, 'engine, one thread'):.2f}x",
        ])  # fmt: skip
    if rows:
        means = [f"{geometric_mean(ratio(one, name) for one in of_kind(found, 'steps')):.1f}x" for name in ("pyg", "reference")]
        rows.append(["geometric mean", "", "", "", "", means[0], f"{AT_LEAST_IN_MEAN}x", means[1], ""])
    return [header, *rows] if rows else []


def one_thread_table(found: Found) -> Table:
    """The same with one thread for every form."""
    header = ["a step, one thread each, processor time", "PyG ms", "reference ms", "engine ms", "against PyG", "against reference"]
    results = of_kind(found, "one-thread")
    rows = []
    for result in results:
        times = [1000 * median(result["seconds"][name]) for name in ("pyg", "reference", "engine")]
        ratios = [f"{ratio(result, name):.1f}x" for name in ("pyg", "reference")]
        rows.append([result["dataset"], f"{times[0]:.1f}", f"{times[1]:.1f}", f"{times[2]:.2f}", *ratios])
    if not rows:
        return []
    means = [f"{geometric_mean(ratio(one, name) for one in results):.1f}x" for name in ("pyg", "reference")]
    return [header, *rows, ["geometric mean", "", "", "", *means]]


def work_table(found: Found) -> Table:
    """Where the engine's time goes, and how much arithmetic it gets done."""
    rows, header = [], ["engine"]
    for result in of_kind(found, "steps"):
        needed, printed = result["needed_operations"]["total"], result["printed_operations"]["total"]
        rate = needed / median(result["seconds"]["engine"])
        header = ["engine", *result["phases"], "operations", "saved", "GFLOP/s", "of matrix product"]
        shares = [f"{share:.0%}" for share in result["phases"].values()]
        done = [f"{needed / 1e6:.0f} M", f"{printed / needed:.1f}x", f"{rate / 1e9:.1f}", f"{rate / result['multiply_rate']:.0%}"]
        rows.append([result["dataset"], *shares, *done])
    return [header, *rows] if rows else []


def memory_table(found: Found) -> Table:
    """What an epoch adds at its peak; for the engine also the first one of a new network."""
    peaks: dict[str, dict[str, str]] = {}
    for result in of_kind(found, "memory"):
        row = peaks.setdefault(result["dataset"], {})
        row[result["form"]] = f"{result['bytes'] / 2**20:.0f}"
        row[f"{result['form']}, first"] = f"{result['first_bytes'] / 2**20:.0f}"
    rows = [[dataset, *(row.get(form, "") for form in MEMORY_COLUMNS)] for dataset, row in peaks.items()]
    return [["peak MB", *MEMORY_COLUMNS], *rows] if rows else []


def curves_of(found: Found) -> dict[str, list[Found]]:
    """Points of each curve, by size."""
    curves: dict[str, list[Found]] = {}
    for result in of_kind(found, "scaling"):
        curves.setdefault(result["curve"], []).append(result)
    return {name: sorted(points, key=lambda point: point["size"]) for name, points in curves.items()}


def scaling_table(name: str, points: Sequence[Found]) -> Table:
    """One curve, its exponents last."""
    rows = [
        [
            f"{p['size']:,}",
            f"{p['edges']:,}",
            f"{p['plan']:.3f}",
            f"{seconds_of(p, 'step'):.4f}",
            f"{p['embed']:.4f}",
            f"{p['peak'] / 2**20:.0f}",
        ]
        for p in points
    ]
    if len(points) > 1:
        rows.append(["exponent", "", *(f"{exponent(points, what):.2f}" for what in ("plan", "step", "embed")), ""])
    step = "step s, processor" if "processor" in points[0] else "step s"
    return [[name, "edges", "plan s", step, "embed s", "peak MB"], *rows]


def exponent(points: Sequence[Found], what: str) -> float:
    """The slope of a curve on logarithmic axes."""
    return slope([point["size"] for point in points], [seconds_of(point, what) for point in points])


def seconds_of(point: Found, what: str) -> float:
    """Of a step by the processor where that was recorded: other programs disturb it less."""
    return point.get("processor", point[what]) if what == "step" else point[what]


def all_tables(found: Found) -> list[Table]:
    """Every table that has something in it."""
    tables = [steps_table(found), one_thread_table(found), work_table(found), memory_table(found)]
    tables += [scaling_table(name, points) for name, points in curves_of(found).items()]
    return [table for table in tables if table]


def print_tables(found: Found) -> None:
    """All tables as text."""
    for table in all_tables(found):
        widths = [max(len(row[column]) for row in table) for column in range(len(table[0]))]
        for row in table:
            print(row[0].ljust(widths[0]), *(cell.rjust(width) for cell, width in zip(row[1:], widths[1:], strict=True)), sep="  ")
        print()


def write_markdown(found: Found, machine: dict[str, Any], path: Path) -> None:
    """All tables for the documentation; the machine is named by its cores only."""
    threads = max(result["threads"] for result in found.values())
    lines = [f"Measured by `make bench` on {machine['cores']} cores with {threads} thread{'s' * (threads > 1)}.", ""]
    for header, *rows in all_tables(found):
        lines += [f"| {' | '.join(row)} |" for row in (header, ["---", *["---:"] * (len(header) - 1)], *rows)]
        lines.append("")
    with atomic_path(path) as temporary:
        temporary.write_text("\n".join(lines))


def write_figure(found: Found, path: Path) -> None:
    """Step and embedding of every curve on logarithmic axes."""
    curves = curves_of(found)
    panels = {"nodes": [name for name in curves if name.startswith("nodes")]}
    panels |= {name: [name] for name in curves if not name.startswith("nodes")}
    panels = {title: names for title, names in panels.items() if names}
    rows = -(-len(panels) // 2)
    figure = new_figure(8.6, 3.4 * rows)
    for axes, (title, names) in zip(figure.subplots(rows, 2, squeeze=False).ravel(), panels.items(), strict=False):
        _draw_panel(axes, names, curves)
        finish_axes(axes, title, "seconds" if axes.get_subplotspec().is_first_col() else "")
    for axes in figure.axes[len(panels) :]:
        axes.axis("off")
    with atomic_path(path) as temporary:
        figure.savefig(temporary, format="png", dpi=160)


def _draw_panel(axes: Any, names: Sequence[str], curves: dict[str, list[Found]]) -> None:
    """Training and embedding against one size."""
    for number, name in enumerate(names):
        points, family = curves[name], name.partition(", ")[2]
        sizes = [point["size"] for point in points]
        for what, line, marker in (("step", "-", "o"), ("embed", "--", "s")):
            values = [seconds_of(point, what) for point in points]
            work = {"step": "an epoch" if name == "graphs in the set" else "a training step", "embed": "embedding"}[what]
            label = ", ".join(part for part in (family and f"{family} graph", work) if part)
            axes.plot(sizes, values, line, color=COLORS[number], marker=marker, markersize=5, label=label)
    axes.set(xscale="log", yscale="log")
    axes.set_title(_message(names, curves), fontsize=10.5, color=INK, loc="left")
    shown = sizes[::2]
    axes.set_xticks(shown, [_short(size) for size in shown])
    axes.minorticks_off()
    axes.legend(fontsize=9, frameon=False, labelcolor=INK, loc="upper left")
    low, high = axes.get_ylim()
    axes.set_ylim(low, high * (high / low) ** 0.4)  # room for the legend


def _message(names: Sequence[str], curves: dict[str, list[Found]]) -> str:
    """What the exponents of training mean: how much longer ten times as many take."""
    grown = {name.partition(", ")[2]: 10 ** exponent(curves[name], "step") for name in names if len(curves[name]) > 1}
    times = " or ".join(f"{factor:.0f} ({family})" if family else f"{factor:.0f}" for family, factor in grown.items())
    space = "\n" if len(grown) > 1 else " "  # several families are too long for one line
    return f"10 times as many take {times}{space}times as long"


def _short(size: int) -> str:
    if size >= 1_000_000:
        return f"{size / 1_000_000:g} M"
    return f"{size / 1000:g} k" if size >= 1000 else str(size)
