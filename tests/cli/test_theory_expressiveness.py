"""phist theory expressiveness"""

import json

import pytest

QUICK = ("--order", 2, "--draws", 2, "--json")


@pytest.fixture
def pairs(tmp_path):
    file = tmp_path / "pairs.tsv"
    file.write_text("category\tfirst\tsecond\neasy\tCF\tC]\nother\tCF\tC^\n")
    return file


@pytest.fixture
def few_families(monkeypatch):
    from phist.theory import pairs as module

    found = [pair for pair in module.named_pairs() if pair.category == "C6 and two triangles"]
    monkeypatch.setattr(module, "named_pairs", lambda: found)


def test_json_counts_pairs_by_category_and_variant(run, pairs, few_families):
    content = json.loads(run("theory", "expressiveness", "--pairs", pairs, *QUICK).stdout)
    assert content["orders"] == [2] and content["draws"] == 2
    assert content["suite"]["easy"]["pairs"] == 1
    assert content["suite"]["easy"]["all roots, with moments, order 2"] == 1
    assert content["families"].keys() == {"C6 and two triangles"}


def test_categories_may_be_chosen(run, pairs, few_families):
    content = json.loads(run("theory", "expressiveness", "--pairs", pairs, "--category", "other", *QUICK).stdout)
    assert content["suite"].keys() == {"other"}


def test_tables_are_printed_for_people(run, pairs, few_families):
    text = run("theory", "expressiveness", "--pairs", pairs, *QUICK[:-1]).stdout
    assert "| node-marked 1-WL |" in text and "C6 and two triangles (1)" in text


def test_what_is_in_the_record_is_not_done_again(run, pairs, few_families, tmp_path, monkeypatch):
    out = tmp_path / "record.json"
    run("theory", "expressiveness", "--pairs", pairs, "--out", out, *QUICK)
    before = out.read_text()
    monkeypatch.setattr("phist.theory.expressiveness.judge_pairs", lambda *arguments: pytest.fail("was done again"))
    assert run("theory", "expressiveness", "--pairs", pairs, "--out", out, *QUICK).exit_code == 0
    assert out.read_text() == before


def test_record_of_other_settings_is_not_continued(run, pairs, few_families, tmp_path):
    out = tmp_path / "record.json"
    run("theory", "expressiveness", "--pairs", pairs, "--out", out, *QUICK)
    result = run("theory", "expressiveness", "--pairs", pairs, "--out", out, *QUICK, "--seed", 1)
    assert result.exit_code != 0 and "seed 0" in result.stderr


def test_missing_suite_is_reported(run, tmp_path, monkeypatch):
    monkeypatch.setenv("PHIST_DATA", str(tmp_path))
    result = run("theory", "expressiveness", *QUICK)
    assert result.exit_code != 0 and "--pairs FILE" in result.stderr
