"""TrainingConfig: every choice of the training loop, with its reason beside it."""

import math
from dataclasses import asdict, dataclass
from itertools import pairwise
from typing import Any, Literal, get_args

from phist.errors import ConfigError, check_choice

Schedule = Literal["constant", "cosine"]
Selection = Literal["validation-loss", "validation-accuracy", "last"]


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
        time_budget: seconds after which no further epoch begins, or ``None``.
        seed: settles the order of the graphs and the roots of every epoch.
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
        for name in ("epochs", "batch_size", "validation_realizations"):
            if getattr(self, name) < 1:
                raise ConfigError(f"{name}={getattr(self, name)} was given; it must be at least 1")
        if not (math.isfinite(self.learning_rate) and self.learning_rate > 0):
            raise ConfigError(f"learning_rate={self.learning_rate} was given; it must be a positive number")
        for name in ("weight_decay", "warmup", "restarts"):
            if getattr(self, name) < 0:
                raise ConfigError(f"{name}={getattr(self, name)} was given; it must not be negative")
        for name in ("gradient_clip", "patience", "time_budget"):
            value = getattr(self, name)
            if value is not None and not value > 0:
                raise ConfigError(f"{name}={value} was given; it must be positive, or None for no limit")
        check_choice("schedule", self.schedule, get_args(Schedule))
        check_choice("selection", self.selection, get_args(Selection))
        if self.patience is not None and self.selection == "last":
            raise ConfigError(f'patience={self.patience} needs a measure to wait for; set selection="validation-loss" too')

    def learning_rate_at(self, progress: float) -> float:
        """The learning rate after ``progress`` epochs; a fraction counts the steps within one."""
        rise = min(1.0, (progress + 1e-3) / self.warmup) if self.warmup else 1.0
        if self.schedule == "constant":
            return self.learning_rate * rise
        begin, end = next(cycle for cycle in pairwise([0, *self.cycle_ends()]) if progress < cycle[1] or cycle[1] == self.epochs)
        begin = begin or self.warmup
        share = (progress - begin) / max(end - begin, 1)
        return self.learning_rate * rise * 0.5 * (1 + math.cos(math.pi * min(max(share, 0.0), 1.0)))

    def cycle_ends(self) -> list[int]:
        """How many epochs are done at the foot of each cycle of the cosine.

        >>> TrainingConfig(epochs=105, restarts=2).cycle_ends()
        [15, 45, 105]
        """
        whole = 2 ** (self.restarts + 1) - 1
        return [max(cycle + 1, round(self.epochs * (2 ** (cycle + 1) - 1) / whole)) for cycle in range(self.restarts + 1)]

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)
