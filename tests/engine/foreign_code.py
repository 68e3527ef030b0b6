"""The engine's code for processors and systems that this machine is not: run as a program, with a folder to write to.

A training step and all that it calls is typed and lowered as it would be on aarch64, and made assembly of for each target. That
is a program of its own because LLVM ends the process where a target lacks an instruction that the code asks for.
"""

import re
import sys
from contextlib import suppress
from pathlib import Path
from unittest.mock import patch

import numba
from llvmlite import binding
from numba.core.caching import NullCache
from numba.core.codegen import CPUCodegen, CPUCodeLibrary
from numba.core.runtime import rtsys

from phist.engine import batch_pass, compiling, worker
from phist.engine.jit import inner
from phist.engine.worker import run_worker
from phist.jit import linking

LINUX = ("aarch64-unknown-linux-gnu", "neoverse-n1")
MACOS = ("arm64-apple-macosx11.0.0", "apple-m1")
WINDOWS = ("x86_64-pc-windows-msvc", "x86-64-v3")


class _LinkedError(Exception):
    """Raised instead of optimising the code and making machine code of it."""


def types_of_a_step():
    """Of the arguments of `run_worker`, which are the same in every training."""
    seen = []
    with patch.object(batch_pass, "run_worker", lambda *given: seen.append(tuple(map(numba.typeof, given)))):
        compiling._compute_something()
    return seen[-1]


def linked_code(types, triple):
    """Intermediate code for a triple, linked but not optimised: that would be for this machine."""
    modules = []

    def link(library):
        for below in linking._with_all_below(library._linking_libraries):
            if below is not rtsys.library:  # Numba's runtime has been made for this machine
                library._final_module.link_in(below._get_module_for_linking(), preserve=True)
        modules.append(library._final_module)
        raise _LinkedError

    def empty_module(codegen, name, make=CPUCodegen._create_empty_module):
        module = make(codegen, name)
        module.triple = triple
        return module

    run_worker._cache = NullCache()
    with (
        patch.object(CPUCodegen, "_create_empty_module", empty_module),
        patch.object(CPUCodeLibrary, "_optimize_functions", lambda library, module: None),
        patch.object(CPUCodeLibrary, "_optimize_final_module", lambda library: None),
        patch.object(linking.WholeLibrary, "finalize", link),
        patch.object(worker, "forward", inner(worker.forward.py_func)),  # units would be made machine code of, for this machine
        patch.object(worker, "backward", inner(worker.backward.py_func)),
        suppress(_LinkedError),
    ):
        run_worker.compile(types)
    return without_runtime(str(modules[-1]))


def without_runtime(code):
    """The same with Numba's runtime only declared: what array functions brought along of it was made for this machine."""
    return re.sub(
        r"^define \S+ (void|ptr) @(NRT_\w+)\(ptr.*?\n\}\n", r"declare \1 @\2(ptr)\n", code, flags=re.MULTILINE | re.DOTALL
    )


def for_windows(code):
    """The same with what `phist.engine.processor` and `phist.engine.barrier` choose on Windows; all else does not differ."""
    code = re.sub(r"call void @llvm.aarch64.isb\(i32 15\)", "call void @llvm.x86.sse2.pause()", code)
    code = re.sub(r"call i64 @llvm.read_volatile_register.i64\(metadata !\d+\)", "call i64 @llvm.readcyclecounter()", code)
    code = code.replace("@usleep", "@Sleep")
    return code + "\ndeclare void @llvm.x86.sse2.pause()\ndeclare i64 @llvm.readcyclecounter()\n"


def assembly_of(code, triple, processor):
    # as files of code are: calls name what they call
    machine = binding.Target.from_triple(triple).create_target_machine(cpu=processor, opt=1, reloc="pic", codemodel="small")
    module = binding.parse_assembly(code)
    module.triple, module.data_layout = triple, str(machine.target_data)
    module.verify()
    return machine.emit_assembly(module)


def main(folder):
    """Write ``step.ll`` and an assembly file named after each processor."""
    code = linked_code(types_of_a_step(), LINUX[0])
    (folder / "step.ll").write_text(code)
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    for triple, processor in (LINUX, MACOS, WINDOWS):
        own = for_windows(code) if triple == WINDOWS[0] else code
        (folder / f"{processor}.s").write_text(assembly_of(own, triple, processor))


if __name__ == "__main__":
    main(Path(sys.argv[1]))
