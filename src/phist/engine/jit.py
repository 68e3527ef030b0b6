"""How functions of the engine are compiled: by `phist.jit`, with the liberties that the engine's arithmetic allows."""

from collections.abc import Callable
from typing import Any, cast

import numpy as np
from numba import types
from numba.extending import intrinsic as numba_intrinsic

from phist import jit
from phist.jit import Function

# A plain 0 or True is a type of its own for Numba, and whatever it is given to would be compiled once more for it.
ZERO, ONE = cast(int, np.int64(0)), cast(int, np.int64(1))
NO, YES = cast(bool, np.bool_(False)), cast(bool, np.bool_(True))
FUSE = ("contract", "nsz", "arcp")  # a product and a sum may be one instruction; nothing else is relaxed

# The engine's functions make no arrays and return none, so that nothing has to count references.
_OPTIONS: dict[str, Any] = {"fastmath": set(FUSE), "error_model": "numpy", "_nrt": False}


def intrinsic(function: Callable[..., Any]) -> Any:
    """An instruction of our own, from a function that types and generates it."""
    return numba_intrinsic(function)


def compiled(function: Function) -> Function:
    """Compile a function of the engine that Python calls."""
    return jit.compiled(function, **_OPTIONS)


def inner(function: Function) -> Function:
    """Compile a function that only compiled code calls."""
    return jit.inner(function, **_OPTIONS)


def unit(function: Function) -> Function:
    """Compile a function that only compiled code calls, as machine code of its own: for the few that are worth a process."""
    return jit.unit(function, **_OPTIONS)


@intrinsic
def never_inline(typing_context: Any) -> Any:
    """Called in a function: compile it once and call it, instead of putting its code wherever it is called."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.void(), generate
