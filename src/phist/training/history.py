"""What happened in training: one record per epoch, and which of them was kept."""

import json
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any, Literal, Self, get_args

from phist.checks import finite_number, whole_number
from phist.errors import ConfigError, ModelFileError, brief, check_choice, shown
from phist.files import atomic_path
from phist.training.config import Selection

Ending = Literal["finished", "patience", "time budget", "interrupted"]
MOST_BYTES = 1 << 28  # of a history on disk; a million epochs take less


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

    @classmethod
    def from_dict(cls, values: Any, number: int) -> Self:
        """Epoch ``number`` as read from a file; a field that is missing, unknown or out of range is a `ConfigError`."""
        names = {item.name for item in fields(cls)}
        if not isinstance(values, Mapping) or values.keys() != names:
            raise ConfigError(f"epoch {number} is {shown(values)}; an object with {', '.join(sorted(names))} is needed")
        whole_number("number", values["number"], least=number, most=number)
        for name in names - {"number"}:
            if values[name] is not None or not name.startswith("validation_"):
                finite_number(name, values[name], least=0, most=1 if name.endswith("accuracy") else float("inf"))
        return cls(**values)


@dataclass
class History:
    """All epochs of a run so far."""

    epochs: list[Epoch] = field(default_factory=list)
    best: int = -1  # number of the epoch whose weights were kept
    ending: Ending = "finished"
    planned: int | None = None  # epochs that the time budget allows for, once known: the schedule ends with the last of them
    timed: int = 0  # epochs before that was known

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
    def read(cls, path: str | Path, best: Any, ending: Any) -> Self:
        """The inverse of `write`; what does not hold a history is a `ModelFileError`."""
        path = Path(path)
        try:
            if not path.is_file() or path.stat().st_size > MOST_BYTES:
                raise ModelFileError(f"{path} is not a history: a file of at most {MOST_BYTES >> 20} MB is needed")
            lines = path.read_text(encoding="utf-8").splitlines()
            return cls.from_dict({"epochs": [json.loads(line) for line in lines], "best": best, "ending": ending})
        except (OSError, ConfigError, ValueError, RecursionError) as error:
            if isinstance(error, ModelFileError):
                raise
            raise ModelFileError(f"{path} cannot be read as a history ({brief(error)}); save the model again") from error

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON."""
        return asdict(self)

    @classmethod
    def from_dict(cls, values: Any) -> Self:
        """The inverse of `to_dict`; a field that is missing, unknown or out of range is a `ConfigError`."""
        known = {item.name for item in fields(cls)}
        if not isinstance(values, Mapping) or not {"epochs", "best", "ending"} <= values.keys() <= known:
            raise ConfigError(f"a history is given as {shown(values)}; an object with epochs, best and ending is needed")
        if not isinstance(values["epochs"], list):
            raise ConfigError(f"epochs={shown(values['epochs'])} was given; a list is needed")
        epochs = [Epoch.from_dict(epoch, number) for number, epoch in enumerate(values["epochs"])]
        check_choice("ending", values["ending"], get_args(Ending))
        planned = values.get("planned")
        return cls(
            epochs,
            whole_number("best", values["best"], least=min(0, len(epochs) - 1), most=len(epochs) - 1),
            values["ending"],
            None if planned is None else whole_number("planned", planned, least=1),
            whole_number("timed", values.get("timed", 0), least=0, most=len(epochs)),
        )
