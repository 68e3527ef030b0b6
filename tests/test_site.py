"""The link check of the site finds what it should, and nothing else."""

import importlib.util
from pathlib import Path

import pytest

EXTENSIONS = Path(__file__).parents[1] / "docs" / "_ext"


@pytest.fixture
def problems():
    spec = importlib.util.spec_from_file_location("check_links", EXTENSIONS / "check_links.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.problems


def test_links_that_lead_somewhere_are_no_problem(problems, tmp_path):
    (tmp_path / "a.html").write_text(
        '<a href="b.html#there">b</a> <a href="https://example.org/x">x</a> <a href="#own" id="own">c</a>'
    )
    (tmp_path / "b.html").write_text('<p id="there"><img src="data:image/png;base64,"></p>')
    assert problems(tmp_path) == []


@pytest.mark.parametrize("link", ["missing.html", "a.html#missing", "#missing", "https://nowhere", "https://example.org/a b"])
def test_links_that_lead_nowhere_are_named(problems, tmp_path, link):
    (tmp_path / "a.html").write_text(f'<a href="{link}">x</a>')
    assert problems(tmp_path) == [f"a.html: {link}"]


@pytest.mark.parametrize("element", ['<script src="{}"></script>', '<link rel="stylesheet" href="{}">', '<img src="{}">'])
def test_what_a_page_loads_from_elsewhere_is_named(problems, tmp_path, element):
    (tmp_path / "a.html").write_text(element.format("https://example.org/x"))
    assert problems(tmp_path) == ["a.html: https://example.org/x"]
