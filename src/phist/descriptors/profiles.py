"""Local profiles: what a node sees of its neighbours' degrees, what an edge is to its graph, and histograms of both."""

from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from itertools import pairwise
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from phist.graphs.arrays import Array, IntArray, starts_of
from phist.graphs.graphset import GraphSet
from phist.graphs.packing import Reading, pack
from phist.graphs.symmetry import split_by_size, targets_of
from phist.progress import SlowProgress

FloatArray = NDArray[np.float32]
Scale = Literal["own", "shared"]
_WORK_AT_A_TIME = 20_000_000  # arcs walked between two looks at the clock: a fraction of a second


@dataclass(frozen=True)
class Profile:
    """Several values for each of a graph's nodes, or edges; graph ``g`` has the rows ``ptr[g]:ptr[g + 1]``."""

    ptr: IntArray  # (graphs + 1)
    values: FloatArray  # (rows, values)


def plain(graphs: GraphSet) -> GraphSet:
    """The same graphs without loops, directions and weights."""
    if graphs.weights is None and not graphs.directed and not graphs.loop_counts().any():
        return graphs
    source = np.repeat(np.arange(graphs.n_nodes), graphs.degrees())
    return pack(graphs.node_counts(), source, targets_of(graphs), reading=Reading("symmetrise", "drop"))


def degree_profile(graphs: GraphSet) -> Profile:
    """For each node its degree and the smallest, largest, mean and standard deviation of its neighbours' degrees.

    A node without neighbours has zeros (Cai and Wang, "A simple yet effective baseline for non-attributed graph
    classification", 2018).
    """
    parts = [_degree_profile(part) for part in split_by_size(plain(graphs))]
    return Profile(graphs.node_ptr, np.concatenate([np.empty((0, 5), np.float32), *parts]))


def edge_profile(graphs: GraphSet, threads: int = 1, progress: bool | None = None) -> Profile:
    """For each edge its betweenness, the Jaccard index of its ends' neighbourhoods and its local degree score.

    These are what Adamczyk and Czech add to the degree profile ("Strengthening structural baselines for graph
    classification using local topological profile", 2023).
    """
    from phist.descriptors.profile_loops import score_edges  # brings the compiler

    graphs = plain(graphs)
    edge_ptr = starts_of(graphs.edge_counts())
    scores = np.zeros((int(edge_ptr[-1]), 3), np.float32)
    work = graphs.node_counts() * np.diff(graphs.indptr[graphs.node_ptr])

    def run(graphs_of_part: slice) -> int:
        ptr = slice(graphs_of_part.start, graphs_of_part.stop + 1)
        score_edges(graphs.node_ptr[ptr], graphs.indptr, graphs.indices, edge_ptr[ptr], scores)
        return int(work[graphs_of_part].sum())

    with SlowProgress("profiling edges", int(work.sum()), progress) as bar, ThreadPoolExecutor(max(1, threads)) as pool:
        for done in pool.map(run, _parts(work)):
            bar.advance(done)
    return Profile(edge_ptr, scores)


def histograms(profile: Profile, bins: int, scale: Scale, training: NDArray[np.int64]) -> NDArray[np.float32]:
    """How many rows of each graph fall in each bin, value by value. (graphs, values * bins)

    Args:
        profile: the values.
        bins: bins of each value.
        scale: ``"own"`` spreads the bins between the smallest and the largest value of each graph, as the profiles'
            authors do; ``"shared"`` spreads them evenly in log(1 + value) up to the largest value of any training graph.
        training: positions of the training graphs.
    """
    return own_histograms(profile, bins) if scale == "own" else shared_histograms(profile, bins, largest(profile, training))


def own_histograms(profile: Profile, bins: int) -> NDArray[np.float32]:
    """Histograms between the extremes of each graph."""
    return _histograms(profile, bins, [_own_places(column.astype(np.float64), profile.ptr) for column in profile.values.T])


def shared_histograms(profile: Profile, bins: int, limits: NDArray[np.float64]) -> NDArray[np.float32]:
    """Histograms of log(1 + value) between zero and ``limits``; what is larger is in the last bin."""
    values = np.log1p(profile.values.astype(np.float64))
    at_end = (values > 0).astype(np.float64)  # a quotient would overflow where no training graph has anything but zeros
    return _histograms(profile, bins, list(np.divide(values, limits, out=at_end, where=values < limits).T))


def largest(profile: Profile, graphs: NDArray[np.int64] | slice = slice(None)) -> NDArray[np.float64]:
    """The largest log(1 + value) among some graphs, value by value: (values)."""
    chosen = np.zeros(len(profile.ptr) - 1, dtype=bool)
    chosen[graphs] = True
    rows = profile.values[np.repeat(chosen, np.diff(profile.ptr))].astype(np.float64)
    limits: NDArray[np.float64] = np.log1p(rows).max(axis=0, initial=0.0)
    return limits


def _histograms(profile: Profile, bins: int, places: list[Array]) -> NDArray[np.float32]:
    n_graphs = len(profile.ptr) - 1
    graph_of_row = np.repeat(np.arange(n_graphs), np.diff(profile.ptr))
    tables = []
    for column in places:
        cells = np.clip(column * bins, 0, bins - 1).astype(np.int64)
        counts = np.bincount(graph_of_row * bins + cells, minlength=n_graphs * bins)
        tables.append(counts.reshape(-1, bins).astype(np.float32))
    return np.concatenate(tables, axis=1)


def _own_places(values: Array, ptr: IntArray) -> Array:
    """Where each value lies between the extremes of its graph, 0 to 1; in the middle where they are equal."""
    sizes = np.diff(ptr)
    filled = sizes > 0
    if not filled.any():
        return values
    low = np.repeat(np.minimum.reduceat(values, ptr[:-1][filled]), sizes[filled])
    high = np.repeat(np.maximum.reduceat(values, ptr[:-1][filled]), sizes[filled])
    return np.where(high > low, (values - low) / np.where(high > low, high - low, 1.0), 0.5)


def _degree_profile(graphs: GraphSet) -> FloatArray:
    degrees = graphs.degrees()
    filled = np.flatnonzero(degrees)
    profile = np.zeros((len(degrees), 5), np.float32)
    profile[:, 0] = degrees
    if len(filled):
        around = degrees[targets_of(graphs)].astype(np.float64)
        starts, counts = graphs.indptr[:-1][filled], degrees[filled]
        means = np.add.reduceat(around, starts) / counts
        profile[filled, 1] = np.minimum.reduceat(around, starts)
        profile[filled, 2] = np.maximum.reduceat(around, starts)
        profile[filled, 3] = means
        profile[filled, 4] = np.sqrt(np.add.reduceat((around - np.repeat(means, counts)) ** 2, starts) / counts)
    return profile


def _parts(work: IntArray) -> list[slice]:
    """Consecutive graphs with about `_WORK_AT_A_TIME` together, at least one each."""
    steps = np.cumsum(work) // _WORK_AT_A_TIME
    cuts = np.concatenate([[0], np.flatnonzero(np.diff(steps)) + 1, [len(work)]]).tolist()
    return [slice(start, stop) for start, stop in pairwise(cuts)]
