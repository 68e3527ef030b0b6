import pytest
from made_records import make_record, make_records, make_study_records

from phist.report.comparison import compare
from phist.report.differences import compare_studies, describe_settings, difference_table
from phist.report.study import make_study

BETTER = make_study(make_records([18, 16, 17, 19])).result("phist", "MUTAG")
WORSE = make_study(make_records([16, 15, 14, 18], method="ldp")).result("ldp", "MUTAG")


def test_a_difference_is_paired_over_folds():
    found = compare(BETTER, WORSE)
    assert found.mean == pytest.approx(8.75)
    assert found.low < found.mean < found.high
    assert found.pairs == 4


def test_the_other_way_round_it_has_the_other_sign():
    assert compare(WORSE, BETTER).low == pytest.approx(-compare(BETTER, WORSE).high)


def test_only_folds_that_both_have_are_compared():
    few = make_study(make_records([16, 15], method="ldp")).result("ldp", "MUTAG")
    assert compare(BETTER, few).pairs == 2


def test_one_fold_in_common_is_too_few():
    assert compare(BETTER, make_study([make_record("ldp", fold=2)]).result("ldp", "MUTAG")) is None


def test_the_table_leaves_out_the_method_itself():
    table = difference_table(make_study(make_study_records()), "phist")
    assert [row.label for row in table.rows] == ["wl-subtree", "gcn", "ldp", "majority"]


def test_the_table_can_keep_to_a_few_others():
    table = difference_table(make_study(make_study_records()), "phist", others=("ldp", "gcn"))
    assert [row.label for row in table.rows] == ["gcn", "ldp"]


def test_the_table_says_when_there_is_nothing_to_compare():
    assert "no records of phist" in difference_table(make_study([make_record("ldp")]), "phist").legend[0]


def test_studies_are_compared_where_both_have_records():
    before = make_study(make_records([10] * 10) + make_records([12] * 10, method="ldp"))
    after = make_study(make_records([14] * 10) + make_records([12] * 10, method="gcn"))
    changes = {change.label: change for change in compare_studies(before, after)}
    assert changes["phist"].difference.mean == pytest.approx(20.0)
    assert changes["phist"].paired
    assert changes["ldp"].after is None and changes["ldp"].difference is None
    assert changes["gcn"].before is None


def test_folds_of_other_splits_are_compared_as_samples():
    others = [make_record(fold=fold, right=right, split="0ther") for fold, right in enumerate([10, 12, 11, 13])]
    change = compare_studies(make_study(others), make_study(make_records([18, 16, 17, 19])))[0]
    assert not change.paired
    assert change.difference.low < change.difference.mean == pytest.approx(30.0)


def test_other_protocols_are_told():
    assert describe_settings(make_study([make_record()]), make_study([make_record()])) is None
    assert "protocol fair" in describe_settings(make_study([make_record()]), make_study([make_record(protocol="fair")]))
