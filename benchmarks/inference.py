"""Exact inference against sampled: validation accuracy and time of the same trained networks.

    PHIST_DATA=folder python benchmarks/inference.py [--datasets MUTAG ENZYMES] [--folds 4 5 6 7] [--update docs/engine.md]

A network is trained with our preset on the training part of each of the paper's folds and used on the validation part: with ten
draws of roots, as it is by default; with every node as a root, once; and with every node's embedding computed once and only
the draws that f_graph reads repeated, ten times. The two ways that exact inference could take are timed against the first.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from phist import StructuralClassifier, load_dataset
from phist.engine.computation import compute
from phist.graphs.graphset import GraphSet
from phist.nn.batch import Batch
from phist.nn.network import StructuralNetwork
from phist.nn.sampling import all_roots
from phist.training.inference import average_over_roots

BEGIN, END = "<!-- inference:begin -->", "<!-- inference:end -->"
REALIZATIONS, SEED = 10, 5
Array = NDArray[Any]


@dataclass(frozen=True)
class Outcome:
    """Accuracy and seconds of each way, the mean over folds."""

    dataset: str
    accuracy: Array  # (3)
    seconds: Array  # (2): the third way is written for its accuracy only


def paper_folds(labels: Array, fold: int) -> tuple[Array, Array]:
    """Training and validation positions of one of the paper's folds."""
    folds = StratifiedKFold(10, shuffle=True, random_state=12345).split(np.zeros(len(labels)), labels)
    parts = [test for _, test in folds]
    hidden = np.concatenate([parts[fold], parts[fold - 1]])
    return np.setdiff1d(np.arange(len(labels)), hidden), parts[fold - 1]


@torch.no_grad()
def redrawn_scores(network: StructuralNetwork, graphs: GraphSet) -> Array:
    """Every node's embedding once, seen from all nodes; then f_graph on ten draws of them."""
    batch = Batch.from_graphs(graphs)
    roots = all_roots(batch)
    slots = network.node_embeddings(batch, roots) * (roots.multiplicity > 0).unsqueeze(-1)
    nodes = torch.zeros(batch.n_nodes, slots.shape[-1]).index_add(0, roots.nodes.flatten(), slots.flatten(0, 1))
    total, first = torch.zeros(()), batch.node_ptr[:-1].numpy()
    for realization in range(REALIZATIONS):
        draws = network.config.sampler.draw_by_size(batch.node_counts.numpy(), (SEED, realization))
        drawn = np.repeat(first, np.diff(draws.ptr)) + draws.nodes
        seen = torch.zeros_like(nodes)
        seen[drawn] = nodes[drawn] * torch.from_numpy(draws.counts)[:, None]
        histograms = network.f_graph(seen.unsqueeze(1), batch, torch.ones(batch.n_graphs, 1)).squeeze(1)
        total = total + network.head(network.graph_standardizer(histograms))
    return total.numpy()


def timed(work: Callable[[], Array]) -> tuple[Array, float]:
    begin = time.perf_counter()
    return work(), time.perf_counter() - begin


def measure(dataset: str, folds: list[int]) -> Outcome:
    """Train on each fold and use the network in all three ways."""
    graphs = load_dataset(dataset, download=False)
    labels = np.unique(np.array([str(label) for label in graphs.label_list()]), return_inverse=True)[1]
    hits, seconds = [], []
    for fold in folds:
        training, validation = paper_folds(labels, fold)
        model = StructuralClassifier(preset=dataset, random_state=0, progress=False).fit(graphs[training], labels[training])
        used = graphs[validation]
        computation = compute(model.network_, used)
        sampled, slow = timed(lambda c=computation: average_over_roots(c, "scores", realizations=REALIZATIONS, seed=SEED))
        exact, fast = timed(lambda c=computation: average_over_roots(c, "scores", realizations=1, seed=SEED, inference="exact"))
        redrawn = redrawn_scores(model.network_, used)
        hits.append([(scores.argmax(1) == labels[validation]).mean() for scores in (sampled, exact, redrawn)])
        seconds.append([slow, fast])
    return Outcome(dataset, np.mean(hits, axis=0), np.mean(seconds, axis=0))


def table(outcomes: list[Outcome]) -> str:
    """In Markdown."""
    lines = ["| dataset | ten draws | every node | nodes once, ten draws | time, ten draws : every node |", "|---|---|---|---|---|"]
    for outcome in outcomes:
        figures = " | ".join(f"{100 * value:.1f}" for value in outcome.accuracy)
        lines.append(f"| {outcome.dataset} | {figures} | {outcome.seconds[0] / outcome.seconds[1]:.1f}x |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", nargs="+", default=["MUTAG", "ENZYMES", "PROTEINS", "IMDB-BINARY", "IMDB-MULTI"])
    parser.add_argument("--folds", nargs="+", type=int, default=[4, 5, 6, 7])
    parser.add_argument("--update", type=Path, help="a document whose table to replace")
    given = parser.parse_args()
    found = []
    for dataset in given.datasets:
        found.append(measure(dataset, given.folds))
        print(table(found[-1:]).splitlines()[-1], flush=True)
    if given.update is not None:
        text = given.update.read_text(encoding="utf-8")
        before, after = text.split(BEGIN)[0], text.split(END)[1]
        given.update.write_text(f"{before}{BEGIN}\n\n{table(found)}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main()
