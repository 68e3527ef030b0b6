"""What a study says of one method: its mean rank, where it wins, ties and loses, and that in one sentence."""

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


@dataclass(frozen=True)
class Finding:
    """What a study says of a method, the strongest opponents first."""

    label: str
    mean_rank: float | None
    ranked: int  # methods that were ranked together
    ranked_on: int  # datasets that they were ranked on
    versus: tuple[Versus, ...] = field(default=())

    def counts(self) -> tuple[int, int, int]:
        """Comparisons won, tied and lost."""
        return (
            sum(len(one.wins) for one in self.versus),
            sum(len(one.ties) for one in self.versus),
            sum(len(one.losses) for one in self.versus),
        )

    def sentence(self) -> str:
        """The finding in one sentence, which claims no more than the intervals do."""
        if not self.versus:
            rank = "" if self.mean_rank is None else f" has mean rank {self.mean_rank:.1f} among {self.ranked} methods, but"
            return (
                f"{self.label}{rank} shares fewer than two folds of any dataset with another method: differences have no intervals."
            )
        wins, ties, losses = self.counts()
        rank = "" if self.mean_rank is None else f"mean rank {self.mean_rank:.1f} among {self.ranked} methods, and "
        stronger = [one.label for one in self.versus if len(one.losses) > len(one.wins)]
        against = f", more losses than wins against {', '.join(stronger)}" if stronger else ""
        return (
            f"{self.label} has {rank}of {wins + ties + losses} comparisons with another method on a dataset {wins} are clear wins, "
            f"{losses} clear losses and {ties} too close to call{against}."
        )


def find(label: str, differences: Differences, ranks: Ranks | None) -> Finding:
    """What a study says of a method, of differences and ranks that are known already."""
    mean_rank = None if ranks is None else ranks.means.get(label)
    versus = [_versus(other, own) for other, own in differences.items()]
    versus.sort(key=lambda one: (len(one.wins) - len(one.losses), one.difference.mean if one.difference else 0.0, one.label))
    shape = (0, 0) if ranks is None else (len(ranks.labels), len(ranks.datasets))
    return Finding(label, mean_rank, *shape, tuple(versus))


def _versus(label: str, differences: Mapping[str, Difference]) -> Versus:
    def where(low: bool, high: bool) -> tuple[str, ...]:
        return tuple(name for name, own in differences.items() if (own.low > 0) == low and (own.high < 0) == high)

    means = [own.mean for own in differences.values()]
    over = paired_difference(means, [0.0] * len(means)) if len(means) > 1 else None
    return Versus(label, where(True, False), where(False, False), where(False, True), over)
