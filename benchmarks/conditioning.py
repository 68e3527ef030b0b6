"""How much training multiplies rounding, on tiny near-regular graphs and on others, and what a floor in whitening would change.

    PHIST_DATA=folder python benchmarks/conditioning.py [--datasets MUTAG Letter-high] [--seeds 0 1 2] [--update docs/engine.md]

Sixty graphs of each set, two epochs in steps of eight. Gradients after training are compared with the reference in double
precision; the growth of a difference is measured in double precision, where rounding plays no part: how far probabilities move
when the first weights are changed by 1e-11 of themselves, divided by 1e-11. A floor f lets f_graph divide by no less than f times
the root mean square of the graph's responses over all channels.
"""

import argparse
from collections.abc import Iterator
from contextlib import contextmanager
from copy import deepcopy
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import networkx as nx
import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor
from torch.nn import functional as F

from phist import as_graphset, load_dataset
from phist.engine.computation import Computation, Reference
from phist.engine.fused import Fused
from phist.nn.network import StructuralNetwork, make_network
from phist.nn.normalization import Moments, MultisetNorm
from phist.training.loop import Examples, Trainer
from phist.training.presets import automatic_preset

BEGIN, END = "<!-- conditioning:begin -->", "<!-- conditioning:end -->"
TINY = "tiny, near-regular"
N_GRAPHS, EPOCHS, CHANGE = 60, 2, 1e-11
FLOORS = (0.005, 0.02, 0.1)
Array = NDArray[Any]


@dataclass(frozen=True)
class Outcome:
    """Of one set of graphs, medians over seeds unless said otherwise."""

    dataset: str
    gradients: tuple[float, float]  # largest error relative to the gradient's length: reference, engine
    apart: float  # largest difference of probabilities between engine and reference
    growth: list[float]  # without a floor, then with each
    moved: float  # the floor 0.1's largest relative change of the first epoch's loss


def near_regular(rng: np.random.Generator) -> nx.Graph:
    """A ring, a clique, either with an edge more or less, or a path, of 2 to 38 nodes."""
    n_nodes, kind = int(min(38, 1 + rng.geometric(0.15))), int(rng.integers(5))
    graph = nx.cycle_graph(n_nodes) if kind < 2 and n_nodes > 2 else nx.complete_graph(n_nodes)
    if kind == 1 and n_nodes > 3:
        graph.add_edge(*rng.choice(n_nodes, 2, replace=False).tolist())
    if kind == 3 and n_nodes > 3:
        graph.remove_edge(0, 1)
    return nx.path_graph(n_nodes) if kind == 4 else graph


def examples_of(dataset: str) -> Examples:
    """Sixty graphs of a set with their classes; of the tiny ones, classes at random."""
    rng = np.random.default_rng(0)
    if dataset == TINY:
        graphs, targets = as_graphset([near_regular(rng) for _ in range(N_GRAPHS)]), rng.integers(2, size=N_GRAPHS)
    else:
        all_graphs = load_dataset(dataset, download=False)
        chosen = np.sort(rng.permutation(len(all_graphs))[:N_GRAPHS])
        graphs = all_graphs[chosen]
        targets = np.unique([str(label) for label in graphs.label_list()], return_inverse=True)[1]
    return Examples(graphs.with_labels(None), targets.astype(np.int64), np.ones(N_GRAPHS))


@contextmanager
def floor_of(floor: float) -> Iterator[None]:
    """The reference with a floor under the deviations that f_graph divides by."""
    usual = MultisetNorm.forward

    def forward(norm: MultisetNorm, x: Tensor, graph_of: Tensor, moments: Moments) -> Tensor:
        variance = moments.variance + norm.epsilon
        if x.shape[1] == 1:  # f_graph: one slot
            square = (moments.variance + moments.mean.square()).mean(-1, keepdim=True)
            variance = torch.maximum(variance, floor**2 * square)
        return torch.tanh((x - moments.mean[graph_of]) * variance.rsqrt()[graph_of])

    MultisetNorm.forward = forward if floor else usual  # type: ignore[method-assign]
    try:
        yield
    finally:
        MultisetNorm.forward = usual  # type: ignore[method-assign]


