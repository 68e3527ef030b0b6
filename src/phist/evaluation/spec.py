"""Spec: what a study runs, and the cells it comes to."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from phist.baselines import registry
from phist.evaluation.cell import Cell, Protocol
from phist.evaluation.splits import FOLDS

Options = Mapping[str, Any]


@dataclass(frozen=True)
class MethodChoice:
    """A method as a study uses it: which one, and its options, for all datasets and for single ones."""

    method: str
    options: Options = field(default_factory=dict)
    on: Mapping[str, Options] = field(default_factory=dict)  # by the dataset's name; added to the options for all

    def options_on(self, dataset: str) -> dict[str, Any]:
        return {**self.options, **self.on.get(dataset, {})}


@dataclass(frozen=True)
class Dataset:
    """A dataset of a study."""

    name: str
    fingerprint: str
    source: Path | None  # None for the nine that are known by name


@dataclass(frozen=True)
class Spec:
    """A study.

    Attributes:
        name: also of the folder with its records.
        protocol: see `make_split`.
        runs: labels of methods and the datasets they are run on, in the order of running.
        methods: what is behind the labels.
        folds: the test folds to run, of ten.
        seeds: one run for each; methods without randomness take the first, unless the split depends on it too.
        repeats: shuffles under ``repeated``.
        no_duplicates: keep graphs that look alike on one side of every split.
    """

    name: str
    protocol: Protocol
    runs: tuple[tuple[str, Dataset], ...]
    methods: Mapping[str, MethodChoice]
    folds: tuple[int, ...] = tuple(range(FOLDS))
    seeds: tuple[int, ...] = (0,)
    repeats: int = 1
    no_duplicates: bool = False

    def cells(self) -> list[Cell]:
        """Everything to run: dataset by dataset, and there fold by fold.

        So cells that run side by side are mostly of different methods, and what a method computes once for a dataset is
        there when its second fold begins.
        """
        cells = [cell for label, dataset in self.runs for cell in self._cells_of(label, dataset)]
        places = {name: place for place, name in enumerate(dict.fromkeys(cell.dataset for cell in cells))}
        return sorted(cells, key=lambda cell: (places[cell.dataset], cell.repeat, cell.seed, cell.fold))

    def _cells_of(self, label: str, dataset: Dataset) -> Iterator[Cell]:
        choice = self.methods[label]
        cell = Cell(
            method=choice.method,
            options=choice.options_on(dataset.name),
            dataset=dataset.name,
            fingerprint=dataset.fingerprint,
            source=dataset.source,
            protocol=self.protocol,
            no_duplicates=self.no_duplicates,
            label=label,
            fold=0,
            seed=0,
        )
        seed_matters = registry.methods()[choice.method].randomized or self.protocol == "fair"
        for repeat in range(self.repeats):
            for seed in self.seeds if seed_matters else self.seeds[:1]:
                for fold in self.folds:
                    yield replace(cell, repeat=repeat, fold=fold, seed=seed)
