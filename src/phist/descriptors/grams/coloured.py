"""Pairs of coloured nodes, counted in blocks of bounded size.

A feature is the colours of both ends and the distance between them. In a large set nearly every pair of nodes may be a
feature of its own, so the pairs are counted one block of source colours after the other, summed up within their graph at
once, and forgotten when the block has been added to the Gram matrix.
"""

from collections.abc import Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from phist.descriptors.grams.counts import Gram, add_counts, check_range
from phist.descriptors.grams.distances import search
from phist.graphs.arrays import IntArray, starts_of
from phist.graphs.graphset import GraphSet
from phist.jit import compiled

_ENTRIES_AT_A_TIME = 1 << 22  # 64 MB of features with their counts, three times that while they are sorted


class ColouredSet:
    """Graphs with coloured nodes, seen as groups: the nodes of one colour in one graph. Groups are in the order of colours.

    Args:
        graphs: the set, undirected.
        colors: one number from 0 per node, with one meaning in all graphs.
        longest: the longest distance in each graph.
    """

    def __init__(self, graphs: GraphSet, colors: IntArray, longest: IntArray) -> None:
        self._graphs, self._colors, self._longest = graphs, colors, longest
        n_colors, self._n_distances = int(colors.max(initial=0)) + 1, int(longest.max(initial=0)) + 1
        check_range(n_colors**2 * self._n_distances, len(graphs))

        color_and_graph = colors * len(graphs) + np.repeat(np.arange(len(graphs)), graphs.node_counts())
        groups, self._sizes = np.unique(color_and_graph, return_counts=True)
        self._nodes = np.argsort(color_and_graph, kind="stable")
        self._group_ptr = starts_of(self._sizes)
        self._group_colors, self._group_graphs = np.divmod(groups, len(graphs))
        self._is_shared = np.bincount(self._group_colors, minlength=n_colors) > 1

        # No group has more entries than pairs of nodes, nor than its graph has colours times distances.
        n_pairs = self._sizes * (graphs.node_counts() - 1)[self._group_graphs]
        n_features = (np.bincount(self._group_graphs, minlength=len(graphs)) * longest)[self._group_graphs]
        self._most_entries = np.minimum(n_pairs, n_features)

        # A colour's first node in a graph stands for the colour in tables of that graph.
        first_nodes = self._nodes[self._group_ptr[:-1]] - graphs.node_ptr[self._group_graphs]
        self._representatives = np.empty_like(colors)
        self._representatives[self._nodes] = np.repeat(first_nodes, self._sizes)

    def blocks(self) -> Iterator[slice]:
        """Consecutive groups, whole colours at a time, with about `_ENTRIES_AT_A_TIME` entries."""
        entries_before = starts_of(self._most_entries)
        colour_starts = np.flatnonzero(np.diff(self._group_colors, prepend=-1, append=-2))
        marks = np.arange(0, entries_before[-1], _ENTRIES_AT_A_TIME)
        places = np.searchsorted(entries_before[colour_starts], marks)
        cuts = np.unique(np.append(colour_starts[places], [0, colour_starts[-1]])).tolist()
        return (slice(start, stop) for start, stop in pairwise(cuts))

    def nodes_in(self, block: slice) -> int:
        """How many nodes the groups of a block have together."""
        return int(self._sizes[block].sum())

    def add_pairs(self, gram: Gram, block: slice) -> None:
        """Add the products of all features whose first colour is in the block and whose second is the same or a later one.

        Two different colours make two features with equal counts, one for each order of the ends, hence the weight of 2.
        """
        size = int(self._most_entries[block].sum())
        entries, counts = np.empty(size, np.int64), np.empty(size, np.int64)
        n_mixed, n_equal = _count_pairs(
            (self._graphs.node_ptr, self._graphs.indptr, self._graphs.indices),
            (self._colors, self._representatives, self._is_shared),
            (self._nodes, self._group_ptr[block.start : block.stop + 1], self._group_graphs[block]),
            (self._longest, self._n_distances),
            gram,
            entries,
            counts,
        )
        add_counts(gram, entries[:n_mixed], counts[:n_mixed], weight=2.0)
        add_counts(gram, entries[size - n_equal :], counts[size - n_equal :], weight=1.0)


@compiled
def _tally(
    links: tuple[IntArray, NDArray[np.int32]],
    colors: IntArray,
    representatives: IntArray,
    sources: IntArray,
    width: int,
    buffers: tuple[NDArray[np.int32], NDArray[np.int32], IntArray],
    table: IntArray,
) -> int:
    """Count, in ``table``, the nodes of one graph by colour and distance from each of ``sources``, earlier colours left out.

    Returns how many places of ``table`` are no longer zero; the last of the buffers says which.
    """
    indptr, indices = links
    queue, distance, touched = buffers
    color = colors[sources[0]]
    n_touched = 0
    for source in sources:
        reached = search(indptr, indices, source, queue, distance)
        for node in queue[1:reached]:
            if colors[node] >= color:
                slot = representatives[node] * width + distance[node]
                if table[slot] == 0:
                    touched[n_touched] = slot
                    n_touched += 1
                table[slot] += 1
        distance[queue[:reached]] = -1
    return n_touched


@compiled
def _count_pairs(
    graphs: tuple[IntArray, IntArray, NDArray[np.int32]],
    colouring: tuple[IntArray, IntArray, NDArray[np.bool_]],
    groups: tuple[IntArray, IntArray, IntArray],
    distances: tuple[IntArray, int],
    gram: Gram,
    entries: IntArray,
    counts: IntArray,
) -> tuple[int, int]:
    """Fill ``entries`` and ``counts`` from the front with pairs of two colours, from the back with pairs of one.

    What only one graph can have is added to the diagonal of ``gram`` at once. Returns how many entries are at the front and
    at the back.
    """
    node_ptr, indptr, indices = graphs
    colors, representatives, is_shared = colouring
    nodes, group_ptr, group_graphs = groups
    longest, n_distances = distances
    n_colors, n_graphs = len(is_shared), len(gram)
    most_nodes = np.diff(node_ptr).max()
    queue, distance = np.empty(most_nodes, np.int32), np.full(most_nodes, -1, np.int32)
    table = np.zeros(np.max(np.diff(node_ptr) * (longest + 1)), np.int64)
    touched = np.empty(len(table), np.int64)
    front, back = 0, len(entries)

    for group, graph in enumerate(group_graphs):
        first, last, width = node_ptr[graph], node_ptr[graph + 1], longest[graph] + 1
        sources = nodes[group_ptr[group] : group_ptr[group + 1]] - first
        own_colors = colors[first:last]
        links = (indptr[first : last + 1] - indptr[first], indices[indptr[first] : indptr[last]])
        n_touched = _tally(links, own_colors, representatives[first:last], sources, width, (queue, distance, touched), table)

        color = own_colors[sources[0]]
        for slot in touched[:n_touched]:
            other_color, count = own_colors[slot // width], table[slot]
            table[slot] = 0
            entry = ((color * n_colors + other_color) * n_distances + slot % width) * n_graphs + graph
            if other_color == color:
                back -= 1
                entries[back], counts[back] = entry, count
            elif is_shared[color] and is_shared[other_color]:
                entries[front], counts[front] = entry, count
                front += 1
            else:
                gram[graph, graph] += 2.0 * count * count
    return front, len(entries) - back
