"""How long it takes to explain a thousand graphs of MUTAG, drawn with repetition: shares, and every edge and node deleted in turn.

    python benchmarks/explaining.py [--threads 2] [--graphs 1000] [--markdown benchmarks/results/explaining.md]

The model is the default one, fitted to all graphs. Equal graphs, and equal parts of graphs, are asked about once; the second row
has each graph of the set once, so that hardly more than symmetry within graphs helps.
"""

import argparse
import os
import time
from pathlib import Path

import numpy as np
import torch

from phist import GraphSet, StructuralClassifier, load_dataset

LEAST_LOAD = 0.1  # processes that wait for a core, below which the machine counts as idle


def measure(model: StructuralClassifier, graphs: GraphSet) -> tuple[float, float]:
    """Wall time and processor time, in seconds."""
    wall, processor = time.perf_counter(), time.process_time()
    explanations = model.explain(graphs, votes=False)
    assert all(np.isfinite(one.edge_effects).all() for one in explanations)
    return time.perf_counter() - wall, time.process_time() - processor


def report(rows: list[tuple[str, int, int, float, float]], threads: int, load: float) -> str:
    text = "# Explaining MUTAG\n\nWritten by `benchmarks/explaining.py`: shares, and every edge and node deleted in turn, by the\n"
    text += f"default ensemble with {threads} threads on {os.cpu_count()} cores. "
    text += f"Load average before it: {load:.1f}" + (
        ", so that wall time says more about other processes.\n\n" if load > LEAST_LOAD else ".\n\n"
    )
    text += "| graphs | number | predictions asked for | wall seconds | processor seconds |\n|---|---|---|---|---|\n"
    return text + "".join(f"| {name} | {n} | {asked:,} | {wall:.1f} | {cpu:.1f} |\n" for name, n, asked, wall, cpu in rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--graphs", type=int, default=1000)
    parser.add_argument("--markdown", type=Path)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    load = os.getloadavg()[0]
    graphs = load_dataset("MUTAG")
    model = StructuralClassifier(random_state=0, progress=False).fit(graphs)
    model.explain(graphs[:2], votes=False)  # compiles, where that was not done before
    drawn = np.random.default_rng(0).integers(len(graphs), size=options.graphs)
    chosen = {"drawn with repetition": graphs[drawn], "each graph once": graphs}
    rows = []
    for name, some in chosen.items():
        asked = int((1 + some.node_counts() + some.edge_counts()).sum())
        rows.append((name, len(some), asked, *measure(model, some)))
    text = report(rows, options.threads, load)
    print(text)
    if options.markdown:
        options.markdown.write_text(text)


if __name__ == "__main__":
    main()
