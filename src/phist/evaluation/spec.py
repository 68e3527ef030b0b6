"""Spec: what a study runs, and the cells it comes to."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import product
from pathlib import Path
from typing import Any

from phist.baselines import registry
from phist.evaluation.cell import Cell, Protocol
from phist.evaluation.generated import Recipe
from phist.evaluation.splits import FOLDS

Options = Mapping[str, Any]


@dataclass(frozen=True)
class Dataset:
    """A dataset of a study."""

    name: str
    fingerprint: str
    source: Path | Recipe | None  # None for those of the catalogue


@dataclass(frozen=True)
class Run:
    """One method on one dataset, with the options it has there.

    Attributes:
        label: what tables call it.
        labelled: numbers of labelled graphs, a cell for each; ``None`` among them keeps all.
        tested: how many graphs are tested; all, unless given.
    """

    label: str
    method: str
    dataset: Dataset
    options: Options = field(default_factory=dict)
    labelled: tuple[int | None, ...] = (None,)
    tested: int | None = None


@dataclass(frozen=True)
class Spec:
    """A study.

    Attributes:
        name: also of the folder with its records.
        protocol: see `make_split`, or ``official`` for the split that a dataset comes with.
        runs: methods on datasets, in the order of running.
        folds: the test folds to run, of ten.
        seeds: one run for each; methods without randomness take the first, unless the split depends on it too.
        repeats: shuffles under ``repeated``.
        no_duplicates: keep graphs that look alike on one side of every split.
        metric: what its tables show, unless another is asked for; it decides nothing of what is run.
    """

    name: str
    protocol: Protocol
    runs: tuple[Run, ...]
    folds: tuple[int, ...] = tuple(range(FOLDS))
    seeds: tuple[int, ...] = (0,)
    repeats: int = 1
    no_duplicates: bool = False
    metric: str = "accuracy"

    def cells(self) -> list[Cell]:
        """Everything to run: dataset by dataset, and there fold by fold.

        So cells that run side by side are mostly of different methods, and what a method computes once for a dataset is
        there when its second fold begins.
        """
        cells = [cell for run in self.runs for cell in self._cells_of(run)]
        places = {name: place for place, name in enumerate(dict.fromkeys(cell.dataset for cell in cells))}
        return sorted(cells, key=lambda cell: (places[cell.dataset], cell.repeat, cell.seed, cell.fold, cell.labelled or 0))

    def _cells_of(self, run: Run) -> Iterator[Cell]:
        cell = Cell(
            method=run.method,
            options=run.options,
            dataset=run.dataset.name,
            fingerprint=run.dataset.fingerprint,
            source=run.dataset.source,
            protocol=self.protocol,
            no_duplicates=self.no_duplicates,
            tested=run.tested,
            label=run.label,
            fold=0,
            seed=0,
        )
        seed_matters = registry.methods()[run.method].randomized or self.protocol == "fair"
        for repeat in range(self.repeats):
            for seed in self.seeds if seed_matters else self.seeds[:1]:
                for fold, labelled in product(self.folds, run.labelled):
                    yield replace(cell, repeat=repeat, fold=fold, seed=seed, labelled=labelled)
