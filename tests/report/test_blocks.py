from dataclasses import replace
from pathlib import Path

import pytest
from made_records import make_records, make_study_records, write_records

from phist.errors import ConfigError, GraphInputError
from phist.report.blocks import BLOCKS, current_text, is_current, update_document
from phist.report.tables import NO_RECORDS

ROOT = Path(__file__).parents[2]
DOCUMENTS = [path for path in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md"))) if "<!-- results:" in path.read_text()]


@pytest.fixture
def document(tmp_path):
    """A document in one folder, its records in another."""
    write_records(tmp_path / "experiments" / "paper", make_study_records())
    (tmp_path / "docs").mkdir()
    path = tmp_path / "docs" / "results.md"
    path.write_text("before\n\n<!-- results:begin main ../experiments/paper -->\nstale\n<!-- results:end -->\n\nafter\n")
    return path


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: path.name)
def test_committed_tables_agree_with_committed_records(path):
    assert is_current(path), f"type: phist bench table --update {path.relative_to(ROOT)}"


def test_there_are_documents_to_check():
    assert ROOT / "docs" / "results.md" in DOCUMENTS


def test_a_block_is_written_from_its_records(document):
    assert update_document(document)
    text = document.read_text()
    assert text.startswith("before\n") and text.endswith("after\n")
    assert "| phist |" in text and "stale" not in text


def test_a_document_is_current_once_written(document):
    update_document(document)
    assert is_current(document)
    assert not update_document(document)


def test_new_records_make_a_document_stale(document):
    update_document(document)
    write_records(document.parents[1] / "experiments" / "paper", make_records([19] * 10, dataset="NCI1"))
    assert not is_current(document)


@pytest.mark.parametrize("table", BLOCKS)
def test_every_table_can_stand_in_a_block(document, table):
    document.write_text(f"<!-- results:begin {table} ../experiments/paper -->\n<!-- results:end -->\n")
    assert "phist" in current_text(document)


@pytest.mark.parametrize("table", BLOCKS)
def test_without_records_a_block_says_so(document, table):
    (document.parents[1] / "experiments" / "none").mkdir()
    document.write_text(f"<!-- results:begin {table} ../experiments/none -->\n<!-- results:end -->\n")
    assert NO_RECORDS in current_text(document)


def test_a_block_of_a_folder_that_is_not_there_is_left_alone(document):
    text = "<!-- results:begin main ../experiments/misspelt -->\na table\n<!-- results:end -->\n"
    document.write_text(text)
    with pytest.raises(GraphInputError, match="there is no folder"):
        update_document(document)
    assert document.read_text() == text


def test_a_block_may_gather_several_folders(document):
    write_records(document.parents[1] / "experiments" / "more", make_records([19] * 10, method="ltp"))
    document.write_text("<!-- results:begin main ../experiments/paper ../experiments/more -->\n<!-- results:end -->\n")
    assert "| ltp |" in current_text(document)


def test_two_studies_stand_beside_each_other(document):
    records = [replace(record, cell=replace(record.cell, no_duplicates=True)) for record in make_records([17] * 10)]
    write_records(document.parents[1] / "experiments" / "apart", records)
    block = "<!-- results:begin beside ../experiments/paper | ../experiments/apart -->\n<!-- results:end -->\n"
    document.write_text(block)
    text = current_text(document)
    assert "| MUTAG | MUTAG, no duplicates |" in text
    row = next(line for line in text.splitlines() if line.startswith("| phist |"))
    assert row.count("±") == 2 and "85.0" in row
    assert "| ltp |" not in text  # which one of them lacks
    document.write_text(block.replace("| ../experiments/apart ", ""))
    with pytest.raises(ConfigError, match="between their folders"):
        current_text(document)


@pytest.mark.parametrize(
    "text", ["nothing", "<!-- results:begin main x -->\n", "<!-- results:begin main -->\n<!-- results:end -->\n"]
)
def test_marks_that_make_no_block_are_refused(tmp_path, text):
    (tmp_path / "page.md").write_text(text)
    with pytest.raises(ConfigError, match="results:begin TABLE"):
        current_text(tmp_path / "page.md")


def test_an_unknown_table_is_refused(document):
    document.write_text("<!-- results:begin everything ../experiments/paper -->\n<!-- results:end -->\n")
    with pytest.raises(ConfigError, match="'everything'"):
        current_text(document)
