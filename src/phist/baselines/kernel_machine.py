"""A support vector machine on a Gram matrix, its penalty chosen by the validation graphs."""

import numpy as np
from numpy.typing import NDArray
from sklearn.svm import SVC

from phist.baselines.method import Account, Task
from phist.graphs.arrays import IntArray

Gram = NDArray[np.floating]


class KernelMachine:
    """One `SVC` per penalty C on the normalised Gram matrix; the best on validation stays, the smallest C among equals.

    Args:
        gram: raw similarities of all graphs of the task.
        penalties: the values of C to try.
    """

    def __init__(self, gram: Gram, penalties: tuple[float, ...]) -> None:
        self._gram = gram
        self._scales = scales_of(gram)
        self._penalties = sorted(penalties)

    def fit(self, task: Task) -> Account:
        """Train on the training part, choose on the validation part, and say what came of it."""
        account = Account()
        self._training, self._n_classes = task.training, task.n_classes
        labels = task.labels_of(task.training)
        similarities = self._similarities(task.training)
        validation = self._similarities(task.validation)
        best = -1.0
        for penalty in self._penalties:
            machine = _fit_machine(similarities, labels, penalty)
            accuracy = _accuracy(self._probabilities(machine, validation), task.labels_of(task.validation))
            account.tried.append({"C": penalty, "validation_accuracy": accuracy})
            if (accuracy or 0.0) > best:
                best, self._machine = accuracy or 0.0, machine
                account.chosen, account.validation_accuracy = {"C": penalty}, accuracy
        account.training_accuracy = _accuracy(self._probabilities(self._machine, similarities), labels)
        return account

    def predict(self, positions: IntArray) -> NDArray[np.float64]:
        """Softmax of the decision values, (positions, classes).

        They order the classes as the machine does and are no calibrated probabilities.
        """
        return self._probabilities(self._machine, self._similarities(positions))

    def _similarities(self, rows: IntArray) -> NDArray[np.float64]:
        """The normalised kernel between the graphs at ``rows`` and the training graphs."""
        raw = self._gram[np.ix_(rows, self._training)].astype(np.float64)
        return raw * self._scales[rows, None] * self._scales[self._training]

    def _probabilities(self, machine: "SVC | int", similarities: NDArray[np.float64]) -> NDArray[np.float64]:
        probabilities = np.zeros((len(similarities), self._n_classes))
        if isinstance(machine, int):
            probabilities[:, machine] = 1.0
        elif len(similarities):
            probabilities[:, machine.classes_] = _softmax(_decisions(machine, similarities))
        return probabilities


def scales_of(gram: Gram) -> NDArray[np.float64]:
    """1 / sqrt(k(x, x)) of every graph, which makes each as similar to itself as any other; zero where k(x, x) is zero.

    A graph without any feature, as one without edges has no paths, then resembles nothing, instead of being undefined.

    >>> scales_of(np.array([[4.0, 0.0], [0.0, 0.0]]))
    array([0.5, 0. ])
    """
    lengths = np.sqrt(np.diagonal(gram).astype(np.float64))
    return np.divide(1.0, lengths, out=np.zeros_like(lengths), where=lengths > 0)


def _fit_machine(similarities: NDArray[np.float64], labels: IntArray, penalty: float) -> "SVC | int":
    """A fitted machine, or the class itself where the training graphs have only one."""
    if (labels == labels[0]).all():
        return int(labels[0])
    return SVC(C=penalty, kernel="precomputed", break_ties=True).fit(similarities, labels)


def _decisions(machine: SVC, similarities: NDArray[np.float64]) -> NDArray[np.float64]:
    """One decision value per class of the machine, the largest at the class that it predicts."""
    decisions: NDArray[np.float64] = machine.decision_function(similarities)
    if decisions.ndim == 2:
        return decisions
    second = np.where(decisions == 0, 1e-9, decisions)  # on the boundary itself the machine says the second class
    return np.stack([np.zeros_like(second), second], axis=1)


def _softmax(values: NDArray[np.float64]) -> NDArray[np.float64]:
    powers = np.exp(values - values.max(axis=1, keepdims=True))
    shares: NDArray[np.float64] = powers / powers.sum(axis=1, keepdims=True)
    return shares


def _accuracy(probabilities: NDArray[np.float64], labels: IntArray) -> float | None:
    return float((probabilities.argmax(axis=1) == labels).mean()) if len(labels) else None
