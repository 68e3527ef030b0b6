from xml.etree import ElementTree

import pytest
from made_records import make_record, make_records, make_study_records

from phist.report.figures import plot_accuracy_against_time, plot_folds, plot_training, thinned
from phist.report.study import make_study

STUDY = make_study(make_study_records())
RESULTS = STUDY.measured("MUTAG")


def classes(markup, name):
    return [element for element in ElementTree.fromstring(markup).iter() if name in (element.get("class") or "").split()]


@pytest.mark.parametrize("plot", [plot_accuracy_against_time, plot_folds])
def test_every_method_has_a_place_that_opens_its_records(plot):
    opened = {element.get("data-label") for element in classes(plot(RESULTS), "opens")}
    assert opened == set(STUDY.labels)


def test_every_fold_is_a_dot():
    assert len(classes(plot_folds(RESULTS), "fold")) == 10 * len(RESULTS)


def test_methods_are_ordered_by_their_mean():
    labels = [element.text for element in classes(plot_folds(RESULTS), "label")]
    assert labels == [result.label for result in sorted(RESULTS, key=lambda result: -result.mean)]


def test_labels_do_not_lie_on_each_other():
    records = [record for place in range(12) for record in make_records([15] * 2, method=f"method-{place}", seconds=1.0)]
    drawn = plot_accuracy_against_time(make_study(records).measured("MUTAG"))
    assert len(classes(drawn, "mark")) == 12
    assert len(classes(drawn, "label")) <= 3


def test_training_has_a_curve_for_every_fold_and_their_mean():
    drawn = plot_training(STUDY.result("phist", "MUTAG"))
    assert len(classes(drawn, "curve")) == 2 * (10 + 1)
    assert len(classes(drawn, "mean")) == 2


@pytest.mark.parametrize("epochs", [0, 1])
def test_without_epochs_there_is_no_training_to_draw(epochs):
    assert plot_training(make_study([make_record(epochs=epochs)]).result("phist", "MUTAG")) == ""


def test_the_mean_ends_where_half_of_the_folds_have_ended():
    records = [make_record(fold=fold, epochs=epochs) for fold, epochs in enumerate([10, 20, 40])]
    mean = classes(plot_training(make_study(records).result("phist", "MUTAG")), "mean")[0]
    assert len(mean.get("points").split()) == 20


def test_methods_without_a_time_are_left_out():
    assert plot_accuracy_against_time(make_study([make_record(seconds=0.0)]).measured("MUTAG")) == ""


def test_long_curves_are_thinned_to_their_ends():
    curve = [(float(epoch), 0.5) for epoch in range(1, 601)]
    kept = thinned(curve)
    assert len(kept) == 80
    assert (kept[0], kept[-1]) == (curve[0], curve[-1])


def test_hostile_names_stay_text():
    hostile = '"><script>alert(1)</script>'
    for drawn in (plot_accuracy_against_time, plot_folds):
        assert "<script" not in drawn(make_study(make_records([15] * 2, method=hostile)).measured("MUTAG"))
