"""How well explanations point to what tells the classes apart, where that is known: ours beside PyG's and simple baselines.

    python benchmarks/explanations.py [--set ba-2motifs] [--seed 1]

Every method on a set and a seed is a line of experiments/explanations/records.jsonl; a run goes on where the last one ended, and
writes the tables of all lines there are into experiments/explanations/summary.md and docs/explain.md. Seed 0 is the one on which
methods were developed, and is not measured.
"""

import argparse
import json
import time
from collections.abc import Callable, Iterator
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
import torch
from explained_models import METHODS, MODELS, Explained, Method, Values
from explanation_tables import write_tables
from scipy.stats import spearmanr

from phist import GraphSet
from phist.explain.edits import subgraphs
from phist.explain.metrics import groundtruth_auroc, precision_at_k
from phist.graphs.graph import Graph
from phist.graphs.motifs import Truth, make_ba_2motifs, make_planted_motifs, make_triangles

RECORDS = Path(__file__).parents[1] / "experiments" / "explanations" / "records.jsonl"
SEEDS, TEST_GRAPHS = (1, 2, 3), 40
RUNS, REPEATED = 10, 4  # runs to see whether a method repeats itself, of so many graphs, with the first seed
Pair = tuple[GraphSet, Truth]


def _parts(made: Pair, n_training: int) -> tuple[Pair, Pair]:
    graphs, truth = made
    return (graphs[:n_training], truth[:n_training]), (graphs[n_training:], truth[n_training:])


def _triangles(seed: int) -> tuple[Pair, Pair]:
    return make_triangles(2000, seed=seed), make_triangles(TEST_GRAPHS, max_nodes=100, seed=1000 + seed)


SETS: dict[str, Callable[[int], tuple[Pair, Pair]]] = {
    "ba-2motifs": lambda seed: _parts(make_ba_2motifs(400 + TEST_GRAPHS, seed=seed), 400),
    "planted-motifs": lambda seed: _parts(make_planted_motifs(400 + TEST_GRAPHS, seed=seed), 400),
    "triangles": _triangles,
}  # for training and for testing


def measure(name: str, seed: int, done: set[tuple[Any, ...]]) -> Iterator[dict[str, Any]]:
    """The records of a set and a seed that are not there yet, one method after the other."""
    (training, _), (test, truth) = SETS[name](seed)
    for kind, make in MODELS.items():
        missing = [method for method in METHODS[kind] if (name, seed, method) not in done]
        if not missing:
            continue
        explained = make(training, seed)
        logits = explained.logits(test)
        for method in missing:
            begin = time.perf_counter()
            found = explained.methods[method](test, 0)
            seconds = (time.perf_counter() - begin) / len(test)
            yield {
                "set": name, "seed": seed, "model": kind, "method": method, "seconds": round(seconds, 5),
                "repeats": repeats(explained.methods[method], test) if seed == SEEDS[0] else None,
                "graphs": judge(explained, test, logits, found, truth),
            }  # fmt: skip


def judge(explained: Explained, test: GraphSet, logits: np.ndarray, found: list[Values], truth: Truth) -> list[dict[str, Any]]:
    """Of every graph, what the method's values are worth against the truth and against the model.

    Sets of nodes are as large as the truth. ``plus`` and ``minus`` say whether the class changes without them and with them
    alone, ``drop`` by how much the logit of the class falls without them, ``truth_drop`` without the nodes of the truth.
    """
    chosen = [strongest(values.nodes, nodes.sum()) for values, nodes in zip(found, truth.nodes, strict=True)]
    own = logits.argmax(1)
    rest, alone, truth_rest = (
        explained.logits(GraphSet.concatenate([part(graph, mask) for graph, mask in zip(test, masks, strict=True)]))
        for masks in ([~mask for mask in chosen], chosen, [~mask for mask in truth.nodes])
    )
    return [
        {
            "label": graph.label,
            "right": explained.classes[own[number]] == graph.label,
            "node_auroc": number_or_none(groundtruth_auroc(values.nodes, truth.nodes[number])),
            "node_precision": number_or_none(precision_at_k(values.nodes, truth.nodes[number])),
            "edge_auroc": None if values.edges is None else number_or_none(groundtruth_auroc(values.edges, truth.edges[number])),
            "plus": bool(rest[number].argmax() != own[number]),
            "minus": bool(alone[number].argmax() != own[number]),
            "drop": number_or_none((logits - rest)[number, own[number]]),
            "truth_drop": number_or_none((logits - truth_rest)[number, own[number]]),
            "is_truth": bool((chosen[number] == truth.nodes[number]).all()),
        }
        for number, (graph, values) in enumerate(zip(test, found, strict=True))
    ]


def strongest(values: np.ndarray, count: int) -> np.ndarray:
    """Which nodes have the largest values: a mask."""
    mask = np.zeros(len(values), bool)
    mask[np.argsort(-values, kind="stable")[:count]] = True
    return mask


def part(graph: Graph, nodes: np.ndarray) -> GraphSet:
    """Some of the nodes with the edges between them; of none, a single node without edges."""
    if not nodes.any():
        return GraphSet(np.array([0, 1]), np.zeros(2, np.int64), np.empty(0, np.int32))
    return subgraphs(graph, nodes[None], np.ones((1, len(graph.indices)), bool))


def repeats(method: Method, test: GraphSet) -> float:
    """The mean rank correlation of a graph's node values between any two runs; exactly one where all runs are identical."""
    runs = [method(test[:REPEATED], run) for run in range(RUNS)]
    found = [_agreement(runs[one][graph].nodes, runs[other][graph].nodes)
             for one, other in combinations(range(RUNS), 2) for graph in range(REPEATED)]  # fmt: skip
    return round(float(np.mean(found)), 4)


def _agreement(one: np.ndarray, other: np.ndarray) -> float:
    if np.array_equal(one, other):
        return 1.0
    return 0.0 if min(np.ptp(one), np.ptp(other)) == 0 else float(spearmanr(one, other).statistic)


def number_or_none(value: float) -> float | None:
    """Four digits, for JSON."""
    return round(float(value), 4) if np.isfinite(value) else None


def read_records() -> list[dict[str, Any]]:
    return [json.loads(line) for line in RECORDS.read_text().splitlines()] if RECORDS.exists() else []


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--set", action="append", choices=SETS, help="may be repeated; all unless given")
    parser.add_argument("--seed", action="append", type=int, choices=SEEDS, help="may be repeated; all unless given")
    options = parser.parse_args()
    torch.set_num_threads(1)
    RECORDS.parent.mkdir(parents=True, exist_ok=True)
    done = {(one["set"], one["seed"], one["method"]) for one in read_records()}
    for name in options.set or SETS:
        for seed in options.seed or SEEDS:
            for record in measure(name, seed, done):
                with RECORDS.open("a") as file:
                    file.write(json.dumps(record) + "\n")
                print(f"{name}, seed {seed}: {record['method']}", flush=True)
    write_tables(read_records())


if __name__ == "__main__":
    main()
