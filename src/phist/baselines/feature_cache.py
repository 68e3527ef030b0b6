"""What depends on the graphs alone is computed once: kept in memory for the next fold, and on disk where a folder is given."""

from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from phist.errors import OutputError
from phist.files import atomic_path
from phist.graphs.arrays import Array
from phist.graphs.graphset import GraphSet

Arrays = dict[str, Array]
_KEPT = 4  # tables in memory: those of the two profiles and the spectrum of the dataset at hand, and one more
_recent: OrderedDict[str, Arrays] = OrderedDict()


def computed_once(graphs: GraphSet, what: str, folder: Path | None, compute: Callable[[], Arrays]) -> Arrays:
    """The arrays that ``compute`` makes of ``graphs``, from memory or ``folder`` if they were made before.

    Args:
        graphs: their fingerprint tells one set from another.
        what: a name for the computation, its version and its settings, fit for a file's name.
        folder: where to keep the arrays for other processes; ``None`` keeps them in memory only.
    """
    key = f"{what}-{graphs.with_labels(None).fingerprint()[:32]}"
    if key not in _recent:
        path = None if folder is None else folder / f"{key}.npz"
        _recent[key] = _read(path) or _computed(path, compute)
        while len(_recent) > _KEPT:
            _recent.popitem(last=False)
    _recent.move_to_end(key)
    return _recent[key]


def _read(path: Path | None) -> Arrays | None:
    """The arrays in the file; ``None`` where there is no file or it is damaged, so that they are computed anew."""
    if path is None or not path.exists():
        return None
    try:
        with np.load(path, allow_pickle=False) as stored:
            return {name: stored[name] for name in stored.files}
    except (OSError, ValueError, EOFError, BadZipFile):
        return None


def _computed(path: Path | None, compute: Callable[[], Arrays]) -> Arrays:
    arrays = compute()
    if path is not None:
        # A folder that cannot be written to costs other processes time, and nobody a result.
        with suppress(OutputError), atomic_path(path) as temporary, temporary.open("wb") as file:
            np.savez(file, **arrays)  # type: ignore[arg-type]  # the stubs take a flag of savez for one of the arrays
    return arrays
