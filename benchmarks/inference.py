"""The three ways of inference: validation accuracy and time of the same trained networks.

    PHIST_DATA=folder python benchmarks/inference.py [--datasets MUTAG ENZYMES] [--folds 4 5 6 7] [--update docs/engine.md]

A network is trained with our preset on the training part of each of the paper's folds and used on the validation part: with ten
draws of roots, each begun afresh; with every node embedded once, whichever draws it is in, as by default; and with every node
shown to f_graph, once.
"""

import argparse
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.model_selection import StratifiedKFold

from phist import StructuralClassifier, load_dataset
from phist.engine.choice import compute
from phist.training.inference import Inference, average_over_roots

BEGIN, END = "<!-- inference:begin -->", "<!-- inference:end -->"
REALIZATIONS, SEED = 10, 5
WAYS: tuple[Inference, ...] = ("sampled", "auto", "exact")
Array = NDArray[Any]


@dataclass(frozen=True)
class Outcome:
    """Accuracy and seconds of each way, the mean over folds."""

    dataset: str
    accuracy: Array  # (3)
    seconds: Array  # (3)


def paper_folds(labels: Array, fold: int) -> tuple[Array, Array]:
    """Training and validation positions of one of the paper's folds."""
    folds = StratifiedKFold(10, shuffle=True, random_state=12345).split(np.zeros(len(labels)), labels)
    parts = [test for _, test in folds]
    hidden = np.concatenate([parts[fold], parts[fold - 1]])
    return np.setdiff1d(np.arange(len(labels)), hidden), parts[fold - 1]


def timed(work: Callable[[], Array]) -> tuple[Array, float]:
    begin = time.perf_counter()
    return work(), time.perf_counter() - begin


def measure(dataset: str, folds: list[int]) -> Outcome:
    """Train on each fold and use the network in all three ways."""
    graphs = load_dataset(dataset, download=False)
    labels = np.unique(np.array([str(label) for label in graphs.label_list()]), return_inverse=True)[1]
    hits: list[list[float]] = []
    seconds: list[list[float]] = []
    for fold in folds:
        training, validation = paper_folds(labels, fold)
        model = StructuralClassifier(preset=dataset, random_state=0, progress=False).fit(graphs[training], labels[training])
        used = graphs[validation]
        computation = compute(model.network_, used)
        hits.append([])
        seconds.append([])
        for way in WAYS:
            scores, took = timed(
                lambda c=computation, w=way: average_over_roots(c, "scores", realizations=REALIZATIONS, seed=SEED, inference=w)
            )
            hits[-1].append((scores.argmax(1) == labels[validation]).mean())
            seconds[-1].append(took)
    return Outcome(dataset, np.mean(hits, axis=0), np.mean(seconds, axis=0))


def table(outcomes: list[Outcome]) -> str:
    """In Markdown."""
    lines = [
        "| dataset | ten draws | nodes once, ten draws | every node | faster by nodes once | by every node |",
        "|---|---|---|---|---|---|",
    ]
    for outcome in outcomes:
        figures = [f"{100 * value:.1f}" for value in outcome.accuracy]
        gains = [f"{gain:.1f}x" for gain in outcome.seconds[0] / outcome.seconds[1:]]
        lines.append(f"| {' | '.join([outcome.dataset, *figures, *gains])} |")
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
