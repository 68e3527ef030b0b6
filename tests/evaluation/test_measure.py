import sys

import numba
import numpy as np
import pytest
import torch

from phist.evaluation.measure import forget_peak_memory, limited_threads, peak_memory, versions


def test_versions_name_what_computes():
    assert {"phist", "python", "torch", "numpy", "scipy", "scikit-learn"} <= set(versions())


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forgets a peak")
def test_a_peak_is_forgotten():
    np.ones(30_000_000).sum()  # 240 MB
    high = peak_memory()
    forget_peak_memory()
    assert peak_memory() < high - 150


def test_a_peak_holds_what_was_used_meanwhile():
    forget_peak_memory()
    before = peak_memory()
    np.ones(30_000_000).sum()
    assert peak_memory() > before + 150


def test_threads_are_limited_and_given_back():
    before = torch.get_num_threads(), numba.get_num_threads()
    with pytest.raises(RuntimeError), limited_threads(1):
        assert (torch.get_num_threads(), numba.get_num_threads()) == (1, 1)
        raise RuntimeError
    assert (torch.get_num_threads(), numba.get_num_threads()) == before
