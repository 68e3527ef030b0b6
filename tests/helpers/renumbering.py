"""The same graphs with their nodes in another order."""

import numpy as np

from phist.graphs.canonical import reordered


def renumbered(graphs, seed=0):
    """Every graph with its nodes shuffled, and the old number of the node at each place."""
    rng = np.random.default_rng(seed)
    node_at = np.concatenate([rng.permutation(size) for size in graphs.node_counts().tolist()])
    return reordered(graphs, node_at), node_at
