"""The engine's code for a processor and a system that this machine is not: run as a program, with a target triple.

Prints the intermediate code of a training step and of all that it calls, linked but not optimised. Numba types and lowers it
as it would there; what depends on the processor is chosen by the triple (`phist.engine.processor`).
"""

import sys
from unittest.mock import patch

import numba
from numba.core.caching import NullCache
from numba.core.codegen import CPUCodegen

from phist.engine import compiling, function
from phist.engine.share import run_share
from phist.jit import linking


class _LinkedError(Exception):
    """Raised instead of optimising the code and making machine code of it."""


def types_of_a_step():
    """Of the arguments of `run_share`, which are the same in every training."""
    seen = []
    with patch.object(function, "run_share", lambda *given: seen.append(tuple(map(numba.typeof, given)))):
        compiling._compute_something()
    return seen[-1]


def linked_code(types, triple):
    """Typed and lowered for a triple."""
    modules = []

    def link(library):
        for below in linking._with_all_below(library._linking_libraries):
            library._final_module.link_in(below._get_module_for_linking(), preserve=True)
        modules.append(library._final_module)
        raise _LinkedError

    def empty_module(codegen, name, make=CPUCodegen._create_empty_module):
        module = make(codegen, name)
        module.triple = triple
        return module

    run_share._cache = NullCache()
    with patch.object(CPUCodegen, "_create_empty_module", empty_module), patch.object(linking._WholeLibrary, "finalize", link):
        try:
            run_share.compile(types)
        except _LinkedError:
            return str(modules[-1])
    raise RuntimeError("the code was not linked by phist.jit.linking")


if __name__ == "__main__":
    print(linked_code(types_of_a_step(), sys.argv[1]))
