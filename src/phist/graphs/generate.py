"""Seeded synthetic families of labelled graphs whose right answer is known.

Every family takes its ``seed``, an integer or a numpy ``Generator``, as an argument: the same integer gives the same set.
Classes take turns, so any prefix of a set is balanced to within one graph; nodes are numbered at random, so that their
order says nothing about the class.
"""

from collections.abc import Sequence

import numpy as np
from scipy.sparse import coo_array
from scipy.sparse.csgraph import connected_components

from phist.graphs.arrays import Array, IntArray
from phist.graphs.family_arguments import Seed as Seed
from phist.graphs.family_arguments import check_degrees, check_partition, check_sizes, check_skips, check_triangles, make_rng
from phist.graphs.graphset import GraphSet
from phist.graphs.labels import as_labels
from phist.graphs.packing import pack

# Swaps tried per edge: by then a graph has long forgotten where it began, as the tests check.
_SWAPS_PER_EDGE = 10


def make_circulant_skip_links(
    n_graphs: int, n_nodes: int = 41, skips: Sequence[int] = (2, 3, 4, 5, 6, 9, 11, 12, 13, 16), *, seed: Seed
) -> GraphSet:
    """Rings with a second ring of skips: node ``i`` meets ``i ± 1`` and ``i ± skip``; the label is the skip.

    All of them are 4-regular, so 1-WL sees one graph and is right in one of ``len(skips)`` cases (Murphy et al., 2019).

    Args:
        n_graphs: graph ``g`` has ``skips[g % len(skips)]``.
        n_nodes: nodes of each graph.
        skips: skip lengths whose graphs differ.
        seed: of the nodes' order.

    >>> make_circulant_skip_links(20, seed=0)
    GraphSet(20 graphs, 820 nodes, 1,640 edges, 10 classes)
    """
    check_sizes(n_graphs, n_nodes, least=5)
    check_skips(skips, n_nodes)
    rng = make_rng(seed)
    ring = np.arange(n_nodes)
    labels = [int(skips[graph % len(skips)]) for graph in range(n_graphs)]
    edges = [np.concatenate([_ring(ring, 1), _ring(ring, skip)]) for skip in labels]
    return _assemble(edges, n_nodes, labels, rng)


def make_planted_partitions(
    n_graphs: int, n_nodes: int = 60, communities: int = 2, p_in: float = 0.3, p_out: float = 0.05, *, seed: Seed
) -> GraphSet:
    """Graphs with communities, ``"planted"``, against graphs with the same kind of degrees and none, ``"rewired"``.

    A rewired graph begins as a planted one of its own; double edge swaps then keep every degree and forget the communities.
    Degrees are therefore distributed equally in both classes, and only the arrangement of the edges tells them apart.

    Args:
        n_graphs: even graphs are planted, odd ones rewired.
        n_nodes: nodes of each graph, spread evenly over the communities.
        communities: how many there are.
        p_in: probability of an edge within a community.
        p_out: probability of an edge between communities.
        seed: of everything random.

    >>> make_planted_partitions(4, seed=0).labels.tolist()
    ['planted', 'rewired', 'planted', 'rewired']
    """
    check_sizes(n_graphs, n_nodes, least=4, dense=True)
    check_partition(n_nodes, communities, p_in, p_out)
    rng = make_rng(seed)
    labels = ["planted" if graph % 2 == 0 else "rewired" for graph in range(n_graphs)]
    edges = []
    for label in labels:
        planted = _planted_partition(n_nodes, communities, p_in, p_out, rng)
        edges.append(planted if label == "planted" else _rewire(planted, rng))
    return _assemble(edges, n_nodes, labels, rng)


def make_trees(n_graphs: int, n_nodes: int = 30, *, seed: Seed) -> GraphSet:
    """Random trees of two kinds: ``"uniform"`` among all labelled trees, and ``"recursive"``, grown node by node.

    In a recursive tree each new node attaches to one of the earlier nodes, all equally likely. Uniform trees have a
    share of leaves near 1/e and distances that grow as the square root of the size; recursive ones 1/2 and the logarithm.

    Args:
        n_graphs: even graphs are uniform, odd ones recursive.
        n_nodes: nodes of each tree.
        seed: of everything random.

    >>> make_trees(10, n_nodes=30, seed=0)
    GraphSet(10 graphs, 300 nodes, 290 edges, 2 classes)
    """
    check_sizes(n_graphs, n_nodes, least=4)  # smaller trees of one size all look alike
    rng = make_rng(seed)
    labels = ["uniform" if graph % 2 == 0 else "recursive" for graph in range(n_graphs)]
    edges = [_uniform_tree(n_nodes, rng) if label == "uniform" else _recursive_tree(n_nodes, rng) for label in labels]
    return _assemble(edges, n_nodes, labels, rng)


