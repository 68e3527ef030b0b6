"""Tables of the records of explanations.py, in Markdown."""

import re
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
from explained_models import METHODS

ROOT = Path(__file__).parents[1]
SUMMARY, DOCUMENT = ROOT / "experiments" / "explanations" / "summary.md", ROOT / "docs" / "explain.md"
BLOCK = re.compile(r"(<!-- explanations:begin -->\n).*?(<!-- explanations:end -->)", re.DOTALL)
HEADS = (
    "model",
    "method",
    "right",
    "node AUROC",
    "node precision",
    "edge AUROC",
    "fidelity+",
    "fidelity-",
    "repeats",
    "seconds a graph",
)
Record = dict[str, Any]


def write_tables(records: Sequence[Record]) -> None:
    """Into the summary, and into the block of the document."""
    tables = all_tables(records)
    SUMMARY.write_text(
        "# Explanations against the truth\n\nWritten by `benchmarks/explanations.py` from `records.jsonl`.\n\n" + tables
    )
    DOCUMENT.write_text(BLOCK.sub(lambda found: f"{found[1]}\n{tables}\n{found[2]}", DOCUMENT.read_text()))


def all_tables(records: Sequence[Record]) -> str:
    """For each set, means over the graphs that the explained model classifies correctly, and the test by deletion."""
    text = ""
    for name in dict.fromkeys(record["set"] for record in records):
        own = [record for record in records if record["set"] == name]
        seeds = sorted({record["seed"] for record in own})
        text += f"**{name}**, seeds {', '.join(map(str, seeds))}\n\n| {' | '.join(HEADS)} |\n|{'---|' * len(HEADS)}\n"
        for model, methods in METHODS.items():
            for method in methods:
                chosen = [record for record in own if record["method"] == method]
                text += _row(model, method, chosen) if chosen else ""
        text += f"\n{disagreements(own)}\n\n"
    return text.rstrip() + "\n"


def _row(model: str, method: str, records: Sequence[Record]) -> str:
    graphs = [graph for record in records for graph in record["graphs"]]
    right = [graph for graph in graphs if graph["right"]]

    def mean(field: str) -> str:
        values = [graph[field] for graph in right if graph[field] is not None]
        return f"{np.mean(values):.3f}" if values else ""

    aurocs = [
        np.mean([graph["node_auroc"] for graph in record["graphs"] if graph["right"] and graph["node_auroc"] is not None])
        for record in records
        if any(graph["right"] for graph in record["graphs"])
    ]
    spread = f" ± {np.std(aurocs, ddof=1):.3f}" if len(aurocs) > 1 else ""
    repeated = [record["repeats"] for record in records if record["repeats"] is not None]
    cells = [
        model, method, f"{len(right)} of {len(graphs)}", mean("node_auroc") + spread, mean("node_precision"), mean("edge_auroc"),
        mean("plus"), mean("minus"), f"{np.mean(repeated):.2f}" if repeated else "",
        f"{np.median([record['seconds'] for record in records]):.3f}",
    ]  # fmt: skip
    return f"| {' | '.join(cells)} |\n"


def disagreements(records: Sequence[Record], method: str = "shares") -> str:
    """Where shares point elsewhere than the truth: which of the two the model misses more when it is deleted."""
    graphs = [graph for record in records if record["method"] == method for graph in record["graphs"] if graph["right"]]
    apart = [graph for graph in graphs if not graph["is_truth"]]
    if not apart:
        return f"The strongest nodes by {method} are the truth in all {len(graphs)} graphs that are classified correctly."
    more = sum(graph["drop"] > graph["truth_drop"] for graph in apart)
    drops = [float(np.mean([graph[field] for graph in apart])) for field in ("drop", "truth_drop")]
    return (
        f"In {len(apart)} of {len(graphs)} graphs that phist classifies correctly, the strongest nodes by {method} are not exactly "
        f"the truth. Deleting them lowers the logit more than deleting the truth in {more} of these, by {drops[0]:.2f} against "
        f"{drops[1]:.2f} on average."
    )
