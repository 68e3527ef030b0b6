"""Code that is typed, lowered and linked, but not yet made for a processor: the same on all machines of a system.

Typing and lowering are four fifths of compiling, and depend only on the sources and on the versions of Python, Numba and
LLVM. What they leave, LLVM's intermediate code, is kept beside the machine code, and a wheel may bring it along. A first
use, or a first use on another kind of processor, then optimises it and makes machine code of it, and no more.

What this takes from Numba's inside: the optimiser of a code library, the target machine of a code generator, and the form in
which machine code lies on disk. `tests/jit/test_portable.py` fails where one of them changes.
"""

import sys
from pathlib import Path
from typing import Any

import llvmlite
from llvmlite.binding import parse_bitcode
from numba.core.caching import FunctionCache

from phist.jit.checked_files import CheckedFiles
from phist.jit.linking import WholeLibrary, copy_for_linking

SHIPPED = Path(__file__).parent / "shipped"  # what came with the installation, if anything did
SUFFIX = "-portable"

Content = tuple[Any, ...]  # what Numba keeps of compiled code: the library, then the rest


class PortableCode:
    """The portable code of one function, for each kind of its arguments, in a folder."""

    def __init__(self, function: Any, folder: Path, digest: str) -> None:
        self._py_func = function
        name = f"{function.__module__}.{function.__qualname__}-{function.__code__.co_firstlineno}"
        python = f"{sys.implementation.cache_tag}{getattr(sys, 'abiflags', '')}"
        plain = name.replace("<", "").replace(">", "")  # Windows has no files of such names
        self._files = CheckedFiles(str(folder), f"{plain}.{python}{SUFFIX}", digest)  # type: ignore[no-untyped-call]

    def load(self, signature: Any, codegen: Any) -> Content | None:
        """Code made by these versions from these sources, or ``None``."""
        content: Content | None = self._files.load(self._key(signature, codegen))  # type: ignore[no-untyped-call]
        return content

    def save(self, signature: Any, codegen: Any, content: Content) -> None:
        """Keep code; the folder is there."""
        self._files.save(self._key(signature, codegen), content)  # type: ignore[no-untyped-call]

    def is_there(self, codegen: Any) -> bool:
        """Whether there is code for arguments of some kind."""
        return self._files.holds(self._key(None, codegen)[1:])

    def _key(self, signature: Any, codegen: Any) -> Any:
        _, _processor, *sources = FunctionCache._index_key(self, signature, codegen)  # type: ignore[arg-type]  # all it needs is the function
        return (signature, codegen._llvm_module.triple, codegen._data_layout, llvmlite.__version__, *sources)


def without_machine_code(content: Content, library: WholeLibrary) -> Content:
    """What is kept as portable code."""
    return ((library.name, library.linked), *content[1:])


def with_machine_code(content: Content, codegen: Any) -> Content:
    """What Numba would have kept, had everything been compiled here."""
    (name, linked), *rest = content
    library = WholeLibrary(codegen, name)  # type: ignore[no-untyped-call]
    library._final_module = parse_bitcode(linked)
    library._optimize_final_module()
    machine_code = codegen._tm.emit_object(library._final_module)
    return ((name, "object", (machine_code, copy_for_linking(library).as_bitcode())), *rest)
