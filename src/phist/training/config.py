"""TrainingConfig: every choice of the training loop, with its reason beside it."""

import math
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal, get_args

from phist.checks import finite_number, whole_number
from phist.errors import ConfigError, check_choice

Schedule = Literal["constant", "cosine"]
Selection = Literal["validation-loss", "validation-accuracy", "last"]
MOST = 10**9  # epochs, and graphs per step
MOST_RESTARTS = 20  # each doubles the epochs
MOST_REALIZATIONS = 10_000  # whose draws are all held in memory


@dataclass(frozen=True)
class TrainingConfig:
    """How a network is trained.

    Args:
        epochs: passes over the training graphs, at most.
        batch_size: graphs per step.
        learning_rate: the highest one of the schedule.
        schedule: ``"constant"``, or ``"cosine"`` down to zero at the last epoch.
        restarts: how often the cosine begins again at the top, every time for twice as many epochs; the epochs at the foot of
            each cycle are all good ones to stop at (Loshchilov and Hutter, 2017).
        warmup: epochs of linear increase before either schedule.
        weight_decay: decoupled decay of the weights per unit of learning rate.
        gradient_clip: longest gradient a step may follow, or ``None``.
        selection: which epoch's weights are kept: that of the lowest validation loss, of the highest validation accuracy,
            or the last. Without validation graphs it is the last.
        patience: epochs without an improvement of the selection's measure after which training stops, or ``None``.
        validation_realizations: root samples over which the validation logits are averaged each epoch.
        time_budget: seconds of training, at most, or ``None``. The first epochs are timed, and a cosine schedule then ends with
            the last epoch that fits.
        seed: of the order of the graphs and of the roots in every epoch.
    """

    epochs: int = 150
    batch_size: int = 20  # the appendix's most frequent choice
    learning_rate: float = 3e-3  # on validation folds of ENZYMES six points over 1e-3, and 8e-3 no better
    schedule: Schedule = "cosine"  # so that the last epoch is a good one to keep
    restarts: int = 0
    warmup: int = 3  # the running statistics settle first
    weight_decay: float = 0.01
    gradient_clip: float | None = 1.0
    selection: Selection = "last"  # of an annealed schedule; the lowest loss on a few validation graphs comes too early
    patience: int | None = None
    validation_realizations: int = 3
    time_budget: float | None = None
    seed: int = 0

    def __post_init__(self) -> None:
        for name, most in (("epochs", MOST), ("batch_size", MOST), ("validation_realizations", MOST_REALIZATIONS)):
            self._set(name, whole_number(name, getattr(self, name), least=1, most=most))
        self._set("seed", whole_number("seed", self.seed, least=0, most=2**63 - 1))
        self._set("restarts", whole_number("restarts", self.restarts, least=0, most=MOST_RESTARTS))
        self._set("learning_rate", finite_number("learning_rate", self.learning_rate, least=0, above=True))
        for name in ("weight_decay", "warmup"):
            self._set(name, finite_number(name, getattr(self, name), least=0))
        for name in ("gradient_clip", "time_budget"):
            if getattr(self, name) is not None:
                self._set(name, finite_number(name, getattr(self, name), least=0, above=True))
        if self.patience is not None:
            self._set("patience", whole_number("patience", self.patience, least=1))
        check_choice("schedule", self.schedule, get_args(Schedule))
        check_choice("selection", self.selection, get_args(Selection))
        if self.patience is not None and self.selection == "last":
            raise ConfigError(f'patience={self.patience} needs a measure to wait for; set selection="validation-loss" too')

    def _set(self, name: str, value: float) -> None:
        object.__setattr__(self, name, value)

    def learning_rate_at(self, progress: float, epochs: int | None = None) -> float:
        """The learning rate after ``progress`` epochs; a fraction counts the steps within one.

        Args:
            progress: epochs that are done, with a fraction for the steps of the current one.
            epochs: the number to anneal over, where time allows for fewer than ``self.epochs``.
        """
        rise = min(1.0, (progress + 1e-3) / self.warmup) if self.warmup else 1.0
        if self.schedule == "constant":
            return self.learning_rate * rise
        ends = [0, *self.cycle_ends(epochs)]
        begin, end = next((cycle for cycle in pairwise(ends) if progress < cycle[1]), (ends[-2], ends[-1]))
        begin = begin or self.warmup
        share = (progress - begin) / max(end - begin, 1)
        return self.learning_rate * rise * 0.5 * (1 + math.cos(math.pi * min(max(share, 0.0), 1.0)))

    def cycle_ends(self, epochs: int | None = None) -> list[int]:
        """How many of all epochs are done at the foot of each cycle of the cosine.

        Args:
            epochs: the number to anneal over; ``self.epochs`` unless given.

        >>> TrainingConfig(epochs=105, restarts=2).cycle_ends()
        [15, 45, 105]
        """
        whole = 2 ** (self.restarts + 1) - 1
        total = epochs or self.epochs
        ends = {max(1, round(total * (2 ** (cycle + 1) - 1) / whole)) for cycle in range(self.restarts + 1)}
        return sorted(ends)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)
