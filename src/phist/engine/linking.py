"""How the engine's functions become one piece of machine code.

Numba optimises every function it compiles together with all that it calls, and makes machine code of it: of a function six
calls below the top it does so seven times, though only the top is ever called from outside. Here the others are typed and
turned into LLVM's intermediate code only. They are linked, optimised and made machine code of once, with the top.

What this takes from Numba's inside: the pass that lowers a function (`NativeLowering`), the flag ``no_compile`` that stops
it before machine code, and the code libraries that it links. `tests/engine/test_linking.py` fails where one of them changes.
"""

from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.typed_passes import NativeLowering


class _PartLibrary(JITCodeLibrary):
    """Code of a function that only compiled code calls: nothing is linked to it, and it never is machine code."""

    def finalize(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True


class _WholeLibrary(JITCodeLibrary):
    """Code of a function that Python calls, with that of all functions below it."""

    def finalize(self) -> None:
        self._linking_libraries: list[Any] = _with_all_below(self._linking_libraries)
        super().finalize()  # type: ignore[no-untyped-call]


def _with_all_below(libraries: list[Any]) -> list[Any]:
    """These and those that their parts call, callers first: LLVM leaves out what nothing linked so far asks for."""
    found: dict[int, Any] = {}

    def visit(library: Any) -> None:
        if id(library) not in found:
            for below in library._linking_libraries if isinstance(library, _PartLibrary) else ():
                visit(below)
            found[id(library)] = library

    for library in libraries:
        visit(library)
    return list(found.values())[::-1]


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerPart(NativeLowering):
    _name = "phist_lower_part"

    def run_pass(self, state: Any) -> bool:
        state.library = _PartLibrary(state.targetctx.codegen(), state.func_id.func_qualname)  # type: ignore[no-untyped-call]
        state.flags.no_compile = True
        super().run_pass(state)  # type: ignore[no-untyped-call]
        stand_in: Any = [].clear  # Numba looks functions up by the callable that Python has; nothing ever calls this one
        state.targetctx.insert_user_function(stand_in, state.cr.fndesc, [state.library])
        state["cr"] = state.cr._replace(cfunc=stand_in)
        return True


@register_pass(mutates_CFG=True, analysis_only=False)
class _LowerWhole(NativeLowering):
    _name = "phist_lower_whole"

    def run_pass(self, state: Any) -> bool:
        state.library = _WholeLibrary(state.targetctx.codegen(), state.func_id.func_qualname)  # type: ignore[no-untyped-call]
        state.library.enable_object_caching()
        return bool(super().run_pass(state))  # type: ignore[no-untyped-call]


class _Compiler(CompilerBase):
    """Numba's, with another last step."""

    lowering: type[NativeLowering]

    def define_pipelines(self) -> list[Any]:
        passes = DefaultPassBuilder.define_nopython_pipeline(self.state)
        passes.passes = [(self.lowering if own is NativeLowering else own, why) for own, why in passes.passes]
        passes.finalize()
        return [passes]


class PartCompiler(_Compiler):
    """Of functions that only compiled code calls."""

    lowering = _LowerPart


class WholeCompiler(_Compiler):
    """Of functions that Python calls."""

    lowering = _LowerWhole
