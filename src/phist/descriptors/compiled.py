"""How the loops of kernels, profiles and coarsening are compiled."""

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile on first call and keep the result on disk, where there is a place to keep it.

    What is kept is renewed when its own file changes, not when a function that it calls from another file does: touch both.
    """
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # no writable place for the cache
        return numba.njit(nogil=True)(function)
