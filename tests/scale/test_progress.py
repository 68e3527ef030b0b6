"""How far a stream is: its rate, and the time that is left."""

import pytest

from phist.progress import silenced
from phist.scale import progress
from phist.scale.progress import BulkProgress


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass when they are told to."""
    seconds = [0.0]
    monkeypatch.setattr(progress.time, "monotonic", lambda: seconds[0])
    return seconds


def test_the_rest_takes_as_long_as_its_bytes_did(clock):
    bar = BulkProgress("embed", [100, 300], False)
    clock[0] = 10
    bar.show(1.0, 1.0, 50)
    bar.next_source()
    assert (bar.graphs, bar.rate, bar.seconds_left) == (50, 5, 30)


def test_what_was_there_before_counts_as_done_and_not_as_speed(clock):
    bar = BulkProgress("embed", [1000, 100, 100], False)
    bar.next_source()
    assert bar.seconds_left is None
    clock[0] = 20
    bar.show(1.0, 1.0, 7)
    assert bar.seconds_left == 20


def test_a_file_that_is_half_done_goes_on_at_its_own_pace(clock):
    bar = BulkProgress("embed", [100], False)
    clock[0] = 10
    bar.show(0.6, 0.1, 7)  # rows before the first half are there from an earlier run
    assert bar.seconds_left == pytest.approx(40)


def test_what_other_shards_do_is_not_waited_for(clock):
    bar = BulkProgress("embed", [100] * 8, False, shards=4)
    for _ in range(3):
        bar.next_source()
    clock[0] = 10
    bar.show(1.0, 1.0, 7)
    bar.next_source()
    assert bar.seconds_left == 10


def test_a_file_gets_a_line_a_minute(clock, capsys):
    with BulkProgress("embed", [100], None) as bar:
        for second in range(10, 130, 10):
            clock[0] = second
            bar.show(second / 200, 10 / 200, 500)
    assert capsys.readouterr().err.splitlines() == [
        "embed: 30.0%, 3,000 graphs, 50 a second, 0:02:20 left",
        "embed: 60.0%, 6,000 graphs, 50 a second, 0:01:20 left",
    ]


def test_nothing_is_said_where_nobody_wants_it(clock, capsys):
    with silenced():
        bars = [BulkProgress("embed", [100], None), BulkProgress("embed", [100], False)]
    clock[0] = 100
    for bar in bars:
        bar.show(0.5, 0.5, 10)
    assert capsys.readouterr().err == ""
