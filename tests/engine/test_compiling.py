import os
import subprocess
import sys
from contextlib import contextmanager

import numpy as np
import pytest
import torch
from engine_truth import SMALL, fused_computation, random_graphs, settled_network, some_draws

from phist.engine import compiling, jit
from phist.errors import EngineNotice
from phist.jit import code_cache
from phist.nn.sampling import draw_all


@pytest.fixture
def missing(monkeypatch):
    """An engine that seems not to be compiled; yields what is done about it."""
    done = []

    @contextmanager
    def spinner(what):
        done.append(what)
        yield

    monkeypatch.setattr(compiling, "is_compiled", lambda: False)
    monkeypatch.setattr(compiling, "_compile", lambda: done.append("compiled"))
    monkeypatch.setattr(compiling, "waiting", spinner)
    compiling.prepare.cache_clear()
    yield done
    compiling.prepare.cache_clear()


@pytest.mark.parametrize(("portable", "time"), [(False, "about half a minute"), (True, "some seconds")])
def test_somebody_at_a_terminal_is_told_what_takes_so_long(missing, monkeypatch, portable, time):
    monkeypatch.setattr(compiling, "somebody_looks", lambda show: True)
    monkeypatch.setattr(compiling, "is_portable", lambda: portable)
    compiling.prepare()
    assert missing == [f"compiling the engine, once ({time})", "compiled"]


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
    code = "from phist.engine.compiling import *; print(is_compiled(), code_folder(), [function.signatures for function in SLOW])"
    place = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path)}
    text = subprocess.run([sys.executable, "-c", code], env=place, capture_output=True, text=True, check=True).stdout
    assert text.startswith(f"False {tmp_path}")
    assert text.endswith("[[], [], [], []]\n")


@pytest.fixture
def nowhere(monkeypatch):
    """Numba finds no folder to write to."""
    monkeypatch.setattr(code_cache.SourcesCache._impl_class, "_locator_classes", [])


def test_code_that_cannot_be_kept_is_compiled_all_the_same(nowhere):
    @jit.compiled
    def double(number):
        return 2 * number

    assert double(3) == 6


def test_without_a_folder_preparing_says_so_once(missing, nowhere, monkeypatch):
    monkeypatch.setattr(compiling, "run_worker", jit.compiled(lambda: 0))
    with pytest.warns(EngineNotice, match="NUMBA_CACHE_DIR") as said:
        compiling.prepare()
        compiling.prepare()
    assert len(said) == 1
    assert missing[-1] == "compiled"


def test_without_a_folder_nothing_is_looked_for_on_disk(nowhere, monkeypatch):
    homeless = jit.compiled(lambda: 0)
    monkeypatch.setattr(compiling, "run_worker", homeless)
    monkeypatch.setattr(compiling, "SLOW", (homeless,))
    assert compiling.code_folder() is None
    assert not compiling.is_compiled()


def test_preparing_leaves_everything_compiled():
    compiling.prepare()
    assert compiling.is_compiled()
    assert compiling.is_portable()  # for another processor that shares the folder


def run_all(threads):
    """Everything that the engine can be asked for."""
    graphs = random_graphs([6, 9, 1], seed=0)
    network, chosen, sizes = settled_network(SMALL), np.arange(3), graphs.node_counts()
    computation = fused_computation(network, graphs, threads=threads)
    computation.loss_backward(chosen[1:], some_draws(graphs).part(1, 3), chosen[1:], np.ones(2, np.float32))
    computation.scores(chosen, draw_all(sizes)).sum().backward()
    with torch.no_grad():
        computation.node_embeddings(chosen, some_draws(graphs))


@pytest.mark.parametrize("threads", [1, 2])
def test_whatever_the_engine_is_asked_for_runs_the_code_that_was_prepared(threads):
    compiling.prepare()
    run_all(threads)
    assert [len(function.signatures) for function in compiling.SLOW] == [1, 1, 1, 1]


def test_two_processes_compile_the_code_that_this_one_will_look_for():
    compiling.prepare()
    run_all(threads=1)
    (of_needs,) = compiling.needs.signatures
    for function in (compiling.backward, compiling.run_worker):
        assert function.signatures == [(compiling._BESIDE | compiling._HERE)[function](of_needs)]


@pytest.mark.parametrize(
    ("folder", "portable", "expected"),
    [
        (None, False, []),
        ("somewhere", False, ["backward", "needs", "finish_step", "run_worker"]),
        ("somewhere", True, ["backward", "forward"]),
    ],
)
def test_a_second_process_compiles_where_it_can_leave_its_code(folder, portable, expected, monkeypatch):
    done = []

    @contextmanager
    def beside(first, beside, here):
        done.extend(function.__name__ for function in [*beside, *here])
        yield

    monkeypatch.setattr(compiling, "code_folder", lambda: folder)
    monkeypatch.setattr(compiling, "is_portable", lambda: portable)
    monkeypatch.setattr(compiling, "compiling_beside", beside)
    monkeypatch.setattr(compiling, "_compute_something", lambda: done.append("computed"))
    compiling._compile()
    assert done == [*expected, "computed"]
