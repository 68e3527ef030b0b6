"""How predictors are combined: each tempered on graphs that it had not seen, then weighed by how much it adds to the others."""

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

Probabilities = NDArray[np.float64]

LEAST = 1e-4  # probability: no predictor in use is more certain than that, and a forest's zero is no certainty
PRIOR = 20.0  # graphs that speak for equal weights; chosen on validation parts (docs/decisions)
ROUNDS = 300  # of expectation and maximisation: weights no longer move in the third digit
NEGLIGIBLE = 0.01  # weight: not worth what the member costs in use

COLDEST, HOTTEST = float(np.exp(-3.0)), float(np.exp(3.0))  # temperatures that are tried


def temper(probabilities: Probabilities, targets: NDArray[np.int64]) -> tuple[Probabilities, float]:
    """Probabilities sharpened or softened as fits ``targets`` best, and the temperature that does it.

    The logarithm of the temperature has a standard normal prior: where a handful of graphs is right, the likelihood alone would
    make every answer certain. Beside a hundred graphs it hardly counts.
    """
    from scipy.optimize import minimize_scalar

    logs = np.log(np.maximum(probabilities, LEAST))
    bounds = (float(np.log(COLDEST)), float(np.log(HOTTEST)))
    found = minimize_scalar(
        lambda power: log_loss_of(_cooled(logs, power), targets) + power**2 / (2 * len(targets)), bounds=bounds, method="bounded"
    )
    return _cooled(logs, found.x), float(np.exp(found.x))


def at_temperature(probabilities: Probabilities, temperature: float) -> Probabilities:
    """What `temper` does with a temperature that is known."""
    return _cooled(np.log(np.maximum(probabilities, LEAST)), float(np.log(temperature)))


def log_loss_of(probabilities: Probabilities, targets: NDArray[np.int64]) -> float:
    """The mean of minus the logarithms of what was given to the right classes."""
    given = probabilities[np.arange(len(targets)), targets]
    return float(-np.log(np.maximum(given, LEAST)).mean())


def weigh(candidates: Mapping[str, Probabilities], targets: NDArray[np.int64]) -> dict[str, float]:
    """Weights for the mean of the candidates under which ``targets`` are most probable, given a prior that they are equal.

    Each graph is taken as answered by one of the candidates, nobody knows which; the weights are how often each is the one
    (a mixture, fitted by expectation and maximisation, which always ends in the one best point). The prior counts as `PRIOR`
    graphs shared out evenly: on few graphs the weights stay near equal, on many they are what the graphs say.
    """
    given = np.stack([own[np.arange(len(targets)), targets] for own in candidates.values()], axis=1)  # (graphs, candidates)
    given = np.maximum(given, LEAST)
    share = PRIOR / given.shape[1]
    weights = np.full(given.shape[1], 1 / given.shape[1])
    for _ in range(ROUNDS):
        answered = given * weights
        answered /= answered.sum(axis=1, keepdims=True)
        weights = (answered.sum(axis=0) + share) / (len(targets) + PRIOR)
    kept = np.where(weights < NEGLIGIBLE, 0.0, weights)
    return {name: float(weight) for name, weight in zip(candidates, kept / kept.sum(), strict=True) if weight > 0}


def mixture(candidates: Mapping[str, Probabilities], weights: Mapping[str, float]) -> Probabilities:
    """The weighted mean of some of the candidates."""
    total: Probabilities = np.sum([weight * candidates[name] for name, weight in weights.items()], axis=0)
    return total


def softmax(scores: Probabilities) -> Probabilities:
    """Probabilities in proportion to the exponentials of the scores in each row."""
    powers = np.exp(scores - scores.max(axis=1, keepdims=True))
    probabilities: Probabilities = powers / powers.sum(axis=1, keepdims=True)
    return probabilities


def _cooled(logs: Probabilities, power: float) -> Probabilities:
    return softmax(logs / np.exp(power))
