"""The shortest-path kernel: how many pairs of nodes are one, two, three, ... steps apart."""

import numpy as np

from phist.descriptors.grams.counts import Gram, mirrored
from phist.descriptors.grams.distances import distance_histograms
from phist.graphs.graphset import GraphSet


def shortest_path_gram(graphs: GraphSet) -> Gram:
    """The kernel of Borgwardt and Kriegel (2005) for graphs whose nodes all carry the same label.

    A graph is the histogram of its hop distances over ordered pairs of different nodes; pairs without a path do not count. Graphs
    with no edge have an empty histogram and resemble nothing.
    """
    histograms = distance_histograms(graphs).astype(np.float64)
    return mirrored(histograms @ histograms.T)
