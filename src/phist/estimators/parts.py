"""Parts: the cut of the training graphs by which every member is asked about graphs that it has not seen."""

import warnings
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

Positions = NDArray[np.int64]


@dataclass(frozen=True)
class Parts:
    """The part of each graph, and how many parts are held out in turn: all of them, or only the first.

    Attributes:
        number: (graphs): from 0.
        held_out: parts 0 to ``held_out`` - 1 are each left out once.
    """

    number: Positions
    held_out: int

    def training(self, part: int) -> Positions:
        """The graphs that are learnt from while ``part`` is left out."""
        return np.flatnonzero(self.number != part)

    def test(self, part: int) -> Positions:
        """The graphs of ``part``."""
        return np.flatnonzero(self.number == part)

    @property
    def asked(self) -> Positions:
        """The graphs that are in a part which is held out."""
        return np.flatnonzero(self.number < self.held_out)


def cut_parts(targets: Positions, n_parts: int, held_out: int, seed: int) -> Parts:
    """Stratified parts of even size; fewer of them where a class or the set has too few graphs.

    A class with a single graph cannot be learnt from and be asked about at once: it counts as every other, and is missing in
    the fit that leaves its part out.
    """
    from sklearn.model_selection import StratifiedKFold

    n_parts = max(2, min(n_parts, int(np.bincount(targets).max())))
    number = np.arange(len(targets)) % n_parts
    if np.bincount(targets).max() < n_parts:
        return Parts(number, min(held_out, n_parts))  # one graph of each class: nothing to stratify
    with warnings.catch_warnings():  # a class with fewer graphs than parts is missing in some of them
        warnings.simplefilter("ignore", UserWarning)
        folds = StratifiedKFold(n_parts, shuffle=True, random_state=seed).split(targets, targets)
        for part, (_, test) in enumerate(folds):
            number[test] = part
    return Parts(number, min(held_out, n_parts))
