import io
import subprocess
import sys

import pytest

from phist.progress import SlowProgress, somebody_looks, waiting
from phist.training.progress import TrainingProgress


def drawn(capsys, patience, show=True):
    bar = SlowProgress("counting", 10, show)
    bar.patience = patience
    with bar:
        for _ in range(10):
            bar.advance(1)
    return capsys.readouterr()


def test_quick_work_shows_no_bar(capsys):
    assert drawn(capsys, patience=60).err == ""


def test_slow_work_shows_a_bar_on_standard_error(capsys):
    shown = drawn(capsys, patience=-1)
    assert "counting" in shown.err
    assert shown.out == ""


@pytest.mark.parametrize("show", [False, None])
def test_no_bar_where_nobody_looks(capsys, show):
    assert drawn(capsys, patience=-1, show=show).err == ""


def test_work_at_which_nobody_looks_does_not_even_load_what_draws_bars():
    code = "import sys; from phist.progress import SlowProgress as S; S.patience = -1; S('', 2, False).advance(1)"
    subprocess.run([sys.executable, "-c", f"{code}; assert 'rich' not in sys.modules"], check=True)


@pytest.mark.parametrize(("show", "seen"), [(None, True), (True, True), (False, False)])
def test_waiting_moves_on_a_terminal_unless_told_not_to(capsys, monkeypatch, show, seen):
    monkeypatch.setenv("FORCE_COLOR", "1")  # which rich takes for a terminal
    with waiting("thinking", show):
        pass
    assert ("thinking" in capsys.readouterr().err) == seen


def test_waiting_leaves_a_file_alone(capsys):
    with waiting("thinking", True):
        pass
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("stream", ["missing", "closed"])
def test_programs_without_standard_error_can_wait_too(monkeypatch, stream):
    closed = io.StringIO()
    closed.close()
    monkeypatch.setattr(sys, "stderr", None if stream == "missing" else closed)
    with waiting("thinking"), TrainingProgress(None, 3), SlowProgress("counting", 10, None) as bar:
        bar.patience = -1
        bar.advance(10)
    assert not somebody_looks(None)
