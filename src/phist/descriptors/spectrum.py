"""The low end of a graph's spectrum."""

from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from phist.descriptors.profiles import plain
from phist.graphs.arrays import IntArray
from phist.graphs.graph import Graph
from phist.graphs.graphset import GraphSet
from phist.progress import SlowProgress


def smallest_eigenvalues(graphs: GraphSet, count: int, progress: bool | None = None) -> NDArray[np.float32]:
    """The ``count`` smallest eigenvalues of each normalised Laplacian, ascending, zeros where a graph has fewer nodes.

    Zeros on the right are the padding of de Lara and Pineau ("A simple baseline algorithm for graph classification", 2018).
    """
    graphs = plain(graphs)
    table = np.zeros((len(graphs), count), np.float32)
    work = graphs.node_counts() ** 3
    with SlowProgress("computing spectra", int(work.sum()), progress) as bar:
        for position, graph in enumerate(graphs):
            kept = min(count, graph.n_nodes)
            table[position, :kept] = _eigenvalues(graph)[:kept]
            bar.advance(int(work[position]))
    return table


def _eigenvalues(graph: Graph) -> NDArray[np.float64]:
    """All eigenvalues of I - D^(-1/2) A D^(-1/2), with a zero for every isolated node, ascending.

    Nodes with the same neighbours, such as the leaves of a star, are merged first: a class of c of them has c - 1 eigenvectors
    of its own with eigenvalue one, and acts in all others as one node whose arcs count sqrt(c) times. What is left of
    a social network is a fraction of it, and eigenvalues cost the cube.
    """
    degrees = np.diff(graph.indptr)
    twin_class, members, sizes = _twins(graph)
    kept = np.concatenate([graph.indices[graph.indptr[node] : graph.indptr[node + 1]] for node in members])
    source, target = np.repeat(np.arange(len(members)), degrees[members]), twin_class[kept]
    scales = np.sqrt(sizes / np.maximum(degrees[members], 1))

    laplacian = np.diag((degrees[members] > 0).astype(np.float64))
    laplacian[source, target] -= scales[source] * scales[target]
    values = np.linalg.eigvalsh(laplacian)
    ones = np.ones(int((sizes - 1)[degrees[members] > 0].sum()))
    zeros = np.zeros(graph.n_nodes - len(values) - len(ones))
    return np.sort(np.concatenate([zeros, np.maximum(values, 0.0), ones]))


def _twins(graph: Graph) -> tuple[IntArray, IntArray, IntArray]:
    """The class of each node, where nodes with the same neighbours share one; a member of each class, and its size."""
    number_of: dict[bytes, int] = {}
    rows = (graph.indices[start:stop].tobytes() for start, stop in pairwise(graph.indptr.tolist()))
    classes = np.array([number_of.setdefault(row, len(number_of)) for row in rows], np.int64)
    _, members, sizes = np.unique(classes, return_index=True, return_counts=True)
    return classes, members, sizes
