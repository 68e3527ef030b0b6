"""as_graphset: graphs of any library, in memory, as one `GraphSet`."""

from collections.abc import Hashable, Iterable, Mapping
from dataclasses import replace
from os import PathLike
from typing import Any

import numpy as np

from phist.errors import GraphInputError, shown
from phist.graphs.arrays import Array, starts_of
from phist.graphs.graph import Graph
from phist.graphs.graphset import GraphSet, graph_name
from phist.graphs.labels import as_labels, labels_by_id
from phist.graphs.libraries import ACCEPTED, as_loose, is_single
from phist.graphs.limits import check_max_bytes
from phist.graphs.loose import pack_loose
from phist.graphs.packing import Directed, Reading, SelfLoops, Weights, pack

Labels = Iterable[Hashable] | Mapping[Any, Hashable]


def as_graphset(
    graphs: Any,
    labels: Labels | None = None,
    ids: Iterable[Hashable] | None = None,
    *,
    directed: Directed | None = None,
    self_loops: SelfLoops | None = None,
    weights: Weights = "use",
    max_bytes: int | None = None,
) -> GraphSet:
    """Make a `GraphSet` of graphs in memory; a set that already fits is returned as it is.

    Args:
        graphs: one graph or an iterable of graphs, which need not be of one kind:

            - networkx graphs: any node names; edge attribute ``weight``; parallel edges of a multigraph add up;
            - igraph graphs, likewise;
            - square scipy sparse matrices and numpy arrays (one array with three axes is a stack of them);
            - tuples ``(n_nodes, edges)`` or ``(n_nodes, edges, weights)``: a row ``(source, target)`` or
              ``(source, target, weight)`` is one undirected edge and weighted rows that repeat add up; a list that has
              every row in both directions, with equal weights, has each edge twice; where ``directed`` is given, a row
              is an arc;
            - PyG ``Data``: ``edge_index``, ``num_nodes``, ``edge_weight``, and ``y`` as the label where it is one value;
            - a `GraphSet` and its elements.
        labels: one hashable value for each graph, or a mapping from id to label. Left out, the graphs' own labels are
            kept when all of them have one.
        ids: one for each graph. Left out, the graphs' own, else their numbers.
        directed: ``"symmetrise"`` makes an edge of an arc in either direction, with the larger of the two weights;
            ``"keep"`` keeps arcs, and an undirected edge is two. ``None`` symmetrises graphs that are directed by type,
            refuses an asymmetric matrix, and leaves graphs of a `GraphSet` as they are.
        self_loops: ``"drop"`` or ``"keep"``. ``None`` drops them, except from a `GraphSet` and lists of its elements.
        weights: ``"use"`` them, take their absolute value (``"abs"``), or ``"ignore"`` them.
        max_bytes: the most memory that graphs may take by the number of nodes they are said to have; ``None`` allows
            256 MB, and more for graphs with many edges.

    >>> triangle = (3, [(0, 1), (1, 2), (2, 0)])
    >>> square = np.array([[0, 1, 0, 1], [1, 0, 1, 0], [0, 1, 0, 1], [1, 0, 1, 0]])
    >>> as_graphset([triangle, square], labels=["odd", "even"])
    GraphSet(2 graphs, 7 nodes, 7 edges, 2 classes)
    """
    check_max_bytes(max_bytes)
    reading = Reading(directed, self_loops, weights, max_bytes=max_bytes)
    packed = graphs if isinstance(graphs, GraphSet) else _from_items(_as_items(graphs), reading, ids)
    if len(packed) == 0:
        raise GraphInputError(f"no graph was given; give {ACCEPTED}")
    return _named(resolve(packed, reading), labels, ids)


def resolve(graphs: GraphSet, reading: Reading) -> GraphSet:
    """The set as ``reading`` asks for it; the same object where nothing changes."""
    if reading.weights == "ignore" and graphs.weights is not None:
        graphs = replace(graphs, weights=None)
    has_bad_weights = graphs.weights is not None and not (np.isfinite(graphs.weights) & (graphs.weights >= 0)).all()
    to_symmetrise = reading.directed == "symmetrise" and graphs.directed
    has_loops = reading.self_loops == "drop" and graphs.loops_per_graph().any()
    if has_bad_weights or to_symmetrise or has_loops:
        graphs = _repack(graphs, reading)
    return replace(graphs, directed=True) if reading.directed == "keep" and not graphs.directed else graphs


