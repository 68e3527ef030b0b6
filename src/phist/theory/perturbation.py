"""Graphs made slightly wrong: edges dropped, added or rewired, weights shaken, always on the same nodes.

Every function takes a set, how much to change, and a seed or generator, and returns a set with the same labels and ids. A
share of a graph's edges that is no whole number is rounded up or down at random, so that its expectation is exact. Undirected
sets stay symmetric; loops are never added or rewired.
"""

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from phist.errors import ConfigError
from phist.graphs.arrays import Array, IntArray, starts_of
from phist.graphs.graph import Graph
from phist.graphs.graphset import GraphSet
from phist.graphs.packing import Reading, pack

Seed = int | np.random.Generator

_ATTEMPTS = 20  # per swap asked for; a graph that allows none, such as a complete one, is left alone after that


@dataclass(frozen=True, eq=False)
class _Edges:
    """The edges of a set, an undirected one once, with ends numbered through the set."""

    graph: IntArray  # (edges)
    source: IntArray
    target: IntArray
    weights: NDArray[np.float64]


def drop_edges(graphs: GraphSet, fraction: float, seed: Seed) -> GraphSet:
    """Remove a ``fraction`` of each graph's edges, drawn uniformly."""
    _check_fraction(fraction, 1.0)
    if fraction == 0:
        return graphs
    rng = np.random.default_rng(seed)
    edges = _edges_of(graphs)
    counts = np.bincount(edges.graph, minlength=len(graphs))
    rank = _random_ranks(edges.graph, counts, rng)
    kept = rank >= _rounded(fraction * counts, rng)[edges.graph]
    return _with_edges(graphs, edges.source[kept], edges.target[kept], edges.weights[kept])


def add_edges(graphs: GraphSet, fraction: float, seed: Seed) -> GraphSet:
    """Join pairs of nodes that were not joined, as many as a ``fraction`` of each graph's edges, or all that are left.

    A new edge weighs as much as some other edge of its graph, drawn uniformly.
    """
    _check_fraction(fraction)
    if fraction == 0:
        return graphs
    rng = np.random.default_rng(seed)
    edges = _edges_of(graphs)
    starts = starts_of(np.bincount(edges.graph, minlength=len(graphs)))
    counts = _rounded(fraction * np.diff(starts), rng)
    source, target, weights = [edges.source], [edges.target], [edges.weights]
    for position in np.flatnonzero(counts).tolist():
        first = graphs.node_ptr[position]
        new = _free_pairs(graphs[position], int(counts[position]), rng)
        source.append(first + new[:, 0])
        target.append(first + new[:, 1])
        weights.append(rng.choice(edges.weights[starts[position] : starts[position + 1]], len(new)))
    return _with_edges(graphs, np.concatenate(source), np.concatenate(target), np.concatenate(weights))


def rewire_edges(graphs: GraphSet, fraction: float, seed: Seed) -> GraphSet:
    """Swap the ends of pairs of edges, a-b and c-d to a-d and c-b, until a ``fraction`` of each graph's edges has moved.

    Every node keeps its number of neighbours (in and out in a directed set). Weights stay with the first end.
    """
    _check_fraction(fraction, 1.0)
    if fraction == 0:
        return graphs
    rng = np.random.default_rng(seed)
    edges = _edges_of(graphs)
    proper = edges.source != edges.target
    starts = starts_of(np.bincount(edges.graph, minlength=len(graphs)))
    target = edges.target.copy()
    source = edges.source.copy()
    swaps = _rounded(fraction * np.diff(starts) / 2, rng)
    for position in np.flatnonzero(swaps).tolist():
        mine = starts[position] + np.flatnonzero(proper[starts[position] : starts[position + 1]])
        source[mine], target[mine] = _swap(source[mine], target[mine], int(swaps[position]), graphs.directed, rng)
    return _with_edges(graphs, source, target, edges.weights)


def jitter_weights(graphs: GraphSet, strength: float, seed: Seed) -> GraphSet:
    """Multiply every weight by exp(strength · z) with z standard normal: a relative error of about ``strength``."""
    _check_fraction(strength)
    if strength == 0:
        return graphs
    edges = _edges_of(graphs)
    noise = np.exp(strength * np.random.default_rng(seed).standard_normal(len(edges.weights)))
    return _with_edges(graphs, edges.source, edges.target, edges.weights * noise)


PERTURBATIONS: dict[str, Callable[[GraphSet, float, Seed], GraphSet]] = {
    "edge drop": drop_edges,
    "edge addition": add_edges,
    "rewiring": rewire_edges,
    "weight noise": jitter_weights,
}


