import platform
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest
import torch

from phist.evaluation import environment
from phist.evaluation.environment import forget_peak_memory, limited_threads, peak_memory, versions


def test_versions_name_what_computes():
    assert {"phist", "processor", "python", "torch", "numpy", "scipy", "scikit-learn"} <= set(versions())
    assert all(versions().values())


def test_a_processor_without_a_name_is_told_by_its_kind(monkeypatch):
    monkeypatch.setattr(Path, "read_text", lambda path: "processor : 0\nBogoMIPS : 50\n")
    monkeypatch.setattr(platform, "processor", lambda: "")
    assert environment._processor() == platform.machine()


@pytest.fixture
def checkout(tmp_path, monkeypatch):
    """Sources of our own in a checkout, and what git says there."""

    def git(*words):
        person = ["-c", "user.name=somebody", "-c", "user.email=somebody@example.org"]
        return subprocess.run(["git", *person, *words], cwd=tmp_path, check=True, capture_output=True, text=True).stdout.strip()

    monkeypatch.setattr(environment, "SOURCES", tmp_path)
    (tmp_path / "__init__.py").write_text("")
    git("init", "--quiet")
    return git


def versions_anew():
    return versions.__wrapped__()


def test_the_commit_of_a_checkout_is_told(checkout):
    checkout("add", ".")
    checkout("commit", "--quiet", "--message", "begin")
    assert checkout("rev-parse", "HEAD").startswith(versions_anew()["commit"])


def test_a_commit_that_is_not_the_whole_truth_says_so(checkout, tmp_path):
    checkout("add", ".")
    checkout("commit", "--quiet", "--message", "begin")
    (tmp_path / "__init__.py").write_text("changed = True")
    assert versions_anew()["commit"].endswith(" with changes")


def test_the_commit_of_a_checkout_that_phist_is_merely_installed_in_is_not_told(checkout):
    checkout("commit", "--quiet", "--allow-empty", "--message", "somebody else's")
    assert "commit" not in versions_anew()


def test_without_git_there_is_no_commit(tmp_path, monkeypatch):
    monkeypatch.setenv("PATH", str(tmp_path))
    assert "commit" not in versions_anew()


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


def threads():
    """Numba's first: asked for the first time, it starts its own, and torch may count them too."""
    return numba.get_num_threads(), torch.get_num_threads()


def test_threads_are_limited_and_given_back():
    before = threads()
    with pytest.raises(RuntimeError), limited_threads(1):
        assert threads() == (1, 1)
        raise RuntimeError
    assert threads() == before