def trained(examples: Examples, seed: int, engine: str, change: float | None = None) -> tuple[StructuralNetwork, float]:
    """A network after two epochs and the first one's loss; in double precision where its first weights are changed."""
    preset, n_classes = automatic_preset(examples.graphs), int(examples.targets.max()) + 1
    network = make_network(preset.network, n_classes, seed)
    if change is not None:
        network, generator = network.double(), torch.Generator().manual_seed(seed)
        with torch.no_grad():
            for weights in network.parameters():
                weights.mul_(1 + change * torch.randn(weights.shape, generator=generator, dtype=weights.dtype))
    trainer = Trainer(network, examples, None, preset.training, engine)
    losses = [trainer.run_epoch().loss for _ in range(EPOCHS)]
    return network, losses[0]


def probabilities(network: StructuralNetwork, examples: Examples) -> Array:
    """By the reference in double precision, all from the same roots."""
    computation = Reference(deepcopy(network).double().eval(), examples.graphs)
    draws = network.config.sampler.draw(computation.sizes, np.random.default_rng(0))
    with torch.no_grad():
        found: Array = torch.softmax(computation.scores(np.arange(N_GRAPHS), draws), 1).numpy()
    return found


def gradient(computation: Computation, examples: Examples, chosen: Array, seed: int) -> Array:
    network = computation.network.train()
    draws = network.config.sampler.draw(computation.sizes[chosen], np.random.default_rng(seed))
    network.zero_grad()
    F.cross_entropy(computation.scores(chosen, draws), torch.from_numpy(examples.targets[chosen])).backward()
    found: Array = torch.cat([weights.grad.flatten().double() for weights in network.parameters()]).numpy()  # type: ignore[union-attr]
    return found


def gradient_errors(network: StructuralNetwork, examples: Examples, seed: int) -> list[float]:
    """The largest over seven batches, of reference and engine."""
    errors = []
    for batch in np.array_split(np.random.default_rng(seed).permutation(N_GRAPHS), 7):
        truth = gradient(Reference(deepcopy(network).double(), examples.graphs), examples, batch, seed)
        single = [gradient(kind(deepcopy(network), examples.graphs), examples, batch, seed) for kind in (Reference, Fused)]
        errors.append([np.linalg.norm(found - truth) / np.linalg.norm(truth) for found in single])
    return np.max(errors, axis=0).tolist()  # type: ignore[no-any-return]


def measure(dataset: str, seeds: list[int]) -> Outcome:
    """Train by both, and in double precision with and without floors."""
    examples, errors, apart, growth, losses = examples_of(dataset), [], [], [], []
    for seed in seeds:
        (reference, _), (engine, _) = (trained(examples, seed, name) for name in ("reference", "fused"))
        errors.append(gradient_errors(reference, examples, seed))
        apart.append(abs(probabilities(reference, examples) - probabilities(engine, examples)).max())
        growth.append([])
        losses.append([])
        for floor in (0.0, *FLOORS):
            with floor_of(floor):
                (one, loss), (other, _) = (trained(examples, seed, "reference", change) for change in (0.0, CHANGE))
                moved = abs(probabilities(one, examples) - probabilities(other, examples)).max()
            growth[-1].append(moved / CHANGE)
            losses[-1].append(loss)
    reference_error, engine_error = np.max(errors, axis=0)
    change = max(abs(of_seed[-1] / of_seed[0] - 1) for of_seed in losses)
    return Outcome(dataset, (reference_error, engine_error), np.median(apart), np.median(growth, axis=0).tolist(), change)


def table(outcomes: list[Outcome]) -> str:
    """In Markdown."""
    floors = [f"floor {floor:g}" for floor in FLOORS]
    names = ["graphs", "gradient: reference", "engine", "probabilities", "growth", *floors, f"loss by {floors[-1]}"]
    lines = [f"| {' | '.join(names)} |", "|---" * len(names) + "|"]
    for outcome in outcomes:
        figures = [*outcome.gradients, outcome.apart, *outcome.growth, outcome.moved]
        lines.append(f"| {' | '.join([outcome.dataset, *(f'{figure:.0e}' for figure in figures)])} |")
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--datasets", nargs="+", default=[TINY, "Letter-high", "IMDB-BINARY", "ENZYMES", "MUTAG"])
    parser.add_argument("--seeds", nargs="+", type=int, default=[0, 1, 2])
    parser.add_argument("--update", type=Path, help="a document whose table to replace")
    given = parser.parse_args()
    found = []
    for dataset in given.datasets:
        found.append(measure(dataset, given.seeds))
        print(table(found[-1:]).splitlines()[-1], flush=True)
    if given.update is not None:
        text = given.update.read_text(encoding="utf-8")
        before, after = text.split(BEGIN)[0], text.split(END)[1]
        given.update.write_text(f"{before}{BEGIN}\n\n{table(found)}\n\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    torch.set_num_threads(1)
    main()
