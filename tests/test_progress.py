import pytest

from phist.progress import SlowProgress


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
