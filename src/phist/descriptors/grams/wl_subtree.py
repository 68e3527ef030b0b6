"""The Weisfeiler-Lehman subtree kernel: how often each colour occurs, in every round of refinement."""

import numpy as np

from phist.descriptors.grams.counts import Gram, add_items, mirrored
from phist.graphs.graphset import GraphSet
from phist.graphs.symmetry import weisfeiler_lehman_colors
from phist.progress import SlowProgress


def wl_subtree_gram(graphs: GraphSet, rounds: int) -> Gram:
    """The kernel of Shervashidze et al. (2011) for graphs whose nodes all start with the same colour.

    Rounds 0 to ``rounds`` each add the inner products of the colour counts; round 0 counts nodes.
    """
    gram = np.zeros((len(graphs), len(graphs)))
    graph_of_node = np.repeat(np.arange(len(graphs)), graphs.node_counts())
    with SlowProgress("colours", rounds + 1, show=None) as progress:
        for finished in range(rounds + 1):
            add_items(gram, weisfeiler_lehman_colors(graphs, finished), graph_of_node)
            progress.advance(1)
    return mirrored(gram)
