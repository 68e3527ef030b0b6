"""Report: how good a fitted model is, judged by graphs that it had not seen, and said so that a person can act on it."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any, Self

import numpy as np
from numpy.typing import NDArray

from phist.checks import finite_number, text_value, whole_number
from phist.errors import ModelFileError
from phist.estimators.ensemble import Candidate
from phist.estimators.members.member import Lesson, Probabilities
from phist.graphs.checkup import ceiling_of, degree_histograms, size_features, small_forest
from phist.graphs.symmetry import weisfeiler_lehman_hashes
from phist.metrics import Metrics, compute_metrics
from phist.notebook import html_table
from phist.training.windows import is_windowed

MOST_FOR_FLOORS = 50_000  # training graphs, where they are too many for memory
FEW = 50  # graphs: an interval of fifteen points and more either way


@dataclass(frozen=True)
class Report:
    """What a fit found out about itself.

    Attributes:
        metrics: of out-of-fold predictions: each graph's by members that were fitted without it.
        unlike: accuracy on those graphs that no other training graph looks like to 1-WL; ``None`` where there are none.
        floors: accuracies, on the same graphs, of what can be had with hardly a look at the structure.
        ceiling: the accuracy that no method can exceed on these graphs which sees no more than 1-WL does.
        candidates: every predictor that was weighed.
        n_graphs: that were fitted to.
        effort: that was made.
        seconds: that the fit took.
        notes: what a reader of the figures must know.
    """

    metrics: Metrics
    unlike: float | None
    floors: dict[str, float]
    ceiling: float
    candidates: tuple[Candidate, ...]
    n_graphs: int
    effort: str
    seconds: float
    notes: tuple[str, ...] = field(default=())

    @property
    def best_floor(self) -> str:
        return max(self.floors, key=lambda name: self.floors[name])

    @property
    def verdict(self) -> str:
        """One sentence to act on."""
        low, high = (100 * bound for bound in self.metrics.interval)
        floor, reached = 100 * self.floors[self.best_floor], 100 * self.metrics.accuracy
        name = FLOOR_NAMES[self.best_floor]
        if low > floor:
            return f"It beats the best floor, {name} ({floor:.1f} %), by {reached - floor:.1f} points."
        if high < floor:
            return f"It is worse than {name} ({floor:.1f} %): do not use it."
        few = f"; with {self.metrics.n} graphs no more can be said" if self.metrics.n < FEW else ""
        return (
            f"It does not beat the best floor: the interval {low:.0f} to {high:.0f} contains {floor:.1f}, "
            f"so {name} would do as well here{few}."
        )

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON; shares from 0 to 1."""
        values = {**asdict(self), "metrics": self.metrics.to_dict(), "notes": list(self.notes)}
        values["candidates"] = [asdict(candidate) for candidate in self.candidates]
        return {**values, "best_floor": self.best_floor, "verdict": self.verdict}

    @classmethod
    def from_dict(cls, values: Mapping[str, Any]) -> Self:
        """The inverse of `to_dict`; what is no report is a `ModelFileError`.

        Args:
            values: what `to_dict` returned.
        """
        try:
            unlike = values["unlike"]
            return cls(
                metrics=Metrics.from_dict(values["metrics"]),
                unlike=None if unlike is None else finite_number("unlike", unlike, least=0, most=1),
                floors={name: finite_number(name, values["floors"][name], least=0, most=1) for name in FLOOR_NAMES},
                ceiling=finite_number("ceiling", values["ceiling"], least=0, most=1),
                candidates=tuple(Candidate.from_dict(candidate) for candidate in values["candidates"]),
                n_graphs=whole_number("n_graphs", values["n_graphs"], least=1),
                effort=text_value("effort", values["effort"]),
                seconds=finite_number("seconds", values["seconds"], least=0),
                notes=tuple(text_value("note", note) for note in values["notes"]),
            )
        except (KeyError, TypeError, ValueError) as error:
            raise ModelFileError(f"the model's report cannot be read ({error!r:.200}); save the model again") from error

    def lines(self) -> list[str]:
        """The same for people, a line each."""
        metrics = self.metrics
        low, high = metrics.interval
        auc = "" if metrics.roc_auc is None else f", ROC-AUC {metrics.roc_auc:.3f}"
        lines = [
            f"estimated accuracy {100 * metrics.accuracy:.1f} % (95 % interval {100 * low:.1f} to {100 * high:.1f}, "
            f"{metrics.n} graphs out of fold)",
            f"balanced accuracy {100 * metrics.balanced_accuracy:.1f} %{auc}, log-loss {metrics.log_loss:.3f}, "
            f"calibration error {metrics.calibration_error:.3f}",
        ]
        if self.unlike is not None and abs(self.unlike - metrics.accuracy) > 0.02:
            lines.append(f"on graphs that look like no other training graph {100 * self.unlike:.1f} %")
        floors = ", ".join(f"{FLOOR_NAMES[name]} {100 * value:.1f} %" for name, value in self.floors.items())
        lines += [f"floors: {floors}; 1-WL ceiling {100 * self.ceiling:.1f} %", self.verdict, *self.notes]
        return lines

    def __str__(self) -> str:
        return "\n".join(self.lines())

    def _repr_html_(self) -> str:
        rows = [
            (one.name, f"{100 * one.accuracy:.1f} %", f"{one.log_loss:.3f}", f"{one.weight:.2f}")
            for one in sorted(self.candidates, key=lambda own: -own.weight)
        ]
        facts = html_table(self.verdict, [(line,) for line in self.lines() if line != self.verdict])
        return facts + html_table("What predicts", rows, ("member", "accuracy out of fold", "log-loss", "weight"))


