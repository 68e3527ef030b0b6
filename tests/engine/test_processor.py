"""What the engine is on processors and systems that tests do not run on: compiled for them here, and read."""

import re
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from llvmlite import binding

from phist.engine.processor import cycles, family_of, pause

ARM = [("aarch64-unknown-linux-gnu", "neoverse-n1"), ("arm64-apple-macosx11.0.0", "apple-m1")]
WINDOWS = ("x86_64-pc-windows-msvc", "x86-64-v3")
OPEN_REGISTERS = {"CNTVCT_EL0", "FPCR", "FPSR", "NZCV", "TPIDR_EL0"}  # what programs may read on aarch64
NUMBA_OWN = re.compile(r"(NRT|numba|Py|_Py)_?\w+")  # in its helper library, or in Python itself
OF_C = {"sqrt", "sqrtf", "exp", "expf", "log", "logf", "pow", "powf", "fmod", "memcpy", "memset", "memmove", "bzero"}
OF_SYSTEM = {"linux": {"usleep"}, "macosx": {"usleep"}, "windows": {"Sleep", "__chkstk", "_fltused"}}


@pytest.fixture(scope="module")
def code_for_arm():
    """The intermediate code of a training step for aarch64."""
    program = Path(__file__).with_name("foreign_code.py")
    ended = subprocess.run([sys.executable, program, ARM[0][0]], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr[-2000:]
    return ended.stdout


def for_windows(code):
    """The same code with what `phist.engine.processor` and `phist.engine.barrier` choose there instead."""
    hint = "call void @llvm.x86.sse2.pause()"
    code = re.sub(r"call void @llvm.aarch64.isb\(i32 15\)", hint, code)
    code = re.sub(r"call i64 @llvm.read_volatile_register.i64\(metadata !\d+\)", "call i64 @llvm.readcyclecounter()", code)
    code = code.replace("@usleep", "@Sleep")
    return code + "\ndeclare void @llvm.x86.sse2.pause()\ndeclare i64 @llvm.readcyclecounter()\n"


def compile_for(code, triple, processor):
    """Assembly and the symbols that it needs from outside."""
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    machine = binding.Target.from_triple(triple).create_target_machine(cpu=processor, opt=1)
    module = binding.parse_assembly(code)
    module.triple, module.data_layout = triple, str(machine.target_data)
    module.verify()
    assembly = machine.emit_assembly(module)
    defined = set(re.findall(r'^"?([\w.$@?<>]+)"?:', assembly, re.MULTILINE))
    called = set(re.findall(r'^\s+(?:bl|b|callq?|jmp)\s+"?([A-Za-z_][\w.$]*)"?\s*(?:$|[;#])', assembly, re.MULTILINE))
    return assembly, called - defined


def is_known(symbol, triple):
    system = next(name for name in OF_SYSTEM if name in triple)
    name = symbol.removeprefix("_") if system == "macosx" else symbol
    return bool(NUMBA_OWN.fullmatch(name)) or name in OF_C | OF_SYSTEM[system]


@pytest.mark.parametrize(("triple", "processor"), ARM)
def test_on_arm_a_training_step_reads_no_register_that_the_system_keeps(code_for_arm, triple, processor):
    assert "readcyclecounter" not in code_for_arm
    assembly, needed = compile_for(code_for_arm, triple, processor)
    assert set(re.findall(r"\bmrs\s+\w+, (\w+)", assembly)) <= OPEN_REGISTERS
    assert re.search(r"^\s+isb\b", assembly, re.MULTILINE)  # in the loops that wait
    assert not {symbol for symbol in needed if not is_known(symbol, triple)}


def test_on_windows_a_training_step_needs_nothing_that_is_not_there(code_for_arm):
    assembly, needed = compile_for(for_windows(code_for_arm), *WINDOWS)
    assert re.search(r"^\s+pause\b", assembly, re.MULTILINE)
    assert not {symbol for symbol in needed if not is_known(symbol, WINDOWS[0])}


@pytest.mark.parametrize(
    ("triple", "family"),
    [
        ("x86_64-unknown-linux-gnu", "x86"),
        ("i686-pc-windows-msvc", "x86"),
        ("arm64-apple-darwin23", "aarch64"),
        ("s390x-ibm", "other"),
    ],
)
def test_processors_are_told_apart_by_their_triple(triple, family):
    assert family_of(triple) == family


def test_pausing_changes_nothing():
    @numba.njit
    def add_slowly(count):
        total = 0
        for number in range(count):
            pause()
            total += number
        return total

    assert add_slowly(100) == 4950


def test_the_clock_does_not_go_back():
    now = numba.njit(lambda: cycles())
    assert now() <= now()
