from made_records import make_records

from phist.report.comparison import best_of, tied_with_best
from phist.report.render import to_latex, to_markdown, to_text
from phist.report.study import make_study
from phist.report.tables import main_table

CLOSE = [18, 17, 18, 19, 18, 19, 18, 17, 18, 19]


def study():
    return make_study(
        make_records(CLOSE)
        + make_records([right - (place % 2) for place, right in enumerate(CLOSE[::-1])], method="gcn")
        + make_records([right - 8 for right in CLOSE], method="ldp")
        + make_records([19] * 4, method="ltp")
    )


def test_whatever_cannot_be_told_apart_from_the_best_is_tied_with_it():
    assert tied_with_best(study().measured("MUTAG")) == {"gcn"}


def test_an_incomplete_result_is_neither_best_nor_tied():
    assert best_of(study().measured("MUTAG")).label == "phist"
    assert "ltp" not in tied_with_best(study().measured("MUTAG"))


def test_every_format_marks_ties():
    table = main_table(study())
    assert "≈" in to_text(table) and " ≈ |" in to_markdown(table).replace("<br>", " |") and r"\underline{" in to_latex(table)
