"""Gram matrices kept on disk: computed once per set of graphs, shared by all folds and all processes."""

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from phist.errors import OutputError
from phist.files import atomic_path
from phist.graphs.graphset import GraphSet

VERSION = 1  # one more whenever the same kernel and settings would give other numbers

KeptGram = NDArray[np.float32]


def kept_gram(
    folder: Path | None, graphs: GraphSet, kernel: str, settings: dict[str, Any], compute: Callable[[], NDArray[np.float64]]
) -> KeptGram:
    """The Gram matrix of a kernel on these graphs: taken from ``folder`` if it is there and whole, else computed and kept.

    It is in single precision with or without a folder, so that no result depends on whether it was kept. Processes that
    find nothing at the same time all compute it, and each puts its file in place in one step. A kept matrix is mapped, not
    read, so that processes on one machine share it.
    """
    if folder is None:
        return compute().astype(np.float32)
    key = _key(graphs, kernel, settings)
    path = folder / f"{kernel}-{key[:32]}.gram"
    kept = _read(path, key, len(graphs))
    if kept is not None:
        return kept
    gram = compute().astype(np.float32)
    # Where nothing can be kept, it is computed for every fold: slow, but right.
    with suppress(OutputError), atomic_path(path) as temporary, temporary.open("wb") as stream:
        stream.write(_digest(key, gram))
        stream.write(np.ascontiguousarray(gram).data)
    return gram


def _key(graphs: GraphSet, kernel: str, settings: dict[str, Any]) -> str:
    content = json.dumps([VERSION, kernel, settings, graphs.fingerprint()], sort_keys=True)
    return hashlib.sha256(content.encode()).hexdigest()


def _digest(key: str, gram: KeptGram) -> bytes:
    """What a file begins with: a hash of its matrix and of what the matrix is, so that damage and mistaken names show."""
    digest = hashlib.sha256(key.encode())
    digest.update(np.ascontiguousarray(gram).data)
    return digest.digest()


def _read(path: Path, key: str, n_graphs: int) -> KeptGram | None:
    """The matrix in that file, or ``None`` where there is no file or it is not what it should be."""
    size = hashlib.sha256().digest_size
    try:
        if path.stat().st_size != size + 4 * n_graphs**2:
            return None
        with path.open("rb") as stream:
            digest = stream.read(size)
        gram = np.memmap(path, np.float32, mode="r", offset=size, shape=(n_graphs, n_graphs))
    except OSError:
        return None
    return gram if digest == _digest(key, gram) else None
