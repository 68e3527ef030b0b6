"""Cross-validation of the estimator, fold by fold, with a file of results that a kill does not lose."""

import hashlib
import json
import time
from collections.abc import Iterator
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray
from sklearn.base import clone
from sklearn.model_selection import StratifiedKFold

from phist.checks import finite_number, text_value, whole_number
from phist.errors import ConfigError, ModelFileError, brief, shown
from phist.estimators.classifier import StructuralClassifier
from phist.estimators.examples import as_labelled
from phist.files import atomic_path
from phist.graphs.graphset import GraphSet
from phist.metrics import Metrics, compute_metrics

MOST_BYTES = 1 << 28  # of a file of results: twenty million probabilities take less
_DIGITS = 6  # of a probability on disk
_ROUNDING = 1e-3  # of their sum, even of a hundred classes


@dataclass(frozen=True)
class FoldResult:
    """What a model that had not seen a fold said of it.

    Attributes:
        run: what was validated on what; results of another run are not mixed with these.
        fold: its number.
        positions: of its graphs in the set.
        probabilities: (graphs, classes).
        estimate: the accuracy that the model's own report had promised; ``None`` for presets by name.
        seconds: that fitting and predicting took.
    """

    run: str
    fold: int
    positions: list[int]
    probabilities: list[list[float]]
    estimate: float | None
    seconds: float

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """The inverse of `asdict`; a field that is missing, unknown or of another kind is a `ConfigError`."""
        names = {item.name for item in fields(cls)}
        if not isinstance(values, dict) or values.keys() != names:
            raise ConfigError(f"a fold is {shown(values)}; an object with {', '.join(sorted(names))} is needed")
        text_value("run", values["run"])
        whole_number("fold", values["fold"], least=0)
        finite_number("seconds", values["seconds"], least=0)
        if values["estimate"] is not None:
            finite_number("estimate", values["estimate"], least=0, most=1)
        return cls(**values)

    def check(self, positions: list[int], classes: int) -> None:
        """Raise a `ConfigError` unless these are probabilities of ``classes`` classes for the graphs at ``positions``."""
        if self.positions != positions or any(type(place) is not int for place in self.positions):  # 1.0 and true equal 1
            raise ConfigError(f"fold {self.fold} has the positions {shown(self.positions)}; {shown(positions)} are its graphs")
        rows = self.probabilities if isinstance(self.probabilities, list) else []
        if [len(row) if isinstance(row, list) else -1 for row in rows] != [classes] * len(positions):
            raise ConfigError(f"fold {self.fold} has other than {len(positions)} rows of {classes} probabilities")
        for row in rows:
            if abs(sum(finite_number("probability", value, least=0, most=1) for value in row) - 1) > _ROUNDING:
                raise ConfigError(f"fold {self.fold} has probabilities {shown(row)}, which do not add up to 1")


@dataclass(frozen=True)
class Validation:
    """All folds together.

    Attributes:
        metrics: of the predictions of all graphs.
        accuracies: of the folds.
        estimates: what the models' reports had promised.
        probabilities: (graphs, classes), in the order of the set.
    """

    metrics: Metrics
    accuracies: list[float]
    estimates: list[float | None]
    probabilities: NDArray[np.float64]


class CrossValidation:
    """Stratified folds of a labelled set, and the results that there are so far.

    Args:
        estimator: unfitted; every fold fits a copy of it.
        graphs: labelled.
        folds: how many.
        seed: of the cut.
        records: a file that results are kept in, one line each, and taken from where a run was killed; ``None`` for none.
    """

    def __init__(
        self, estimator: StructuralClassifier, graphs: GraphSet, folds: int = 10, seed: int = 0, records: str | Path | None = None
    ) -> None:
        self.estimator, self.graphs, self.folds, self.seed = estimator, *as_labelled(graphs, None)[:1], folds, seed
        self.records = None if records is None else Path(records)
        self.classes = graphs.classes
        numbers = {label: number for number, label in enumerate(self.classes)}
        self.targets = np.array([numbers[label] for label in graphs.label_list()])
        if not isinstance(folds, int) or not 2 <= folds <= int(np.bincount(self.targets).max()):
            raise ConfigError(
                f"folds={folds!r:.20} was given; at least 2 and at most as many as the largest class has graphs are needed"
            )
        split = StratifiedKFold(folds, shuffle=True, random_state=seed).split(self.targets, self.targets)
        self.split = [(training, test) for training, test in split]
        self.results = self._read()

    def run(self) -> Iterator[FoldResult]:
        """Compute what is missing, fold by fold."""
        for fold, (training, test) in enumerate(self.split):
            if fold not in self.results:
                self.results[fold] = self._compute(fold, training, test)
                self._write()
            yield self.results[fold]

    def _compute(self, fold: int, training: NDArray[np.int64], test: NDArray[np.int64]) -> FoldResult:
        begin = time.monotonic()
        model = clone(self.estimator).fit(self.graphs[training], self.targets[training])
        probabilities = np.zeros((len(test), len(self.classes)))
        probabilities[:, model.classes_] = model.predict_proba(self.graphs[test])
        estimate = model.report_.metrics.accuracy if hasattr(model, "report_") else None
        seconds = round(time.monotonic() - begin, 2)
        return FoldResult(self._run(), fold, test.tolist(), probabilities.round(_DIGITS).tolist(), estimate, seconds)

    def summary(self) -> Validation:
        """All folds together, once they are done."""
        probabilities = np.zeros((len(self.targets), len(self.classes)))
        for result in self.results.values():
            probabilities[result.positions] = result.probabilities
        right = probabilities.argmax(1) == self.targets
        ordered = [self.results[fold] for fold in sorted(self.results)]
        return Validation(
            compute_metrics(probabilities, self.targets),
            [float(right[result.positions].mean()) for result in ordered],
            [result.estimate for result in ordered],
            probabilities,
        )

    def _run(self) -> str:
        parameters = {name: value for name, value in self.estimator.get_params().items() if name not in ("checkpoint", "progress")}
        content = json.dumps([parameters, self.folds, self.seed], sort_keys=True, default=str)
        digest = hashlib.sha256(content.encode() + self.graphs.fingerprint().encode() + self.targets.tobytes())
        return digest.hexdigest()[:16]

    def _read(self) -> dict[int, FoldResult]:
        if self.records is None or not self.records.exists():
            return {}
        try:
            results = [FoldResult.from_dict(json.loads(line)) for line in _lines(self.records)]
        except (OSError, ValueError, RecursionError) as error:
            raise ModelFileError(
                f"{self.records} holds no results of a validation ({brief(error)}); choose another file"
            ) from error
        if any(result.run != self._run() for result in results):
            raise ConfigError(
                f"{self.records} holds another validation (other graphs or settings); choose another file or remove it"
            )
        try:
            for result in results:
                whole_number("fold", result.fold, least=0, most=self.folds - 1)
                result.check(self.split[result.fold][1].tolist(), len(self.classes))
        except ConfigError as error:
            raise ModelFileError(f"{self.records} is damaged ({brief(error)}); remove it, or the line of that fold") from error
        return {result.fold: result for result in results}

    def _write(self) -> None:
        if self.records is None:
            return
        rows: list[dict[str, Any]] = [asdict(self.results[fold]) for fold in sorted(self.results)]
        with atomic_path(self.records) as temporary:
            temporary.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")


def _lines(path: Path) -> list[str]:
    if not path.is_file() or path.stat().st_size > MOST_BYTES:  # what is no file may have no end
        raise ConfigError(f"a file of at most {MOST_BYTES >> 20} MB is needed")
    return path.read_text(encoding="utf-8").splitlines()
