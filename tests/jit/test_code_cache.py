"""Compiled code on disk: damaged files are made again, and a disk without room is named."""

import errno
import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import phist
from phist.descriptors.grams.distances import search
from phist.engine import jit
from phist.engine.worker import run_worker
from phist.errors import EngineNotice
from phist.graphs.formats.compiled import parse_integers
from phist.graphs.refinement import mix
from phist.jit import checked_files, code_cache


@pytest.fixture
def make(tmp_path, monkeypatch):
    """A function that is compiled afresh each time, or read from a folder of its own."""
    from numba.core import config

    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))

    def make():
        def double(number):
            return 2 * number

        return jit.compiled(double)

    return make


def files(tmp_path, suffix):
    return sorted(tmp_path.rglob(f"*{suffix}"))


def test_code_is_read_where_it_is_whole(make):
    assert make()(3) == 6
    again = make()
    assert again(3) == 6
    assert sum(again.stats.cache_hits.values()) == 1


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", ["flip", "cut", "empty", "other", "folder"])
def test_damaged_code_is_made_again(make, tmp_path, suffix, damage):
    assert make()(3) == 6
    (path,) = files(tmp_path, f"-checked*{suffix}")
    for portable in files(tmp_path, f"-portable*{suffix}"):
        portable.unlink()
    content = np.frombuffer(path.read_bytes(), np.uint8).copy()
    if damage == "flip":
        content[len(content) // 2] ^= 4
    path.unlink()
    if damage == "folder":
        path.mkdir()
    else:
        path.write_bytes({"flip": content.tobytes(), "cut": content[:-5].tobytes(), "empty": b"", "other": b"\x80\x04."}[damage])
    if damage == "folder":
        with pytest.warns(EngineNotice, match="cannot be kept"):
            assert make()(3) == 6
        return
    assert make()(3) == 6
    again = make()
    assert again(3) == 6
    assert sum(again.stats.cache_hits.values()) == 1


def test_a_disk_without_room_is_named_and_the_work_goes_on(make, tmp_path, monkeypatch):
    def full(self, path, content):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(checked_files.CheckedFiles, "_write", full)
    with pytest.warns(EngineNotice, match=rf"{tmp_path}.*No space left on device; make room there"):
        assert make()(3) == 6


def test_code_of_another_numba_is_not_read(make, monkeypatch):
    assert make()(3) == 6
    monkeypatch.setattr(numba, "__version__", "99.0")
    later = make()
    assert later(3) == 6
    assert not later.stats.cache_hits


def test_everything_that_is_compiled_is_compiled_and_kept_in_one_way():
    root = Path(phist.__file__).parent
    others = [path for path in root.rglob("*.py") if "njit" in path.read_text() and path.parent.name != "jit"]
    assert others == []
    assert all(isinstance(function._cache, code_cache.SourcesCache) for function in (parse_integers, mix, search, run_worker))


@pytest.mark.parametrize("function", [parse_integers, search])
def test_code_outside_the_engine_is_out_of_date_when_a_source_of_its_package_changes(function):
    other = code_cache.digest_of("phist.engine.worker")
    assert function._cache.digest == code_cache.digest_of(function.__module__) != other


MODULE = """
import numpy as np
from phist.jit import compiled

@compiled
def sums(values):
    if not len(values):
        raise ValueError("nothing to add up")
    return values.sum() + np.zeros(2, np.float32)
"""
PROGRAM = """
import sys
import numpy as np
from module_to_compile import sums
print(*sums(np.ones(3)), sum(sums.stats.cache_hits.values()))
try:
    sums(np.ones(0))
except ValueError as error:
    print(error)
print(*({"numba.np.arraymath", "numba.cpython.setobj", "scipy.linalg"} & set(sys.modules)))
"""


def test_reading_code_does_not_load_what_only_compiling_needs(tmp_path):
    (tmp_path / "module_to_compile.py").write_text(MODULE)
    places = [str(tmp_path), os.environ.get("PYTHONPATH", "")]
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "code"), "PYTHONPATH": os.pathsep.join(places)}
    command = [sys.executable, "-c", PROGRAM]
    first, second = (subprocess.run(command, env=environment, check=True, capture_output=True, text=True) for _ in range(2))
    assert first.stdout.splitlines()[:2] == ["3.0 3.0 0", "nothing to add up"]
    assert second.stdout.splitlines() == ["3.0 3.0 1", "nothing to add up", ""]
