"""Theorem 2.2, constructed: a φ for which `sum` tells given multisets apart."""

import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple, TypeVar, get_args

import numpy as np
from numpy.typing import NDArray

from phist.errors import GraphInputError, check_choice
from phist.theory.geometry import Floats, Ints, check_delta, check_norm
from phist.theory.labels import separating_entries, separating_labels, separating_weights
from phist.theory.matching import delta_equal
from phist.theory.multiset import Multiset, check_same_dimension
from phist.theory.voronoi import Cells, GridCells, count_cells

SumMethod = Literal["entries", "subsets", "weights"]
Kind = TypeVar("Kind", bound=np.generic)


@dataclass(frozen=True, eq=False)
class SumSeparation:
    """φ(x) is the image of x's cell, zero in all cells that are not listed; sum(𝒳) = Σ_{x in 𝒳} φ(x)."""

    multisets: tuple[Multiset, ...]
    delta: float
    p: float
    method: SumMethod
    cells: Cells
    keys: Floats  # (listed cells, ...)
    images: Ints  # (listed cells, outputs): whole numbers, 0 or 1 unless the method is "weights"

    @property
    def outputs(self) -> int:
        """Entries of φ(x)."""
        return int(self.images.shape[1])

    def phi(self, vectors: Floats) -> Ints:
        """φ of every row, new vectors included."""
        return look_up(self.cells.keys(vectors), self.keys, self.images, np.zeros(self.outputs, np.int64))  # (rows, outputs)

    def aggregate(self, multiset: Multiset) -> NDArray[np.object_]:
        """sum(𝒳) in Python's whole numbers, which have no end."""
        sums: NDArray[np.object_] = multiset.counts.astype(object) @ self.phi(multiset.vectors).astype(object)
        return sums  # (outputs)

    def verify(self) -> bool:
        """Every two multisets with equal sums are delta-equal, by a verified matching, and φ is no more than the method allows.

        Everything is computed anew from the multisets, φ and the method, in whole numbers.
        """
        most = most_sum_outputs(len(self.multisets), self.method)
        if self.outputs > most or not _allowed(self.images, self.method, len(self.multisets)):
            return False
        sums = [self.aggregate(multiset).tolist() for multiset in self.multisets]
        return not_confused(self.multisets, sums, self.delta, self.p)


def separate_by_sum(
    multisets: Sequence[Multiset], delta: float, p: float = math.inf, method: SumMethod = "entries"
) -> SumSeparation:
    """A φ for which `sum` tells apart all pairs of the t multisets that are not delta-equal.

    Count elements in cells of diameter at most δ: equal counts imply δ-equality, so it is enough to tell the count
    vectors apart, and t - 1 of their entries do (`phist.theory.labels`; the paper allows t).

    Args:
        multisets: at least two, of one dimension.
        delta: precision; 0 tells all different multisets apart.
        p: which norm: 1, 2, ..., or infinity for the largest entry.
        method: ``"entries"``: φ is 1 in one cell per output, at most t - 1 outputs, the theorem. ``"subsets"``: an output
            sums a set of cells, and about 2 log2 t of them suffice (`subset_outputs`); fewer than log2 t never do, since t
            single elements in t cells need t different values of φ. ``"weights"``: φ has whole values from 0 to t(t-1)/2, and
            one output suffices (`phist.theory.labels`).

    >>> separation = separate_by_sum([Multiset([[0.0], [1.0]]), Multiset([[0.0], [2.0]]), Multiset([[1.0], [2.0]])], delta=0.5)
    >>> separation.outputs, separation.verify()
    (2, True)
    """
    check_choice("method", method, get_args(SumMethod))
    table = restricted_table(multisets, delta, p)
    images = _images(table.counts[:, :-1], method, len(multisets))
    return SumSeparation(tuple(multisets), float(delta), check_norm(p), method, table.cells, table.keys, images)


def most_sum_outputs(count: int, method: SumMethod) -> int:
    """The outputs with which a method separates any ``count`` multisets.

    >>> [most_sum_outputs(100, method) for method in ("entries", "subsets", "weights")]
    [99, 12, 1]
    """
    if method == "entries":
        return count - 1
    return subset_outputs(count) if method == "subsets" else 1


def subset_outputs(count: int) -> int:
    """The least k with t(t-1)/2 < 3 · 2^(k-1), about 2 log2 t - 1.5: the lemma "labels" for one bin and what it discards.

    >>> [subset_outputs(count) for count in (2, 3, 10, 1000)]
    [1, 2, 5, 19]
    """
    pairs = count * (count - 1) // 2
    return 1 + (pairs // 3).bit_length()


def _images(counts: Ints, method: SumMethod, count: int) -> Ints:
    if method == "entries":
        return np.eye(counts.shape[1], dtype=np.int64)
    if method == "weights":
        weights: Ints = separating_weights(counts)
        return weights[:, None]
    labels, _ = separating_labels(counts, subset_outputs(count), bins=1, discard=True)
    images: Ints = (labels == 0).astype(np.int64)
    return images


def _allowed(images: Ints, method: SumMethod, count: int) -> bool:
    """Whether φ has only values that the method speaks of, and with "entries" no output counts two cells."""
    largest = count * (count - 1) // 2 if method == "weights" else 1
    within = bool(((images >= 0) & (images <= largest)).all())
    return within and (method != "entries" or bool((images.sum(axis=0) <= 1).all()))


class RestrictedTable(NamedTuple):
    """Counts in as few cells as tell the multisets apart, and in all others together."""

    cells: Cells
    keys: Floats  # (kept cells, ...)
    counts: Ints  # (multisets, kept cells + 1)


def restricted_table(multisets: Sequence[Multiset], delta: float, p: float) -> RestrictedTable:
    """The counts that matter: those of at most t - 1 cells of diameter at most delta, and of the rest."""
    if len(multisets) < 2:
        raise GraphInputError(f"{len(multisets)} multiset was given to tell apart; give at least two")
    dimension = check_same_dimension(multisets)
    cells = GridCells(dimension, check_delta(delta), check_norm(p))
    keys, counts = count_cells(multisets, cells)
    kept = separating_entries(counts)
    chosen = counts[:, kept]
    rest = counts.sum(axis=1, keepdims=True) - chosen.sum(axis=1, keepdims=True)
    return RestrictedTable(cells, keys[kept], np.concatenate([chosen, rest], axis=1))


def look_up(found: Floats, keys: Floats, images: NDArray[Kind], otherwise: NDArray[Kind]) -> NDArray[Kind]:
    """The image of each row of ``found``: that of the equal row of ``keys``, else ``otherwise``."""
    place = {tuple(key): number for number, key in enumerate(keys.tolist())}
    table = np.concatenate([images, otherwise[None]])
    return table[[place.get(tuple(key), -1) for key in found.tolist()]]


def not_confused(multisets: Sequence[Multiset], outputs: Sequence[Sequence[int]], delta: float, p: float) -> bool:
    """Whether multisets with equal ``outputs`` are always delta-equal."""
    return all(
        bool(witness := delta_equal(multisets[first], multisets[second], delta, p)) and witness.verify()
        for first, second in pairs_together(outputs)
    )


def pairs_together(outputs: Sequence[Sequence[int]]) -> Iterator[tuple[int, int]]:
    """The pairs of equal rows."""
    seen: dict[tuple[int, ...], list[int]] = {}
    for number, row in enumerate(outputs):
        alike = seen.setdefault(tuple(row), [])
        yield from ((other, number) for other in alike)
        alike.append(number)
