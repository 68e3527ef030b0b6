"""Figures that others have printed, to be shown beside those measured here and never mixed with them."""

import tomllib
from dataclasses import dataclass
from functools import cache
from importlib.resources import files
from typing import Any


@dataclass(frozen=True)
class Figure:
    """A printed mean in percent, with its standard deviation over folds where one was printed."""

    mean: float
    deviation: float | None = None


@dataclass(frozen=True)
class PublishedRow:
    """One row of a printed table: what it was called there, and its figures by dataset."""

    label: str
    figures: dict[str, Figure]


@dataclass(frozen=True)
class Published:
    """The tables of one source, each row under the name of every method that it is shown beside."""

    source: str
    accuracy: dict[str, PublishedRow]
    generalisation: dict[str, PublishedRow]  # training accuracy minus test accuracy

    @property
    def datasets(self) -> tuple[str, ...]:
        """The datasets of the tables, in the order of their columns."""
        return tuple(dict.fromkeys(dataset for row in self.accuracy.values() for dataset in row.figures))


@cache
def load_published() -> Published:
    """The paper's main table and its table of generalisation errors.

    >>> load_published().accuracy["phist-paper"].figures["MUTAG"]
    Figure(mean=86.7, deviation=7.6)
    """
    content = tomllib.loads(files("phist.report").joinpath("published.toml").read_text(encoding="utf-8"))["paper"]
    return Published(content["source"], _rows(content["accuracy"]), _rows(content["generalisation"]))


def _rows(table: dict[str, dict[str, Any]]) -> dict[str, PublishedRow]:
    rows: dict[str, PublishedRow] = {}
    for name, values in table.items():
        printed = dict(values)
        label, beside = printed.pop("label"), printed.pop("beside", [name])
        row = PublishedRow(label, {dataset: _figure(value) for dataset, value in printed.items()})
        rows |= dict.fromkeys(beside, row)
    return rows


def _figure(value: float | list[float]) -> Figure:
    return Figure(*value) if isinstance(value, list) else Figure(value)
