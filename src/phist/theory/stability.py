"""How far a classifier's predictions move when its graphs are made slightly wrong."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phist.errors import ConfigError
from phist.graphs.arrays import IntArray
from phist.graphs.graphset import GraphSet
from phist.theory.perturbation import PERTURBATIONS

FloatArray = NDArray[np.float64]
Predict = Callable[[GraphSet], FloatArray]  # graphs -> probabilities, (graphs, classes)

STRENGTHS = (0.01, 0.05, 0.1, 0.2)
DRAWS = 3  # of each perturbation: one draw of a hundred graphs is good to a few percent only


@dataclass(frozen=True)
class Shift:
    """What one perturbation at one strength does to the predictions, on average over graphs and draws."""

    perturbation: str
    strength: float  # share of edges, or relative error of weights
    flipped: float  # share of graphs whose predicted class changes
    moved: float  # total variation distance of the probabilities, ½ Σ |p - p̃|
    accuracy: float | None  # share of known labels found; None without labels


def measure_shifts(
    predict: Predict,
    graphs: GraphSet,
    targets: IntArray | None = None,
    *,
    seed: int,
    strengths: Sequence[float] = STRENGTHS,
    draws: int = DRAWS,
) -> Iterator[Shift]:
    """For every perturbation and strength, how far the predictions move; one result at a time, so that progress can be shown.

    Args:
        predict: probabilities of each class for a set of graphs; any classifier's.
        targets: the column of each graph's true class, -1 where the classifier does not know it; or ``None``.
        seed: of the perturbations: the same seed gives the same graphs.
        strengths: shares of edges, or relative errors of weights.
        draws: perturbed sets to average over.
    """
    if draws < 1:
        raise ConfigError(f"draws={draws} was given; at least 1 is needed")
    before = predict(graphs)
    yield Shift("none", 0.0, 0.0, 0.0, _accuracy(before, targets))
    for number, (name, perturb) in enumerate(PERTURBATIONS.items()):
        for strength in strengths:
            rng = np.random.default_rng((seed, number, round(1e6 * strength)))
            after = [predict(perturb(graphs, strength, rng)) for _ in range(draws)]
            yield _summarise(name, strength, before, np.stack(after), targets)


def flipped_share(before: FloatArray, after: FloatArray) -> float:
    """The share of rows whose most probable class differs."""
    return float((before.argmax(axis=-1) != after.argmax(axis=-1)).mean())


def mean_variation(before: FloatArray, after: FloatArray) -> float:
    """The mean total variation distance ½ Σ |p - p̃| of two tables of probabilities."""
    return float(np.abs(before - after).sum(axis=-1).mean() / 2)


def _summarise(name: str, strength: float, before: FloatArray, after: FloatArray, targets: IntArray | None) -> Shift:
    """``after`` is (draws, graphs, classes)."""
    return Shift(name, strength, flipped_share(before, after), mean_variation(before, after), _accuracy(after, targets))


def _accuracy(probabilities: FloatArray, targets: IntArray | None) -> float | None:
    return None if targets is None else float((probabilities.argmax(axis=-1) == targets).mean())
