"""Single graphs of other libraries as `LooseGraph`; each is known by what it can do, so none is imported here."""

from collections.abc import Hashable
from inspect import getattr_static
from operator import index
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.sparse import csr_array, issparse

from phist.errors import GraphInputError, brief, shown
from phist.graphs.arrays import Array
from phist.graphs.graph import Graph
from phist.graphs.limits import ARC, NODE, check_growth, most_bytes
from phist.graphs.loose import LooseGraph, asymmetric_pairs
from phist.graphs.packing import Reading

ACCEPTED = (
    "a networkx or igraph graph, a square scipy sparse matrix or numpy array, a tuple (n_nodes, edges) or "
    "(n_nodes, edges, weights), a PyG Data, a phist Graph, or a list of these"
)


def is_edge_list(graph: Any) -> bool:
    """A tuple ``(n_nodes, edges)`` or ``(n_nodes, edges, weights)``."""
    return isinstance(graph, tuple) and len(graph) in (2, 3) and _is_whole(graph[0])


def is_matrix(graph: Any) -> bool:
    """A sparse matrix, or an array of numbers with two axes."""
    return issparse(graph) or (isinstance(graph, np.ndarray) and graph.ndim == 2 and graph.dtype.kind in "biuf")


def is_networkx(graph: Any) -> bool:
    return hasattr(graph, "is_multigraph") and hasattr(graph, "edges") and hasattr(graph, "number_of_nodes")


def is_igraph(graph: Any) -> bool:
    return hasattr(graph, "vcount") and hasattr(graph, "get_edgelist")


def is_pyg(graph: Any) -> bool:
    """An object with an ``edge_index`` of its own; a PyG dataset has one only by asking the graphs it holds."""
    return getattr_static(graph, "edge_index", None) is not None and not hasattr(graph, "to_data_list")


def is_single(graph: Any) -> bool:
    """Whether this is one graph rather than a collection of them."""
    kinds = (is_edge_list, is_matrix, is_networkx, is_igraph, is_pyg)
    return isinstance(graph, Graph) or any(fits(graph) for fits in kinds)


def as_loose(graph: Any, name: str, reading: Reading) -> LooseGraph:
    """One graph of any library; ``name`` is what messages call it."""
    if isinstance(graph, Graph):
        return from_packed(graph)
    if is_edge_list(graph):
        return from_edge_list(graph, name, reading)
    if is_matrix(graph):
        return from_matrix(graph, name, reading)
    if is_networkx(graph):
        return from_networkx(graph, name, reading)
    if is_igraph(graph):
        return from_igraph(graph, name, reading)
    if is_pyg(graph):
        return from_pyg(graph, name, reading)
    raise GraphInputError(f"graph {name} is {_described(graph)}, which is not a graph phist knows; give {ACCEPTED}")


def from_packed(graph: Graph) -> LooseGraph:
    source = np.repeat(np.arange(graph.n_nodes), np.diff(graph.indptr))
    return LooseGraph(graph.n_nodes, source, graph.indices.astype(np.int64), graph.weights, label=graph.label, id=graph.id)


def from_edge_list(graph: tuple[Any, ...], name: str, reading: Reading) -> LooseGraph:
    """Rows of two nodes, or of two nodes and a weight."""
    rows = as_numbers(graph[1], f"the edges of graph {name}")
    if rows.size == 0:
        rows = rows.reshape(0, 2)
    if rows.ndim != 2 or rows.shape[1] not in (2, 3):
        raise GraphInputError(
            f"graph {name} has edges of shape {rows.shape}; give rows (source, target) or (source, target, weight)"
        )
    weights = rows[:, 2].astype(np.float64) if rows.shape[1] == 3 else None
    if len(graph) == 3 and graph[2] is not None:
        if weights is not None:
            raise GraphInputError(f"graph {name} has weights in its edges and beside them; give them once")
        weights = None if reading.weights == "ignore" else _one_each(graph[2], len(rows), name)
    ends = as_nodes(rows[:, :2], name)
    return LooseGraph(int(graph[0]), ends[:, 0], ends[:, 1], weights, is_edge_list=True)


