"""The Weisfeiler-Lehman shortest-path kernel: pairs of nodes by their two colours and their distance, in every round."""

import numpy as np

from phist.descriptors.grams.coloured import ColouredSet
from phist.descriptors.grams.counts import Gram, mirrored
from phist.descriptors.grams.distances import distance_histograms
from phist.graphs.graphset import GraphSet
from phist.graphs.symmetry import weisfeiler_lehman_colors
from phist.progress import SlowProgress


def wl_shortest_path_gram(graphs: GraphSet, rounds: int) -> Gram:
    """The kernel of Shervashidze et al. (2011) for graphs whose nodes all start with the same colour.

    Rounds 0 to ``rounds`` each add a shortest-path kernel whose features are the colours of both ends and the distance
    between them, over ordered pairs of different nodes. In round 0 all colours are equal: the plain shortest-path kernel.
    """
    histograms = distance_histograms(graphs).astype(np.float64)
    gram = histograms @ histograms.T
    longest = np.array([np.flatnonzero(row).max(initial=0) for row in histograms], dtype=np.int64)
    with SlowProgress("coloured distances", rounds * graphs.n_nodes, show=None) as progress:
        for finished in range(1, rounds + 1):
            coloured = ColouredSet(graphs, weisfeiler_lehman_colors(graphs, finished), longest)
            for block in coloured.blocks():
                coloured.add_pairs(gram, block)
                progress.advance(coloured.nodes_in(block))
    return mirrored(gram)
