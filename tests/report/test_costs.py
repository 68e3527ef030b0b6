import pytest
from made_records import make_records

from phist.report.costs import compare_costs, costs_table, times_table
from phist.report.study import make_study

MADE = {  # right of 20 on each of two datasets, seconds of a fold on each
    "majority": ((10, 10), (1.0, 1.0)),
    "ldp": ((14, 16), (1.0, 4.0)),
    "gcn": ((13, 15), (10.0, 10.0)),
    "phist": ((16, 18), (4.0, 16.0)),
}


def records(made):
    return [
        record
        for method, (rights, seconds) in made.items()
        for dataset, right, own in zip(("MUTAG", "ENZYMES"), rights, seconds, strict=True)
        for record in make_records([right] * 10, method=method, dataset=dataset, seconds=own)
    ]


def test_the_front_is_what_nothing_beats_in_both():
    found = compare_costs(make_study(records(MADE)))
    assert found.datasets == ("MUTAG", "ENZYMES")
    assert [(cost.label, cost.score, pytest.approx(cost.seconds), cost.on_front) for cost in found.costs] == [
        ("majority", 50.0, 1.0, True),
        ("ldp", 75.0, 2.0, True),
        ("phist", 85.0, 8.0, True),
        ("gcn", 70.0, 10.0, False),
    ]


def test_methods_that_lack_a_dataset_are_left_out():
    made = records(MADE)
    found = compare_costs(make_study([own for own in made if (own.cell.method, own.cell.dataset) != ("ldp", "MUTAG")]))
    assert [cost.label for cost in found.costs] == ["majority", "phist", "gcn"]


def test_without_phist_there_is_nothing_to_compare():
    study = make_study(records({"ldp": MADE["ldp"]}))
    assert compare_costs(study).costs == ()
    assert "phist is complete" in costs_table(study).legend[0]


def test_the_datasets_are_those_of_the_method_that_is_asked_for():
    high = records({"phist-high": MADE["phist"]})
    table = costs_table(make_study(records(MADE) + [own for own in high if own.cell.dataset == "MUTAG"]), "phist-high")
    assert table.legend[0].startswith("Over MUTAG;")
    assert len(table.rows) == len(MADE) + 1


def test_times_stand_by_dataset_for_the_methods_that_are_asked_for():
    made = [own for own in records(MADE) if (own.cell.method, own.cell.dataset) != ("gcn", "MUTAG")]
    table = times_table(make_study(made), ("phist", "gcn"))
    assert table.columns == ("MUTAG", "ENZYMES")
    assert {row.label: [entry.mean for entry in row.entries] for row in table.rows} == {"phist": [4.0, 16.0], "gcn": [None, 10.0]}
    assert [row.label for row in times_table(make_study(made)).rows] == ["phist", "gcn", "ldp", "majority"]


def test_without_records_there_are_no_times():
    assert times_table(make_study(records(MADE)), ("svm-theta",)).rows == ()
