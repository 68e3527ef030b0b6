"""GraphSet: many graphs in a handful of flat arrays."""

import hashlib
from collections import Counter
from collections.abc import Hashable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Self, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from phist.errors import GraphInputError, brief
from phist.graphs.arrays import (
    Array,
    IntArray,
    as_positions,
    blocks,
    loops_of_rows,
    plain_weights,
    ranges,
    read_only,
    same,
    starts_of,
)
from phist.graphs.graph import Graph
from phist.graphs.labels import as_labels, as_python, distinct_labels
from phist.notebook import html_table

_KINDS = {"node_ptr": np.int64, "indptr": np.int64, "indices": np.int32, "weights": np.float64}
_SHOWN_CLASSES = 12  # in a notebook


@dataclass(frozen=True, eq=False)
class GraphSet:
    """An immutable collection of graphs, packed into one compressed sparse row structure.

    Graph ``g`` owns the nodes ``node_ptr[g]:node_ptr[g + 1]``; node ``i`` of the collection has the neighbours
    ``indices[indptr[i]:indptr[i + 1]]``, numbered from 0 within their graph, sorted, without repetition.
    Make one with `as_graphset`, `read_graphs` or `load_dataset`.

    Args:
        node_ptr: where the nodes of each graph begin, (graphs + 1).
        indptr: where the neighbours of each node begin, (nodes + 1).
        indices: the neighbours, numbered within their graph, (arcs).
        weights: the weight of each arc, (arcs); ``None`` where every edge weighs one.
        labels: one for each graph, (graphs); ``None`` for unlabelled graphs.
        ids: one for each graph, (graphs); their numbers unless given.
        directed: whether arcs have one direction; otherwise every edge is two arcs.
        n_dropped: how many graphs without nodes were left out when these were read.

    >>> from phist import as_graphset
    >>> import networkx as nx
    >>> graphs = as_graphset([nx.path_graph(3), nx.cycle_graph(4)], labels=["path", "cycle"])
    >>> len(graphs), graphs[1].n_nodes, graphs[1].label
    (2, 4, 'cycle')
    >>> graphs[graphs.labels == "path"]
    GraphSet(1 graph, 3 nodes, 2 edges, 1 class)
    """

    node_ptr: IntArray  # (graphs + 1)
    indptr: IntArray  # (nodes + 1)
    indices: NDArray[np.int32]  # (arcs)
    weights: NDArray[np.float64] | None = None  # (arcs); None: every edge weighs one
    labels: Array | None = None  # (graphs)
    ids: Array = field(default_factory=lambda: np.empty(0, np.int64))  # (graphs); their numbers when not given
    directed: bool = False
    n_dropped: int = 0  # graphs without nodes that were left out when these were read

    def __post_init__(self) -> None:
        for name, kind in _KINDS.items():
            values = getattr(self, name)
            self._set(name, None if values is None else np.asarray(values, dtype=kind))
        self._set("ids", as_labels(self.ids, "id") if len(self.ids) else np.arange(len(self), dtype=np.int64))
        self._set("labels", None if self.labels is None else as_labels(self.labels))
        self._check_lengths()

    def _set(self, name: str, values: Array | None) -> None:
        """Put a read-only view in place while the set is made; a frozen dataclass has no other door."""
        object.__setattr__(self, name, read_only(values))

    def __setstate__(self, state: dict[str, Any]) -> None:
        """Arrays come out of a pickle writable; in a set they never are."""
        for name, value in state.items():
            object.__setattr__(self, name, read_only(value) if isinstance(value, np.ndarray) else value)

    def _check_lengths(self) -> None:
        for name in ("labels", "ids"):
            values = getattr(self, name)
            if values is not None and len(values) != len(self):
                raise GraphInputError(f"{len(values)} {name} were given for {len(self)} graphs; give one for each graph")
        empty = np.flatnonzero(np.diff(self.node_ptr) == 0)
        if len(empty):
            raise GraphInputError(f"graph {self.name(empty[0])} has no node; a graph needs at least one: remove it or add a node")

    # Sizes ------------------------------------------------------------------------------------------------------------

    def __len__(self) -> int:
        return len(self.node_ptr) - 1

    @property
    def n_nodes(self) -> int:
        """Nodes of all graphs together."""
        return len(self.indptr) - 1

    @property
    def n_edges(self) -> int:
        """Edges of all graphs together: each undirected edge once, loops once."""
        return int(self.edge_counts().sum())

    def node_counts(self) -> IntArray:
        """Nodes of each graph."""
        return np.diff(self.node_ptr)

    def edge_counts(self) -> IntArray:
        """Edges of each graph: each undirected edge once, loops once."""
        arcs = np.diff(self.indptr[self.node_ptr])
        if self.directed:
            return arcs
        return (arcs + self.loops_per_graph()) // 2

    def loops_per_graph(self) -> IntArray:
        """Loops of each graph, looked for in about a million nodes and arcs at a time: the set may be larger than memory."""
        result = np.zeros(len(self), np.int64)
        for rows in blocks(self.indptr[self.node_ptr] + self.node_ptr):
            part = self._range(rows.start, rows.stop)
            result[rows] = np.add.reduceat(np.append(part.loop_counts(), 0), part.node_ptr[:-1])
        return result

    def loop_counts(self) -> IntArray:
        """Loops at each node: 0 or 1."""
        local = np.arange(self.n_nodes) - np.repeat(self.node_ptr[:-1], self.node_counts())
        return loops_of_rows(self.indptr, self.indices, local)

    def degrees(self) -> IntArray:
        """Neighbours of each node (out-neighbours in a directed set), weights ignored."""
        return np.diff(self.indptr)

    @property
    def classes(self) -> list[Hashable]:
        """The distinct labels: sorted where they can be compared, else in order of first appearance."""
        return [] if self.labels is None else distinct_labels(self.labels)

    def name(self, graph: int) -> str:
        """How messages call a graph: its number, and its id where that says more.

        Args:
            graph: its number in the set.
        """
        return graph_name(graph, self.ids)

    # Selection --------------------------------------------------------------------------------------------------------

    @overload
    def __getitem__(self, key: int | np.integer[Any]) -> Graph: ...
    @overload
    def __getitem__(self, key: slice | ArrayLike) -> "GraphSet": ...
    def __getitem__(self, key: Any) -> "Graph | GraphSet":
        if isinstance(key, int | np.integer) and not isinstance(key, bool):
            return self._graph(int(key))
        if isinstance(key, slice):
            start, stop, step = key.indices(len(self))
            return self._range(start, max(start, stop)) if step == 1 else self._gather(np.arange(start, stop, step))
        return self._gather(as_positions(key, len(self)))

    def __iter__(self) -> Iterator[Graph]:
        return (self._graph(position) for position in range(len(self)))

    def _graph(self, position: int) -> Graph:
        if not -len(self) <= position < len(self):
            raise IndexError(f"graph {position} was asked for, the set has {len(self)}")
        position %= len(self)
        first, last = self.node_ptr[position], self.node_ptr[position + 1]
        arcs = slice(self.indptr[first], self.indptr[last])
        return Graph(
            indptr=self.indptr[first : last + 1] - self.indptr[first],
            indices=self.indices[arcs],
            weights=None if self.weights is None else self.weights[arcs],
            label=None if self.labels is None else as_python(self.labels[position]),
            id=as_python(self.ids[position]),
            directed=self.directed,
        )

    def _range(self, start: int, stop: int) -> "GraphSet":
        """Graphs ``start`` to ``stop`` without copying their arcs, so that a slice of a mapped file stays on disk."""
        first, last = self.node_ptr[start], self.node_ptr[stop]
        arcs = slice(self.indptr[first], self.indptr[last])
        return replace(
            self,
            node_ptr=self.node_ptr[start : stop + 1] - first,
            indptr=self.indptr[first : last + 1] - self.indptr[first],
            indices=self.indices[arcs],
            weights=None if self.weights is None else self.weights[arcs],
            labels=None if self.labels is None else self.labels[start:stop],
            ids=self.ids[start:stop],
            n_dropped=0,
        )

    def _gather(self, positions: IntArray) -> "GraphSet":
        """Some graphs, in time and memory that do not depend on how many others there are."""
        sizes = self.node_ptr[positions + 1] - self.node_ptr[positions]
        nodes = ranges(self.node_ptr[positions], sizes)
        degrees = self.indptr[nodes + 1] - self.indptr[nodes]
        first_arc, end_arc = self.indptr[self.node_ptr[positions]], self.indptr[self.node_ptr[positions + 1]]
        arcs = ranges(first_arc, end_arc - first_arc)
        return replace(
            self,
            node_ptr=starts_of(sizes),
            indptr=starts_of(degrees),
            indices=self.indices[arcs],
            weights=None if self.weights is None else self.weights[arcs],
            labels=None if self.labels is None else self.labels[positions],
            ids=self.ids[positions],
            n_dropped=0,
        )

    def with_labels(self, labels: "Iterable[Hashable] | None") -> "GraphSet":
        """The same graphs with other labels, or with none.

        Args:
            labels: one for each graph, or ``None`` to remove them.
        """
        return replace(self, labels=None if labels is None else as_labels(labels))

    @staticmethod
    def concatenate(parts: "Iterable[GraphSet]") -> "GraphSet":
        """All graphs of several sets, in order. Labels are kept when every part has them.

        Args:
            parts: sets that are all directed or all undirected.
        """
        parts = list(parts)
        if not parts:
            raise GraphInputError("no graph set was given to concatenate; give at least one")
        if len({part.directed for part in parts}) > 1:
            raise GraphInputError('directed and undirected sets cannot be joined; convert with directed="symmetrise" first')
        labelled = all(part.labels is not None for part in parts)
        weighted = any(part.weights is not None for part in parts)
        return GraphSet(
            node_ptr=starts_of(np.concatenate([part.node_counts() for part in parts])),
            indptr=starts_of(np.concatenate([part.degrees() for part in parts])),
            indices=np.concatenate([part.indices for part in parts]),
            weights=np.concatenate([part.weights_or_ones() for part in parts]) if weighted else None,
            labels=as_labels([label for part in parts for label in part.label_list()]) if labelled else None,
            ids=as_labels([identity for part in parts for identity in part.ids.tolist()]),
            directed=parts[0].directed,
            n_dropped=sum(part.n_dropped for part in parts),
        )

    def weights_or_ones(self) -> NDArray[np.float64]:
        """The weight of every arc, ones where the set is unweighted."""
        return np.ones(len(self.indices)) if self.weights is None else self.weights

    def label_list(self) -> list[Hashable]:
        """The labels as plain Python values; an empty list when there are none."""
        return [] if self.labels is None else self.labels.tolist()

    # Identity ---------------------------------------------------------------------------------------------------------

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, GraphSet):
            return NotImplemented
        names = ("node_ptr", "indptr", "indices", "labels", "ids")
        return (
            self.directed == other.directed
            and all(same(getattr(self, name), getattr(other, name)) for name in names)
            and same(plain_weights(self.weights), plain_weights(other.weights))
        )

    __hash__ = None  # type: ignore[assignment]  # equal content, not identity; use fingerprint() as a key

    def fingerprint(self) -> str:
        """A hash of the graphs and their labels; ids do not count."""
        digest = hashlib.sha256(b"directed" if self.directed else b"undirected")
        for values in (self.node_ptr, self.indptr, self.indices, plain_weights(self.weights)):
            digest.update(b"|" if values is None else np.ascontiguousarray(values).data)
        digest.update("\n".join(repr(label) for label in self.label_list()).encode())
        return digest.hexdigest()

    def __repr__(self) -> str:
        parts = [_plural(len(self), "graph"), _plural(self.n_nodes, "node"), _plural(self.n_edges, "edge")]
        if self.labels is not None:
            parts.append(_plural(len(self.classes), "class", "classes"))
        kinds = [kind for kind, present in (("directed", self.directed), ("weighted", self.weights is not None)) if present]
        return f"GraphSet({', '.join(parts + kinds)})"

    def _repr_html_(self) -> str:
        sizes = (("nodes", self.node_counts()), ("edges", self.edge_counts())) if len(self) else ()
        rows = [(name, int(of.min()), f"{of.mean():.1f}", int(of.max())) for name, of in sizes]
        counts = Counter(self.label_list())
        classes = ", ".join(f"{brief(label, 40)} ({counts[label]:,})" for label in self.classes[:_SHOWN_CLASSES])
        more = f" and {len(counts) - _SHOWN_CLASSES} more" if len(counts) > _SHOWN_CLASSES else ""
        note = f"classes: {classes}{more}" if counts else "no labels"
        return html_table(repr(self), rows, ("of a graph", "fewest", "mean", "most"), note)

    # On disk ----------------------------------------------------------------------------------------------------------

    def save(self, path: str | Path) -> None:
        """Write the set as a folder that `GraphSet.open` maps into memory instead of reading it.

        Args:
            path: the folder to write; a graph set that is there is replaced.
        """
        from phist.graphs.storage import write_graphset

        write_graphset(path, [self])

    @classmethod
    def open(cls, path: str | Path, *, check: bool = True) -> Self:
        """Open a saved set; its arcs stay on disk until they are used.

        Args:
            path: the folder `save` wrote.
            check: look through the files once, graph by graph, to be sure that neighbours exist, are sorted, do not
                repeat and, in an undirected set, are mutual; ``False`` opens a corpus larger than memory at once, and is
                for folders you wrote yourself.
        """
        from phist.graphs.storage import open_graphset

        return open_graphset(cls, path, check)


def graph_name(graph: int, ids: Array) -> str:
    """How messages call a graph: its number, and its id where that says more."""
    number, identity = int(graph), brief(ids[graph], 60)
    return str(number) if identity == str(number) else f"{number} ({identity})"


def _plural(count: int, singular: str, plural: str | None = None) -> str:
    return f"{count:,} {singular if count == 1 else plural or singular + 's'}"
