"""
A first model
=============

Fit a classifier to graphs with communities and without, read its verdict, and look at the graphs in the plane of their embeddings.
"""

# %%
# Graphs with two communities, and graphs with the same kind of degrees and none.
from phist import StructuralClassifier, check_graphs
from phist.graphs.generate import make_planted_partitions

graphs = make_planted_partitions(120, n_nodes=40, seed=0)
graphs

# %%
# What is trivial, and what is out of reach? Sizes and degrees tell little here, and 1-WL tells all graphs apart.
check_graphs(graphs)

# %%
# Half of the graphs to learn from, half to test. The report rests on graphs left out of the fit.
training, test = graphs[:60], graphs[60:]
model = StructuralClassifier("low", random_state=0, progress=False).fit(training)
model.report_

# %%
print(f"accuracy on {len(test)} other graphs: {model.score(test):.1%}")

# %%
# The same graphs in the plane; graphs that are classified wrongly are ringed.
from phist.drawing import plot_plane  # noqa: E402

plane = plot_plane(model.transform(test), test.label_list(), model.predict(test) == test.labels)
