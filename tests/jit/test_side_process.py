"""A second process compiles beside this one, and nothing depends on it."""

import gc
import os
import subprocess
import sys
from types import SimpleNamespace

import pytest
from numba import types

from phist.jit import side_process
from phist.jit.side_process import SideProcess, compiling_beside, rare_garbage_collection

MODULE = """
from phist.jit import compiled, unit

@unit
def first(values):
    values[0] = 1

@unit
def second(values):
    values[1] = 2

@compiled
def both(values):
    first(values)
    second(values)

@compiled
def other(values):
    values[0] = 1
"""
PROGRAM = """
import sys
import numpy as np
import side_by_side
from phist.jit import side_process
from phist.jit.side_process import compiling_beside

def run(cores=2):
    side_process.usable_cores = lambda: cores
    values = np.zeros(2)
    same = lambda types: types
    with compiling_beside(side_by_side.first, {{side_by_side.second: same}}, {{side_by_side.other: same}}):
        side_by_side.both(values)
    hits = [sum(function.stats.cache_hits.values()) for function in (side_by_side.first, side_by_side.second)]
    return values.tolist() == [1, 2], *hits

if __name__ == "__main__":
    {before}
    {call}
"""
ALONE, TOGETHER = "True 0 0", "True 0 1"  # what comes from disk of the two units: the second, where another process made it


@pytest.fixture
def run(tmp_path):
    """A program that compiles two units, in a folder of its own; returns what it prints."""
    (tmp_path / "side_by_side.py").write_text(MODULE)
    places = os.pathsep.join([str(tmp_path), os.environ.get("PYTHONPATH", "")])
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "code"), "PYTHONPATH": places}

    def run(before="pass", call="print(*run())"):
        program = tmp_path / "program.py"
        program.write_text(PROGRAM.format(before=before, call=call))
        ended = subprocess.run([sys.executable, program], env=environment, capture_output=True, text=True, timeout=100)
        assert ended.returncode == 0, ended.stderr
        return ended.stdout.strip()

    return run


def test_a_second_process_compiles_a_unit_that_this_one_takes_from_disk(run):
    assert run() == TOGETHER


def test_the_second_process_finds_what_only_this_one_has_on_its_path(run, tmp_path):
    folder = tmp_path / "elsewhere"
    folder.mkdir()
    (tmp_path / "side_by_side.py").rename(folder / "other_side.py")
    (tmp_path / "side_by_side.py").write_text(f"import sys\nsys.path.append({str(folder)!r})\nfrom other_side import *\n")
    assert run() == TOGETHER


@pytest.mark.parametrize(
    "before",
    [
        "run.__defaults__ = (1,)",
        "sys.executable = ''",
        "sys.executable = '/nowhere/python'",
        "side_process._PROGRAM = 'raise SystemExit(3)'",
        "side_process._PROGRAM = 'import os; os.abort()'",
        "side_process._PROGRAM = 'import time; time.sleep(60)'; side_process.MOST_SECONDS = 0.2",
    ],
    ids=["one core", "no Python", "a Python that is gone", "an end at once", "a crash", "a hang"],
)
def test_without_a_second_process_everything_is_compiled_here(run, before):
    assert run(before) == ALONE


@pytest.mark.parametrize("executable", [None, "/usr/bin/uwsgi", r"C:\\Program Files\\Blender\\blender.exe"])
def test_a_program_that_has_python_in_it_does_not_start_itself(monkeypatch, executable):
    monkeypatch.setattr(side_process, "usable_cores", lambda: 2)
    monkeypatch.setattr(sys, "executable", executable)
    monkeypatch.setattr(subprocess, "Popen", lambda *given, **options: pytest.fail("it was started"))
    assert SideProcess("phist")._process is None


def test_a_process_that_may_have_no_children_compiles_with_a_second_one(run):
    call = "import multiprocessing; print(*multiprocessing.get_context('spawn').Pool(1).apply(run))"  # whose workers are daemons
    assert run(call=call) == TOGETHER


