"""What is asked of a saved graph set before it is trusted: a damaged or hostile folder is an error, never a crash."""

from pathlib import Path
from typing import Any

import numpy as np

from phist.errors import ModelFileError
from phist.graphs.arrays import Array, arc_blocks

_FIXED = {"node_ptr": "<i8", "indptr": "<i8", "indices": "<i4", "weights": "<f8"}
_REQUIRED = ("node_ptr", "indptr", "indices")
_NAMES = ("labels", "ids")
_LAST_LETTER = 0x10FFFF  # of Unicode


def check_shapes(file: Path, arrays: dict[str, Any]) -> None:
    """Every array is one we know, of a kind we write, with a length that fits the others."""
    for name, shape in arrays.items():
        if name not in (*_FIXED, *_NAMES):
            raise _damaged(file, f"it lists an array {name!r} that no graph set has")
        if not _is_shape(shape):
            raise _damaged(file, f"it describes {name} as {shape!r} instead of [kind, length]")
        if not _is_kind(name, shape[0]):
            raise _damaged(file, f"it gives {name} the kind {shape[0]!r}")
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


def check_arcs(folder: Path, arrays: dict[str, Array]) -> None:
    """Every neighbour is a node of the same graph and every weight is one; read block by block, in bounded memory."""
    starts = arrays["indptr"][arrays["node_ptr"]]
    sizes = np.diff(arrays["node_ptr"])
    for graphs in arc_blocks(starts):
        filled = np.flatnonzero(np.diff(starts[graphs.start : graphs.stop + 1])) + graphs.start
        if not len(filled):
            continue
        arcs = slice(starts[graphs.start], starts[graphs.stop])
        unsigned = arrays["indices"][arcs].view(np.uint32)  # so that a negative neighbour is a huge one
        largest = np.maximum.reduceat(unsigned, starts[filled] - arcs.start)
        if (largest >= sizes[filled]).any():
            graph = filled[np.argmax(largest >= sizes[filled])]
            raise _damaged(folder, f"graph {graph} names a neighbour outside itself")
        if "weights" in arrays:
            weights = arrays["weights"][arcs]
            if not (np.isfinite(weights) & (weights >= 0)).all():
                raise _damaged(folder, "it holds a weight that is not a number >= 0")


def _is_shape(shape: Any) -> bool:
    return isinstance(shape, list) and len(shape) == 2 and isinstance(shape[0], str) and type(shape[1]) is int and shape[1] >= 0


def _is_kind(name: str, kind: str) -> bool:
    if name in _FIXED:
        return kind == _FIXED[name]
    try:
        dtype = np.dtype(kind)
    except (TypeError, ValueError, SyntaxError):
        return False
    return dtype.isnative and dtype.kind in "biufU" and dtype.itemsize > 0 and dtype.shape == ()


def _readable_text(folder: Path, name: str, values: Array) -> Array:
    """The names, copied into memory; numbers beyond the last letter there is would bring Python down."""
    letters = np.ascontiguousarray(values).view(np.uint32)
    if letters.max() > _LAST_LETTER:
        raise _damaged(folder, f"{name} holds text that is none")
    return np.array(values)


def _damaged(place: Path, why: str) -> ModelFileError:
    return ModelFileError(f"{place} does not describe a graph set ({why}); save the graph set again")
