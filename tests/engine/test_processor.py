"""What the engine is on processors and systems that tests do not run on: compiled for them here, and read."""

import re
import subprocess
import sys
from pathlib import Path

import numba
import pytest

from phist.engine.compiling import prepare
from phist.engine.processor import cycles, family_of, pause

OPEN_REGISTERS = {"CNTVCT_EL0", "FPCR", "FPSR", "NZCV", "TPIDR_EL0"}  # what programs may read on aarch64
OF_NUMBA = re.compile(r"(NRT|numba|Py)_?\w+")  # in its helper library, or in Python itself
OF_C = {"sqrt", "sqrtf", "exp", "expf", "log", "logf", "pow", "powf", "fmod", "fmaf", "memcpy", "memset", "memmove", "bzero"}
POSIX, WINDOWS = {"usleep"}, {"Sleep", "__chkstk", "_fltused"}


@pytest.fixture(scope="module")
def step(tmp_path_factory):
    """A folder with the code of a training step for other machines."""
    prepare()  # what the program runs on the way is then on disk
    folder = tmp_path_factory.mktemp("step")
    program = Path(__file__).with_name("foreign_code.py")
    ended = subprocess.run([sys.executable, program, folder], capture_output=True, text=True)
    assert ended.returncode == 0, ended.stderr[-2000:]
    return folder


def missing_symbols(assembly, known, prefix=""):
    """What is called and neither defined nor known to be there."""
    defined = set(re.findall(r'^"?([\w.$@]+)"?:', assembly, re.MULTILINE))
    called = set(re.findall(r'^\s+(?:bl|b|callq?|jmp)\s+"?([A-Za-z_][\w.$]*)"?\s*(?:$|[;#])', assembly, re.MULTILINE))
    names = {name.removeprefix(prefix) for name in called - defined if not name.startswith((".L", "LBB"))}
    assert names & known  # calls are found at all
    return {name for name in names if name not in known and not OF_NUMBA.fullmatch(name)}


@pytest.mark.parametrize(("processor", "prefix"), [("neoverse-n1", ""), ("apple-m1", "_")])
def test_on_arm_a_training_step_reads_no_register_that_the_system_keeps(step, processor, prefix):
    assert "readcyclecounter" not in (step / "step.ll").read_text()
    assembly = (step / f"{processor}.s").read_text()
    assert set(re.findall(r"\bmrs\s+\w+, (\w+)", assembly)) <= OPEN_REGISTERS
    assert re.search(r"^\s+isb\b", assembly, re.MULTILINE)  # in the loops that wait
    assert not missing_symbols(assembly, OF_C | POSIX, prefix)


def test_on_windows_a_training_step_needs_nothing_that_is_not_there(step):
    assembly = (step / "x86-64-v3.s").read_text()
    assert re.search(r"^\s+pause\b", assembly, re.MULTILINE)
    assert not missing_symbols(assembly, OF_C | WINDOWS)


def test_nothing_in_a_training_step_counts_references(step):
    assert not re.search(r"\b(?:bl|b)\s+_?NRT_", (step / "neoverse-n1.s").read_text())


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
