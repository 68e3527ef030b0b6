"""The SVM-theta kernel: weights of nodes from a one-class machine on the graph, averaged over random subsets of nodes."""

from typing import Protocol

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigvalsh
from scipy.sparse import csr_array
from scipy.sparse.linalg import ArpackNoConvergence, eigsh
from scipy.special import binom
from sklearn.svm import OneClassSVM

from phist.descriptors.grams.counts import Gram, mirrored
from phist.graphs.graph import Graph
from phist.graphs.graphset import GraphSet
from phist.progress import SlowProgress

_SMALLEST, _LARGEST = 2, 8  # nodes of a subset, as in GraKeL
_DENSE = 200  # nodes up to which the dense eigenvalue solver is as fast as the iterative one
_NEGATIVE = -1e-6  # above this GraKeL takes the least eigenvalue for zero: the graph has no edge


class Chooser(Protocol):
    """numpy's random generators, the new and the old one."""

    def choice(self, a: int, size: int, *, replace: bool) -> NDArray[np.int64]: ...


def svm_theta_gram(graphs: GraphSet, samples: int, seed: int) -> Gram:
    """The kernel of Johansson et al. (2014): inner products of `theta_levels`, whose numbers are those of GraKeL.

    GraKeL means to take the same inner products but keeps the first term only, subsets of two nodes. That is a matrix of rank
    one, zero for graphs large enough that no such subset is drawn, and normalised it says nothing; here all terms count.

    What is random comes from the seed and the size of the graph. The weights of all nodes add up to half the nodes, whatever
    the graph, so the mean over subsets of k nodes is k / 2 on average: what tells graphs apart is how far it strays from
    that, and which sizes of subsets a graph has samples of, which depends on its size.
    """
    levels = np.zeros((len(graphs), _LARGEST - _SMALLEST + 1))
    with SlowProgress("one-class machines", len(graphs), show=None) as progress:
        for row, graph in zip(levels, graphs, strict=True):
            row[:] = theta_levels(node_weights(graph), samples, np.random.default_rng([seed, graph.n_nodes]))
            progress.advance(1)
    return mirrored(levels @ levels.T)


def theta_levels(weights: NDArray[np.float64], samples: int, random: Chooser) -> NDArray[np.float64]:
    """The mean total weight of random subsets of 2, 3, ..., 8 nodes; zero for sizes of which none was drawn."""
    levels = np.zeros(_LARGEST - _SMALLEST + 1)
    for level, drawn in enumerate(samples_of_sizes(len(weights), samples)):
        size = _SMALLEST + level
        totals = [weights[random.choice(len(weights), size, replace=False)].sum() for _ in range(drawn)]
        levels[level] = np.mean(totals) if totals else 0.0
    return levels


def samples_of_sizes(n_nodes: int, samples: int) -> list[int]:
    """How many of the samples have 2, 3, ... nodes: in proportion to the subsets there are, the rest from the largest down.

    >>> samples_of_sizes(3, samples=50), samples_of_sizes(1, samples=50)
    ([37, 13], [])
    """
    subsets = binom(n_nodes, np.arange(_SMALLEST, min(_LARGEST, n_nodes) + 1))
    if not len(subsets):
        return []
    drawn = np.floor(subsets / subsets.sum() * samples).astype(np.int64)
    for left_over in range(samples - int(drawn.sum())):
        drawn[-1 - left_over % len(drawn)] += 1
    return [int(number) for number in drawn]


def node_weights(graph: Graph) -> NDArray[np.float64]:
    """The dual coefficients of a one-class machine whose kernel is the adjacency matrix, shifted to have no negative eigenvalue."""
    kernel = graph.adjacency().toarray()
    np.fill_diagonal(kernel, 0.0)
    least = _least_eigenvalue(kernel)
    if least < _NEGATIVE:
        kernel /= -least
        np.fill_diagonal(kernel, 1.0)
    machine = OneClassSVM(kernel="precomputed").fit(kernel)
    weights = np.zeros(graph.n_nodes)
    weights[machine.support_] = machine.dual_coef_[0]
    return weights


def _least_eigenvalue(matrix: NDArray[np.float64]) -> float:
    if len(matrix) > _DENSE:
        start = np.random.default_rng(len(matrix)).normal(size=len(matrix))
        try:
            return float(eigsh(csr_array(matrix), k=1, which="SA", v0=start, return_eigenvectors=False)[0])
        except ArpackNoConvergence:
            pass  # the dense solver takes longer and always gets there
    return float(eigvalsh(matrix, subset_by_index=(0, 0))[0])
