"""Cell: the smallest piece of a study, one method on one fold of one dataset."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

Protocol = Literal["paper", "fair", "repeated", "official"]
FOLD_PROTOCOLS: tuple[Protocol, ...] = ("paper", "fair", "repeated")
PROTOCOLS: tuple[Protocol, ...] = (*FOLD_PROTOCOLS, "official")

# Counts the meanings of a cell: raised when equal fields would give other results than before, so that no old record is
# taken for a new one.
SCHEMA = 1


@dataclass(frozen=True)
class Cell:
    """What to run, by everything that decides its result.

    Attributes:
        method: the name in the registry.
        options: what the study chooses for this method, on this dataset.
        dataset: the name that methods see, and tables print.
        fingerprint: the content of the dataset.
        protocol: how folds become training, validation and test parts; ``official`` is the split that a dataset comes with.
        fold: number of the test fold, from 0; always 0 under ``official``.
        seed: what the method draws from; under ``fair`` also the inner split.
        repeat: number of the shuffle, from 0; always 0 except under ``repeated``.
        no_duplicates: whether graphs that look alike are kept on one side of every split.
        label: what tables call the method with these options; it decides nothing.
        source: where the graphs are read from if not by the dataset's name; the fingerprint decides, not the place.
        schema: of the code that ran it, see `SCHEMA`.
    """

    method: str
    dataset: str
    fingerprint: str
    protocol: Protocol
    fold: int
    seed: int
    repeat: int = 0
    no_duplicates: bool = False
    options: Mapping[str, Any] = field(default_factory=dict)
    label: str = field(default="", compare=False)
    source: Path | None = field(default=None, compare=False)
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or self.method)

    def to_dict(self) -> dict[str, Any]:
        """What decides the result, ready for JSON."""
        return {
            "method": self.method,
            "options": dict(self.options),
            "dataset": self.dataset,
            "fingerprint": self.fingerprint,
            "protocol": self.protocol,
            "repeat": self.repeat,
            "fold": self.fold,
            "seed": self.seed,
            "no_duplicates": self.no_duplicates,
            "schema": self.schema,
        }

    @classmethod
    def from_dict(cls, content: Mapping[str, Any], label: str = "") -> Self:
        """The inverse of `to_dict`."""
        return cls(**content, label=label)

    @property
    def hash(self) -> str:
        """16 hexadecimal digits of the content; equal exactly where results must be."""
        text = json.dumps(self.to_dict(), sort_keys=True, separators=(",", ":"), allow_nan=False)
        return hashlib.sha256(text.encode()).hexdigest()[:16]

    def __str__(self) -> str:
        repeat = f" repeat {self.repeat}" if self.protocol == "repeated" else ""
        return f"{self.dataset} {self.label}{repeat} fold {self.fold} seed {self.seed}"