def make_regular_pairs(n_pairs: int, n_nodes: int = 20, degrees: Sequence[int] = (2, 3), *, seed: Seed) -> GraphSet:
    """Pairs of regular graphs, one ``"connected"`` and one ``"split"`` into halves, which 1-WL cannot tell apart.

    Of degree 2 this is a ring against two rings of half the size; of higher degree all graphs and halves are random.
    Both classes have the same sizes and degrees, so the ceiling of 1-WL is exactly 50 %.

    Args:
        n_pairs: pair ``p`` is the graphs ``2 * p`` (connected) and ``2 * p + 1`` (split), of degree ``degrees[p % len(degrees)]``.
        n_nodes: nodes of each graph; a half must be able to carry the degree.
        degrees: degrees of the pairs, in turn.
        seed: of everything random.

    >>> make_regular_pairs(1, seed=0).ids.tolist()
    ['pair 0, connected', 'pair 0, split']
    """
    check_sizes(n_pairs, n_nodes, least=1, count="n_pairs")
    check_degrees(degrees, n_nodes)
    rng = make_rng(seed)
    half = n_nodes // 2
    edges = []
    for pair in range(n_pairs):
        degree = int(degrees[pair % len(degrees)])
        edges.append(_connected_regular(n_nodes, degree, rng))
        edges.append(np.concatenate([_connected_regular(half, degree, rng), half + _connected_regular(half, degree, rng)]))
    labels = ["connected", "split"] * n_pairs
    ids = [f"pair {graph // 2}, {label}" for graph, label in enumerate(labels)]
    return _assemble(edges, n_nodes, labels, rng, ids)


def make_triangles(n_graphs: int, nodes: Sequence[int] = (10, 25), most: int = 10, *, seed: Seed) -> GraphSet:
    """Random graphs labelled by their number of triangles, from 1 to ``most`` in turn (after Knyazev et al., 2019).

    Sizes are drawn evenly from ``nodes``, for every number alike. A graph is random, with the density at which its number
    of triangles is expected, and drawn until it has exactly that many; so larger graphs are sparser, and what is counted
    is the same at every size.

    Args:
        n_graphs: graph ``g`` has ``1 + g % most`` triangles.
        nodes: the smallest and the largest number of nodes.
        most: the largest number of triangles, and of classes.
        seed: of everything random.

    >>> make_triangles(20, nodes=(10, 30), seed=0).classes
    [1, 2, 3, 4, 5, 6, 7, 8, 9, 10]
    """
    check_triangles(n_graphs, nodes, most)
    rng = make_rng(seed)
    labels = [1 + graph % most for graph in range(n_graphs)]
    sizes = rng.integers(nodes[0], nodes[1], size=n_graphs, endpoint=True)
    edges = [_with_triangles(int(size), label, rng) for size, label in zip(sizes, labels, strict=True)]
    starts = np.concatenate([[0], np.cumsum(sizes)[:-1]])
    source, target = np.concatenate([start + graph for start, graph in zip(starts, edges, strict=True)]).T
    return pack(sizes, source, target, labels=as_labels(labels))


# Building blocks: edges as arrays of shape (edges, 2) -----------------------------------------------------------------


def _assemble(
    edges: list[IntArray], n_nodes: int, labels: list[int] | list[str], rng: np.random.Generator, ids: list[str] | None = None
) -> GraphSet:
    """Number the nodes of each graph at random and pack."""
    renamed = [graph * n_nodes + rng.permutation(n_nodes)[ends] for graph, ends in enumerate(edges)]
    source, target = np.concatenate(renamed).T
    node_counts = np.full(len(edges), n_nodes)
    return pack(node_counts, source, target, labels=as_labels(labels), ids=None if ids is None else as_labels(ids))


