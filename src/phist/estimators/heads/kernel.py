"""The kernel head: ridge regression of the classes on nodes' embeddings, by a gaussian kernel."""

from dataclasses import dataclass, fields
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from phist.errors import ModelFileError
from phist.estimators.heads.head import Arrays, Head
from phist.estimators.trained import Features, n_node_level
from phist.nn.network import StructuralNetwork

RIDGES: tuple[float, ...] = tuple(np.geomspace(0.01, 100, 9).tolist())
MOST_GRAPHS = 4000  # to compare with: their similarities take 128 MB, a few times that in fitting; time grows with the cube
ENOUGH_FOR_RIDGE = 1500  # graphs to choose it by: a second or two
_AT_ONCE = 64  # rows that are compared together, zeros for want of others: how sums are rounded depends on their number
_LEAST = 1e-3  # probability: a regression may go below zero, and is never that certain
_KINDS = {"centre": np.float32, "scale": np.float32, "rows": np.float32, "coefficients": np.float64, "prior": np.float64}


@dataclass(frozen=True)
class KernelHead(Head):
    """Classes as a sum of gaussians around training graphs.

    Every class has an indicator, one on its own training graphs and zero on others; the sum is fitted to it by least squares with a
    penalty, the ridge. Which ridge is best is asked of the training graphs, each left out in turn: for this kind of
    regression there is a formula, and nothing has to be fitted again.

    Attributes:
        centre, scale: (features): what standardises them.
        rows: (graphs, features): the training graphs, standardised; a gaussian's variance is half the number of features.
        coefficients: (graphs, classes): the height of each gaussian.
        prior: (classes): the mean of the indicators, from which the sum departs.
    """

    name = "kernel"
    view = "node_level"
    growth = 2.0
    centre: NDArray[np.float32]
    scale: NDArray[np.float32]
    rows: NDArray[np.float32]
    coefficients: NDArray[np.float64]
    prior: NDArray[np.float64]

    @classmethod
    def fit(
        cls,
        features: Features,
        targets: NDArray[np.int64],
        weights: NDArray[np.float64],
        n_classes: int,
        seed: int,
        share: float = 1.0,
    ) -> Self:
        """Fit to all graphs; of more than `MOST_GRAPHS` to some, drawn by ``seed``."""
        return cls._fit(features.node_level, targets, weights, n_classes, seed)

    @classmethod
    def _fit(
        cls, features: NDArray[np.float32], targets: NDArray[np.int64], weights: NDArray[np.float64], n_classes: int, seed: int
    ) -> Self:
        kept = np.flatnonzero(weights > 0)
        if len(kept) > MOST_GRAPHS:
            kept = np.sort(np.random.default_rng(seed).choice(kept, MOST_GRAPHS, replace=False))
        counts = weights[kept].astype(np.float64) / weights[kept].mean()
        centre, spread = features[kept].mean(0), features[kept].std(0)
        scale = np.where(spread > 0, spread, np.float32(1))
        rows = (features[kept] - centre) / scale
        indicators = np.eye(n_classes)[targets[kept]]
        prior = np.average(indicators, axis=0, weights=counts)
        double = rows.astype(np.float64)
        coefficients = _ridge_regression(_similarities(double, double, _squared_lengths(double)), indicators - prior, counts, seed)
        return cls(centre, scale, rows, coefficients, prior)

    def predict_proba(self, features: Features) -> NDArray[np.float64]:
        """What the regression says of each class, as probabilities: (graphs, classes)."""
        n_rows, others = len(features.node_level), self.rows.astype(np.float64)
        lengths = _squared_lengths(others)
        rows = np.zeros((-(-n_rows // _AT_ONCE) * _AT_ONCE, others.shape[1]))
        rows[:n_rows] = (features.node_level - self.centre) / self.scale
        values = np.empty((len(rows), len(self.prior)))
        for begin in range(0, len(rows), _AT_ONCE):
            part = slice(begin, begin + _AT_ONCE)
            values[part] = self.prior + _similarities(rows[part], others, lengths) @ self.coefficients
        positive = np.maximum(values[:n_rows], _LEAST)
        probabilities: NDArray[np.float64] = positive / positive.sum(1, keepdims=True)
        return probabilities

    def to_arrays(self) -> dict[str, NDArray[Any]]:
        """By name, ready to be saved."""
        return {field.name: getattr(self, field.name) for field in fields(self)}

    @classmethod
    def from_arrays(cls, arrays: Arrays, network: StructuralNetwork, n_classes: int) -> Self:
        n_features = n_node_level(network)
        n_rows = len(arrays["rows"]) if arrays.get("rows") is not None and arrays["rows"].ndim else 0
        shapes = {
            "centre": (n_features,),
            "scale": (n_features,),
            "rows": (n_rows, n_features),
            "coefficients": (n_rows, n_classes),
            "prior": (n_classes,),
        }
        for name, kind in _KINDS.items():
            found = arrays.get(name)
            if found is None or found.dtype != kind or found.shape != shapes[name]:
                given = "missing" if found is None else f"{found.dtype} of shape {found.shape}"
                needed = f"{np.dtype(kind)} of shape {shapes[name]}"
                raise ModelFileError(f"the kernel head's {name!r} is {given}; {needed} is needed: save the model again")
            if not np.isfinite(found).all() or (name == "scale" and (found <= 0).any()):
                raise ModelFileError(f"the kernel head's {name!r} holds values that it cannot have; save the model again")
        return cls(**{name: arrays[name] for name in _KINDS})

    @classmethod
    def describe(cls) -> str:
        return "kernel ridge regression on embeddings of nodes"


def _squared_lengths(rows: NDArray[np.float64]) -> NDArray[np.float64]:
    lengths: NDArray[np.float64] = (rows**2).sum(1)
    return lengths


def _similarities(
    rows: NDArray[np.float64], others: NDArray[np.float64], lengths_of_others: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Gaussian, one for equal rows: (rows, others); lengths are squared."""
    squares = _squared_lengths(rows)[:, None] + lengths_of_others - 2 * rows @ others.T  # of distances, but for rounding
    similar: NDArray[np.float64] = np.exp(-np.maximum(squares, 0) / rows.shape[1])
    return similar


def _ridge_regression(
    similar: NDArray[np.float64], values: NDArray[np.float64], counts: NDArray[np.float64], seed: int
) -> NDArray[np.float64]:
    """Coefficients with the ridge that predicts best what is left out: (graphs, classes).

    With W the diagonal of counts and K the similarities, they are (K + ridge · W⁻¹)⁻¹ times the values.
    """
    from scipy.linalg import cho_factor, cho_solve

    some = np.arange(len(values))
    if len(some) > ENOUGH_FOR_RIDGE:
        some = np.random.default_rng(seed).choice(some, ENOUGH_FOR_RIDGE, replace=False)
    ridge = _best_ridge(similar[np.ix_(some, some)], values[some], counts[some])
    similar[np.diag_indices_from(similar)] += ridge / counts
    coefficients: NDArray[np.float64] = cho_solve(cho_factor(similar, overwrite_a=True, check_finite=False), values)
    return coefficients


def _best_ridge(similar: NDArray[np.float64], values: NDArray[np.float64], counts: NDArray[np.float64]) -> float:
    """The ridge by which each graph is predicted best from the others.

    What a regression without graph i misses i's values by is its coefficient over entry (i, i) of (K + ridge · W⁻¹)⁻¹. The
    eigenvectors that give this for all ridges at once take a multiple of the time of one regression.
    """
    from scipy.linalg import eigh

    root = np.sqrt(counts)[:, None]
    # Most eigenvalues are near zero, over which the driver that scipy would choose ("evr") takes a multiple of the time.
    eigenvalues, vectors = eigh(root * similar * root.T, driver="evd", overwrite_a=True, check_finite=False)
    projected = vectors.T @ (root * values)
    squares = vectors**2
    errors = []
    for ridge in RIDGES:
        inverse = 1 / (eigenvalues + ridge)
        coefficients = root * (vectors @ (inverse[:, None] * projected))
        missed = coefficients / (counts * (squares @ inverse))[:, None]
        errors.append(float(np.average((missed**2).sum(1), weights=counts)))
    return RIDGES[int(np.argmin(errors))]
