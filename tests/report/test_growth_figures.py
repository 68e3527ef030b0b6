from xml.etree import ElementTree

from made_records import make_records

from phist.report.growth import growth_of
from phist.report.growth_figures import plot_growth
from phist.report.html import make_report
from phist.report.study import make_study

RECORDS = [
    record
    for method in ("phist", "ltp")
    for number, right in ((10, 12), (100, 15), (1000, 17))
    for record in make_records([right] * 4, method=method, labelled=number, seconds=number / 10)
]


def elements(name):
    study = make_study(RECORDS)
    drawn = ElementTree.fromstring(f"<div>{plot_growth(growth_of(study)[0], study.metric)}</div>")
    return [element for element in drawn.iter() if name in (element.get("class") or "").split()]


def test_time_and_score_have_a_panel_each_and_every_method_a_line_in_both():
    assert len(elements("panel")) == 2
    assert len(elements("line")) == 2 * 2


def test_every_point_opens_its_records():
    opened = {(element.get("data-label"), element.get("data-dataset")) for element in elements("opens")}
    assert opened == {(method, f"MUTAG:{number}") for method in ("phist", "ltp") for number in (10, 100, 1000)}


def test_time_in_proportion_to_graphs_is_a_straight_line():
    (first, second, third) = [tuple(map(float, pair.split(","))) for pair in elements("line")[0].get("points").split()]
    assert abs((second[1] - first[1]) / (second[0] - first[0]) - (third[1] - second[1]) / (third[0] - second[0])) < 0.01


def test_the_report_has_a_section_of_it_only_where_something_grows():
    assert 'id="growth"' in make_report(make_study(RECORDS))
    assert 'id="growth"' not in make_report(make_study(make_records([15] * 4)))
