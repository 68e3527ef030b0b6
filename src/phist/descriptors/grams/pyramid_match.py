"""The pyramid match kernel: nodes as points of a cube, and how many of two graphs' points fall into the same cells."""

import numpy as np
from numpy.typing import NDArray
from scipy.sparse.linalg import ArpackNoConvergence, eigsh

from phist.descriptors.grams.counts import Gram, mirrored
from phist.graphs.graph import Graph
from phist.graphs.graphset import GraphSet
from phist.jit import compiled
from phist.progress import SlowProgress

# Up to this size all eigenvectors together cost no more than a few by iteration.
_DENSE = 200

# A coordinate that is exactly the border of two cells belongs to the upper one, whatever its last digits are.
_BORDER = 1e-9


def pyramid_match_gram(graphs: GraphSet, levels: int, dimensions: int) -> Gram:
    """The kernel of Nikolentzos et al. (2017) for graphs without labels, with the weights that GraKeL gives to its levels.

    A node's coordinates are its absolute entries in the leading eigenvectors of the adjacency matrix. At level l each axis is
    cut into 2^l cells, and two graphs match in a cell as often as the one with fewer nodes there allows. Where eigenvalues
    coincide the eigenvectors are not unique, and so neither is the kernel: here they depend on the order of nodes alone.
    """
    weights = grakel_weights(levels)
    histograms = np.zeros((len(graphs), dimensions * (2**levels - 1)))
    with SlowProgress("eigenvectors", len(graphs), show=None) as progress:
        for row, graph in zip(histograms, graphs, strict=True):
            coordinates = leading_coordinates(graph, dimensions)
            row[:] = np.concatenate([weights[level] * nodes_by_cell(coordinates, level, dimensions) for level in range(levels)])
            progress.advance(1)
    gram = np.zeros((len(graphs), len(graphs)))
    _add_overlaps(gram, histograms)
    return mirrored(gram)


def grakel_weights(levels: int) -> NDArray[np.float64]:
    """How much a match in a cell of each level counts.

    The publication counts a match at the finest level at which it is one: with L levels, I_(L-1) plus the sum over l of
    2^-(L-1-l) (I_l - I_(l+1)), where I_l are the matches at level l. GraKeL adds that expression up L times, while the I_l are
    still being found, coarse ones first, so that I_l is counted L - l times over.

    >>> grakel_weights(4)
    array([0.5  , 0.375, 0.5  , 0.5  ])
    """
    published = 0.5 ** np.arange(levels, 0, -1.0)
    published[0] = 0.5 ** (levels - 1)
    return published * np.arange(levels, 0, -1)


def leading_coordinates(graph: Graph, dimensions: int) -> NDArray[np.float64]:
    """Absolute eigenvectors of the eigenvalues largest in magnitude, in the order of their values. (nodes, dimensions)

    As in GraKeL, graphs of at most ``dimensions + 1`` nodes take the largest values instead of the largest magnitudes.
    Coordinates that a small graph does not have are missing, and so are their matches.
    """
    values, vectors = _eigenvectors(graph, dimensions)
    if graph.n_nodes > dimensions + 1:
        leading = np.lexsort((-values, -np.abs(values).round(9)))[:dimensions]
        values, vectors = values[leading], vectors[:, leading]
    return np.abs(vectors[:, np.argsort(-values)[:dimensions]])


def nodes_by_cell(coordinates: NDArray[np.float64], level: int, dimensions: int) -> NDArray[np.int64]:
    """How many nodes lie in each of the 2^level cells of every axis, axis after axis; none on axes that are missing."""
    n_cells = 2**level
    cells = np.minimum(np.floor(coordinates * n_cells + _BORDER).astype(np.int64), n_cells - 1)
    return np.bincount((cells + n_cells * np.arange(cells.shape[1])).ravel(), minlength=dimensions * n_cells)


def _eigenvectors(graph: Graph, count: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """All eigenvalues and eigenvectors of a small graph, those of the largest magnitudes of a large one."""
    adjacency = graph.adjacency()
    if graph.n_nodes > max(_DENSE, count + 1):
        start = np.random.default_rng(graph.n_nodes).normal(size=graph.n_nodes)
        try:
            values, vectors = eigsh(adjacency, k=count, ncv=10 * count, v0=start)
            return values, vectors
        except ArpackNoConvergence:
            pass  # the dense solver takes longer and always gets there
    values, vectors = np.linalg.eigh(adjacency.toarray())
    return values, vectors


@compiled
def _add_overlaps(gram: Gram, histograms: NDArray[np.float64]) -> None:
    for left in range(len(histograms)):
        for right in range(left, len(histograms)):
            overlap = 0.0
            for cell in range(histograms.shape[1]):
                overlap += min(histograms[left, cell], histograms[right, cell])
            gram[left, right] = overlap
