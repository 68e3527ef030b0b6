from made_records import make_record, make_records

from phist.report.study import make_study
from phist.report.times import clock_of, cold_seconds, warm_seconds


def result_of(records):
    return make_study(records).results[0]


def test_one_slow_fold_does_not_move_what_is_told():
    slow = make_record(fold=9, seconds=1116.0)
    result = result_of([*make_records([16] * 9, seconds=2.0), slow])
    assert warm_seconds(result, "wall time") == 2.0
    assert cold_seconds(result, "wall time") == 1116.0


def test_processor_time_is_told_where_every_record_has_it():
    result = result_of(make_records([16] * 10, seconds=9.0, processor_seconds=3.0))
    assert clock_of([result]) == "processor time"
    assert warm_seconds(result, "processor time") == 3.0


def test_wall_time_stands_in_where_a_record_lacks_the_other():
    mixed = result_of([*make_records([16] * 9, seconds=5.0, processor_seconds=1.0), make_record(fold=9, seconds=7.0)])
    clock = clock_of([mixed])
    assert clock == "processor or wall time"
    assert warm_seconds(mixed, clock) == 1.0 and cold_seconds(mixed, clock) == 7.0


def test_wall_time_is_told_where_no_record_has_another():
    assert clock_of([result_of(make_records([16] * 10, seconds=2.0))]) == "wall time"
