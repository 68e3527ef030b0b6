"""How functions are compiled, and kept compiled: the one place that decides it.

`compiled` is for functions that Python calls, `inner` for those that only compiled code calls and that cost nothing of their
own (`linking`). A `unit` is one of the latter that another process may compile meanwhile (`side_process`). What is compiled lies
on disk, is made again when a source of its package changes, and is not believed when a byte of it is damaged (`code_cache`,
`checked_files`). What does not depend on the processor is kept too, and may come with a wheel (`portable`).

What this takes from Numba's inside: where a compiled function has its cache (``_cache``) and takes in code (``add_overload``), and
which class compiles it (``pipeline_class``). `tests/jit/test_code_cache.py` and `tests/jit/test_linking.py` fail where one of them
changes.
"""

from collections.abc import Callable
from typing import Any, TypeVar

import numba

from phist.jit.checks import CHECKS_BOUNDS
from phist.jit.code_cache import ShippedCode, SourcesCache
from phist.jit.linking import PartCompiler, WholeCompiler, make_unit

Function = TypeVar("Function", bound=Callable[..., Any])
_COMMON: dict[str, Any] = {"nogil": True, "no_cfunc_wrapper": True} | ({"boundscheck": True} if CHECKS_BOUNDS else {})
_ONLY_INSIDE: dict[str, Any] = {"no_cpython_wrapper": True}


def compiled(function: Function, **options: Any) -> Function:
    """Compile a function on its first call, and keep the code on disk, where there is a place to keep it.

    Args:
        options: of `numba.njit`.
    """
    result = numba.njit(**{**_COMMON, **options}, pipeline_class=WholeCompiler)(function)
    try:
        result._cache = SourcesCache(function)
    except RuntimeError:  # neither beside the sources nor at home may anything be written: memory must do
        result._cache = ShippedCode(function)
    return result  # type: ignore[no-any-return]


def inner(function: Function, **options: Any) -> Function:
    """Compile a function that only compiled code calls."""
    result: Function = numba.njit(**{**_COMMON, **_ONLY_INSIDE, **options}, pipeline_class=PartCompiler)(function)
    return result


def unit(function: Function, **options: Any) -> Function:
    """Compile a function of a module that only compiled code calls, as machine code of its own."""
    result: Any = compiled(function, **_ONLY_INSIDE, **options)
    if not hasattr(result, "add_overload"):  # NUMBA_DISABLE_JIT leaves functions as they are
        return function
    add_overload = result.add_overload

    def add_unit(overload: Any) -> None:
        make_unit(function, overload)
        add_overload(overload)

    result.add_overload = add_unit  # whether it was just compiled, or read from disk
    return result  # type: ignore[no-any-return]