FLOOR_NAMES = {"majority": "the majority class", "sizes": "numbers of nodes and edges", "degrees": "a degree histogram"}


def make_report(
    lesson: Lesson,
    combined: Probabilities,
    candidates: tuple[Candidate, ...],
    *,
    floors: dict[str, float],
    effort: str,
    seconds: float,
    notes: tuple[str, ...] = (),
) -> Report:
    """Judge ``combined``, the out-of-fold probabilities of the graphs in ``lesson.parts.asked``."""
    asked = lesson.parts.asked
    targets = lesson.examples.targets
    hashes = weisfeiler_lehman_hashes(lesson.graphs)
    _, group, members = np.unique(hashes, return_inverse=True, return_counts=True)
    alone = (members[group] == 1)[asked]
    right = combined.argmax(1) == targets[asked]
    return Report(
        metrics=compute_metrics(combined, targets[asked]),
        unlike=float(right[alone].mean()) if alone.any() else None,
        floors=floors,
        ceiling=ceiling_of(hashes, targets.tolist()) / 100,
        candidates=candidates,
        n_graphs=len(targets),
        effort=effort,
        seconds=round(seconds, 2),
        notes=notes,
    )


def find_floors(lesson: Lesson) -> dict[str, float]:
    """Accuracies on the graphs left out, by fits without them; of graphs that do not fit into memory, to some."""
    lesson = lesson.sample(MOST_FOR_FLOORS) if is_windowed(lesson.graphs) else lesson
    targets, asked = lesson.examples.targets, lesson.parts.asked
    tables: Mapping[str, NDArray[Any]] = {"sizes": size_features(lesson.graphs), "degrees": degree_histograms(lesson.graphs)}
    answers = {name: np.full(len(targets), -1) for name in ("majority", *tables)}
    for part in range(lesson.parts.held_out):
        training, test = lesson.parts.training(part), lesson.parts.test(part)
        answers["majority"][test] = np.bincount(targets[training]).argmax()
        for name, table in tables.items():
            answers[name][test] = small_forest(lesson.seed).fit(table[training], targets[training]).predict(table[test])
    return {name: float((own[asked] == targets[asked]).mean()) for name, own in answers.items()}
