"""Threads for the tests of the engine."""

import pytest
import torch

from phist.engine import threads


@pytest.fixture(autouse=True)
def one_thread():
    """Graphs this small are slower on two threads than on one; a test that wants more says so, and it is undone."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)


@pytest.fixture(autouse=True)
def shared_however_small(monkeypatch):
    """The steps of tests are worth no second thread; those who ask for one want to see what it does."""
    monkeypatch.setattr(threads, "PAIRS_A_THREAD", 1)
