"""Functions that only compiled code calls become no machine code of their own, and what Python calls is whole."""

import os
import subprocess
import sys

import numba
import numpy as np
import pytest

from phist import jit
from phist.engine import compiling
from phist.jit.linking import WholeLibrary, _PartLibrary


def _libraries(function):
    return [overload.library for overload in function.overloads.values()]


@pytest.fixture
def made():
    @jit.inner
    def largest(values):
        return np.sort(values)[-1]  # a function of Numba's own below one of ours

    @jit.inner
    def both(values):
        return largest(values) + largest(-values)

    @jit.compiled
    def top(values):
        return both(values) - max(values[0], 0.0)

    top._cache = numba.core.caching.NullCache()
    return top, both, largest


def test_calls_through_several_functions_compute(made):
    values = np.array([3.0, -1.0, 8.0])
    assert made[0](values) == (8 + 1) - 3


def test_only_what_python_calls_is_machine_code(made):
    top, both, largest = made
    top(np.ones(3))
    assert all(isinstance(library, _PartLibrary) for part in (both, largest) for library in _libraries(part))
    (whole,) = _libraries(top)
    assert isinstance(whole, WholeLibrary)
    assert whole.get_pointer_to_function(next(iter(top.overloads.values())).fndesc.llvm_func_name)


def test_functions_that_numba_compiles_in_its_own_way_may_call_parts(made):
    _, both, _ = made

    @numba.njit
    def outside(values):
        return 2 * both(values)

    assert outside(np.array([3.0, -1.0, 8.0])) == 18
    assert numba.njit(lambda values: outside(values) + both(values))(np.array([3.0, -1.0, 8.0])) == 27


def test_a_function_is_compiled_for_each_kind_of_argument(made):
    top, both, _ = made
    assert top(np.array([1.0, 2.0])) == top(np.array([1.0, 2.0], np.float32))
    assert len(both.overloads) == 2


def test_two_processes_that_begin_together_compile_once(tmp_path):
    program = (
        "import phist.engine.compiling as compiling, pathlib, time\n"
        "compiling._compute_something = lambda: (print('compiled', flush=True), time.sleep(1), pathlib.Path('done').touch())\n"
        "compiling.is_compiled = lambda: pathlib.Path('done').exists()\n"
        "compiling.prepare()"
    )
    place = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "code")}
    both = [subprocess.Popen([sys.executable, "-c", program], env=place, cwd=tmp_path, stdout=subprocess.PIPE) for _ in range(2)]
    said = b"".join(process.communicate()[0] for process in both)
    assert [process.returncode for process in both] == [0, 0]
    assert said == b"compiled\n"


def test_a_folder_that_cannot_be_locked_does_not_keep_from_compiling(tmp_path, monkeypatch):
    file = tmp_path / "file"
    file.touch()
    monkeypatch.setattr(compiling, "code_folder", lambda: file / "below")
    compiled = []
    with compiling._one_process():
        compiled.append("all the same")
    assert compiled and not (file / "below").exists()
