import pytest

from phist.evaluation.estimate import Durations


def record_of(make_record, make_cell, seconds, **cell):
    return make_record(make_cell(**cell), seconds=seconds)


def test_a_cell_takes_as_long_as_others_of_its_kind(make_record, make_cell):
    known = Durations([record_of(make_record, make_cell, 10.0, fold=1), record_of(make_record, make_cell, 20.0, fold=2)])
    assert known.of(make_cell(fold=3)) == 15.0


def test_else_as_its_method_elsewhere_else_as_others_on_its_dataset(make_record, make_cell):
    known = Durations([record_of(make_record, make_cell, 10.0, label="a", dataset="X")])
    assert known.of(make_cell(label="a", dataset="Y")) == 10.0
    assert known.of(make_cell(label="b", dataset="X")) == 10.0
    assert known.of(make_cell(label="b", dataset="Y")) is None


def test_the_time_left_is_shared_by_the_jobs(make_record, make_cell):
    known = Durations([record_of(make_record, make_cell, 10.0)])
    cells = [make_cell(fold=fold) for fold in range(4)]
    assert known.left(cells, jobs=2) == 20.0
    assert known.left([], jobs=2) == 0.0


def test_nothing_is_said_where_nothing_is_known(make_cell):
    assert Durations().left([make_cell()]) is None


@pytest.mark.parametrize("status", ["failed", "skipped"])
def test_cells_that_came_to_nothing_say_nothing_of_the_time(make_record, make_cell, status):
    known = Durations([make_record(status=status, outcome=None, seconds=0.1)])
    assert known.of(make_cell()) is None
