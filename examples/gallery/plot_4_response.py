"""
What a root sees
================

The response of a trained network to an impulse at one node, and its projective histogram.
"""

# %%
from phist import StructuralClassifier
from phist.drawing import plot_responses
from phist.graphs.motifs import make_ba_2motifs

graphs, _ = make_ba_2motifs(80, n_nodes=12, seed=0)
model = StructuralClassifier("low", random_state=0, progress=False).fit(graphs)

# %%
# The channel is the one that separates the classes best over all these graphs. Bars are the mean of a class; the typical
# graph is the nearest to it, the atypical one resembles another class.
responses = plot_responses(model, graphs)
