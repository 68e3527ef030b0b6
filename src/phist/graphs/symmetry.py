"""Weisfeiler-Lehman colours: which nodes, and which graphs, 1-WL cannot tell apart.

Colours are 64-bit numbers mixed from the colours of the round before, so they mean the same in every graph and in every
set. Two different neighbourhoods may share a number by chance, with probability about (nodes)^2 / 2^65 per round: near
10^-8 for a million nodes.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from phist.errors import ConfigError
from phist.graphs.arrays import Array, IntArray, blocks
from phist.graphs.graphset import GraphSet

Hashes = NDArray[np.uint64]

# Temporary arrays hold about this many arcs at a time: 16 MB each, whatever the size of the set.
_ARCS_AT_A_TIME = 2_000_000

# Rounds in which every node is looked at, fewer for large graphs; real data need 70 and 18 of them. What is not stable then,
# such as a long path, which needs half as many rounds as nodes, is refined class by class.
_MOST_ROUNDS, _MOST_ROUNDS_OF_LARGE, _LARGE = 128, 32, 1000

# Distinct salts keep a node's own colour, its neighbours' and the graph's digest apart; any odd constants would do.
_OWN, _OUT, _IN, _LOOP, _GRAPH = (np.uint64(0x9E3779B97F4A7C15 * k % 2**64) for k in (3, 5, 7, 11, 13))


def weisfeiler_lehman_colors(graphs: GraphSet, rounds: int | None = None) -> IntArray:
    """Colour all nodes of all graphs by 1-WL; equal numbers mean equal colours, within a graph and between graphs.

    In each round a node's colour takes in the multiset of its neighbours' colours and edge weights, in both directions
    where the set is directed. Before the first round all nodes look alike, except for the weight of a loop.

    Args:
        graphs: the graphs to colour together.
        rounds: how often to refine; ``None`` refines until no colour of the set splits any more.

    Returns:
        One colour per node of the set, numbered from 0 in order of appearance.

    >>> from phist.graphs.packing import pack
    >>> path_and_star = pack(np.array([4, 4]), np.array([0, 1, 2, 4, 4, 4]), np.array([1, 2, 3, 5, 6, 7]))
    >>> weisfeiler_lehman_colors(path_and_star)
    array([0, 1, 1, 0, 2, 3, 3, 3])
    >>> weisfeiler_lehman_colors(path_and_star, rounds=1)
    array([0, 1, 1, 0, 2, 0, 0, 0])
    """
    if rounds is not None and rounds < 0:
        raise ConfigError(f"rounds={rounds} was given; it must be 0 or more: pass rounds=None to refine until stable")
    colors = first_colors(graphs)
    if rounds is not None:
        for _ in range(rounds):
            colors = _refine(graphs, colors)
        return _renumber(colors)

    n_colors, n_finer = 0, len(np.unique(colors))
    for _ in range(min(_MOST_ROUNDS, _MOST_ROUNDS_OF_LARGE)):
        if n_finer == n_colors:
            return _renumber(colors)
        n_colors, colors = n_finer, _refine(graphs, colors)
        n_finer = len(np.unique(colors))
    return _renumber(_stable_classes(graphs, colors)[0])


def refinement_rounds(graphs: GraphSet, rounds: int) -> Iterator[Hashes]:
    """The colours of all nodes after 0, 1, ..., ``rounds`` rounds, as numbers that mean the same in every set."""
    colors = first_colors(graphs)
    yield colors
    for _ in range(rounds):
        colors = _refine(graphs, colors)
        yield colors


def weisfeiler_lehman_hashes(graphs: GraphSet) -> Hashes:
    """One number per graph, equal exactly where 1-WL cannot tell two graphs apart (up to 64-bit collisions).

    A graph's hash depends on this graph alone, so hashes from different sets can be compared, as long as both sets are
    directed or both are not. It is taken at the graph's own stable round: the first round ``r`` that splits no colour
    of this graph. Two graphs that 1-WL cannot tell apart reach it together and with the same colours. Conversely, equal
    colours in equal stable rounds stay equal for ever: each colour of round ``r - 1`` became one colour of round ``r``, the
    same one in both graphs, so both have the same neighbourhoods everywhere. The round enters the hash as well.

    >>> from phist.graphs.packing import pack
    >>> ring = np.arange(6)
    >>> hexagon = pack(np.array([6]), ring, (ring + 1) % 6)
    >>> triangles = pack(np.array([6]), ring, np.array([1, 2, 0, 4, 5, 3]))
    >>> path = pack(np.array([6]), ring[:-1], ring[1:])
    >>> hashes = weisfeiler_lehman_hashes(GraphSet.concatenate([hexagon, triangles, path]))
    >>> bool(hashes[0] == hashes[1]), bool(hashes[0] == hashes[2])
    (True, False)
    """
    parts = [_hashes_of_part(part) for part in split_by_size(graphs)]
    return np.concatenate([np.empty(0, np.uint64), *parts])


def split_by_size(graphs: GraphSet) -> Iterator[GraphSet]:
    """The set in consecutive slices of a few million arcs and nodes, at least one graph each, without copying arcs."""
    sizes_before = graphs.indptr[graphs.node_ptr] + graphs.node_ptr
    return (graphs[part] for part in blocks(sizes_before, _ARCS_AT_A_TIME))


def targets_of(graphs: GraphSet, rows: slice = slice(None)) -> IntArray:
    """Where the arcs of the given nodes end, numbered through the whole set."""
    first_node = np.repeat(graphs.node_ptr[:-1], graphs.node_counts())[rows]
    degrees = graphs.degrees()[rows]
    start = int(graphs.indptr[rows][0]) if len(degrees) else 0
    return np.repeat(first_node, degrees) + graphs.indices[start : start + int(degrees.sum())]


def _hashes_of_part(graphs: GraphSet) -> Hashes:
    hashes = np.zeros(len(graphs), np.uint64)
    positions = np.arange(len(graphs))
    colors = first_colors(graphs)
    n_colors = _colors_per_graph(graphs, colors)
    unstable = np.ones(len(graphs), dtype=bool)
    finished_round = 0

    while True:
        late = unstable & _is_late(graphs, finished_round)
        hashes[positions[late]] = _refined_hashes(graphs, colors, finished_round, np.flatnonzero(late))
        unstable = unstable & ~late
        if not unstable.any():
            return hashes
        colors = _refine(graphs, colors)
        finished_round += 1
        n_finer = _colors_per_graph(graphs, colors)
        stable_now = unstable & (n_finer <= n_colors)
        hashes[positions[stable_now]] = _digests(graphs, colors, finished_round)[stable_now]
        unstable, n_colors = unstable & ~stable_now, n_finer

        # Stable graphs are left behind once they are the majority: copying the rest then pays for itself.
        if 2 * np.count_nonzero(unstable) < len(graphs):
            colors = colors[np.repeat(unstable, graphs.node_counts())]
            graphs, positions, n_colors = graphs[unstable], positions[unstable], n_colors[unstable]
            unstable = np.ones(len(graphs), dtype=bool)


def _is_late(graphs: GraphSet, finished_round: int) -> NDArray[np.bool_]:
    """Which graphs have had their rounds; it depends on a graph's size alone, so that equal graphs are treated alike."""
    large = graphs.node_counts() > _LARGE
    late: NDArray[np.bool_] = finished_round >= np.where(large, min(_MOST_ROUNDS, _MOST_ROUNDS_OF_LARGE), _MOST_ROUNDS)
    return late


