"""What happened in training: one record per epoch, and which of them was kept."""

import json
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

from phist.files import atomic_path
from phist.training.config import Selection

Ending = Literal["finished", "patience", "time budget", "interrupted"]


@dataclass(frozen=True)
class Epoch:
    """Figures of one epoch; training figures are those seen while training, with the roots drawn then."""

    number: int
    learning_rate: float
    loss: float
    accuracy: float
    validation_loss: float | None
    validation_accuracy: float | None
    seconds: float

    def score(self, selection: Selection) -> float:
        """The measure by which epochs are compared: larger is better."""
        if selection == "last" or self.validation_loss is None or self.validation_accuracy is None:
            return float(self.number)
        if selection == "validation-loss":
            return -self.validation_loss
        return self.validation_accuracy - 1e-6 * self.validation_loss  # among equal accuracies the lower loss


@dataclass
class History:
    """All epochs of a run so far."""

    epochs: list[Epoch] = field(default_factory=list)
    best: int = -1  # number of the epoch whose weights were kept
    ending: Ending = "finished"

    @property
    def seconds(self) -> float:
        return sum(epoch.seconds for epoch in self.epochs)

    def add(self, epoch: Epoch, selection: Selection) -> bool:
        """Append an epoch; true if it is the best so far."""
        self.epochs.append(epoch)
        improved = self.best < 0 or epoch.score(selection) > self.epochs[self.best].score(selection)
        if improved:
            self.best = epoch.number
        return improved

    def write(self, path: str | Path) -> None:
        """Write one JSON object per epoch and line."""
        with atomic_path(path) as temporary:
            temporary.write_text("".join(json.dumps(asdict(epoch)) + "\n" for epoch in self.epochs), encoding="utf-8")

    @classmethod
    def read(cls, path: str | Path, best: int, ending: Ending) -> Self:
        """The inverse of `write`."""
        lines = Path(path).read_text(encoding="utf-8").splitlines()
        return cls([Epoch(**json.loads(line)) for line in lines], best, ending)

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: dict[str, Any]) -> Self:
        """The inverse of `to_dict`."""
        return cls([Epoch(**epoch) for epoch in values["epochs"]], values["best"], values["ending"])
