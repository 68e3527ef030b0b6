"""All graphs in the plane, and which are nearest to which."""

import numpy as np
from numpy.typing import NDArray

from phist.graphs.arrays import IntArray
from phist.graphs.graphset import GraphSet

DIMENSIONS = 32  # principal components that distances are measured in
PERPLEXITY = 30.0  # neighbours that a graph is kept close to: scikit-learn's default
LEAST_FOR_TSNE = 12  # graphs: fewer lie in the plane of their principal components
NEAREST = 6
Rows = NDArray[np.float64]


def reduced(rows: NDArray[np.floating]) -> Rows:
    """Standardised, in principal components: (rows, dimensions)."""
    from sklearn.decomposition import PCA

    spread = rows.std(0)
    standard = (rows - rows.mean(0)) / np.where(spread > 0, spread, 1)
    dimensions = min(DIMENSIONS, *standard.shape)
    with np.errstate(invalid="ignore"):  # where all rows are the same there is no variance to share
        components: Rows = PCA(dimensions, svd_solver="randomized", random_state=0).fit_transform(standard.astype(np.float64))
    return components


def plane_of(rows: Rows) -> Rows:
    """Places in [0, 1]² at which similar rows are close, by t-SNE: (rows, 2)."""
    flat = np.zeros((len(rows), 2))
    flat[:, : min(2, rows.shape[1])] = rows[:, :2]
    if len(rows) >= LEAST_FOR_TSNE and rows.std() > 0:
        from sklearn.manifold import TSNE

        perplexity = min(PERPLEXITY, (len(rows) - 1) / 3)
        flat = TSNE(perplexity=perplexity, init="pca", random_state=0).fit_transform(rows)
    low, high = flat.min(0), flat.max(0)
    unit: Rows = np.where(high > low, (flat - low) / np.where(high > low, high - low, 1), 0.5)
    return unit


def nearest_rows(rows: Rows, others: Rows, k: int) -> IntArray:
    """The positions of the ``k`` nearest of ``others``, the nearest first: (rows, k)."""
    from sklearn.neighbors import NearestNeighbors

    found: IntArray = NearestNeighbors(n_neighbors=min(k, len(others))).fit(others).kneighbors(rows, return_distance=False)
    return found


def neighbours_of(rows: Rows, k: int = NEAREST) -> IntArray:
    """For every row the nearest others: (rows, k), fewer columns where there are fewer others."""
    found = nearest_rows(rows, rows, k + 1)
    itself = found == np.arange(len(rows))[:, None]
    itself[~itself.any(1), -1] = True  # of many equal rows a row need not find itself
    others: IntArray = found[~itself].reshape(len(rows), -1)
    return others


def plain_features(graphs: GraphSet, probabilities: NDArray[np.float64]) -> Rows:
    """What graphs are compared by where a model has no networks: sizes, degrees, and what it says."""
    sizes = np.stack([graphs.node_counts(), graphs.edge_counts()], axis=1)
    degrees = np.minimum(graphs.degrees(), 9)
    graph_of = np.repeat(np.arange(len(graphs)), graphs.node_counts())
    counts = np.zeros((len(graphs), 10))
    np.add.at(counts, (graph_of, degrees), 1)
    return np.concatenate([np.log1p(sizes), counts / graphs.node_counts()[:, None], probabilities], axis=1)
