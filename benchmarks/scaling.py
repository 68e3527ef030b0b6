"""How the time of one training step grows with nodes, edges, layers, bins and roots: the claims of section 3.

    python benchmarks/scaling.py [--largest 30000] [--repeats 5] [--json FILE]

Random graphs of mean degree 10, the default network, 32 roots unless roots are what grows; one thread, processor time,
medians of the repeats after a step that is not counted. Exponents are those of c + s size^p, fitted to relative errors:
c is what does not grow. 100,000 nodes take about 12 GB of memory.
"""

import argparse
import json
import sys
from pathlib import Path

import torch
from rich.console import Console
from rich.progress import track

from phist.theory.scaling import CLAIMS, FULL, Curve, measure_curves, to_json


def main() -> None:
    """Measure, print a table, and write JSON where asked to."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--largest", type=int, default=30_000, help="most nodes of a graph, in the curve over nodes")
    parser.add_argument("--repeats", type=int, default=5)
    parser.add_argument("--json", type=Path, metavar="FILE", help="write the curves, for phist theory figures --complexity FILE")
    options = parser.parse_args()

    torch.set_num_threads(1)
    nodes = sorted({size for size in (*FULL["nodes"], options.largest) if size <= options.largest})
    sizes = {**FULL, "nodes": tuple(nodes)}
    screen = Console(stderr=True)
    bar = {"total": len(sizes), "console": screen, "transient": True, "disable": not sys.stderr.isatty()}
    curves = list(track(measure_curves(sizes, options.repeats), "measuring", **bar))
    show(curves)
    if options.json:
        options.json.write_text(json.dumps(to_json(curves), indent=2) + "\n")


def show(curves: list[Curve]) -> None:
    """One line a point, and the exponent of each curve."""
    for curve in curves:
        claim = CLAIMS[curve.name]
        print(f"{curve.name}: exponent {curve.exponent:.2f}, claimed {claim} (with {claim}, within {curve.deviation:.0%})")
        for size, seconds in zip(curve.sizes, curve.seconds, strict=True):
            print(f"  {size:>9,} {1000 * seconds:10.1f} ms")


if __name__ == "__main__":
    main()
