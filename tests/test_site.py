"""What the site is made with: a link check that finds what it should and nothing else, and tables that break no number."""

import importlib.util
from pathlib import Path

import pytest

EXTENSIONS = Path(__file__).parents[1] / "docs" / "_ext"


def extension(name):
    spec = importlib.util.spec_from_file_location(name, EXTENSIONS / f"{name}.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture
def problems():
    return extension("check_links").problems


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


@pytest.mark.parametrize(
    ("text", "pieces"),
    [
        ("90.5 ± 7.4 (wl-subtree)", ["90.5\xa0±\xa07.4", "(wl-subtree)"]),
        ("49.6 ± 7.0 ≈", ["49.6\xa0±\xa07.0\xa0≈"]),
        ("+1.6 [+0.8, -2.4]", ["+1.6", "[+0.8,\xa0-2.4]"]),
        ("one network of 15 epochs", ["one", "network", "of", "15", "epochs"]),
    ],
)
def test_a_table_breaks_between_words_and_not_within_numbers(text, pieces):
    assert extension("unbroken_numbers").unbroken(text).split(" ") == pieces