def _refined_hashes(graphs: GraphSet, colors: Hashes, finished_round: int, positions: IntArray) -> Hashes:
    """Hashes of the graphs at ``positions``, refined class by class from the colours that they have."""
    if not len(positions):
        return np.empty(0, np.uint64)
    nodes = [slice(graphs.node_ptr[k], graphs.node_ptr[k + 1]) for k in positions]
    digests = [_stable_classes(graphs[k : k + 1], colors[rows])[1] for k, rows in zip(positions, nodes, strict=True)]
    return _mix(_digests(graphs, colors, finished_round)[positions] + np.array(digests, np.uint64))


def _stable_classes(graphs: GraphSet, colors: Hashes) -> tuple[IntArray, np.uint64]:
    """The stable classes of all nodes together, refined from ``colors``, and a digest of how they came about."""
    from phist.graphs.refinement import refine_until_stable

    distinct, class_of = np.unique(colors, return_inverse=True)
    names = np.zeros(len(colors), np.uint64)
    names[: len(distinct)] = distinct
    class_of = np.ascontiguousarray(class_of, dtype=np.int64)
    digest = refine_until_stable(*messages(graphs), class_of, names)
    return class_of, np.uint64(digest)


def messages(graphs: GraphSet) -> tuple[IntArray, IntArray, Hashes]:
    """Where each node's colour goes, as rows: to its neighbours, which in a directed set are those in both directions."""
    targets, codes = targets_of(graphs), _weight_codes(graphs.weights_or_ones())
    if not graphs.directed:
        return np.asarray(graphs.indptr), targets, codes + _OUT
    source = np.repeat(np.arange(graphs.n_nodes), graphs.degrees())
    senders, receivers = np.concatenate([targets, source]), np.concatenate([source, targets])
    order = np.argsort(senders, kind="stable")
    indptr = np.searchsorted(senders[order], np.arange(graphs.n_nodes + 1))
    return indptr, receivers[order], np.concatenate([codes + _OUT, codes + _IN])[order]


