import json

import pytest
from made_records import make_record, make_records, make_study_records

from phist.errors import ConfigError
from phist.report.differences import difference_table
from phist.report.ranks import ranks_table
from phist.report.render import render, to_latex, to_markdown, to_text
from phist.report.study import make_study
from phist.report.tables import generalisation_table, main_table

STUDY = make_study(
    [
        *make_study_records(),
        *make_records([17] * 7, method="spectrum"),
        make_record("svm-theta", "DD", status="skipped", reason="50 % too_large & slow | {x}"),
    ]
)
TABLES = [main_table(STUDY), generalisation_table(STUDY), difference_table(STUDY, "phist"), ranks_table(STUDY)]


@pytest.fixture(params=TABLES, ids=lambda table: table.name)
def table(request):
    return request.param


def test_text_has_aligned_columns():
    lines = to_text(TABLES[0]).splitlines()
    head, row = lines[2], next(line for line in lines if line.startswith("phist "))
    end = head.index("ENZYMES") + len("ENZYMES")
    assert row[end - 1] != " " and row[end] == " "


def test_text_shows_published_figures_below_the_measured_ones():
    lines = to_text(TABLES[0]).splitlines()
    place = next(number for number, line in enumerate(lines) if line.startswith("phist "))
    assert lines[place + 1].startswith("  published") and "86.7 ± 7.6" in lines[place + 1]


@pytest.mark.parametrize("form", ["text", "markdown", "latex"])
def test_incomplete_and_skipped_entries_show(form):
    written = render(TABLES[0], form)
    assert "85.0" in written and "[7/10]" in written
    assert ("skipped\\textsuperscript{1}" if form == "latex" else "skipped¹") in written


def test_all_rows_of_a_markdown_table_have_as_many_cells(table):
    rows = [line for line in to_markdown(table).splitlines() if line.startswith("|")]
    counts = {line.replace("\\|", "").count("|") for line in rows}
    assert counts == {len(table.columns) + 2}


def test_all_rows_of_a_latex_table_have_as_many_cells(table):
    body = to_latex(table).partition("\\toprule")[2].partition("\\bottomrule")[0]
    rows = [line for line in body.splitlines() if line.endswith("\\\\")]
    assert {line.replace("\\&", "").count("&") for line in rows} == {len(table.columns)}
    assert len(rows) >= 1 + len(table.rows)


def test_latex_escapes_what_has_a_meaning_there():
    assert r"50 \% too\_large \& slow | \{x\}" in to_latex(TABLES[0])


def test_json_is_plain_and_has_entries_by_column(table):
    content = json.loads(json.dumps(render(table, "json"), allow_nan=False))
    assert list(content["columns"]) == list(table.columns)
    assert all(list(row["entries"]) == list(table.columns) for row in content["rows"])


def test_differences_carry_sign_and_interval():
    assert "+31.0 [" in to_text(TABLES[2])


def test_an_unknown_format_is_refused():
    with pytest.raises(ConfigError, match="'latex'"):
        render(TABLES[0], "word")


def test_a_narrow_screen_gets_columns_below_each_other():
    wide, narrow = to_text(TABLES[0]), to_text(TABLES[0], 60)
    body = narrow.splitlines()[: -len(TABLES[0].notes + TABLES[0].legend)]
    assert max(map(len, body[1:])) <= 60  # below the title
    assert set(wide.split()) == set(narrow.split())


def test_sentences_are_broken_between_words_where_the_screen_ends():
    table = main_table(make_study(make_study_records()))
    assert max(map(len, to_text(table, 80).splitlines())) <= 80
