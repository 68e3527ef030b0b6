"""Roots beside one another: what they see on average in each class, and which see the same elsewhere."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from phist.explain.page.plane import nearest_rows, reduced
from phist.explain.page.selection import evenly
from phist.explain.readers import Reader
from phist.graphs.arrays import IntArray, starts_of
from phist.graphs.canonical import Ordered, in_canonical_order
from phist.graphs.graphset import GraphSet
from phist.nn.normalization import RunningStandardizer

MOST_COMPARED = 20_000  # roots, of whole graphs
SIMILAR = 4  # roots, each in another graph
CANDIDATES = 32  # the nearest roots, among which those are found


@dataclass(frozen=True)
class Compared:
    """The roots that are compared.

    Attributes:
        graphs: (graphs): positions of their graphs among all.
        embeddings: for every network (roots, m_node), standardised.
        similar: (roots, `SIMILAR`, 2): graph and node of the most similar roots elsewhere; the root itself where there are no more.
    """

    graphs: IntArray
    embeddings: list[NDArray[np.float32]]
    similar: IntArray


def compare_roots(readers: list[Reader], graphs: GraphSet, first: IntArray) -> Compared:
    """The roots of as many graphs as may be compared, those in ``first`` before others."""
    average = max(1, graphs.n_nodes // len(graphs))
    chosen = evenly(len(graphs), max(1, MOST_COMPARED // average), first.tolist())
    sizes = graphs.node_counts()[chosen]
    chosen = chosen[np.cumsum(sizes) <= max(MOST_COMPARED, int(sizes[0]))]
    ordered = in_canonical_order(graphs[chosen].with_labels(None))
    embeddings = [_as_given(reader.trained.node_embeddings(ordered.graphs), ordered) for reader in readers]
    return Compared(chosen, embeddings, _similar(np.concatenate(embeddings, axis=1), chosen, graphs.node_counts()[chosen]))


def _as_given(rows: list[NDArray[np.float32]], ordered: Ordered) -> NDArray[np.float32]:
    return np.concatenate([own[ordered.places(graph)] for graph, own in enumerate(rows)])


def _similar(rows: NDArray[np.float32], graphs: IntArray, sizes: IntArray) -> IntArray:
    """By the embeddings of all networks together."""
    graph_of = np.repeat(np.arange(len(graphs)), sizes)
    node_of = np.arange(len(rows)) - starts_of(sizes)[graph_of]
    near = nearest_rows(reduced(rows), reduced(rows), CANDIDATES)
    found = np.stack([graphs[graph_of], node_of], axis=1)[:, None].repeat(SIMILAR, axis=1)
    for row, candidates in enumerate(near.tolist()):
        seen, number = {int(graph_of[row])}, 0
        for candidate in candidates:
            graph = int(graph_of[candidate])
            if graph not in seen and number < SIMILAR:
                seen.add(graph)
                found[row, number] = graphs[graph], node_of[candidate]
                number += 1
    return found


def class_averages(values: NDArray[np.floating], classes: IntArray, n_classes: int) -> NDArray[np.float64]:
    """The mean row of each class, zero for a class without any: (classes, columns)."""
    means = np.zeros((n_classes, values.shape[1]))
    for number in np.unique(classes[classes >= 0]).tolist():
        means[number] = values[classes == number].mean(0)
    return means


def node_histograms(reader: Reader, embeddings: NDArray[np.float32]) -> NDArray[np.float64]:
    """Embeddings of roots before they are standardised: (roots, m_node)."""
    standardizer = reader.trained.network.node_standardizer
    if not isinstance(standardizer, RunningStandardizer):
        return embeddings.astype(np.float64)
    scale = (standardizer.variance.double() + standardizer.epsilon).sqrt().cpu().numpy()
    raw: NDArray[np.float64] = embeddings * scale + standardizer.mean.double().cpu().numpy()
    return raw
