"""Threads for the tests of the engine."""

import pytest
import torch


@pytest.fixture(autouse=True)
def one_thread():
    """Graphs this small are slower on two threads than on one; a test that wants more says so, and it is undone."""
    before = torch.get_num_threads()
    torch.set_num_threads(1)
    yield
    torch.set_num_threads(before)
