"""
Which nodes and edges made the decision
=======================================

Explain a prediction, and compare the explanation with what is known to tell the classes apart.
"""

# %%
# Graphs of which we know the nodes that tell the class: those of the house, or of the cycle.
import numpy as np

from phist import StructuralClassifier, what_if
from phist.graphs.motifs import make_ba_2motifs

graphs, truth = make_ba_2motifs(120, seed=0)
model = StructuralClassifier("low", random_state=0, progress=False).fit(graphs)
explanation = model.explain(graphs[:1])[0]
print(explanation)

# %%
# Orange speaks for the class, purple against it.
picture = explanation.visualize()

# %%
# How many of the five strongest nodes are of the motif?
from phist.explain.metrics import precision_at_k  # noqa: E402

print(f"{precision_at_k(explanation.node_values, truth.nodes[0]):.0%} of the strongest nodes are of the {graphs[0].label}")

# %%
# What if the strongest edge were not there?
edge = explanation.graph.edges()[int(np.argmax(explanation.edge_values))].tolist()
answer = what_if(model, graphs[0], remove=[edge])
print(f"without edge {edge[0]}-{edge[1]} the probabilities change by {np.round(answer.change, 3).tolist()}")
