from made_records import make_records

from phist.report.published import Figure
from phist.report.render import NOTHING
from phist.report.study import make_study
from phist.report.summary import summarise, summary_markdown
from phist.report.tables import NO_RECORDS

RECORDS = [
    *make_records([18] * 10),
    *make_records([17] * 10, method="phist-paper"),
    *make_records([15] * 10, method="ldp"),
    *make_records([16] * 10, method="wl-subtree"),
    *make_records([20] * 3, method="gcn"),
    *make_records([12] * 10, method="majority"),
]


def test_a_row_holds_ours_the_papers_and_the_best_of_the_others():
    row = next(row for row in summarise(make_study(RECORDS)) if row.dataset == "MUTAG")
    assert (row.ours.mean, row.as_printed.mean) == (90.0, 85.0)
    assert row.published == Figure(86.7, 7.6)
    assert (row.other.label, row.floor.label) == ("wl-subtree", "majority")


def test_a_dataset_without_records_shows_what_was_published():
    assert f"| NCI1 | {NOTHING} | 79.8 ± 1.2 | {NOTHING} | {NOTHING} | {NOTHING} |" in summary_markdown(make_study(RECORDS))


def test_without_records_the_summary_says_so():
    assert summary_markdown(make_study([])) == NO_RECORDS + "\n"


def test_the_headline_has_the_first_rows_of_the_summary():
    whole, first = (summary_markdown(make_study(RECORDS), rows).splitlines() for rows in (None, 2))
    assert first[:4] == whole[:4]
    assert first[4] == ""
