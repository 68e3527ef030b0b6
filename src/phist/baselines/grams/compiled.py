"""How the loops of the kernels are compiled."""

from collections.abc import Callable
from typing import Any

import numba


def compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    """Compile on first call and keep the result on disk, where there is a place to keep it."""
    try:
        return numba.njit(cache=True, nogil=True)(function)
    except RuntimeError:  # no writable place for the cache
        return numba.njit(nogil=True)(function)