def join(items: list[Graph]) -> GraphSet:
    """Elements of sets as one set, array by array: what scikit-learn's splitters turn a `GraphSet` into comes back fast.

    Labels are kept when all graphs have one.
    """
    sizes = np.array([item.n_nodes for item in items])
    degrees = np.diff(np.concatenate([item.indptr for item in items]))
    borders = np.cumsum(sizes + 1)[:-1] - 1
    weighted = any(item.weights is not None for item in items)
    labels, ids = [item.label for item in items], [item.id for item in items]
    return GraphSet(
        node_ptr=starts_of(sizes),
        indptr=starts_of(np.delete(degrees, borders)),
        indices=np.concatenate([item.indices for item in items]),
        weights=np.concatenate([_weights_or_ones(item) for item in items]) if weighted else None,
        labels=None if None in labels else as_labels(labels),
        ids=np.arange(len(items)) if None in ids else as_labels(ids, "id"),
        directed=items[0].directed,
    )


def _from_items(items: list[Any], reading: Reading, ids: Iterable[Hashable] | None) -> GraphSet:
    if not items:
        raise GraphInputError(f"no graph was given; give {ACCEPTED}")
    if all(isinstance(item, Graph) for item in items) and len({item.directed for item in items}) == 1:
        return join(items)
    names = None if ids is None else _ids_for(ids, len(items))
    called = np.arange(len(items)) if names is None else names
    loose = [as_loose(item, graph_name(number, called), reading) for number, item in enumerate(items)]
    packed = pack_loose(loose, reading, names)
    labels = [item.label for item in loose]
    return packed if None in labels else packed.with_labels(labels)


def _as_items(graphs: Any) -> list[Any]:
    """The single graphs in what was given; nothing is handed to numpy, which would take graphs apart."""
    if isinstance(graphs, str | bytes | PathLike):
        raise GraphInputError(f"a path or name was given ({shown(graphs)}); type read_graphs(path) or load_dataset(name)")
    if hasattr(graphs, "to_data_list"):  # a PyG Batch
        return list(graphs.to_data_list())
    if is_single(graphs):
        return [graphs]
    if isinstance(graphs, np.ndarray) and (graphs.ndim == 0 or (graphs.ndim != 3 and graphs.dtype.kind != "O")):
        raise GraphInputError(
            f"an array of shape {graphs.shape} is neither an adjacency matrix nor a stack of them; give {ACCEPTED}"
        )
    if isinstance(graphs, Mapping) or not isinstance(graphs, Iterable):
        raise GraphInputError(f"a {type(graphs).__name__} was given, which is not a graph phist knows; give {ACCEPTED}")
    return list(graphs)


def _repack(graphs: GraphSet, reading: Reading) -> GraphSet:
    source = np.repeat(np.arange(graphs.n_nodes), graphs.degrees())
    target = graphs.indices + np.repeat(graphs.node_ptr[:-1], np.diff(graphs.indptr[graphs.node_ptr]))
    kept = replace(
        reading,
        directed="keep" if graphs.directed and reading.directed is None else reading.directed,
        self_loops=reading.self_loops or "keep",
    )
    packed = pack(graphs.node_counts(), source, target, graphs.weights, reading=kept, labels=graphs.labels, ids=graphs.ids)
    return replace(packed, n_dropped=graphs.n_dropped)


def _named(graphs: GraphSet, labels: Labels | None, ids: Iterable[Hashable] | None) -> GraphSet:
    if ids is not None:
        graphs = replace(graphs, ids=_ids_for(ids, len(graphs)))
    if isinstance(labels, Mapping):
        return graphs.with_labels(labels_by_id(graphs.ids, labels))
    return graphs if labels is None else graphs.with_labels(_own_copy(as_labels(labels)))


def _ids_for(ids: Iterable[Hashable], length: int) -> Array:
    names = _own_copy(as_labels(ids, "id"))
    if len(names) != length:
        raise GraphInputError(f"{len(names)} ids were given for {length} graphs; give one for each graph")
    return names


def _own_copy(values: Array) -> Array:
    """A copy, so that what the caller does to an array later leaves the set alone."""
    return values.copy()


def _weights_or_ones(item: Graph) -> Array:
    return np.ones(len(item.indices)) if item.weights is None else item.weights
