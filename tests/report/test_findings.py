import pytest
from made_records import make_records, make_study_records

from phist.report.findings import find
from phist.report.ranks import rank_methods
from phist.report.study import make_study
from phist.report.views import all_differences, make_view

CLEAR = [18, 19, 18, 19, 18, 19, 18, 19, 18, 19]


def finding_of(records, label="phist"):
    study = make_study(records)
    return find(label, all_differences(study).get(label, {}), rank_methods(study))


def test_an_interval_above_zero_is_a_win_and_below_zero_a_loss():
    records = make_records(CLEAR) + make_records([right - 9 for right in CLEAR], method="gcn")
    assert finding_of(records).versus[0].wins == ("MUTAG",)
    assert finding_of(records, "gcn").versus[0].losses == ("MUTAG",)


def test_an_interval_that_holds_zero_is_a_tie():
    records = make_records(CLEAR) + make_records(CLEAR[::-1], method="gcn")
    assert finding_of(records).versus[0].ties == ("MUTAG",)


def test_wins_ties_and_losses_are_all_comparisons():
    finding = finding_of(make_study_records())
    assert sum(one.datasets for one in finding.versus) == 4 * 3


def test_the_strongest_opponent_comes_first():
    assert [one.label for one in finding_of(make_study_records()).versus][-1] == "majority"


def test_an_opponent_with_few_datasets_stands_beside_those_with_many():
    records = [
        record
        for method, lead, datasets in (
            ("phist", 0, ("MUTAG", "DD")),
            ("gcn", -9, ("MUTAG",)),
            ("ltp", 0, ("MUTAG",)),
            ("ldp", -9, ("MUTAG", "DD")),
        )
        for dataset in datasets
        for record in make_records([right + lead for right in CLEAR], method=method, dataset=dataset)
    ]
    assert [(one.label, one.lead) for one in finding_of(records).versus] == [("ltp", 0.0), ("gcn", 1.0), ("ldp", 1.0)]


def test_both_directions_of_a_difference_are_the_same_with_the_sign_turned():
    pairs = all_differences(make_study(make_study_records()))
    one, other = pairs["phist"]["gcn"]["MUTAG"], pairs["gcn"]["phist"]["MUTAG"]
    assert (one.mean, one.low, one.high) == pytest.approx((-other.mean, -other.high, -other.low))


def test_a_view_holds_every_pair_once():
    view = make_view(make_study(make_study_records()))
    stored = [(label, other) for label, others in view["differences"].items() for other in others]
    assert len(stored) == len({frozenset(pair) for pair in stored}) == 10
