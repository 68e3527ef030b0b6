"""What a time budget costs: accuracy within it, of as many epochs planned from the start, and of a schedule cut off.

    PHIST_DATA=folder python benchmarks/time_budget.py [--dataset NCI1] [--folds 4 5 6] [--budgets 2 5 10]

One network of the preset is trained on the training part of each fold and asked about its validation part. Budgets are seconds of
processor time of one thread, so that other work on the machine does not count. A run with a budget times its first epochs and
anneals over those that fit; the next run is told their number beforehand and has no budget; the last one stops there too, but its
schedule was made for all epochs of the preset.
"""

import argparse
import time
from dataclasses import replace
from statistics import mean
from types import SimpleNamespace

import numpy as np
import torch
from inference import paper_folds

from phist import load_dataset
from phist.engine.choice import compute
from phist.nn.network import make_network
from phist.training import loop
from phist.training.inference import average_over_roots
from phist.training.loop import Examples, Trainer, fit_network
from phist.training.presets import Preset, make_preset


def train(training: Examples, preset: Preset, stop: int | None = None) -> tuple[int, Trainer]:
    """The epochs trained, and the network in its trainer; ``stop`` ends early and leaves the schedule as it is."""
    network = make_network(preset.network, int(training.targets.max()) + 1, preset.training.seed)
    if stop is None:
        history = fit_network(network, training, None, preset.training, progress=False)
        return len(history.epochs), Trainer(network, training, None, preset.training, "auto")
    trainer = Trainer(network, training, None, preset.training, "auto")
    with trainer.computation.at_work():
        for _ in range(stop):
            trainer.run_epoch()
    return stop, trainer


def accuracy(trainer: Trainer, asked: Examples) -> float:
    """In percent."""
    computation = compute(trainer.network.eval(), asked.graphs)
    scores = average_over_roots(computation, "scores", realizations=10, seed=5)
    return 100 * float((scores.argmax(1) == asked.targets).mean())


def compare(dataset: str, folds: list[int], budget: float) -> str:
    """A row of the table."""
    graphs, preset = load_dataset(dataset, download=False), make_preset(dataset)
    labels = np.unique(np.array([str(label) for label in graphs.label_list()]), return_inverse=True)[1]
    whole = Examples(graphs.with_labels(None), labels, np.ones(len(labels)))
    epochs: list[int] = []
    found: list[list[float]] = []
    for fold in folds:
        parts = [whole.part(positions) for positions in paper_folds(labels, fold)]
        configured = lambda **changes: Preset(preset.network, replace(preset.training, **changes))  # noqa: E731
        done, within = train(parts[0], configured(time_budget=budget))
        _, planned = train(parts[0], configured(epochs=done))
        _, cut = train(parts[0], configured(), stop=done)
        epochs.append(done)
        found.append([accuracy(trainer, parts[1]) for trainer in (within, planned, cut)])
    figures = " | ".join(f"{mean(column):.1f}" for column in zip(*found, strict=True))
    return f"| {budget:g} | {mean(epochs):.0f} of {preset.training.epochs} | {figures} |"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--dataset", default="NCI1")
    parser.add_argument("--folds", type=int, nargs="+", default=[4, 5, 6])
    parser.add_argument("--budgets", type=float, nargs="+", default=[2, 5, 10])
    options = parser.parse_args()
    torch.set_num_threads(1)
    loop.time = SimpleNamespace(perf_counter=time.process_time)  # type: ignore[assignment]  # the clock that budgets are kept by
    print("| seconds | epochs | within the budget | as many, planned | as many of the whole schedule |\n|---|---|---|---|---|")
    for budget in options.budgets:
        print(compare(options.dataset, options.folds, budget), flush=True)


if __name__ == "__main__":
    main()