def _with_triangles(n_nodes: int, triangles: int, rng: np.random.Generator) -> IntArray:
    """A random graph of exactly so many triangles: drawn again until it has them, once in five to ten times."""
    source, target = np.triu_indices(n_nodes, k=1)
    density = min(0.9, (6 * triangles / (n_nodes * (n_nodes - 1) * (n_nodes - 2))) ** (1 / 3))
    while True:
        drawn = rng.random(len(source)) < density
        adjacency = np.zeros((n_nodes, n_nodes))
        adjacency[source[drawn], target[drawn]] = 1.0
        # Of nodes a < b < c: paths a-b-c that are closed by a-c.
        if int(((adjacency @ adjacency) * adjacency).sum()) == triangles:
            return np.stack([source[drawn], target[drawn]], axis=1)


def _ring(nodes: Array, skip: int) -> IntArray:
    return np.stack([nodes, np.roll(nodes, -skip)], axis=1)


def _planted_partition(n_nodes: int, communities: int, p_in: float, p_out: float, rng: np.random.Generator) -> IntArray:
    source, target = np.triu_indices(n_nodes, k=1)
    community = np.arange(n_nodes) % communities
    probability = np.where(community[source] == community[target], p_in, p_out)
    drawn = rng.random(len(source)) < probability
    return np.stack([source[drawn], target[drawn]], axis=1)


def _rewire(edges: IntArray, rng: np.random.Generator) -> IntArray:
    """Double edge swaps: a-b and c-d become a-d and c-b, unless that makes a loop or a parallel edge."""
    if len(edges) < 2:
        return edges
    ends = [(int(a), int(b)) for a, b in edges]
    present = {*ends, *((b, a) for a, b in ends)}
    picks = rng.integers(len(ends), size=(_SWAPS_PER_EDGE * len(ends), 2)).tolist()
    turns = (rng.random(len(picks)) < 0.5).tolist()
    for (first, second), turned in zip(picks, turns, strict=True):
        a, b = ends[first]
        c, d = ends[second][::-1] if turned else ends[second]
        if a == d or b == c or (a, d) in present or (c, b) in present:
            continue
        present -= {(a, b), (b, a), (c, d), (d, c)}
        present |= {(a, d), (d, a), (c, b), (b, c)}
        ends[first], ends[second] = (a, d), (c, b)
    return np.array(ends, dtype=np.int64)


def _uniform_tree(n_nodes: int, rng: np.random.Generator) -> IntArray:
    """Decode a random Prüfer sequence: the smallest leaf meets the next entry, again and again."""
    sequence = rng.integers(n_nodes, size=n_nodes - 2).tolist()
    missing_edges = (1 + np.bincount(sequence, minlength=n_nodes)).tolist()
    edges = []
    pointer = leaf = missing_edges.index(1)
    for node in sequence:
        edges.append((leaf, node))
        missing_edges[node] -= 1
        if missing_edges[node] == 1 and node < pointer:
            leaf = node  # a new leaf below all the others comes next
        else:
            pointer = leaf = missing_edges.index(1, pointer + 1)
    edges.append((leaf, n_nodes - 1))
    return np.array(edges, dtype=np.int64)


def _recursive_tree(n_nodes: int, rng: np.random.Generator) -> IntArray:
    newcomers = np.arange(1, n_nodes)
    return np.stack([newcomers, rng.integers(newcomers)], axis=1)


def _connected_regular(n_nodes: int, degree: int, rng: np.random.Generator) -> IntArray:
    """A ring lattice, rewired until the result is connected, which nearly every regular graph of degree 3 or more is."""
    nodes = np.arange(n_nodes)
    parts = [_ring(nodes, skip) for skip in range(1, degree // 2 + 1)]
    if degree % 2:
        parts.append(_ring(nodes, n_nodes // 2)[: n_nodes // 2])
    lattice = np.concatenate(parts)
    if degree == 2:
        return lattice  # the only connected graph of degree 2
    while True:
        edges = _rewire(lattice, rng)
        matrix = coo_array((np.ones(len(edges)), (edges[:, 0], edges[:, 1])), shape=(n_nodes, n_nodes))
        if connected_components(matrix, directed=False, return_labels=False) == 1:
            return edges
