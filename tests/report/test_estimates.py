from dataclasses import replace

from made_records import make_records

from phist.report.estimates import estimates_table
from phist.report.render import to_text
from phist.report.study import make_study


def with_chosen(record, **chosen):
    return replace(record, account=replace(record.account, chosen=chosen))


def test_estimates_stand_beside_what_was_reached_and_how_often_sets_held():
    made = [
        with_chosen(record, out_of_fold={"accuracy": 0.9}, sets={"promised": 0.9, "reached": 0.95, "size": 1.2})
        for record in make_records([16] * 10)
    ]
    text = to_text(estimates_table(make_study(made)))
    assert "Mean error over 1 datasets +10.0 points" in text
    assert "95.0 ± 0.0" in text and "1.2 ± 0.0" in text and "never sees" in text


def test_records_without_sets_have_no_row_of_them():
    made = [with_chosen(record, out_of_fold={"accuracy": 0.7}) for record in make_records([16] * 10)]
    text = to_text(estimates_table(make_study(made)))
    assert "-10.0 points" in text and "set of 90" not in text
