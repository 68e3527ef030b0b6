"""From loose arcs to the packed arrays of a GraphSet: one place where loops, parallel edges and direction are resolved."""

from dataclasses import dataclass
from typing import Literal, get_args

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import coo_array, csr_array

from phist.errors import GraphInputError, check_choice
from phist.graphs.arrays import Array, plain_weights, starts_of
from phist.graphs.graphset import GraphSet, graph_name

Directed = Literal["symmetrise", "keep"]
SelfLoops = Literal["drop", "keep"]
Weights = Literal["use", "abs", "ignore"]
Empty = Literal["error", "drop"]


@dataclass(frozen=True)
class Reading:
    """How loose ends of the input are resolved.

    Args:
        directed: ``"symmetrise"`` makes an edge of an arc in either direction, with the larger of the two weights, so
            that a symmetric graph stays as it is; ``"keep"`` keeps arcs for the random-walk operator; ``None``
            symmetrises graphs that say they are directed, refuses an asymmetric matrix that does not, and leaves graphs
            that were packed before as they are.
        self_loops: ``"drop"`` or ``"keep"``; ``None`` drops them too, but leaves graphs that were packed before as they are.
        weights: ``"use"`` them, take their absolute value (``"abs"``), or ``"ignore"`` them.
        empty: graphs without nodes are an ``"error"``, or left out (``"drop"``); ``None`` is an error as well, where the
            caller has no option to name.
        max_bytes: what the graphs may take in memory by what their source says of them; ``None`` judges by their arcs.
    """

    directed: Directed | None = None
    self_loops: SelfLoops | None = None
    weights: Weights = "use"
    empty: Empty | None = None
    max_bytes: int | None = None

    def __post_init__(self) -> None:
        check_choice("directed", self.directed, (*get_args(Directed), None))
        check_choice("self_loops", self.self_loops, (*get_args(SelfLoops), None))
        check_choice("weights", self.weights, get_args(Weights))
        check_choice("empty", self.empty, (*get_args(Empty), None))


DEFAULT_READING = Reading()


def pack(
    node_counts: Array,
    source: Array,
    target: Array,
    weights: Array | None = None,
    *,
    reading: Reading = DEFAULT_READING,
    labels: Array | None = None,
    ids: Array | None = None,
) -> GraphSet:
    """Pack arcs between nodes numbered through the whole collection.

    Parallel arcs add up; without ``weights`` they collapse into one. An undirected edge may come in one direction or in
    both: unless ``reading.directed`` is ``"keep"`` the result has both, with the larger of the two weights.

    Args:
        node_counts: nodes of each graph; graph ``g`` owns the numbers after those of the graphs before it.
        source, target: the arcs' ends, within one graph each.
        weights: the arcs' weights, finite and not negative, or ``None``.
    """
    node_counts = np.asarray(node_counts)
    names = np.arange(len(node_counts)) if ids is None else ids
    filled = node_counts > 0
    if not filled.all():
        refuse_empty(filled, names, reading)
        node_counts, names = node_counts[filled], names[filled]
        labels = None if labels is None else labels[filled]
    node_ptr = starts_of(node_counts)
    if weights is not None:
        weights = _resolve_weights(np.asarray(weights, dtype=np.float64), source, target, node_ptr, names, reading.weights)
    if reading.self_loops != "keep":
        source, target, weights = _without_loops(source, target, weights)
    matrix = sum_arcs(int(node_ptr[-1]), source, target, weights)
    if reading.directed != "keep":
        matrix = symmetrise(matrix)
    if not np.isfinite(matrix.data).all():
        raise GraphInputError("the weights of parallel edges add up to more than a number can hold; scale the weights down")

    return GraphSet(
        node_ptr=node_ptr,
        indptr=matrix.indptr.astype(np.int64),
        indices=_local(matrix, node_ptr),
        weights=None if weights is None else plain_weights(matrix.data),
        labels=labels,
        ids=names,
        directed=reading.directed == "keep",
        n_dropped=int(np.count_nonzero(~filled)),
    )


def refuse_empty(filled: NDArray[np.bool_], names: Array, reading: Reading) -> None:
    """Raise unless graphs without nodes are to be left out and there are others."""
    empty = np.flatnonzero(~filled)
    if reading.empty == "drop" and len(empty) < len(filled):
        return
    if reading.empty == "drop":
        raise GraphInputError("no graph has a node; a graph needs at least one")
    others = f", nor have {len(empty) - 1:,} others" if len(empty) > 1 else ""
    remedy = "remove it or add a node" if reading.empty is None else 'pass empty="drop" (--empty drop) to leave such graphs out'
    raise GraphInputError(f"graph {graph_name(int(empty[0]), names)} has no node{others}; a graph needs at least one: {remedy}")


def symmetrise(matrix: csr_array) -> csr_array:
    """The larger of the two weights between any two nodes, for both directions."""
    transposed = matrix.T.tocsr()
    transposed.sort_indices()
    if np.array_equal(matrix.indices, transposed.indices) and np.array_equal(matrix.data, transposed.data):
        return matrix
    both = matrix.maximum(transposed).tocsr()
    both.sort_indices()
    return both


def _local(matrix: csr_array, node_ptr: Array) -> NDArray[np.int32]:
    """The matrix's columns, numbered from 0 within each graph."""
    first_node = np.repeat(node_ptr[:-1].astype(matrix.indices.dtype), np.diff(matrix.indptr[node_ptr]))
    np.subtract(matrix.indices, first_node, out=first_node)
    return first_node.astype(np.int32, copy=False)


def sum_arcs(n_nodes: int, source: Array, target: Array, weights: Array | None) -> csr_array:
    """Arcs as a matrix with sorted rows; booleans collapse where they meet, weights add up, zero weights vanish."""
    kind = np.int32 if max(n_nodes, len(source)) < np.iinfo(np.int32).max else np.int64
    values: NDArray[np.bool_] | Array = np.ones(len(source), dtype=bool) if weights is None else weights
    matrix = coo_array(
        (values, (source.astype(kind, copy=False), target.astype(kind, copy=False))), shape=(n_nodes, n_nodes)
    ).tocsr()
    matrix.sum_duplicates()
    matrix.eliminate_zeros()
    return matrix


def _without_loops(source: Array, target: Array, weights: Array | None) -> tuple[Array, Array, Array | None]:
    proper = source != target
    if proper.all():
        return source, target, weights
    return source[proper], target[proper], None if weights is None else weights[proper]


def _resolve_weights(weights: Array, source: Array, target: Array, node_ptr: Array, names: Array, how: Weights) -> Array | None:
    if how == "ignore":
        return None
    if how == "abs":
        weights = np.abs(weights)
    bad = np.flatnonzero(~(np.isfinite(weights) & (weights >= 0)))
    if len(bad):
        arc = bad[0]
        graph = int(np.searchsorted(node_ptr, source[arc], side="right")) - 1
        first = node_ptr[graph]
        kind = "negative" if weights[arc] < 0 and np.isfinite(weights[arc]) else "non-finite"
        remedy = 'pass weights="abs" or drop the edge' if kind == "negative" else 'drop the edge or pass weights="ignore"'
        raise GraphInputError(
            f"graph {graph_name(graph, names)} has a {kind} weight ({weights[arc]:g} on edge "
            f"{source[arc] - first}-{target[arc] - first}); weights must be finite and >= 0: {remedy}"
        )
    return weights
