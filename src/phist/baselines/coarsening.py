"""Halving graphs: neighbours are paired at random, and each pair becomes one node of a coarser graph.

This is the first step of Graclus (Dhillon et al., 2007) for edges that all weigh the same. The pairs depend on the graphs
and the seed alone, so they are drawn once and not at every step of training.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phist.graphs.arrays import IntArray
from phist.graphs.graphset import GraphSet
from phist.graphs.packing import pack
from phist.graphs.symmetry import targets_of
from phist.jit import compiled


@dataclass(frozen=True)
class Coarsening:
    """Coarser graphs, and the one or two nodes each of their nodes stands for."""

    graphs: GraphSet
    pairs: IntArray  # (2, nodes of the coarser graphs), numbered within the finer graph; a node left over is its own partner


def coarsen(graphs: GraphSet, generator: np.random.Generator) -> Coarsening:
    """Pair nodes with neighbours until no two unpaired nodes are neighbours, and merge the pairs.

    Args:
        graphs: undirected, without loops.
        generator: of the order in which nodes choose, and of what they choose.
    """
    degrees = graphs.degrees()
    first_nodes = np.repeat(graphs.node_ptr[:-1], graphs.node_counts())
    choices = generator.integers(0, np.maximum(degrees, 1))
    partner = _pair_up(graphs.indptr, graphs.indices, first_nodes, generator.permutation(graphs.n_nodes), choices)

    representative = np.minimum(np.arange(graphs.n_nodes), partner)
    is_kept = representative == np.arange(graphs.n_nodes)
    kept = np.flatnonzero(is_kept)
    cluster = (np.cumsum(is_kept) - 1)[representative]
    source = np.repeat(cluster, degrees)
    coarser = pack(np.add.reduceat(is_kept.astype(np.int64), graphs.node_ptr[:-1]), source, cluster[targets_of(graphs)])
    return Coarsening(coarser, np.stack([kept, partner[kept]]) - first_nodes[kept])


@compiled
def _pair_up(indptr: IntArray, indices: NDArray[np.int32], first_nodes: IntArray, order: IntArray, choices: IntArray) -> IntArray:
    """The partner of each node, itself where all neighbours were taken; a node looks around from its random choice on."""
    partner = np.full(len(order), -1, np.int64)
    for node in order:
        if partner[node] >= 0:
            continue
        partner[node] = node
        start, degree = indptr[node], indptr[node + 1] - indptr[node]
        for step in range(degree):
            other = first_nodes[node] + indices[start + (choices[node] + step) % degree]
            if partner[other] < 0:
                partner[node], partner[other] = other, node
                break
    return partner
