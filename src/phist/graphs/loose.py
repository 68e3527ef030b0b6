"""Loose graphs: single graphs on their way into a `GraphSet`, whatever library or file they come from."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array

from phist.errors import GraphInputError, shown
from phist.graphs.arrays import Array, IntArray, starts_of
from phist.graphs.graphset import GraphSet, graph_name
from phist.graphs.labels import as_labels
from phist.graphs.limits import ARC, NODE, check_growth, most_bytes
from phist.graphs.packing import Reading, pack, refuse_empty, sum_arcs

MOST_NODES = np.iinfo(np.int32).max  # neighbours are stored in 32 bits
_ROUNDING = 1e-9  # two directions of an edge may differ by this much, relatively, and still be one weight


@dataclass(frozen=True)
class LooseGraph:
    """One graph before packing.

    Args:
        n_nodes: its nodes; the ends of arcs are numbers below it.
        source, target: the arcs, an undirected edge in both directions.
        weights: the arcs' weights; ``None`` where all weigh one and repeated arcs count once.
        is_edge_list: the arcs are rows of a list that does not say whether it is directed. Where direction is not asked
            for, a row is an undirected edge and repeated rows add up, unless every row comes with its reverse.
        label, id: what the graph itself says about them.
    """

    n_nodes: int
    source: IntArray
    target: IntArray
    weights: NDArray[np.float64] | None = None
    is_edge_list: bool = False
    label: Hashable = None
    id: Hashable = None

    def mirrored(self) -> "LooseGraph":
        """The graph with every arc in both directions; loops stay single."""
        proper = self.source != self.target
        return replace(
            self,
            source=np.concatenate([self.source, self.target[proper]]),
            target=np.concatenate([self.target, self.source[proper]]),
            weights=None if self.weights is None else np.concatenate([self.weights, self.weights[proper]]),
        )

    def weighted(self) -> "LooseGraph":
        """The graph with a weight on every arc; repeated arcs without weights become one that weighs one."""
        if self.weights is not None:
            return self
        arcs = np.unique(self.source * self.n_nodes + self.target)
        return replace(
            self, source=arcs // self.n_nodes, target=arcs % self.n_nodes, weights=np.ones(len(arcs)), is_edge_list=False
        )


def pack_loose(
    items: Sequence[LooseGraph], reading: Reading, ids: Array | None = None, labels: Sequence[Hashable] | None = None
) -> GraphSet:
    """Pack graphs; what becomes of a graph does not depend on the others.

    Ids are those given, else the graphs' own where all have one, else their numbers. Graphs have the labels given, if any.
    """
    names = _own_ids(items) if ids is None else ids
    filled = np.array([item.n_nodes > 0 for item in items])
    if filled.all():
        packed = _pack_filled(items, reading, names)
        return packed if labels is None else packed.with_labels(labels)
    refuse_empty(filled, names, reading)
    kept = [item for item, is_filled in zip(items, filled, strict=True) if is_filled]
    packed = replace(_pack_filled(kept, reading, names[filled]), n_dropped=len(items) - len(kept))
    return packed if labels is None else packed.with_labels([labels[k] for k in np.flatnonzero(filled).tolist()])


def _pack_filled(items: Sequence[LooseGraph], reading: Reading, names: Array) -> GraphSet:
    check_nodes(items, names)
    n_nodes, n_arcs = sum(item.n_nodes for item in items), sum(len(item.source) for item in items)
    check_growth(NODE * n_nodes, most_bytes(ARC * n_arcs, reading.max_bytes), f"the graphs have {n_nodes:,} nodes")
    if reading.weights == "ignore":
        items = [replace(item, weights=None) for item in items]
    elif any(item.weights is not None for item in items):
        items = [item.weighted() for item in items]
    return _pack_alike(items, reading, names)


def check_nodes(items: Sequence[LooseGraph], names: Array) -> None:
    """A graph has no more nodes than can be numbered, and every arc ends at nodes of its graph."""
    for number, item in enumerate(items):
        if item.n_nodes > MOST_NODES:
            raise GraphInputError(
                f"graph {graph_name(number, names)} has {shown(item.n_nodes)} nodes; {MOST_NODES:,} are the most: "
                "correct the number"
            )
        for ends in (item.source, item.target):
            if len(ends) and (ends.min() < 0 or ends.max() >= item.n_nodes):
                _refuse_node(item, graph_name(number, names))


def _refuse_node(item: LooseGraph, name: str) -> None:
    lowest, highest = np.minimum(item.source, item.target), np.maximum(item.source, item.target)
    row = int(np.argmax((lowest < 0) | (highest >= item.n_nodes)))
    raise GraphInputError(
        f"graph {name} has the edge {item.source[row]}-{item.target[row]} (row {row}), but its nodes are 0 to {item.n_nodes - 1}; "
        "correct the edge or the number of nodes"
    )


def _own_ids(items: Sequence[LooseGraph]) -> Array:
    own = [item.id for item in items]
    return np.arange(len(items)) if None in own else as_labels(own, "id")


def _pack_alike(items: Sequence[LooseGraph], reading: Reading, ids: Array) -> GraphSet:
    """Pack graphs that all have weights, or none of which has."""
    node_counts = np.array([item.n_nodes for item in items], dtype=np.int64)
    first_node = np.repeat(starts_of(node_counts)[:-1], [len(item.source) for item in items])
    weights = [item.weights for item in items if item.weights is not None]
    return pack_rows(
        node_counts,
        np.concatenate([item.source for item in items]) + first_node,
        np.concatenate([item.target for item in items]) + first_node,
        np.concatenate(weights) if weights else None,
        is_edge_list=np.array([item.is_edge_list for item in items]),
        reading=reading,
        ids=ids,
    )


def pack_rows(
    node_counts: IntArray,
    source: IntArray,
    target: IntArray,
    weights: NDArray[np.float64] | None,
    *,
    is_edge_list: NDArray[np.bool_],
    reading: Reading,
    ids: Array,
) -> GraphSet:
    """`pack`, where some graphs are edge lists whose rows have no direction: see `LooseGraph`.

    Without weights these need nothing: packing makes an edge of an arc in either direction. With weights, the rows
    ``0 1 w`` and ``1 0 v`` are parallel edges that add up, but a list that has every row in both directions, with equal
    weights, has each edge twice.
    """
    if weights is not None and reading.weights == "abs":
        weights = np.abs(weights)
    if weights is not None and reading.directed is None and is_edge_list.any():
        added = _rows_to_mirror(starts_of(node_counts), source, target, weights, is_edge_list)
        source, target = np.concatenate([source, target[added]]), np.concatenate([target, source[added]])
        weights = np.concatenate([weights, weights[added]])
    return pack(node_counts, source, target, weights, reading=reading, ids=ids)


def _rows_to_mirror(
    node_ptr: IntArray, source: IntArray, target: IntArray, weights: NDArray[np.float64], is_edge_list: NDArray[np.bool_]
) -> NDArray[np.bool_]:
    """Rows of edge lists that are not closed under reversal; loops have no reverse."""
    graph_of_row = np.searchsorted(node_ptr, source, side="right") - 1
    listed: NDArray[np.bool_] = is_edge_list[graph_of_row]
    matrix = sum_arcs(int(node_ptr[-1]), source[listed], target[listed], weights[listed])
    one_way = np.zeros(len(is_edge_list), dtype=bool)
    one_way[np.searchsorted(node_ptr, asymmetric_pairs(matrix)[0], side="right") - 1] = True
    listed &= one_way[graph_of_row] & (source != target)
    return listed


def asymmetric_pairs(matrix: csr_array) -> tuple[IntArray, IntArray]:
    """Rows and columns where a matrix differs from its transpose by more than rounding."""
    with np.errstate(invalid="ignore"):  # what is not finite is reported as such when the weights are packed
        difference = abs(matrix - matrix.T).tocoo()
    rows, columns = difference.coords
    if not len(rows):
        return rows, columns
    size = np.abs(matrix.tocsr()[rows, columns]) + np.abs(matrix.tocsr()[columns, rows])
    real = difference.data > _ROUNDING * size
    return rows[real], columns[real]
