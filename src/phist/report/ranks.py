"""Ranks of methods over datasets, and what so few datasets can show at all."""

from dataclasses import dataclass
from math import comb

import numpy as np
from numpy.typing import NDArray

from phist.evaluation.statistics import average_ranks, critical_difference, friedman_test, smallest_signed_rank_p
from phist.metrics import METRICS
from phist.report.study import Study
from phist.report.tables import NO_RECORDS, Entry, Row, Table

MIN_DATASETS, MIN_METHODS = 3, 3
LEVEL = 0.05


@dataclass(frozen=True, eq=False)
class Ranks:
    """Methods that are complete on the same datasets, ranked on each by their mean; 1 is the best, ties share their ranks.

    Attributes:
        left_out: methods that lack one of the datasets.
        scores: mean accuracies, or what else the study shows, the larger the better; (datasets, methods).
    """

    labels: tuple[str, ...]
    datasets: tuple[str, ...]
    left_out: tuple[str, ...]
    scores: NDArray[np.float64]

    @property
    def means(self) -> dict[str, float]:
        """Mean rank of every method, the best first."""
        ranks = average_ranks(self.scores)
        return dict(sorted(zip(self.labels, ranks.tolist(), strict=True), key=lambda pair: pair[1]))

    @property
    def critical_difference(self) -> float:
        """Mean ranks that differ by less cannot be told apart by Nemenyi's test."""
        return critical_difference(len(self.labels), len(self.datasets), LEVEL)

    @property
    def smallest_p(self) -> float:
        """What a two-sided Wilcoxon test of two methods comes to if one of them wins on every dataset."""
        return smallest_signed_rank_p(len(self.datasets))

    def summary(self) -> str:
        """What was ranked, in words."""
        missing = f" Left out, as they lack one of these datasets: {', '.join(self.left_out)}." if self.left_out else ""
        _, p = friedman_test(self.scores)
        over = f"Over {len(self.datasets)} datasets: {', '.join(self.datasets)}."
        return f"{over} Friedman's test of no difference at all: p = {p:.2g}.{missing}"

    def power(self) -> str:
        """How much these ranks can show, in words."""
        pairs = comb(len(self.labels), 2)
        needed = int(np.ceil(1 + np.log2(pairs / LEVEL)))
        limits = (
            f"Even a method that wins on all {len(self.datasets)} datasets cannot bring a two-sided Wilcoxon test below "
            f"p = {self.smallest_p:.2g}"
        )
        if pairs > 1:
            limits += f"; with {pairs} pairs to compare, Bonferroni's correction asks for {needed} datasets to tell any two apart"
        return (
            f"{limits}. Nemenyi's test tells two of these {len(self.labels)} methods apart only if their mean ranks differ by "
            f"{self.critical_difference:.1f} or more. So read the differences and their intervals first, and ranks as a summary."
        )


def rank_methods(study: Study) -> Ranks | None:
    """Ranks over the datasets and methods that make the largest complete table; none if that is too small.

    Datasets are added in the order of how many methods are complete on them.
    """
    complete = {(result.label, result.dataset) for result in study.results if result.values and result.complete}
    sign = 1.0 if METRICS[study.metric].larger_is_better else -1.0
    coverage = {dataset: sum((label, dataset) in complete for label in study.labels) for dataset in study.datasets}
    ordered = sorted(study.datasets, key=lambda dataset: -coverage[dataset])
    choices = []
    for count in range(MIN_DATASETS, len(ordered) + 1):
        labels = [label for label in study.labels if all((label, dataset) in complete for dataset in ordered[:count])]
        if len(labels) >= MIN_METHODS:
            choices.append((count * len(labels), count, labels))
    if not choices:
        return None
    _, count, labels = max(choices, key=lambda choice: choice[:2])
    datasets = [dataset for dataset in study.datasets if dataset in ordered[:count]]
    table = [[sign * study.need(label, dataset).mean for label in labels] for dataset in datasets]
    left_out = [label for label in study.labels if label not in labels]
    return Ranks(tuple(labels), tuple(datasets), tuple(left_out), np.array(table))


def ranks_table(study: Study) -> Table:
    """Mean rank of every method, and its rank on every dataset."""
    title = f"Ranks by mean test {METRICS[study.metric].title}; 1 is the best"
    ranks = rank_methods(study)
    if ranks is None:
        reason = f"Ranks need {MIN_METHODS} methods that are complete on the same {MIN_DATASETS} datasets."
        return Table("ranks", title, (), (), (), (reason if study.results else NO_RECORDS,))
    by_dataset = np.array([average_ranks(row[None, :]) for row in ranks.scores])
    of_dataset = dict(zip(ranks.labels, by_dataset.T.tolist(), strict=True))
    rows = [
        Row(label, study.family(label), tuple(Entry(rank) for rank in (mean, *of_dataset[label])))
        for label, mean in ranks.means.items()
    ]
    return Table("ranks", title, ("mean rank", *ranks.datasets), tuple(rows), (), (ranks.summary(), ranks.power()), grouped=False)