def from_matrix(graph: Any, name: str, reading: Reading) -> LooseGraph:
    """A square adjacency; its entries are the weights, and without a word on direction it must be symmetric."""
    if len(graph.shape) != 2 or graph.shape[0] != graph.shape[1]:
        raise GraphInputError(f"graph {name} is a matrix of shape {tuple(graph.shape)}; an adjacency matrix must be square")
    if graph.dtype.kind not in "biuf":
        raise GraphInputError(f"graph {name} is a matrix of {graph.dtype}; an adjacency matrix holds real numbers")
    matrix = _as_csr(graph, name, reading)
    matrix.sum_duplicates()
    if reading.weights != "use":
        matrix.data = np.abs(matrix.data) if reading.weights == "abs" else (matrix.data != 0).astype(np.float64)
    matrix.eliminate_zeros()
    if reading.directed is None:
        _check_symmetric(matrix, name)
    source, target = (ends.astype(np.int64) for ends in matrix.tocoo().coords)
    return LooseGraph(matrix.shape[0], source, target, matrix.data)


def _as_csr(graph: Any, name: str, reading: Reading) -> csr_array:
    """A copy that may be changed; a sparse matrix is looked through first, since compiled code trusts its numbers."""
    if issparse(graph):
        most = most_bytes(ARC * graph.nnz, reading.max_bytes)
        check_growth(NODE * graph.shape[0], most, f"graph {name} is a sparse matrix of {graph.shape[0]:,} rows")
        try:
            if hasattr(graph, "check_format"):
                graph.check_format(full_check=True)
        except ValueError as error:
            raise GraphInputError(f"graph {name} is a sparse matrix that is damaged ({brief(error)}); build it again") from error
    return csr_array(graph, dtype=np.float64, copy=True)


def from_networkx(graph: Any, name: str, reading: Reading) -> LooseGraph:
    """Nodes in the graph's own order; parallel edges of a multigraph add up."""
    number = {node: position for position, node in enumerate(graph)}
    edges = list(graph.edges(data="weight"))
    ends = np.array([(number[u], number[v]) for u, v, _ in edges], dtype=np.int64).reshape(-1, 2)
    weights, has_any = None, graph.is_multigraph() or any(weight is not None for _, _, weight in edges)
    if has_any and reading.weights != "ignore":
        weights = np.array([_weight(weight, name, u, v) for u, v, weight in edges], dtype=np.float64)
    loose = LooseGraph(len(number), ends[:, 0], ends[:, 1], weights)
    return loose if graph.is_directed() else loose.mirrored()


def from_igraph(graph: Any, name: str, reading: Reading) -> LooseGraph:
    """Edge attribute ``weight`` where there is one; parallel edges add up."""
    ends = np.array(graph.get_edgelist(), dtype=np.int64).reshape(-1, 2)
    weights = None
    if "weight" in graph.es.attributes() and reading.weights != "ignore":
        weights = np.array([_weight(w, name, u, v) for w, (u, v) in zip(graph.es["weight"], ends, strict=True)], dtype=np.float64)
    elif graph.has_multiple():
        weights = np.ones(len(ends))
    loose = LooseGraph(graph.vcount(), ends[:, 0], ends[:, 1], weights)
    return loose if graph.is_directed() else loose.mirrored()


