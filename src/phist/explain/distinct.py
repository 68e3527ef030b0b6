"""Graphs that a model sees as one: whatever they are asked about is computed once."""

from hashlib import blake2b

import numpy as np

from phist.graphs.arrays import IntArray
from phist.graphs.graphset import GraphSet


def keys_of(graphs: GraphSet) -> list[bytes]:
    """For every graph a key, equal where nodes, edges and weights are, as they stand.

    In canonical order (`phist.graphs.canonical`) they stand alike in isomorphic graphs: taking out either of two symmetric edges
    leaves graphs with one key.
    """
    degrees, parts = graphs.degrees(), (graphs.indices, graphs.weights)
    found = []
    for begin, end in zip(graphs.node_ptr[:-1].tolist(), graphs.node_ptr[1:].tolist(), strict=True):
        arcs = slice(int(graphs.indptr[begin]), int(graphs.indptr[end]))
        own = [degrees[begin:end], *(part[arcs] for part in parts if part is not None)]
        found.append(blake2b(b"".join(np.ascontiguousarray(part).tobytes() for part in own), digest_size=16).digest())
    return found


def distinct_graphs(graphs: GraphSet) -> tuple[IntArray, IntArray]:
    """Positions of the first graph of each kind, and for every graph the number of its kind.

    >>> from phist.graphs.generate import make_trees
    >>> trees = make_trees(2, n_nodes=9, seed=0)
    >>> first, kind = distinct_graphs(trees[[0, 1, 0]])
    >>> first.tolist(), kind.tolist()
    ([0, 1], [0, 1, 0])
    """
    numbers: dict[bytes, int] = {}
    kind = np.array([numbers.setdefault(key, len(numbers)) for key in keys_of(graphs)], np.int64)
    return np.unique(kind, return_index=True)[1], kind
