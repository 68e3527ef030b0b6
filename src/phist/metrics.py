"""How good predicted probabilities are: the usual metrics of classification, computed by scikit-learn and SciPy."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phist.checks import finite_number, whole_number
from phist.errors import ConfigError, GraphInputError, check_choice

CALIBRATION_BINS = 15  # as in Guo et al. 2017, which made the measure known
CONFIDENCE = 0.95  # of the interval around the accuracy
LEAST = 1e-6  # what log-loss takes a smaller probability for, so that one certain error does not make it infinite

Probabilities = NDArray[np.float64]  # (graphs, classes)
Numbers = NDArray[np.int64]


@dataclass(frozen=True)
class Metrics:
    """The metrics of some predictions; shares and probabilities from 0 to 1.

    Attributes:
        n: graphs.
        accuracy: share of graphs whose most probable class is the true one.
        interval: Wilson's 95 % interval of the accuracy.
        balanced_accuracy: mean over the classes that occur of the share of their graphs that was found.
        roc_auc: area under the ROC curve: of the second of two classes, or the mean over the classes of one against the
            rest; classes that no graph or every graph has are left out, and ``None`` is what remains of none.
        log_loss: mean of -log(probability of the true class), each probability taken as at least 1e-6.
        calibration_error: the expected one: mean difference of confidence, the largest probability, and accuracy, over 15
            bins of equal width, weighted by their graphs.
        brier: mean squared difference of probabilities and truth, as scikit-learn scales it: summed over classes, and for
            two classes halved.
    """

    n: int
    accuracy: float
    interval: tuple[float, float]
    balanced_accuracy: float
    roc_auc: float | None
    log_loss: float
    calibration_error: float
    brier: float

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return {**vars(self), "interval": list(self.interval)}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`; a value out of its range is a `ConfigError`.

        Args:
            values: what `to_dict` returned.
        """
        low, high = values["interval"]
        shares = "accuracy", "balanced_accuracy", "calibration_error"
        auc = values["roc_auc"]
        return cls(
            n=whole_number("n", values["n"], least=1),
            interval=(finite_number("interval", low, least=0, most=1), finite_number("interval", high, least=0, most=1)),
            roc_auc=None if auc is None else finite_number("roc_auc", auc, least=0, most=1),
            log_loss=finite_number("log_loss", values["log_loss"], least=0),
            brier=finite_number("brier", values["brier"], least=0),
            **{name: finite_number(name, values[name], least=0, most=1) for name in shares},
        )


def compute_metrics(probabilities: ArrayLike, targets: ArrayLike, predicted: ArrayLike | None = None) -> Metrics:
    """All metrics of predicted probabilities.

    >>> compute_metrics([[0.9, 0.1], [0.4, 0.6], [0.3, 0.7]], [0, 1, 0]).balanced_accuracy
    0.75

    Args:
        probabilities: one row for each graph, one column for each class, (graphs, classes).
        targets: the true class of each graph, by its number.
        predicted: the predicted classes, by number; the most probable ones unless given.
    """
    checked, truth, answers = _checked(probabilities, targets, predicted)
    right = answers == truth
    return Metrics(
        n=len(truth),
        accuracy=float(right.mean()),
        interval=wilson_interval(int(right.sum()), len(truth)),
        balanced_accuracy=_balanced_accuracy(checked, truth, answers),
        roc_auc=_roc_auc(checked, truth, answers),
        log_loss=_log_loss(checked, truth, answers),
        calibration_error=_calibration_error(checked, right),
        brier=_brier(checked, truth),
    )


def compute_metric(name: str, probabilities: ArrayLike, targets: ArrayLike, predicted: ArrayLike | None = None) -> float | None:
    """One metric by its name in `METRICS`; arguments as in `compute_metrics`.

    Args:
        name: its name in `METRICS`.
        probabilities: a row for each graph, (graphs, classes).
        targets: the true class of each graph, by number.
        predicted: the predicted classes, by number; the most probable ones unless given.
    """
    check_choice("metric", name, METRICS)
    return METRICS[name].compute(*_checked(probabilities, targets, predicted))


def confusion(probabilities: ArrayLike, targets: ArrayLike, predicted: ArrayLike | None = None) -> Numbers:
    """How many graphs of each class were given each class, (true class, predicted class).

    Args:
        probabilities: a row for each graph, (graphs, classes).
        targets: the true class of each graph, by number.
        predicted: the predicted classes, by number; the most probable ones unless given.
    """
    from sklearn.metrics import confusion_matrix

    checked, truth, answers = _checked(probabilities, targets, predicted)
    counts: Numbers = confusion_matrix(truth, answers, labels=np.arange(checked.shape[1])).astype(np.int64)
    return counts


