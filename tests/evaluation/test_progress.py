import pytest

from phist.evaluation.progress import StudyProgress


@pytest.fixture
def tell(make_cell, make_record, capsys):
    """What is written to a file when the first of three cells ends."""

    def call(**record):
        cells = [make_cell(fold=fold) for fold in range(3)]
        with StudyProgress(cells, [], at_a_time=2) as progress:
            progress.tell(make_record(cells[0], **record))
        assert progress.finished == 1
        return capsys.readouterr().err

    return call


def test_each_cell_is_a_line_with_the_time_left(tell):
    line = tell(seconds=120.0)
    assert line.startswith("1/3  trees majority fold 0 seed 0: 2 min 0 s; ")
    assert line.endswith("about 2 min 0 s left\n")


def test_no_accuracy_is_shown_that_somebody_could_choose_by(tell):
    assert "66" not in tell()
    assert "accuracy" not in tell()


def test_failures_are_counted(tell):
    assert "fold 0 seed 0: failed; " in (text := tell(status="failed", outcome=None))
    assert ", 1 failed" in text


def test_a_terminal_gets_a_bar(make_cell, make_record, monkeypatch, capsys):
    monkeypatch.setattr("phist.evaluation.progress.somebody_looks", lambda show: True)
    with StudyProgress([make_cell()], [], at_a_time=2) as progress:
        progress.tell(make_record())
    assert "1/1" in capsys.readouterr().err
