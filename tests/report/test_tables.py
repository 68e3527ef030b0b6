from made_records import make_record, make_records, make_study_records

from phist.report.published import Figure, load_published
from phist.report.study import make_study
from phist.report.tables import NO_RECORDS, generalisation_table, leave_out_unmeasured, main_table


def entry(table, label, dataset="MUTAG"):
    row = next(row for row in table.rows if row.label == label)
    return row.entries[table.columns.index(dataset)]


def test_measured_stands_beside_published():
    found = entry(main_table(make_study(make_records([18] * 10))), "phist")
    assert (found.mean, found.published) == (90.0, Figure(86.7, 7.6))


def test_methods_that_were_only_published_have_rows_of_their_own():
    labels = {row.label for row in main_table(make_study([make_record()])).rows}
    assert set(load_published().accuracy) <= labels


def test_what_was_only_published_can_be_left_out():
    table = leave_out_unmeasured(main_table(make_study([make_record("ldp", "NCI1"), make_record("gcn", "DD", status="failed")])))
    assert table.columns == ("DD", "NCI1")
    assert [row.label for row in table.rows] == ["gcn", "ldp"]
    assert entry(table, "gcn", "NCI1").published is not None


def test_a_study_of_other_datasets_shows_nothing_published():
    table = main_table(make_study(make_records([16] * 10, dataset="COX2")))
    assert table.columns == ("COX2",) and [row.label for row in table.rows] == ["phist"]


def test_an_incomplete_entry_says_how_many_folds_it_has():
    found = entry(main_table(make_study(make_records([18] * 7))), "phist")
    assert (found.complete, found.folds, found.expected) == (False, 7, 10)


def test_a_skipped_entry_gives_its_reason_in_a_note():
    table = main_table(make_study([make_record("svm-theta", "DD", status="skipped", reason="too large")]))
    found = entry(table, "svm-theta", "DD")
    assert (found.mean, found.absent) == (None, "skipped")
    assert table.notes[found.note - 1] == "skipped: too large"


def test_equal_reasons_share_a_note():
    records = [make_record(method, "DD", status="skipped", reason="too large") for method in ("svm-theta", "gcn")]
    table = main_table(make_study(records))
    assert len(table.notes) == 1
    assert entry(table, "svm-theta", "DD").note == entry(table, "gcn", "DD").note == 1


def test_a_failed_fold_is_noted_beside_the_mean_of_the_others():
    records = [*make_records([18] * 9), make_record(fold=9, status="failed", reason="no\nmemory")]
    table = main_table(make_study(records))
    assert entry(table, "phist").mean == 90.0
    assert table.notes == ("1 failed: no memory",)


def test_what_a_method_says_of_every_fold_is_a_note():
    records = make_records([18] * 10)
    for place, record in enumerate(records):
        record.account.notes.extend(["reduced grid", f"only of {place}"])
    assert main_table(make_study(records)).notes == ("reduced grid",)


def test_the_best_is_marked_among_complete_entries_only():
    records = make_records([20] * 9) + make_records([18] * 10, method="ldp") + make_records([12] * 10, method="gcn")
    table = main_table(make_study(records))
    assert [row.label for row in table.rows if row.entries[0].best] == ["ldp"]


def test_the_generalisation_error_is_shown_beside_the_papers():
    found = entry(generalisation_table(make_study(make_records([16] * 10, training=0.9))), "phist")
    assert round(found.mean, 6) == 10.0
    assert found.published == Figure(4.2)


def test_floors_have_no_generalisation_error():
    assert "majority" not in {row.label for row in generalisation_table(make_study(make_study_records())).rows}


def test_without_records_the_table_says_so():
    assert NO_RECORDS in main_table(make_study([])).legend
