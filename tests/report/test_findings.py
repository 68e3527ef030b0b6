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
    assert sum(finding.counts()) == sum(one.datasets for one in finding.versus) == 4 * 3


def test_the_strongest_opponent_comes_first():
    assert [one.label for one in finding_of(make_study_records()).versus][-1] == "majority"


def test_the_sentence_has_the_counts_and_names_who_is_stronger():
    records = [
        record
        for dataset in ("MUTAG", "DD", "NCI1")
        for method, lead in (("phist", 0), ("gcn", -9), ("ltp", -10))
        for record in make_records([right + lead for right in CLEAR], method=method, dataset=dataset)
    ]
    assert finding_of(records).sentence() == (
        "phist has mean rank 1.0 among 3 methods, and of 6 comparisons with another method on a dataset 6 are clear wins, "
        "0 clear losses and 0 too close to call."
    )
    assert finding_of(records, "ltp").sentence().endswith("more losses than wins against phist, gcn.")


def test_a_method_that_shares_no_two_folds_is_said_to():
    assert "differences have no intervals" in finding_of(make_records(CLEAR)).sentence()


def test_both_directions_of_a_difference_are_the_same_with_the_sign_turned():
    pairs = all_differences(make_study(make_study_records()))
    one, other = pairs["phist"]["gcn"]["MUTAG"], pairs["gcn"]["phist"]["MUTAG"]
    assert (one.mean, one.low, one.high) == pytest.approx((-other.mean, -other.high, -other.low))


def test_a_view_holds_every_pair_once():
    view = make_view(make_study(make_study_records()))
    stored = [(label, other) for label, others in view["differences"].items() for other in others]
    assert len(stored) == len({frozenset(pair) for pair in stored}) == 10