def first_colors(graphs: GraphSet) -> Hashes:
    """Zero, or the weight of the node's loop, which neighbourhoods alone would mistake for that of an edge."""
    colors = np.zeros(graphs.n_nodes, np.uint64)
    for rows, arcs in _blocks(graphs):
        source = np.repeat(np.arange(rows.start, rows.stop), graphs.degrees()[rows])
        loops = np.flatnonzero(targets_of(graphs, rows) == source)
        weights = np.ones(len(loops)) if graphs.weights is None else graphs.weights[arcs][loops]
        colors[source[loops]] = _mix(_weight_codes(weights) + _LOOP)
    return colors


def _refine(graphs: GraphSet, colors: Hashes) -> Hashes:
    """One round: own colour, and the sum of mixed neighbour colours, which stands for their multiset."""
    out_sums = np.zeros(len(colors), np.uint64)
    in_sums = np.zeros(len(colors) if graphs.directed else 0, np.uint64)
    one = _weight_codes(np.ones(1))
    plain = _mix(colors + one + _OUT)
    for rows, arcs in _blocks(graphs):
        targets, degrees = targets_of(graphs, rows), graphs.degrees()[rows]
        codes = one if graphs.weights is None else _weight_codes(graphs.weights[arcs])
        out_messages = plain[targets] if graphs.weights is None else _mix(colors[targets] + codes + _OUT)
        out_sums[rows] = _row_sums(out_messages, degrees)
        if graphs.directed:
            np.add.at(in_sums, targets, _mix(np.repeat(colors[rows], degrees) + codes + _IN))

    around = out_sums + _mix(in_sums + _IN) if graphs.directed else out_sums
    return _mix(_mix(colors + _OWN) + around)


def _blocks(graphs: GraphSet) -> Iterator[tuple[slice, slice]]:
    """Consecutive nodes and their arcs, about `_ARCS_AT_A_TIME` arcs together; a huge graph is cut as well."""
    for nodes in blocks(graphs.indptr, _ARCS_AT_A_TIME):
        yield nodes, slice(int(graphs.indptr[nodes.start]), int(graphs.indptr[nodes.stop]))


def _row_sums(values: Hashes, degrees: IntArray) -> Hashes:
    """Sums modulo 2^64, which wrapping cumulative sums give exactly, in any order of the neighbours."""
    sums_before = np.concatenate([np.zeros(1, np.uint64), np.cumsum(values)])
    ends = np.cumsum(degrees)
    sums: Hashes = sums_before[ends] - sums_before[ends - degrees]
    return sums


def _colors_per_graph(graphs: GraphSet, colors: Hashes) -> IntArray:
    graph_of_node = np.repeat(np.arange(len(graphs)), graphs.node_counts())
    ordered = colors[np.lexsort((colors, graph_of_node))]
    is_new = np.ones(len(ordered), np.int64)
    is_new[1:] = ordered[1:] != ordered[:-1]
    is_new[graphs.node_ptr[:-1]] = 1
    return np.add.reduceat(is_new, graphs.node_ptr[:-1])


def _digests(graphs: GraphSet, colors: Hashes, finished_round: int) -> Hashes:
    """The multiset of each graph's colours, and the round, as one number."""
    sums = _row_sums(_mix(colors + _GRAPH), graphs.node_counts())
    return _mix(_mix(sums + graphs.node_counts().astype(np.uint64)) + np.uint64(finished_round))


def _weight_codes(weights: Array) -> Hashes:
    return _mix(np.ascontiguousarray(weights, dtype=np.float64).view(np.uint64))


def _mix(values: Hashes) -> Hashes:
    """The finaliser of splitmix64: a fixed bijection in which every input bit moves about half of the output bits."""
    mixed = values + np.uint64(0x9E3779B97F4A7C15)
    mixed ^= mixed >> np.uint64(30)
    mixed *= np.uint64(0xBF58476D1CE4E5B9)
    mixed ^= mixed >> np.uint64(27)
    mixed *= np.uint64(0x94D049BB133111EB)
    mixed ^= mixed >> np.uint64(31)
    return mixed


def _renumber(colors: Array) -> IntArray:
    """Colours as 0, 1, 2, ... in order of appearance."""
    _, first_places, positions = np.unique(colors, return_index=True, return_inverse=True)
    return np.argsort(np.argsort(first_places))[positions]
