"""The graphlet sampling kernel: which small graphs appear on randomly drawn nodes, and how often."""

from functools import cache
from itertools import combinations, permutations

import numpy as np
from numpy.typing import NDArray

from phist.descriptors.grams.counts import Gram, mirrored
from phist.graphs.arrays import IntArray
from phist.graphs.graph import Graph
from phist.graphs.graphset import GraphSet
from phist.jit import compiled
from phist.progress import SlowProgress

SMALLEST, LARGEST = 3, 5  # nodes of a graphlet, as in GraKeL


def graphlet_gram(graphs: GraphSet, samples: int, seed: int) -> Gram:
    """The kernel of Shervashidze et al. (2009) by sampling: inner products of `graphlet_counts`.

    What is random comes from the seed and the size of the graph. GraKeL counts a kind of graphlet once too often in every graph
    but the first that shows it; that is not repeated here.
    """
    counts = np.zeros((len(graphs), n_kinds()))
    with SlowProgress("graphlets", len(graphs), show=None) as progress:
        for row, graph in zip(counts, graphs, strict=True):
            row[:] = graphlet_counts(graph, samples, np.random.default_rng([seed, graph.n_nodes]))
            progress.advance(1)
    return mirrored(counts @ counts.T)


def graphlet_counts(graph: Graph, samples: int, random: np.random.Generator) -> IntArray:
    """How many samples show each kind of small graph.

    A sample's size is drawn evenly from 3, 4 and 5, then as many nodes are, without replacement. They need not be connected;
    the edges among them make the graphlet. A graph with fewer nodes gives what it has.
    """
    counts: IntArray = _draw(graph.indptr, graph.indices, kinds_of_codes(), samples, random, np.zeros(n_kinds(), np.int64))
    return counts


@cache
def kinds_of_codes() -> IntArray:
    """The kind, numbered from 0, of every graph of 1 to 5 nodes; equal kinds are isomorphic. (sizes + 1, codes)

    A graph's code has one bit for each pair of nodes, in the order (0, 1), (0, 2), (1, 2), (0, 3), ...
    """
    kinds = np.zeros((LARGEST + 1, 2 ** (LARGEST * (LARGEST - 1) // 2)), np.int64)
    n_kinds = 0
    for size in range(1, LARGEST + 1):
        least = _least_equivalent_codes(size)
        _, numbers = np.unique(least, return_inverse=True)
        kinds[size, : len(least)] = n_kinds + numbers
        n_kinds += int(numbers.max()) + 1
    return kinds


def n_kinds() -> int:
    """How many graphs of 1 to 5 nodes there are, up to isomorphism.

    >>> n_kinds()
    52
    """
    return int(kinds_of_codes().max()) + 1


def _least_equivalent_codes(size: int) -> IntArray:
    """For every graph of ``size`` nodes, the least code that renumbering its nodes can give it."""
    pairs = sorted(combinations(range(size), 2), key=lambda pair: pair[::-1])
    place_of = {pair: place for place, pair in enumerate(pairs)}
    codes = np.arange(2 ** len(pairs))
    least = codes.copy()
    for order in permutations(range(size)):
        renumbered = np.zeros_like(codes)
        for place, (a, b) in enumerate(pairs):
            new_place = place_of[min(order[a], order[b]), max(order[a], order[b])]
            renumbered |= ((codes >> place) & 1) << new_place
        least = np.minimum(least, renumbered)
    return least


@compiled
def _draw(
    indptr: IntArray, indices: NDArray[np.int32], kinds: IntArray, samples: int, random: np.random.Generator, counts: IntArray
) -> IntArray:
    n_nodes = len(indptr) - 1
    smallest, largest = min(SMALLEST, n_nodes), min(LARGEST, n_nodes)
    nodes = np.empty(LARGEST, np.int64)
    for _ in range(samples):
        size = smallest + int(random.random() * (largest - smallest + 1))
        code, place, chosen = 0, 0, 0
        while chosen < size:
            node = int(random.random() * n_nodes)
            if (nodes[:chosen] == node).any():
                continue
            neighbours = indices[indptr[node] : indptr[node + 1]]
            for earlier in nodes[:chosen]:
                position = np.searchsorted(neighbours, earlier)
                if position < len(neighbours) and neighbours[position] == earlier:
                    code |= 1 << place
                place += 1
            nodes[chosen] = node
            chosen += 1
        counts[kinds[size, code]] += 1
    return counts
