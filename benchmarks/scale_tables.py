"""Tables of benchmarks/results/scale.json as Markdown: rates, costs in core hours, memory, and a model of many processes.

python benchmarks/scale_tables.py    # writes benchmarks/results/scale.md, and the same tables into docs/scale.md
"""

import argparse
import json
import math
from pathlib import Path

RESULTS = Path(__file__).parent / "results" / "scale.json"
PAGE = Path(__file__).parents[1] / "docs" / "scale.md"
BEGIN, END = "<!-- scale:begin -->", "<!-- scale:end -->"
COUNTS = (10**6, 10**7, 10**9)
PROCESSES = (8, 64, 512)
BATCHES = (256, 4096, 32768)
BANDWIDTH = 1.25e9  # bytes a second of a network: assumed, not measured
CIRCUMSTANCES = (
    "Rates, reading and steps were measured on two idle cores, with one thread in each process; memory and the order of graphs on "
    "cores that other programs used at the same time."
)


def table(head, rows):
    """A table; all columns but the first to the right."""
    lines = [head, ["---", *["---:"] * (len(head) - 1)], *rows]
    return "\n".join("| " + " | ".join(str(cell) for cell in line) + " |" for line in lines)


def rates(found):
    """Rates of embedding."""
    rows = []
    for name, own in found.items():
        memory, stream, two = (own[kind] for kind in ("in memory", "stream", "two processes"))
        rate = own["graphs"] / stream["core_seconds"]
        ratios = memory["core_seconds"] / stream["core_seconds"], stream["core_seconds"] / two["core_seconds"]
        clock = stream["seconds"] / two["seconds"]
        rows.append(
            [
                name,
                f"{own['graphs'] / memory['core_seconds']:,.0f}",
                f"{rate:,.0f}",
                f"{ratios[0]:.2f}",
                f"{2 * ratios[1]:.2f}",
                f"{clock:.2f}",
            ]
        )
    head = ["", "in memory", "stream", "stream / in memory", "two processes, by core time", "by the clock"]
    yield "Graphs embedded in a second of a core, and what a stream and a second process bring:\n\n" + table(head, rows)


def costs(found):
    """What the rates mean for many graphs."""
    seconds = {f"embedding, {name}": own["stream"]["core_seconds"] / own["graphs"] for name, own in found["rates"].items()}
    for name, own in found["reading"].items():
        seconds[f"reading Parquet alone, {name}"] = 60 / own["edges, unsorted"]
    batch = max(own["batch"] for own in found["steps"].values())
    seconds["learning, each epoch, MOLHIV"] = found["steps"][f"{batch}/1"]["core_ms_a_step"] / 1e3 / batch
    rows = [[name, f"{1 / own:,.0f}", *[_hours(count * own) for count in COUNTS]] for name, own in seconds.items()]
    yield "Core hours for so many graphs, by the default network:\n\n" + table(
        ["", "graphs a core second", *[f"{count:,}" for count in COUNTS]], rows
    )


def _hours(seconds):
    hours = seconds / 3600
    return f"{hours:,.0f}" if hours >= 10 else f"{hours:.2g}"


def reading(found):
    """Reading of Parquet."""
    rows = [[name, f"{own['packed'] / 1e6:,.0f}", f"{own['edges, unsorted'] / 1e6:,.0f}"] for name, own in found.items()]
    yield "Millions of graphs read from Parquet in a minute of a core:\n\n" + table(
        ["", "arcs in order, not copied", "edges in any order"], rows
    )


def streams(found):
    """Memory of streams."""
    runs = sorted(found.values(), key=lambda own: own["graphs"])
    rows = [[f"{own['graphs']:,}", f"{own['peak_mb']:,.0f}", f"{own['graphs'] / own['core_seconds']:,.0f}"] for own in runs]
    yield "Memory of a stream of generated graphs of 25 nodes, small network:\n\n" + table(
        ["graphs", "peak MB", "graphs a core second"], rows
    )


def fit(found):
    """Memory of fits."""
    rows = [
        [f"{own['graphs']:,}", f"{own['set_mb']:,.0f}", f"{own['peak_mb']:,.0f}", f"{own['core_seconds']:,.0f}"]
        for own in found.values()
    ]
    head = ["graphs", "set on disk, MB", "peak resident MB, mapped pages included", "core seconds"]
    yield "A fit under a limit of 4 GB (`RLIMIT_DATA`), one epoch, small network:\n\n" + table(head, rows)


def steps(found):
    """Steps on several processes, measured and on paper."""
    rows = []
    for own in found.values():
        alone = found[f"{own['batch']}/1"]["core_ms_a_step"]
        efficiency = alone / own["core_ms_a_step"]
        rows.append([own["batch"], own["processes"], f"{own['core_ms_a_step']:.1f}", f"{efficiency:.2f}", f"{own['sum_ms']:.2f}"])
    head = ["graphs a step", "processes", "core ms a step, all processes", "efficiency", "quickest sum, ms"]
    yield "Training steps on MOLHIV, the default network:\n\n" + table(head, rows)
    yield model(found)


def model(found):
    """Efficiency on paper: a step's work divided, plus what every process does beside it, plus the sum of gradients."""
    batch = max(own["batch"] for own in found.values() if own["processes"] == 2)
    alone, two = (found[f"{batch}/{count}"] for count in (1, 2))
    a_graph = alone["core_ms_a_step"] / batch / 1e3
    beside = max(0.0, (two["core_ms_a_step"] - alone["core_ms_a_step"]) / 2e3)
    size, a_round = 8 * alone["parameters"], two["sum_ms"] / 1e3
    rows = []
    for graphs in BATCHES:
        work, cells = graphs * a_graph, []
        for count in PROCESSES:
            reduction = math.log2(count) * (a_round + size / BANDWIDTH)
            seconds = work / count + beside + reduction
            cells.append(f"{work / count / seconds:.2f}" if graphs >= count else "-")
        rows.append([f"{graphs:,}", *cells])
    text = (
        f"Efficiency on paper: {1e6 * a_graph:.0f} µs of work a graph and {1e3 * beside:.1f} ms a step beside it, as measured "
        f"with {batch} graphs a step; {size / 1e3:.0f} kB exchanged in log2 P rounds of {1e3 * a_round:.2f} ms, as measured "
        f"between two processes, over a network of an assumed {BANDWIDTH / 1e9:.2f} GB/s:\n\n"
    )
    return text + table(["graphs a step", *[f"{count} processes" for count in PROCESSES]], rows)


def order(found):
    """What shuffling by blocks costs."""
    rows = [[name.replace("/", ", "), f"{100 * own['mean']:.1f}", own["seeds"]] for name, own in found.items()]
    yield "Accuracy on a fifth left out, windows of a tenth of the graphs, 15 epochs:\n\n" + table(
        ["", "percent, mean", "seeds"], rows
    )


def tables():
    """All tables, one after the other."""
    found = json.loads(RESULTS.read_text())
    made = [text for kind in (rates, reading, streams, fit, steps, order) for text in kind(found[kind.__name__])]
    return "\n\n".join([CIRCUMSTANCES, *costs(found), *made])


def main():
    """Write the tables where people read them."""
    argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter).parse_args()
    text = tables()
    RESULTS.with_suffix(".md").write_text(f"# Scale\n\nWritten by `benchmarks/scale_tables.py` from `scale.json`. {text}\n")
    before, _, rest = PAGE.read_text().partition(BEGIN)
    PAGE.write_text(f"{before}{BEGIN}\n\n{text}\n\n{END}{rest.partition(END)[2]}")


if __name__ == "__main__":
    main()