def wilson_interval(right: int, n: int) -> tuple[float, float]:
    """Wilson's 95 % interval of a share, which stays within 0 and 1 and holds for few graphs too.

    Args:
        right: how many were right.
        n: of how many.

    >>> [round(bound, 3) for bound in wilson_interval(32, 38)]
    [0.696, 0.926]
    """
    from scipy.stats import binomtest

    interval = binomtest(right, n).proportion_ci(CONFIDENCE, method="wilson")
    share = right / n  # which rounding must not leave outside
    return min(float(interval.low), share), max(float(interval.high), share)


def _accuracy(probabilities: Probabilities, truth: Numbers, answers: Numbers) -> float:
    return float((answers == truth).mean())


def _balanced_accuracy(probabilities: Probabilities, truth: Numbers, answers: Numbers) -> float:
    from sklearn.metrics import recall_score

    return float(recall_score(truth, answers, labels=np.unique(truth), average="macro", zero_division=0))


def _roc_auc(probabilities: Probabilities, truth: Numbers, answers: Numbers) -> float | None:
    """scikit-learn's own average over classes refuses a truth that lacks one of them."""
    from sklearn.metrics import roc_auc_score

    columns = [1] if probabilities.shape[1] == 2 else range(probabilities.shape[1])
    occurs = [column for column in columns if 0 < (truth == column).sum() < len(truth)]
    areas = [roc_auc_score(truth == column, probabilities[:, column]) for column in occurs]
    return float(np.mean(areas)) if areas else None


def _log_loss(probabilities: Probabilities, truth: Numbers, answers: Numbers) -> float:
    return float(-np.log(np.maximum(probabilities[np.arange(len(truth)), truth], LEAST)).mean())


def _calibration_error(probabilities: Probabilities, right: NDArray[np.bool_]) -> float:
    confidence = probabilities.max(axis=1)
    bins = np.minimum((confidence * CALIBRATION_BINS).astype(np.int64), CALIBRATION_BINS - 1)
    gaps = np.bincount(bins, weights=confidence - right)  # of each bin: its graphs times the difference of its means
    return float(np.abs(gaps).sum() / len(right))


def _brier(probabilities: Probabilities, truth: Numbers) -> float:
    """Written out, because scikit-learn has it for more than two classes only since 1.7."""
    squares = (probabilities - np.eye(probabilities.shape[1])[truth]) ** 2
    return float(squares.sum(axis=1).mean() / (2 if probabilities.shape[1] == 2 else 1))


@dataclass(frozen=True)
class Metric:
    """A metric that tables can show: how it is computed from probabilities, truth and predicted classes, and how to read it.

    Args:
        title: its name in tables.
        compute: from probabilities, truth and predicted classes to its value, ``None`` where it has none.
        larger_is_better: how to compare two values.
        percent: whether it is shown in percent, its differences in points.
    """

    title: str
    compute: Callable[[Probabilities, Numbers, Numbers], float | None]
    larger_is_better: bool = True
    percent: bool = True  # whether it is shown in percent, its differences in points

    @property
    def scale(self) -> float:
        return 100.0 if self.percent else 1.0

    @property
    def digits(self) -> int:
        """How many it is shown with behind the point."""
        return 1 if self.percent else 3


METRICS = {
    "accuracy": Metric("accuracy", _accuracy),
    "balanced-accuracy": Metric("balanced accuracy", _balanced_accuracy),
    "roc-auc": Metric("ROC-AUC", _roc_auc),
    "log-loss": Metric("log-loss", _log_loss, larger_is_better=False, percent=False),
}


def _checked(probabilities: ArrayLike, targets: ArrayLike, predicted: ArrayLike | None) -> tuple[Probabilities, Numbers, Numbers]:
    given = np.asarray(probabilities, dtype=np.float64)
    truth = np.asarray(targets)
    if given.ndim != 2 or not given.size or truth.shape != given.shape[:1]:
        raise GraphInputError(
            f"probabilities of shape {given.shape} and targets of shape {truth.shape} were given; metrics need a row of "
            "probabilities and a class number for each of one or more graphs"
        )
    if not np.isfinite(given).all() or given.min() < 0 or given.max() > 1 + 1e-6:
        raise ConfigError("probabilities below 0, above 1 or not finite were given; give those of predict_proba")
    answers = given.argmax(axis=1) if predicted is None else np.asarray(predicted)
    return given, _class_numbers("targets", truth, given.shape), _class_numbers("predicted", answers, given.shape)


def _class_numbers(name: str, numbers: NDArray[Any], shape: tuple[int, ...]) -> Numbers:
    if numbers.shape != shape[:1] or numbers.dtype.kind not in "iu" or numbers.min() < 0 or numbers.max() >= shape[1]:
        raise GraphInputError(
            f"{name} have the shape {numbers.shape} and the type {numbers.dtype}; {shape[0]} whole numbers of classes "
            f"from 0 to {shape[1] - 1} are needed: give labels as positions in classes_"
        )
    return numbers.astype(np.int64)
