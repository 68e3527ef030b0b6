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
        "compiling._compile = lambda: (print('compiled', flush=True), time.sleep(1), pathlib.Path('done').touch())\n"
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


MODULE = """
import numpy as np
from phist.jit import compiled, inner, unit

@inner
def half(value):
    return value / 2

@unit
def smallest(values, result):
    if not len(values):
        raise ValueError("nothing to choose from")
    result[0] = half(2 * values.min())

@inner
def range_of(values, result):
    smallest(values, result)
    result[0] = values.max() - result[0]

@compiled
def top(values, result):
    range_of(values, result)
"""
START = """
import numpy as np
import units
from numba.core import event
values, result = np.array([3.0, -1.0, 8.0]), np.zeros(1)
with event.install_recorder("numba:compile") as recorder:
    units.top(values, result)
print(result[0], len(recorder.buffer) // 2 > 0, sum(units.smallest.stats.cache_hits.values()))
try:
    units.top(values[:0], result)
except ValueError as error:
    print(error)
"""
FRESH, READ = ("9.0 True 0", "nothing to choose from"), ("9.0 False 1", "nothing to choose from")


@pytest.fixture
def run_units(tmp_path):
    """A program with a unit, in a process of its own with a folder for code; returns what it prints."""
    (tmp_path / "units.py").write_text(MODULE)
    places = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    place = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "code"), "PYTHONPATH": places}

    def run(before="", after="", program=START, environment=None):
        command = [sys.executable, "-c", f"{before}\n{program}\n{after}"]
        ended = subprocess.run(command, env=place | (environment or {}), capture_output=True, text=True)
        assert ended.returncode == 0, ended.stderr
        return tuple(ended.stdout.splitlines())

    return run


def files_of(folder, name):
    return [path for path in folder.rglob("*.nb*") if f".{name}-" in path.name]


def test_a_unit_is_called_and_raises_as_other_functions_do(run_units):
    assert run_units() == FRESH


def test_code_that_calls_a_unit_is_read_from_disk_with_it(run_units):
    run_units()
    assert run_units() == READ


def test_code_that_calls_a_unit_finds_it_however_functions_are_numbered(run_units, tmp_path):
    run_units()
    for path in files_of(tmp_path, "smallest"):
        path.unlink()
    others = "import numba\nfor _ in range(3):\n    numba.njit(lambda: 1)()"  # in this process the unit has another name
    assert run_units(before=others) == FRESH
    assert run_units() == READ  # of two processes that named it differently


def test_a_unit_that_is_missing_on_disk_is_compiled_for_code_that_is_there(run_units, tmp_path):
    run_units()
    for path in files_of(tmp_path, "smallest"):
        path.unlink()
    assert run_units() == ("9.0 True 0", "nothing to choose from")


def test_a_unit_is_no_part_of_the_code_that_calls_it(run_units):
    names = "[name for name in (one.name for one in library.get_defined_functions()) if 'smallest' in name]"
    *_, said = run_units(after=f"(library,) = (one.library for one in units.top.overloads.values())\nprint(len({names}))")
    assert said == "0"


def test_a_unit_is_the_plain_function_where_numba_is_told_not_to_compile(run_units):
    program = "import units, numpy as np; result = np.zeros(1); units.top(np.array([3.0, 4.0]), result); print(result[0])"
    assert run_units(environment={"NUMBA_DISABLE_JIT": "1"}, program=program) == ("1.0",)