def from_pyg(graph: Any, name: str, reading: Reading) -> LooseGraph:
    """``edge_index`` and ``edge_weight``; other attributes are not structure. A single ``y`` is the label."""
    if graph.edge_index is None:
        raise GraphInputError(f"graph {name} has no edge_index; set it, of shape (2, edges): another form of its edges is not read")
    index = as_numbers(graph.edge_index, f"the entries of edge_index of graph {name}")
    if index.size == 0:
        index = index.reshape(2, 0)
    if index.ndim != 2 or index.shape[0] != 2:
        raise GraphInputError(f"graph {name} has an edge_index of shape {index.shape}; it must be (2, edges)")
    ends = as_nodes(index, name)
    n_nodes = getattr(graph, "num_nodes", None)
    if n_nodes is None:
        raise GraphInputError(f"graph {name} does not say how many nodes it has; set num_nodes")
    weight = getattr(graph, "edge_weight", None)
    weights = None if weight is None or reading.weights == "ignore" else _one_each(weight, ends.shape[1], name)
    return LooseGraph(_count(n_nodes, name), ends[0], ends[1], weights, label=_only(getattr(graph, "y", None)))


def as_numbers(values: Any, what: str, remedy: str = "number the nodes from 0") -> Array:
    """Numbers of any array library, as numpy holds them."""
    if hasattr(values, "detach"):
        values = values.detach().cpu()
        values = values.double() if values.is_floating_point() else values  # numpy has no bfloat16
    try:
        array = np.asarray(values)
    except (ValueError, TypeError) as error:
        raise GraphInputError(f"{what} have rows of different lengths or kinds; give every row the same") from error
    if array.dtype.kind not in "biuf" and array.size:
        raise GraphInputError(f"{what} are of type {array.dtype}, not numbers; {remedy}")
    return array


def as_nodes(values: Array, name: str) -> NDArray[np.int64]:
    """Node numbers, which may come as floats when a weight stands beside them."""
    with np.errstate(invalid="ignore"):
        nodes: NDArray[np.int64] = values.astype(np.int64)
    if values.dtype.kind == "f" and not np.array_equal(nodes, values):
        odd = values[nodes != values].flat[0]
        raise GraphInputError(f"graph {name} has an edge that ends at node {odd}; nodes are whole numbers from 0")
    return nodes


def _check_symmetric(matrix: csr_array, name: str) -> None:
    rows, columns = asymmetric_pairs(matrix)
    if len(rows):
        i, j = int(rows[0]), int(columns[0])
        raise GraphInputError(
            f"graph {name} is a matrix that is not symmetric: entry ({i}, {j}) is {matrix[i, j]:g}, entry ({j}, {i}) is "
            f'{matrix[j, i]:g}; if it is directed, pass directed="symmetrise" or directed="keep"'
        )


def _one_each(values: Any, length: int, name: str) -> NDArray[np.float64]:
    weights = (
        as_numbers(values, f"the weights of graph {name}", 'correct them, or pass weights="ignore"').astype(np.float64).reshape(-1)
    )
    if len(weights) != length:
        raise GraphInputError(f"graph {name} has {length} edges and {len(weights)} weights; give one weight for each edge")
    return weights


def _weight(value: Any, name: str, source: Hashable, target: Hashable) -> float:
    try:
        return 1.0 if value is None else float(value)
    except (TypeError, ValueError, OverflowError) as error:
        raise GraphInputError(
            f"graph {name} has the weight {shown(value)} on edge {shown(source)}-{shown(target)}; weights must be numbers: "
            "correct or remove it"
        ) from error


def _count(value: Any, name: str) -> int:
    try:
        return index(value)
    except TypeError as error:
        raise GraphInputError(f"graph {name} has {shown(value)} as its number of nodes; give a whole number") from error


def _only(value: Any) -> Hashable:
    """The one element of a label tensor, or ``None`` where it has none or several."""
    if value is None:
        return None
    try:
        array = np.asarray(value.detach().cpu() if hasattr(value, "detach") else value)
    except (ValueError, TypeError):  # rows of different lengths: several values
        return None
    label: Hashable = array.reshape(-1)[0].item() if array.size == 1 and array.dtype.kind in "biufU" else None
    return label


def _is_whole(value: Any) -> bool:
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def _described(graph: Any) -> str:
    shape = getattr(graph, "shape", None)
    return f"a {type(graph).__name__}" + ("" if shape is None else f" of shape {tuple(shape)}")
