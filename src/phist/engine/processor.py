"""Instructions that depend on the kind of processor: the pause hint of a thread that waits, and a clock for benchmarks.

LLVM's own counter of cycles is not for every processor: on aarch64, versions before 20 read a register that the system
keeps for itself, and the program ends there.

What this takes from Numba's inside: how a function is declared that LLVM has (`cgutils`). `tests/engine/test_processor.py` fails
where it changes.
"""

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils

from phist.engine.jit import intrinsic

# LLVM's names and what they are called with; inline assembly would need a parser that Numba does not load. On aarch64
# "yield" takes no time on most processors, so that looks would come too often; "isb" makes a short pause.
_PAUSES = {"x86": ("llvm.x86.sse2.pause", ()), "aarch64": ("llvm.aarch64.isb", (15,))}
_AARCH64_CLOCK = "cntvct_el0"  # a register that Linux, macOS and Windows leave to programs


def family_of(triple: str) -> str:
    """The kind of processor that code is generated for.

    >>> family_of("x86_64-pc-windows-msvc"), family_of("arm64-apple-darwin20"), family_of("riscv64-unknown-linux-gnu")
    ('x86', 'aarch64', 'other')
    """
    name = triple.partition("-")[0]
    if name.startswith(("aarch64", "arm64")):
        return "aarch64"
    return "x86" if name in ("x86_64", "amd64", "i386", "i486", "i586", "i686") else "other"


@intrinsic
def pause(typing_context: Any) -> Any:
    """Tell the processor that this thread only waits: it then leaves more to the other thread of its core, and to the memory.

    A processor that is not known here does nothing.
    """

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        name, values = _PAUSES.get(family_of(builder.module.triple), (None, ()))
        if name is not None:
            hint = ir.FunctionType(ir.VoidType(), [ir.IntType(32)] * len(values))
            numbers = [ir.Constant(ir.IntType(32), value) for value in values]
            builder.call(cgutils.get_or_insert_function(builder.module, hint, name), numbers)
        return context.get_dummy_value()

    return types.void(), generate


@intrinsic
def cycles(typing_context: Any) -> Any:
    """The processor's clock, which has a rate of its own on every kind; it stands still on one that is not known here."""

    def generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        number, family = ir.IntType(64), family_of(builder.module.triple)
        if family == "x86":
            counter = ir.FunctionType(number, [])
            return builder.call(cgutils.get_or_insert_function(builder.module, counter, "llvm.readcyclecounter"), ())
        if family == "aarch64":
            reader = ir.FunctionType(number, [ir.MetaDataType()])
            function = cgutils.get_or_insert_function(builder.module, reader, "llvm.read_volatile_register.i64")
            return builder.call(function, [builder.module.add_metadata([_AARCH64_CLOCK])])
        return ir.Constant(number, 0)

    return types.int64(), generate
