"""Which graphs a page shows, and which of them in full."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from phist.graphs.arrays import IntArray
from phist.graphs.graphset import GraphSet
from phist.graphs.symmetry import weisfeiler_lehman_hashes

MOST_MAPPED = 5000  # graphs as points of the map
MOST_DETAILED = 200  # graphs with all that the whole model says without each of their nodes and edges
MOST_DRAWN = 1_000_000  # nodes and edges of all graphs that are drawn when the map is zoomed


def evenly(count: int, most: int, first: Sequence[int] = ()) -> IntArray:
    """Positions from 0 to ``count``, at most so many: those that come first, then others at even distances.

    >>> evenly(10, 4, first=[7]).tolist()
    [0, 4, 7, 9]
    """
    chosen = list(dict.fromkeys(first))[:most]
    others = np.setdiff1d(np.arange(count), chosen)
    room = min(most - len(chosen), len(others))
    spread = others[np.round(np.linspace(0, len(others) - 1, room)).astype(np.int64)] if room else others[:0]
    return np.sort(np.concatenate([np.array(chosen, np.int64), spread]))


def look_alikes(graphs: GraphSet, labels: IntArray) -> IntArray:
    """For every graph the number of its group of graphs of several classes that 1-WL cannot tell apart, or zero: (graphs).

    Args:
        labels: (graphs): the number of each graph's class, negative where it is not known.
    """
    _, kind = np.unique(weisfeiler_lehman_hashes(graphs), return_inverse=True)
    known = labels >= 0
    lowest = np.full(len(graphs), np.iinfo(np.int64).max)
    highest = np.full(len(graphs), -1)
    np.minimum.at(lowest, kind[known], labels[known])
    np.maximum.at(highest, kind[known], labels[known])
    several = highest > lowest
    groups: IntArray = np.where(several, np.cumsum(several), 0)[kind]
    return groups


def graphs_to_detail(
    wanted: Sequence[int], labels: IntArray, probabilities: NDArray[np.float64], alike: IntArray, most: int = MOST_DETAILED
) -> IntArray:
    """Positions of the graphs that are explained in full, in order.

    All that somebody asks for; else mistakes, look-alikes and doubtful graphs come first, and others at even distances.
    """
    if wanted:
        return np.unique(np.array(wanted, np.int64))
    wrong = (labels >= 0) & (probabilities.argmax(1) != labels)
    doubt = margin(probabilities) < 0.2
    telling = np.flatnonzero(wrong | doubt | (alike > 0))
    order = np.lexsort((telling, margin(probabilities)[telling], ~wrong[telling]))
    return evenly(len(labels), most, telling[order][: most * 3 // 4].tolist())


def margin(probabilities: NDArray[np.float64]) -> NDArray[np.float64]:
    """By how much the most probable class leads: (graphs)."""
    ordered = np.sort(probabilities, axis=1)
    lead: NDArray[np.float64] = ordered[:, -1] - (ordered[:, -2] if ordered.shape[1] > 1 else 0)
    return lead


def graphs_to_draw(sizes: IntArray, detailed: IntArray, most: int = MOST_DRAWN) -> NDArray[np.bool_]:
    """Which graphs can be drawn, by how many nodes and edges each has: those in full, then others while there is room."""
    order = np.concatenate([detailed, np.setdiff1d(np.arange(len(sizes)), detailed)])
    drawn = np.zeros(len(sizes), bool)
    drawn[order] = np.cumsum(sizes[order]) <= most
    drawn[detailed] = True
    return drawn
