"""Methods that are a table of features under a random forest; which table is chosen by the validation graphs."""

from abc import abstractmethod
from collections.abc import Iterator
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from phist.baselines.method import Account, Method, Task
from phist.baselines.options import NoOptions, read_options
from phist.graphs.arrays import Array

Settings = dict[str, Any]
CHOICE = "highest validation accuracy, then smallest squared error of the validation probabilities, then first tried"


class ForestMethod(Method):
    """A random forest on the training graphs, one for every candidate table; the validation graphs pick the table."""

    libraries = ("sklearn.ensemble",)
    options_kind: ClassVar[type[Any]] = NoOptions

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        read_options(self.options_kind, self.name, options)

    @abstractmethod
    def candidates(self, task: Task) -> Iterator[tuple[Settings, Array]]:
        """The tables to choose from, (graphs, features) each, with the settings that made them."""

    @abstractmethod
    def forest(self, task: Task) -> Any:
        """An unfitted forest."""

    def fit(self, task: Task) -> Self:
        self.account = Account()
        best_score = (-np.inf, -np.inf)
        for settings, features in self.candidates(task):
            forest = self.forest(task).fit(features[task.training], task.labels_of(task.training))
            figures = _validate(forest, features, task)
            self.account.tried.append(settings | figures)
            score = (figures["validation_accuracy"] or 0.0, -(figures["validation_squared_error"] or 0.0))
            if score > best_score:
                best_score, self._forest, self._features = score, forest, features
                self.account.chosen, self.account.validation_accuracy = settings, figures["validation_accuracy"]
        self._n_classes = task.n_classes
        self.account.training_accuracy = accuracy_of(self.predict(task.training), task.labels_of(task.training))
        return self

    def predict(self, positions: NDArray[np.int64]) -> NDArray[np.float64]:
        return class_probabilities(self._forest, self._features[positions], self._n_classes)


def class_probabilities(classifier: Any, features: Array, n_classes: int) -> NDArray[np.float64]:
    """A fitted classifier's probabilities with a column for every class, those it never saw in training included."""
    probabilities = np.zeros((len(features), n_classes))
    if len(features):
        probabilities[:, classifier.classes_] = classifier.predict_proba(features)
    return probabilities


def accuracy_of(probabilities: NDArray[np.float64], labels: NDArray[np.int64]) -> float | None:
    """The share of rows whose largest entry is the label's; ``None`` where there are no rows."""
    return float((probabilities.argmax(1) == labels).mean()) if len(labels) else None


def _validate(forest: Any, features: Array, task: Task) -> dict[str, float | None]:
    labels = task.labels_of(task.validation)
    probabilities = class_probabilities(forest, features[task.validation], task.n_classes)
    errors = ((probabilities - np.eye(task.n_classes)[labels]) ** 2).sum(1)
    return {
        "validation_accuracy": accuracy_of(probabilities, labels),
        "validation_squared_error": float(errors.mean()) if len(labels) else None,
    }
