"""An order of a graph's nodes that does not depend on how they are numbered.

Files number nodes in ways that tell more than the structure does: a letter's strokes in the order of writing, an ego before its
friends. Roots that are drawn by position would let a model read it, and so would rounding, which differs with the order of sums.
Models therefore see every graph in an order of its own, by the colours of Weisfeiler and Lehman. Of nodes that colours do not
tell apart one is marked, and colours are refined again, until all differ. Nodes that a symmetry of the graph exchanges may be
marked in any order, with the same result. So equal graphs become equal arrays, unless colours take nodes for symmetric that
are not, as in some strongly regular graphs, or a graph is so large that marking all of its nodes would take too long.
"""

from dataclasses import dataclass, replace

import numpy as np

from phist.graphs.arrays import Array, IntArray, starts_of
from phist.graphs.graphset import GraphSet
from phist.graphs.refinement import mix
from phist.graphs.symmetry import Hashes, first_colors, messages
from phist.jit import compiled, inner

_MARK, _OWN = (np.uint64(0x9E3779B97F4A7C15 * k % 2**64) for k in (29, 3))
_WORK = 1 << 18  # nodes and arcs that are looked at, over all rounds of a graph: a millisecond
_LEAST_ROUNDS = 3  # of a graph for which that is less


@dataclass(frozen=True)
class Ordered:
    """Graphs whose nodes stand in canonical order.

    Attributes:
        graphs: in that order.
        node_at: (nodes): the number, in its graph as it was given, of the node at each place.
    """

    graphs: GraphSet
    node_at: IntArray

    def places(self, graph: int) -> IntArray:
        """Where each node of one graph, as it was given, stands now: (nodes)."""
        own = self.node_at[self.graphs.node_ptr[graph] : self.graphs.node_ptr[graph + 1]]
        places = np.empty_like(own)
        places[own] = np.arange(len(own))
        return places


def in_canonical_order(graphs: GraphSet) -> Ordered:
    """The same graphs, their nodes in an order that does not depend on how they were numbered.

    >>> from phist.graphs.packing import pack
    >>> one = pack(np.array([4]), np.array([0, 1, 2]), np.array([1, 2, 3]))  # a path, and the same path
    >>> other = pack(np.array([4]), np.array([2, 0, 3]), np.array([0, 3, 1]))
    >>> in_canonical_order(one).graphs == in_canonical_order(other).graphs
    True
    """
    node_at = _canonical_order(graphs)
    return Ordered(reordered(graphs, node_at), node_at)


def _canonical_order(graphs: GraphSet) -> IntArray:
    order, largest = np.empty(graphs.n_nodes, np.int64), int(graphs.node_counts().max(initial=0))
    scratch = np.empty((2, largest), np.int64), np.empty(largest, np.uint64)
    _order_nodes(np.asarray(graphs.node_ptr), messages(graphs), first_colors(graphs), order, scratch)
    return order


def reordered(graphs: GraphSet, node_at: IntArray) -> GraphSet:
    """The same graphs, the node with number ``node_at[place]`` of its graph at each place."""
    from scipy.sparse import csr_array

    sizes = graphs.node_counts()
    first = np.repeat(graphs.node_ptr[:-1], sizes)
    old = first + node_at  # numbered through the set
    places = np.empty(graphs.n_nodes, np.int32)
    places[old] = np.arange(graphs.n_nodes) - first
    degrees = graphs.degrees()
    indptr = starts_of(degrees[old])
    arcs = np.repeat(graphs.indptr[old] - indptr[:-1], degrees[old]) + np.arange(indptr[-1])
    targets = places[np.repeat(first, degrees[old]) + graphs.indices[arcs]]
    weights: Array = np.ones(len(arcs), np.int8) if graphs.weights is None else graphs.weights[arcs]
    rows = csr_array((weights, targets, indptr), shape=(graphs.n_nodes, int(sizes.max(initial=1))))
    rows.sort_indices()
    indices = rows.indices.astype(np.int32, copy=False)
    return replace(graphs, indptr=indptr, indices=indices, weights=None if graphs.weights is None else rows.data)


@compiled
def _order_nodes(
    node_ptr: IntArray, arcs: tuple[IntArray, IntArray, Hashes], colours: Hashes, order: IntArray, scratch: tuple[IntArray, Hashes]
) -> None:
    """Of every graph the nodes in canonical order, as numbers in it; ``colours`` are refined in place.

    ``scratch`` is for two numbers of each node of the largest graph, and one hash: arrays made here would add a half to the
    time that this takes to compile.
    """
    indptr, _, _ = arcs
    both, sums = scratch
    for graph in range(len(node_ptr) - 1):
        begin, end = node_ptr[graph], node_ptr[graph + 1]
        own = colours[begin:end]
        work = _WORK
        ranks, n_colours, rounds = _argsort(own, both), 0, 0
        while n_colours < end - begin and (work > 0 or rounds < _LEAST_ROUNDS):
            _refine(begin, own, arcs, sums)
            work -= end - begin + indptr[end] - indptr[begin]
            rounds += 1
            ranks = _argsort(own, both)
            n_before, n_colours = n_colours, _count_colours(own, ranks)
            if n_colours == n_before:  # nothing more to find out: one node of several alike is marked
                node = _first_alike(own, ranks)
                own[node] = mix(own[node] + _MARK)
                n_colours = 0
        for place in range(end - begin):  # a slice would bring its error messages along, half of the code
            order[begin + place] = ranks[place]


@inner
def _argsort(values: Hashes, scratch: IntArray) -> IntArray:
    """By merging ever longer runs, so that equals stay in order; Numba's own takes longer to compile than all else here."""
    n = len(values)
    ranks: IntArray = scratch[0]
    merged: IntArray = scratch[1]
    for place in range(n):
        ranks[place] = place
    length = 1
    while length < n:
        for begin in range(0, n, 2 * length):
            _merge(values, ranks, merged, begin, min(begin + length, n), min(begin + 2 * length, n))
        ranks, merged = merged, ranks
        length *= 2
    return ranks


@inner
def _merge(values: Hashes, ranks: IntArray, merged: IntArray, begin: int, middle: int, end: int) -> None:
    """Two sorted runs, of which the second begins at ``middle``, to one."""
    left, right = begin, middle
    for place in range(begin, end):
        if left < middle and (right == end or values[ranks[left]] <= values[ranks[right]]):
            merged[place] = ranks[left]
            left += 1
        else:
            merged[place] = ranks[right]
            right += 1


@inner
def _refine(begin: int, own: Hashes, arcs: tuple[IntArray, IntArray, Hashes], sums: Hashes) -> None:
    """One round: every colour takes in those of the neighbours."""
    indptr, receivers, codes = arcs
    for node in range(len(own)):
        sums[node] = 0
    for node in range(len(own)):
        for arc in range(indptr[begin + node], indptr[begin + node + 1]):
            sums[receivers[arc] - begin] += mix(own[node] + codes[arc])
    for node in range(len(own)):
        own[node] = mix(mix(own[node] + _OWN) + sums[node])


@inner
def _count_colours(own: Hashes, ranks: IntArray) -> int:
    count = 1
    for place in range(1, len(own)):
        count += own[ranks[place]] != own[ranks[place - 1]]
    return count


@inner
def _first_alike(own: Hashes, ranks: IntArray) -> int:
    """The first node of those that share the smallest colour of all that are shared."""
    place = 1
    while own[ranks[place]] != own[ranks[place - 1]]:
        place += 1
    first: int = ranks[place - 1]
    return first
