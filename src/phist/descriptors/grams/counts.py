"""Kernels that count: each graph has a count for every feature, and two graphs compare by the inner product of their counts.

Features of a large set are many, and nearly all of them occur in a handful of graphs. They are therefore never laid out as a
matrix: a block of entries (feature, graph, count) is sorted by feature, and each feature adds the products of its counts
to the Gram matrix. Counts are whole numbers, so sums are exact up to 2^53.
"""

import numpy as np
from numpy.typing import NDArray

from phist.errors import GraphInputError
from phist.graphs.arrays import IntArray
from phist.jit import compiled

Gram = NDArray[np.float64]


def add_counts(gram: Gram, entries: IntArray, counts: IntArray, weight: float = 1.0) -> None:
    """Add ``weight`` times the products of all counts that share a feature to the upper triangle of ``gram``.

    Args:
        gram: (graphs, graphs).
        entries: ``feature * graphs + graph``, each at most once; all entries of a feature come in the same call.
        counts: how often the feature occurs in the graph.
        weight: of these features.
    """
    order = np.argsort(entries)
    _add_products(gram, entries[order], counts[order], weight)


def add_items(gram: Gram, features: IntArray, graphs: IntArray) -> None:
    """Count how often each feature occurs in each graph, then add the products; features are numbered from 0."""
    check_range(int(features.max(initial=0)) + 1, len(gram))
    entries, counts = np.unique(features * len(gram) + graphs, return_counts=True)
    _add_products(gram, entries, counts, 1.0)


def check_range(n_features: int, n_graphs: int) -> None:
    """Raise a `GraphInputError` where features and graphs together cannot be numbered in 63 bits."""
    if n_features * n_graphs >= 2**63:
        raise GraphInputError(
            f"{n_features:.1e} possible features of {n_graphs:,} graphs are more than can be numbered in 63 bits; "
            "take fewer rounds or fewer graphs"
        )


def mirrored(gram: Gram) -> Gram:
    """``gram`` with its lower triangle filled in from the upper one, in place."""
    _mirror(gram)
    return gram


@compiled
def _add_products(gram: Gram, entries: IntArray, counts: IntArray, weight: float) -> None:
    n_graphs = len(gram)
    start = 0
    while start < len(entries):
        feature = entries[start] // n_graphs
        stop = start
        while stop < len(entries) and entries[stop] // n_graphs == feature:
            stop += 1
        first = feature * n_graphs
        for left in range(start, stop):
            row, scale = gram[entries[left] - first], weight * counts[left]
            for right in range(left, stop):
                row[entries[right] - first] += scale * counts[right]
        start = stop


@compiled
def _mirror(gram: Gram) -> None:
    for row in range(len(gram)):
        for column in range(row):
            gram[row, column] = gram[column, row]
