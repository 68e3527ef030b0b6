"""How predictors are combined: each tempered on graphs that it had not seen, then weighed by how much it adds to the others."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize_scalar
from scipy.special import log_softmax

Probabilities = NDArray[np.float64]

LEAST = 1e-4  # probability: no predictor in use is more certain than that, and a forest's zero is no certainty
ROUNDS = 40  # of greedy selection: weights are multiples of a fortieth


def temper(probabilities: Probabilities, targets: NDArray[np.int64]) -> tuple[Probabilities, float]:
    """Probabilities sharpened or softened as fits ``targets`` best, and the temperature that does it."""
    logs = np.log(np.maximum(probabilities, LEAST))
    found = minimize_scalar(lambda power: log_loss_of(_cooled(logs, power), targets), bounds=(-3.0, 3.0), method="bounded")
    return _cooled(logs, found.x), float(np.exp(found.x))


def at_temperature(probabilities: Probabilities, temperature: float) -> Probabilities:
    """What `temper` does with a temperature that is known."""
    return _cooled(np.log(np.maximum(probabilities, LEAST)), float(np.log(temperature)))


def log_loss_of(probabilities: Probabilities, targets: NDArray[np.int64]) -> float:
    """The mean of minus the logarithms of what was given to the right classes."""
    given = probabilities[np.arange(len(targets)), targets]
    return float(-np.log(np.maximum(given, LEAST)).mean())


def select_weights(candidates: Mapping[str, Probabilities], targets: NDArray[np.int64]) -> dict[str, float]:
    """Weights, of which most are zero, for the mean of the candidates that fits ``targets`` best.

    Greedy selection with replacement (Caruana et al., 2004): in every round the candidate joins, once more if it is in already, that
    lowers the log-loss of the mean the most. The best mean of all rounds is kept.
    """
    names, tables = list(candidates), np.stack(list(candidates.values()))
    given = tables[:, np.arange(len(targets)), targets]  # (candidates, graphs)
    total, counts = np.zeros(len(targets)), np.zeros(len(names))
    least, best = np.inf, counts
    for size in range(1, ROUNDS + 1):
        losses = -np.log(np.maximum((total + given) / size, LEAST)).mean(axis=1)
        joins = int(losses.argmin())
        total, counts[joins] = total + given[joins], counts[joins] + 1
        if losses[joins] < least:
            least, best = float(losses[joins]), counts / size
    return {name: float(weight) for name, weight in zip(names, best, strict=True) if weight > 0}


def mixture(candidates: Mapping[str, Probabilities], weights: Mapping[str, float]) -> Probabilities:
    """The weighted mean of some of the candidates."""
    return np.sum([weight * candidates[name] for name, weight in weights.items()], axis=0)


def _cooled(logs: Probabilities, power: float) -> Probabilities:
    cooled: Probabilities = np.exp(log_softmax(logs / np.exp(power), axis=1))
    return cooled
