"""
Floors and ceiling
==================

What can be had with hardly a look at the structure, and what no method that sees no more than 1-WL can exceed: for sets of graphs
that are built to differ in this.
"""

# %%
# Regular graphs of equal size all look alike to 1-WL; degrees tell planted partitions from random graphs only in part.
from phist import check_graphs
from phist.drawing.style import COLORS, finish_axes, new_figure
from phist.graphs import generate

sets = {
    "trees": generate.make_trees(100, n_nodes=15, seed=0),
    "planted partitions": generate.make_planted_partitions(100, seed=0),
    "regular pairs": generate.make_regular_pairs(100, seed=0),
}
checkups = {name: check_graphs(graphs) for name, graphs in sets.items()}
checkups["trees"]

# %%
# A result belongs between the bars and the line: below the bars it is worse than trivial, above the line it cannot be.
figure = new_figure(6.4, 3.2)
axes = figure.subplots()
for number, checkup in enumerate(checkups.values()):
    floors = (checkup.floors.majority, checkup.floors.size, checkup.floors.degrees)
    for place, (value, color, label) in enumerate(zip(floors, COLORS, ("majority", "sizes", "degrees"), strict=False)):
        axes.bar(number + 0.2 * (place - 1), value, 0.18, color=color, label=label if number == 0 else None)
    axes.plot([number - 0.35, number + 0.35], [checkup.ceiling] * 2, color="black", label="1-WL ceiling" if number == 0 else None)
axes.set_xticks(range(len(checkups)), list(checkups))
axes.set_ylim(0, 109)
axes.legend(fontsize=8.5, frameon=False, loc="lower center", ncols=4, bbox_to_anchor=(0.5, 1.0))
finish_axes(axes, "", "accuracy, %")
