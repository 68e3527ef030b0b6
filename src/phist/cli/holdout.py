"""Graphs set aside for an honest figure, and the figure with the uncertainty that their number leaves."""

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from phist.errors import ConfigError

if TYPE_CHECKING:
    from phist.graphs.graphset import GraphSet

TEST_FRACTION = 0.1  # unless said otherwise, and only where every class can be on both sides


@dataclass(frozen=True)
class Accuracy:
    """Right answers among several, in percent, with Wilson's 95 % interval."""

    right: int
    graphs: int

    @property
    def percent(self) -> float:
        return 100 * self.right / self.graphs

    @property
    def interval(self) -> tuple[float, float]:
        """Wilson's interval, which stays within 0 and 100 % and holds for few graphs too.

        >>> [round(bound, 1) for bound in Accuracy(32, 38).interval]
        [69.6, 92.6]
        """
        from phist.metrics import wilson_interval

        low, high = wilson_interval(self.right, self.graphs)
        return 100 * low, 100 * high

    def to_dict(self) -> dict[str, Any]:
        """Plain values, ready for JSON, percentages with two decimals."""
        low, high = self.interval
        return {
            "graphs": self.graphs,
            "right": self.right,
            "accuracy": round(self.percent, 2),
            "interval": [round(low, 2), round(high, 2)],
        }

    def __str__(self) -> str:
        low, high = self.interval
        return f"{self.percent:.1f} % ({self.right} of {self.graphs} graphs; 95 % interval {low:.1f} to {high:.1f} %)"


def hold_out(graphs: "GraphSet", fraction: float | None, seed: int) -> tuple["GraphSet", "GraphSet | None"]:
    """Training graphs and a stratified share of test graphs.

    Args:
        fraction: share of test graphs; 0 for none; ``None`` for a tenth where that leaves every class on both sides.
    """
    import numpy as np
    from sklearn.model_selection import StratifiedShuffleSplit

    share = TEST_FRACTION if fraction is None else fraction
    if not 0 <= share < 1:
        raise ConfigError(f"--test-fraction {share} was given; it must be at least 0 and less than 1")
    position = {label: number for number, label in enumerate(graphs.classes)}
    codes = np.array([position[label] for label in graphs.label_list()])
    n_test = round(share * len(graphs))
    enough = len(position) <= min(n_test, len(graphs) - n_test) and np.bincount(codes).min() >= 2
    if share == 0 or (fraction is None and not enough):
        return graphs, None
    if not enough:
        raise ConfigError(
            f"--test-fraction {share} of {len(graphs)} graphs cannot have every one of {len(position)} classes on both sides; "
            "give another share, or 0 to train on everything"
        )
    kept, held = next(StratifiedShuffleSplit(1, test_size=n_test, random_state=seed).split(codes, codes))
    return graphs[np.sort(kept)], graphs[np.sort(held)]
