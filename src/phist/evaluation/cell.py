"""Cell: the smallest piece of a study, one method on one fold of one dataset."""

import hashlib
import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal, Self

from phist.evaluation.generated import Recipe

Protocol = Literal["paper", "fair", "repeated", "size", "official"]
FOLD_PROTOCOLS: tuple[Protocol, ...] = ("paper", "fair", "repeated")
PROTOCOLS: tuple[Protocol, ...] = (*FOLD_PROTOCOLS, "size", "official")

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
        protocol: how folds become training, validation and test parts; ``official`` is the split that a dataset comes with,
            ``size`` learns from the smaller graphs and tests on the largest.
        fold: number of the test fold, from 0; always 0 under ``official``.
        seed: what the method draws from; under ``fair`` also the inner split.
        repeat: number of the shuffle, from 0; always 0 except under ``repeated``.
        no_duplicates: whether graphs that look alike are kept on one side of every split.
        labelled: how many graphs of the training and validation parts are kept; all of them, unless given.
        tested: how many graphs of the test part are kept; all of them, unless given.
        label: what tables call the method with these options; it decides nothing.
        source: where the graphs are read from if not by the dataset's name, or how they are generated; the fingerprint
            decides, not the place.
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
    labelled: int | None = None
    tested: int | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    label: str = field(default="", compare=False)
    source: Path | Recipe | None = field(default=None, compare=False)
    schema: int = SCHEMA

    def __post_init__(self) -> None:
        object.__setattr__(self, "label", self.label or self.method)

    @property
    def column(self) -> str:
        """What tables call the dataset: with the number of labelled graphs, where only some are kept."""
        return self.dataset if self.labelled is None else f"{self.dataset}:{self.labelled}"

    def to_dict(self) -> dict[str, Any]:
        """What decides the result, ready for JSON; a sample is named only where there is one, as earlier cells had none."""
        sample = {"labelled": self.labelled, "tested": self.tested}
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
            **{name: count for name, count in sample.items() if count is not None},
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
        return f"{self.column} {self.label}{repeat} fold {self.fold} seed {self.seed}"
