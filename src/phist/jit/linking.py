"""How functions that call one another become one piece of machine code.

Numba optimises every function it compiles together with all that it calls, and makes machine code of it: of a function six
calls below the top it does so seven times, though only the top is ever called from outside. Here the others are typed and
turned into LLVM's intermediate code only. They are linked, optimised and made machine code of once, with the top.

A unit is a part that stays machine code of its own, so that another process can make it meanwhile (`side_process`). Nothing of it
is linked into its callers: they call it by its address, which is looked up whenever their code is made or read from disk.

What this takes from Numba's inside: the pass that lowers a function (`NativeLowering`), the flag ``no_compile`` that stops
it before machine code, the code libraries that it links, and the functions that a library has called when it is read from disk
(``_reload_init``). `tests/jit/test_linking.py` fails where one of them changes.
"""

from functools import partial
from importlib import import_module
from typing import Any

from llvmlite.binding import Linkage, add_symbol
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import CompilerBase, DefaultPassBuilder
from numba.core.compiler_machinery import register_pass
from numba.core.environment import lookup_environment
from numba.core.typed_passes import NativeLowering


class _PartLibrary(JITCodeLibrary):
    """Code of a function that only compiled code calls; it never is machine code of its own."""

    def finalize(self) -> None:
        self._finalize_dynamic_globals()  # type: ignore[no-untyped-call]
        self._finalized = True

    def _get_module_for_linking(self) -> Any:
        """With all code below, for a function that Numba compiles in its own way."""
        if self._shared_module is None:
            self._shared_module = copy_for_linking(self)
            for library in _with_all_below(self._linking_libraries):
                self._shared_module.link_in(library._get_module_for_linking(), preserve=True)
        return self._shared_module


class WholeLibrary(JITCodeLibrary):
    """Code of a function that Python calls, with that of all functions below it.

    ``linked`` is the code before it is optimised for this processor, ``environments`` the Python objects it refers to.
    """

    def finalize(self) -> None:
        below = _with_all_below(self._linking_libraries)
        self._linking_libraries: list[Any] = [library for library in below if not is_unit(library)]
        for load in [library.load_unit for library in below if is_unit(library)]:
            load()
            self._reload_init.add(load)
        super().finalize()  # type: ignore[no-untyped-call]

    def _optimize_final_module(self) -> None:
        self.linked: bytes = self._final_module.as_bitcode()
        found = [lookup_environment(variable.name) for variable in self._final_module.global_variables]
        self.environments = [environment for environment in found if environment is not None]
        super()._optimize_final_module()  # type: ignore[no-untyped-call]


def make_unit(function: Any, result: Any) -> None:
    """Have those who call a compiled function call it by its address."""
    where = function.__module__, function.__qualname__, tuple(result.signature.args)
    result.library.load_unit = partial(_load_unit, *where, result.fndesc.llvm_func_name)


def is_unit(library: Any) -> bool:
    return hasattr(library, "load_unit")


def _load_unit(module: str, name: str, types: tuple[Any, ...], symbol: str) -> None:
    """Tell LLVM where a unit is that other code calls ``symbol``: Numba numbers the names of functions in every process anew."""
    unit = getattr(import_module(module), name)
    unit.compile(types)
    result = unit.overloads[types]
    add_symbol(symbol, result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


class _OwnCode:
    """A part as a library to link that holds nothing but its own function."""

    def __init__(self, part: _PartLibrary) -> None:
        self._part, self._reload_init = part, part._reload_init

    def _get_module_for_linking(self) -> Any:
        return copy_for_linking(self._part)


def copy_for_linking(library: JITCodeLibrary) -> Any:
    """A copy in which functions may be defined more than once, as several parts bring the same ones."""
    module = library._final_module.clone()
    for function in module.functions:
        if not function.is_declaration and function.linkage == Linkage.external:
            function.linkage = "linkonce_odr"
    return module


def _with_all_below(libraries: list[Any]) -> list[Any]:
    """These and those that their parts call, callers first: LLVM leaves out what nothing linked so far asks for."""
    found: dict[int, Any] = {}

    def visit(library: Any) -> None:
        if id(library) not in found:
            is_part = isinstance(library, _PartLibrary)
            for below in library._linking_libraries if is_part else ():
                visit(below)
            found[id(library)] = _OwnCode(library) if is_part else library

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
        state.library = WholeLibrary(state.targetctx.codegen(), state.func_id.func_qualname)  # type: ignore[no-untyped-call]
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
