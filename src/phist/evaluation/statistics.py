"""What the accuracies of a study show: spreads, differences with their intervals, ranks. Numbers in, numbers out."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phist.errors import ConfigError

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Difference:
    """The mean of paired differences, with its interval and the p-value of a t-test against no difference.

    Where all differences are equal the interval has no width, and p is 1 if they are zero, else 0.
    """

    mean: float
    low: float
    high: float
    p: float
    pairs: int

    @property
    def is_clear(self) -> bool:
        """Whether the interval leaves out zero."""
        return self.low > 0 or self.high < 0


def mean_and_deviation(values: ArrayLike) -> tuple[float, float]:
    """Mean and sample standard deviation; a single value has zero.

    >>> mean_and_deviation([1.0, 2.0, 3.0])
    (2.0, 1.0)
    """
    given = _finite("values", values)
    return float(given.mean()), float(given.std(ddof=1)) if len(given) > 1 else 0.0


def paired_difference(
    first: ArrayLike, second: ArrayLike, *, test_to_training: float = 0.0, confidence: float = 0.95
) -> Difference:
    """How much larger ``first`` is than ``second``, pair by pair, such as two methods on the same folds.

    Folds share most of their training graphs, so that their results vary less than independent ones would, and a plain
    t-test finds too much. Nadeau and Bengio's correction (2003) adds the ratio of test to training size to 1 / pairs.

    Args:
        first, second: one value for each fold, in the same order.
        test_to_training: graphs tested for each graph learnt from: 1/8 where one fold of ten tests and one validates. Zero
            is the plain paired t-test.
        confidence: of the interval.
    """
    from scipy import stats

    ours, theirs = _finite("first", first), _finite("second", second)
    if len(ours) != len(theirs) or len(ours) < 2:
        raise ConfigError(f"{len(ours)} and {len(theirs)} values were given; a comparison needs the same two or more on both sides")
    if not (0 < confidence < 1 and test_to_training >= 0):
        raise ConfigError(f"confidence={confidence}, test_to_training={test_to_training}; give one between 0 and 1, and 0 or more")
    differences = ours - theirs
    pairs, mean = len(differences), float(differences.mean())
    error = float(differences.std(ddof=1) * np.sqrt(1 / pairs + test_to_training))
    if error <= 1e-12 * np.abs(differences).max():  # equal differences, but for rounding
        return Difference(mean, mean, mean, 1.0 if mean == 0 else 0.0, pairs)
    half = float(stats.t.ppf((1 + confidence) / 2, pairs - 1)) * error
    p = float(2 * stats.t.sf(abs(mean) / error, pairs - 1))
    return Difference(mean, mean - half, mean + half, p, pairs)


def average_ranks(scores: ArrayLike) -> Array:
    """Mean rank of every method over datasets, 1 for the best; equal scores share their ranks.

    >>> average_ranks([[0.9, 0.8, 0.7], [0.6, 0.6, 0.5]])
    array([1.25, 1.75, 3.  ])

    Args:
        scores: the larger the better, (datasets, methods).
    """
    from scipy import stats

    ranks: Array = stats.rankdata(-_table(scores), axis=1).mean(axis=0)
    return ranks


def friedman_test(scores: ArrayLike) -> tuple[float, float]:
    """Friedman's statistic and p-value: whether the ranks of at least three methods differ at all, (datasets, methods)."""
    from scipy import stats

    table = _table(scores)
    if table.shape[1] < 3:
        raise ConfigError(
            f"{table.shape[1]} methods were given; Friedman's test needs three or more: compare two by their difference"
        )
    if (table == table[:, :1]).all():
        return 0.0, 1.0  # all are equal everywhere, for which the statistic is 0 / 0
    result = stats.friedmanchisquare(*table.T)
    return float(result.statistic), float(result.pvalue)


def critical_difference(n_methods: int, n_datasets: int, level: float = 0.05) -> float:
    """Nemenyi's: mean ranks that differ by less cannot be told apart at this level."""
    from scipy import stats

    if n_methods < 2 or n_datasets < 1:
        raise ConfigError(f"{n_methods} methods on {n_datasets} datasets were given; two methods and a dataset are needed")
    quantile = stats.studentized_range.ppf(1 - level, n_methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(n_methods * (n_methods + 1) / (6 * n_datasets)))


def smallest_signed_rank_p(n_datasets: int) -> float:
    """The least p-value that Wilcoxon's two-sided signed-rank test can give: one side wins on every dataset.

    >>> round(smallest_signed_rank_p(9), 4)
    0.0039
    """
    return 2.0 ** (1 - n_datasets)


def _finite(name: str, values: ArrayLike) -> Array:
    given = np.asarray(values, dtype=np.float64)
    if given.ndim != 1 or not len(given) or not np.isfinite(given).all():
        raise ConfigError(f"{name} has the shape {given.shape}; a list of one or more finite numbers is needed")
    return given


def _table(scores: ArrayLike) -> Array:
    table = np.asarray(scores, dtype=np.float64)
    if table.ndim != 2 or not table.size or not np.isfinite(table).all():
        raise ConfigError(f"scores have the shape {table.shape}; a full table (datasets, methods) of finite numbers is needed")
    return table