def test_a_worker_of_loky_compiles_with_a_second_process(run):
    call = "import joblib; print(*joblib.Parallel(2)([joblib.delayed(run)()])[0])"
    assert run(call=call) == TOGETHER


def test_the_second_process_ends_with_what_it_is_for(monkeypatch):
    monkeypatch.setattr(side_process, "usable_cores", lambda: 2)
    process = SideProcess("phist")
    process.end()
    assert process._process.returncode is not None


def test_the_second_process_ends_where_the_work_goes_wrong(monkeypatch):
    ended = []
    monkeypatch.setattr(side_process, "_start", lambda module: None)
    monkeypatch.setattr(SideProcess, "end", lambda self: ended.append(self))
    with pytest.raises(KeyboardInterrupt), compiling_beside(fake(), {fake(): lambda given: given}, {}):
        raise KeyboardInterrupt
    assert len(ended) == 1


def test_a_process_that_nobody_talks_to_any_more_ends(tmp_path):
    program = side_process._PROGRAM.format(path=sys.path, module="phist")
    ended = subprocess.run([sys.executable, "-c", program], stdin=subprocess.DEVNULL, capture_output=True, timeout=60)
    assert (ended.returncode, ended.stderr) == (0, b"")


def test_what_was_not_asked_for_is_not_waited_for():
    SideProcess("phist").wait_for(fake(), ())


def test_a_process_that_hangs_is_waited_for_once(monkeypatch):
    monkeypatch.setattr(side_process, "usable_cores", lambda: 2)
    monkeypatch.setattr(side_process, "_PROGRAM", "import time; time.sleep(60)")
    monkeypatch.setattr(side_process, "MOST_SECONDS", 0.1)
    process, never = SideProcess("phist"), fake()
    process.ask(never, ())
    process.wait_for(never, ())
    assert not process._runs()


def test_what_is_compiled_here_is_compiled_before_the_second_process_is_waited_for(monkeypatch):
    done, first = [], fake()
    monkeypatch.setattr(SideProcess, "ask", lambda self, unit, types: done.append(("asked for", unit, types)))
    monkeypatch.setattr(SideProcess, "wait_for", lambda self, unit, types: done.append(("waited for", unit, types)))
    own = fake()
    own.compile = lambda types: done.append(("compiled", types))
    with compiling_beside(first, {first: lambda types: types}, {own: lambda types: (*types, 2)}):
        first._cache.load_overload((1,), None)
    assert done == [("asked for", first, (1,)), ("compiled", (1, 2)), ("waited for", first, (1,))]


def test_the_second_process_imports_what_it_will_need_before_it_is_asked(tmp_path):
    (tmp_path / "will_be_needed.py").write_text("print('imported', flush=True)")
    program = side_process._PROGRAM.format(path=[str(tmp_path), *sys.path], module="will_be_needed")
    process = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    assert process.stdout.readline() == "imported\n"
    process.communicate(timeout=60)


def test_caches_and_garbage_collection_are_as_before():
    first, second, before = fake(), fake(), gc.get_threshold()
    with compiling_beside(first, {second: lambda given: given}, {}):
        assert gc.get_threshold()[0] == side_process.GARBAGE
        assert first._cache.load_overload((types.int64,), None) is None
    assert "load_overload" not in vars(first._cache) | vars(second._cache)
    assert gc.get_threshold() == before


def test_what_was_there_before_is_not_looked_through_while_compiling():
    gc.unfreeze()
    with rare_garbage_collection():
        assert gc.get_freeze_count() > 1000
    assert gc.get_freeze_count() == 0


def test_objects_that_somebody_else_keeps_from_being_looked_through_stay_so():
    gc.freeze()
    try:
        with rare_garbage_collection():
            pass
        assert gc.get_freeze_count() > 1000
    finally:
        gc.unfreeze()


def fake():
    """What stands for a compiled function."""

    class Cache:
        def load_overload(self, types, target_context):
            return None

        def is_compiled(self, codegen):
            return False

    def function():
        return None

    function._cache = Cache()
    function.targetctx = SimpleNamespace(codegen=lambda: None)
    return function
