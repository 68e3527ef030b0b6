import os
import subprocess
import sys
from contextlib import contextmanager

import pytest

from phist.engine import compiling


@pytest.fixture
def missing(monkeypatch):
    """An engine that seems not to be compiled; yields what is done about it."""
    done = []

    @contextmanager
    def spinner(what):
        done.append(what)
        yield

    monkeypatch.setattr(compiling, "is_compiled", lambda: False)
    monkeypatch.setattr(compiling, "_compute_something", lambda: done.append("compiled"))
    monkeypatch.setattr(compiling, "waiting", spinner)
    compiling.prepare.cache_clear()
    yield done
    compiling.prepare.cache_clear()


def test_somebody_at_a_terminal_is_told_what_takes_so_long(missing, monkeypatch):
    monkeypatch.setattr(compiling, "somebody_looks", lambda show: True)
    compiling.prepare()
    assert missing == ["compiling the engine, once (about a minute)", "compiled"]


def test_nothing_is_said_in_a_pipe(missing, monkeypatch):
    monkeypatch.setattr(compiling, "somebody_looks", lambda show: False)
    compiling.prepare()
    assert missing == ["compiled"]


def test_it_is_looked_for_once_in_a_process(missing):
    compiling.prepare()
    compiling.prepare()
    assert missing.count("compiled") == 1


def test_nothing_is_computed_where_the_code_is_there(missing, monkeypatch):
    monkeypatch.setattr(compiling, "is_compiled", lambda: True)
    compiling.prepare()
    assert missing == []


def test_an_empty_folder_is_noticed_without_compiling(tmp_path):
    code = "from phist.engine.compiling import *; print(is_compiled(), code_folder(), [part.signatures for part in PARTS])"
    place = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    text = subprocess.run([sys.executable, "-c", code], env=place, capture_output=True, text=True, check=True).stdout
    assert text.startswith(f"False {tmp_path}")
    assert text.endswith("[[], [], []]\n")


def test_preparing_leaves_everything_compiled():
    compiling.prepare()
    assert compiling.is_compiled()
