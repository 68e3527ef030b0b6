"""What is asked of a saved graph set before it is trusted: a damaged or hostile folder is an error, never a crash."""

from pathlib import Path
from typing import Any

import numpy as np
from scipy.sparse import csr_array

from phist.errors import ModelFileError, shown
from phist.graphs.arrays import Array, blocks

_FIXED = {"node_ptr": "<i8", "indptr": "<i8", "indices": "<i4", "weights": "<f8"}
_REQUIRED = ("node_ptr", "indptr", "indices")
_NAMES = ("labels", "ids")
_LAST_LETTER = 0x10FFFF  # of Unicode


def check_shapes(file: Path, arrays: dict[str, Any]) -> None:
    """Every array is one we know, of a kind we write, with a length that fits the others."""
    for name, shape in arrays.items():
        if name not in (*_FIXED, *_NAMES):
            raise _damaged(file, f"it lists an array {shown(name)} that no graph set has")
        if not _is_shape(shape):
            raise _damaged(file, f"it describes {name} as {shown(shape)} instead of [kind, length]")
        if not _is_kind(name, shape[0]):
            raise _damaged(file, f"it gives {name} the kind {shown(shape[0])}")
    missing = [name for name in _REQUIRED if name not in arrays]
    if missing:
        raise _damaged(file, f"it does not list {', '.join(missing)}")
    lengths = {name: shape[1] for name, shape in arrays.items()}
    if lengths["node_ptr"] < 1 or lengths["indptr"] < 1:
        raise _damaged(file, "its pointers are empty")
    expected = {"weights": lengths["indices"], "labels": lengths["node_ptr"] - 1, "ids": lengths["node_ptr"] - 1}
    for name, length in expected.items():
        if lengths.get(name, length) != length:
            raise _damaged(file, f"it has {lengths[name]:,} {name} where {length:,} are needed")


def map_array(folder: Path, name: str, dtype: str, length: int) -> Array:
    """One array of the folder, left on disk."""
    file = folder / f"{name}.bin"
    kind = np.dtype(dtype)
    needed = kind.itemsize * length
    found = file.stat().st_size if file.is_file() else 0
    if found != needed:
        raise ModelFileError(f"{file} has {found:,} bytes, {needed:,} are needed; the folder is damaged: save the graph set again")
    if not needed:
        return np.empty(0, kind)
    try:
        values: Array = np.memmap(file, kind, mode="r", shape=(length,))
    except OSError as error:
        raise ModelFileError(f"{file} cannot be read: {error.strerror or error}") from error
    return _readable_text(folder, name, values) if kind.kind == "U" else values


def check_pointers(folder: Path, arrays: dict[str, Array]) -> None:
    """The pointers begin at zero, never go back, and end where the array they point into ends."""
    lengths = {"node_ptr": len(arrays["indptr"]) - 1, "indptr": len(arrays["indices"])}
    for name, length in lengths.items():
        pointers = arrays[name]
        if pointers[0] != 0 or pointers[-1] != length or (pointers[1:] < pointers[:-1]).any():
            raise _damaged(folder, f"{name} does not run from 0 up to {length:,}")


def check_arcs(folder: Path, arrays: dict[str, Array], directed: bool) -> None:
    """Neighbours are nodes of the same graph, sorted, without repetition and, unless ``directed``, mutual; weights are finite.

    Read in blocks of graphs, so that memory is bounded by the largest of them.
    """
    starts = arrays["indptr"][arrays["node_ptr"]]
    sizes = np.diff(arrays["node_ptr"])
    for graphs in blocks(starts):
        filled = np.flatnonzero(np.diff(starts[graphs.start : graphs.stop + 1])) + graphs.start
        if not len(filled):
            continue
        arcs = slice(starts[graphs.start], starts[graphs.stop])
        unsigned = arrays["indices"][arcs].view(np.uint32)  # so that a negative neighbour is a huge one
        largest = np.maximum.reduceat(unsigned, starts[filled] - arcs.start)
        if (largest >= sizes[filled]).any():
            graph = filled[np.argmax(largest >= sizes[filled])]
            raise _damaged(folder, f"graph {graph} names a neighbour outside itself")
        weights = np.asarray(arrays["weights"][arcs]) if "weights" in arrays else None
        if weights is not None and not (np.isfinite(weights) & (weights >= 0)).all():
            raise _damaged(folder, "it holds a weight that is not a number >= 0")
        _check_rows(folder, _block_matrix(arrays, graphs, arcs, weights), directed)


def _block_matrix(arrays: dict[str, Array], graphs: slice, arcs: slice, weights: Array | None) -> csr_array:
    """The adjacency of several graphs as it stands in the files, nodes numbered through all of them."""
    node_ptr = arrays["node_ptr"][graphs.start : graphs.stop + 1]
    indptr = np.asarray(arrays["indptr"][node_ptr[0] : node_ptr[-1] + 1]) - arcs.start
    first_node = np.repeat(node_ptr[:-1] - node_ptr[0], np.diff(indptr[node_ptr - node_ptr[0]]))
    values = np.ones(arcs.stop - arcs.start, np.int8) if weights is None else weights
    n_nodes = len(indptr) - 1
    return csr_array((values, arrays["indices"][arcs] + first_node, indptr), shape=(n_nodes, n_nodes))


def _check_rows(folder: Path, matrix: csr_array, directed: bool) -> None:
    steps = np.diff(matrix.indices)
    inner = matrix.indptr[1:-1] - 1  # from the last neighbour of one node to the first of the next, any step will do
    steps[inner[(inner >= 0) & (inner < len(steps))]] = 1
    if (steps <= 0).any():
        raise _damaged(folder, "neighbours are unsorted or repeat")
    if directed:
        return
    reverse = matrix.T.tocsr()
    alike = (np.array_equal(getattr(matrix, part), getattr(reverse, part)) for part in ("indptr", "indices", "data"))
    if not all(alike):
        raise _damaged(folder, "it is undirected, but an edge or its weight is there in one direction only")


def _is_shape(shape: Any) -> bool:
    return isinstance(shape, list) and len(shape) == 2 and isinstance(shape[0], str) and type(shape[1]) is int and shape[1] >= 0


def _is_kind(name: str, kind: str) -> bool:
    if name in _FIXED:
        return kind == _FIXED[name]
    try:
        dtype = np.dtype(kind)
    except (TypeError, ValueError, SyntaxError):
        return False
    fits = dtype.kind == "U" or (dtype.kind in "biuf" and dtype.itemsize <= 8)
    return dtype.isnative and fits and dtype.itemsize > 0 and dtype.shape == ()


def _readable_text(folder: Path, name: str, values: Array) -> Array:
    """The names, copied into memory; numbers beyond the last letter there is would bring Python down."""
    letters = np.ascontiguousarray(values).view(np.uint32)
    if letters.max() > _LAST_LETTER:
        raise _damaged(folder, f"{name} holds text that is none")
    return np.array(values)


def _damaged(place: Path, why: str) -> ModelFileError:
    return ModelFileError(f"{place} does not describe a graph set ({why}); save the graph set again")
