"""What a study says of one method: its mean rank, and where it wins, ties and loses; the page counts what its filters leave."""

from collections.abc import Mapping
from dataclasses import dataclass, field

from phist.evaluation.statistics import Difference, paired_difference
from phist.report.ranks import Ranks

Differences = Mapping[str, Mapping[str, Difference]]  # by the other method, then by dataset


@dataclass(frozen=True)
class Versus:
    """One method against another over the datasets that both have: a win or a loss is an interval that leaves out zero.

    Attributes:
        difference: mean over datasets of the difference of means, with the interval of a paired t-test over datasets; none
            for fewer than two.
    """

    label: str
    wins: tuple[str, ...]
    ties: tuple[str, ...]
    losses: tuple[str, ...]
    difference: Difference | None

    @property
    def datasets(self) -> int:
        return len(self.wins) + len(self.ties) + len(self.losses)

    @property
    def lead(self) -> float:
        """The share of datasets won beyond those lost: methods with few datasets stand beside those with many."""
        return (len(self.wins) - len(self.losses)) / self.datasets


@dataclass(frozen=True)
class Finding:
    """What a study says of a method, the strongest opponents first."""

    label: str
    mean_rank: float | None
    ranked: int  # methods that were ranked together
    ranked_on: int  # datasets that they were ranked on
    versus: tuple[Versus, ...] = field(default=())


def find(label: str, differences: Differences, ranks: Ranks | None) -> Finding:
    """What a study says of a method, of differences and ranks that are known already."""
    mean_rank = None if ranks is None else ranks.means.get(label)
    versus = [_versus(other, own) for other, own in differences.items()]
    versus.sort(key=lambda one: (one.lead, one.difference.mean if one.difference else 0.0, one.label))
    shape = (0, 0) if ranks is None else (len(ranks.labels), len(ranks.datasets))
    return Finding(label, mean_rank, *shape, tuple(versus))


def _versus(label: str, differences: Mapping[str, Difference]) -> Versus:
    def where(low: bool, high: bool) -> tuple[str, ...]:
        return tuple(name for name, own in differences.items() if (own.low > 0) == low and (own.high < 0) == high)

    means = [own.mean for own in differences.values()]
    over = paired_difference(means, [0.0] * len(means)) if len(means) > 1 else None
    return Versus(label, where(True, False), where(False, False), where(False, True), over)
