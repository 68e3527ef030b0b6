"""Which entries tell vectors apart, and how few labelled sums of entries do.

Lemma (entries). t distinct vectors are told apart by t - 1 of their entries. Proof: begin with all vectors in one block.
While a block holds two vectors, some entry differs between them; taking it splits that block, and no entry ever joins
blocks. Every entry taken adds at least one block, and there are at most t.

Lemma (labels). Let every entry carry one of q ≥ 2 labels, in each of d coordinates, and let a coordinate show, for every
label but perhaps one (what is discarded), the sum of the entries that carry it. If t (t - 1) / 2 < q^(d-1) (q + 1), labels
exist for which the d coordinates tell all t vectors apart.

Proof. Take a pair, w its difference, and j an entry with w_j ≠ 0. Once all other labels of a coordinate are given, at most
one of the q labels of j makes the pair's sums equal in it. So go through the entries in any order and give each the label
that fails fewest of the pairs whose last differing entry it is: at most one pair in q is left. After d - 1 coordinates at
most q pairs are left, and the last coordinate settles q pairs: if some entry differs in all of them, it gets a label of
its own; else some entry differs in a few but not in all, it goes last, and no entry is the last of q pairs, so that each
has a label that fails none.

Lemma (weights). Whole weights from 0 to t (t - 1) / 2 exist for which one weighted sum of the entries tells all t vectors
apart. Proof: go through the entries. Once the weights before are given, each pair whose last differing entry this is rules
out at most one weight, and there are no more than t (t - 1) / 2 such pairs.
"""

import numpy as np
from numpy.typing import NDArray

from phist.theory.geometry import Ints

DISCARDED = -1


def separating_entries(table: Ints) -> Ints:
    """Columns that tell the distinct rows of ``table`` apart, at most one less than rows (lemma "entries").

    Each step takes the column that splits the rows into most blocks.

    >>> separating_entries(np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1]]))
    array([0, 1])
    """
    goal = len(np.unique(table, axis=0))
    blocks = np.zeros(len(table), np.int64)
    ranks = np.stack([np.unique(column, return_inverse=True)[1] for column in table.T], axis=1)  # small numbers, same order
    chosen: list[int] = []
    while blocks.max() + 1 < goal:
        refined = blocks[:, None] * len(table) + ranks  # (rows, columns): block and value as one number
        refined_sorted = np.sort(refined, axis=0)
        n_blocks = 1 + np.count_nonzero(np.diff(refined_sorted, axis=0), axis=0)
        chosen.append(int(n_blocks.argmax()))
        blocks = np.unique(refined[:, chosen[-1]], return_inverse=True)[1]
    return np.array(sorted(chosen), np.int64)


def separating_labels(table: Ints, dim: int, bins: int, discard: bool) -> tuple[Ints, int]:
    """Labels for the columns of ``table`` whose sums tell its distinct rows apart (lemma "labels").

    Args:
        table: one row per vector.
        dim: coordinates.
        bins: labels with a sum of their own.
        discard: whether a column may be left out of all sums of a coordinate, label -1.

    Returns:
        The labels (columns, dim), and how many pairs of distinct rows they leave together: none where
        t (t - 1) / 2 < q^(dim-1) (q + 1) for q = bins + discard ≥ 2.
    """
    first, second = np.triu_indices(len(table), k=1)
    differences = table[first] - table[second]
    differences = differences[differences.any(axis=1)]  # (pairs, columns)
    labels = np.zeros((table.shape[1], dim), np.int64)
    for coordinate in range(dim):
        if not len(differences):
            break
        labels[:, coordinate], together = _label_coordinate(differences, bins, discard)
        differences = differences[together]
    return labels, len(differences)


def separating_weights(table: Ints) -> Ints:
    """Whole weights of the columns whose weighted sums tell the distinct rows of ``table`` apart (lemma "weights").

    >>> table = np.array([[1, 0, 0], [0, 1, 0], [0, 0, 1], [1, 1, 0]])
    >>> weights = separating_weights(table)
    >>> weights, table @ weights
    (array([1, 2, 0]), array([1, 2, 0, 3]))
    """
    first, second = np.triu_indices(len(table), k=1)
    differences = table[first] - table[second]
    differences = differences[differences.any(axis=1)]  # (pairs, columns)
    last = table.shape[1] - 1 - np.argmax(differences[:, ::-1] != 0, axis=1)
    weights = np.zeros(table.shape[1], np.int64)
    sums = np.zeros(len(differences), object)  # may become longer than a machine word
    for column in range(table.shape[1]):
        mine = differences[:, column].astype(object)
        ending = last == column
        weights[column] = _smallest_allowed(sums[ending], mine[ending])
        sums = sums + mine * int(weights[column])
    return weights


def _smallest_allowed(sums: NDArray[np.object_], last: NDArray[np.object_]) -> int:
    """The smallest weight of the last differing entry that leaves no sum at zero."""
    ruled_out = {-total // entry for total, entry in zip(sums, last, strict=True) if total % entry == 0}
    return next(weight for weight in range(len(ruled_out) + 1) if weight not in ruled_out)


def _label_coordinate(differences: Ints, bins: int, discard: bool) -> tuple[Ints, Ints]:
    """Labels of one coordinate, and the pairs it leaves together."""
    n_pairs, n_columns = differences.shape
    support = np.count_nonzero(differences, axis=0)
    order = np.argsort(support, kind="stable")  # the column that differs in most pairs goes last
    if support[order[-1]] == n_pairs and bins + discard > 1:
        labels = np.full(n_columns, 1 if bins > 1 else DISCARDED)
        labels[order[-1]] = 0
        return labels, np.empty(0, np.int64)

    labels = np.zeros(n_columns, np.int64)
    last = n_columns - 1 - np.argmax(differences[:, order[::-1]] != 0, axis=1)  # beyond it a pair's sums no longer change
    sums = np.zeros((n_pairs, bins), np.int64)
    for place, column in enumerate(order):
        ending = last == place
        label = int(_failures(sums[ending], differences[ending, column], discard).argmin())
        labels[column] = label if label < bins else DISCARDED
        if label < bins:
            sums[:, label] += differences[:, column]
    return labels, np.flatnonzero(~sums.any(axis=1))


def _failures(sums: Ints, last_differences: Ints, discard: bool) -> Ints:
    """For every label, how many of the pairs that end here would have equal sums."""
    nonzero = np.count_nonzero(sums, axis=1)
    cancels = sums == -last_differences[:, None]
    failures = (cancels & (nonzero == 1)[:, None]).sum(axis=0)
    return np.append(failures, np.count_nonzero(nonzero == 0)) if discard else failures