def _edges_of(graphs: GraphSet) -> _Edges:
    source = np.repeat(np.arange(graphs.n_nodes), graphs.degrees())
    arcs = np.diff(graphs.indptr[graphs.node_ptr])
    graph = np.repeat(np.arange(len(graphs)), arcs)
    target = graphs.indices + graphs.node_ptr[:-1][graph]
    once = np.ones(len(source), bool) if graphs.directed else source <= target
    return _Edges(graph[once], source[once], target[once], graphs.weights_or_ones()[once])


def _with_edges(graphs: GraphSet, source: IntArray, target: IntArray, weights: Array) -> GraphSet:
    reading = Reading(directed="keep" if graphs.directed else None, self_loops="keep")
    packed = pack(graphs.node_counts(), source, target, weights, reading=reading)
    return replace(packed, labels=graphs.labels, ids=graphs.ids)


def _random_ranks(group: IntArray, counts: IntArray, rng: np.random.Generator) -> IntArray:
    """A random order within each group: every member's place in it."""
    order = np.lexsort((rng.random(len(group)), group))
    rank = np.empty(len(group), np.int64)
    rank[order] = np.arange(len(group)) - np.repeat(starts_of(counts)[:-1], counts)
    return rank


def _rounded(values: Array, rng: np.random.Generator) -> IntArray:
    return np.floor(values + rng.random(len(values))).astype(np.int64)


def _free_pairs(graph: Graph, wanted: int, rng: np.random.Generator) -> IntArray:
    """Distinct pairs of distinct nodes that are not joined: drawn until there are enough, or chosen from all of a dense graph."""
    n = graph.n_nodes
    codes = np.repeat(np.arange(n), np.diff(graph.indptr)) * n + graph.indices
    pairs = n * (n - 1)  # ordered
    loops = int((codes // n == codes % n).sum())
    taken = len(codes) - loops
    if 2 * (taken + 2 * wanted) > pairs:
        chosen = _from_all(n, codes, graph.directed)
        chosen = rng.choice(chosen, min(wanted, len(chosen)), replace=False)
    else:
        chosen = _by_rejection(n, codes, wanted, graph.directed, rng)
    return np.stack([chosen // n, chosen % n], axis=1)


def _from_all(n: int, codes: IntArray, directed: bool) -> IntArray:
    free = np.ones((n, n), bool)
    free.flat[codes] = False
    np.fill_diagonal(free, False)
    return np.flatnonzero(free if directed else np.triu(free))


def _by_rejection(n: int, codes: IntArray, wanted: int, directed: bool, rng: np.random.Generator) -> IntArray:
    chosen = np.empty(0, np.int64)
    while len(chosen) < wanted:
        drawn = rng.integers(n, size=(2 * wanted, 2))
        drawn = drawn if directed else np.sort(drawn, axis=1)
        new = drawn[drawn[:, 0] != drawn[:, 1]] @ np.array([n, 1])
        new = new[~np.isin(new, codes)]
        both = np.concatenate([chosen, new])
        _, first = np.unique(both, return_index=True)
        chosen = both[np.sort(first)]  # in the order they were drawn, so that the first are a uniform choice
    return chosen[:wanted]


def _swap(source: IntArray, target: IntArray, swaps: int, directed: bool, rng: np.random.Generator) -> tuple[IntArray, IntArray]:
    """Double edge swaps, each of two edges that were not moved before, unless they make a loop or a parallel edge."""
    ends = list(zip(source.tolist(), target.tolist(), strict=True))
    present = set(ends) if directed else {*ends, *((b, a) for a, b in ends)}
    still = set(range(len(ends)))
    for first, second in rng.integers(max(len(ends), 1), size=(_ATTEMPTS * swaps if len(ends) > 1 else 0, 2)).tolist():
        turned = not directed and rng.random() < 0.5
        (a, b), (c, d) = ends[first], ends[second][::-1] if turned else ends[second]
        if first == second or not {first, second} <= still or a == d or b == c or (a, d) in present or (c, b) in present:
            continue
        old, new = [(a, b), (c, d)], [(a, d), (c, b)]
        present.difference_update(old if directed else [*old, (b, a), (d, c)])
        present.update(new if directed else [*new, (d, a), (b, c)])
        ends[first], ends[second] = new[0], new[1]
        still -= {first, second}
        swaps -= 1
        if swaps == 0:
            break
    moved = np.array(ends, dtype=np.int64).reshape(-1, 2)
    return moved[:, 0], moved[:, 1]


def _check_fraction(value: float, most: float = np.inf) -> None:
    if not 0 <= value <= most or not np.isfinite(value):
        limit = "0 or more" if most == np.inf else f"between 0 and {most:g}"
        raise ConfigError(f"a strength of {value} was given; it must be {limit}: 0.1 changes a tenth")
