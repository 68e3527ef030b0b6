"""Things that are said in two places are the same in both."""

import re
import tomllib
from pathlib import Path

import phist

ROOT = Path(__file__).parents[1]


def test_the_version_is_that_of_the_citation():
    assert f"\nversion: {phist.__version__}\n" in (ROOT / "CITATION.cff").read_text()
    assert "version" in tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["dynamic"]


def test_pre_commit_runs_what_make_check_runs():
    recipe = re.search(r"^check:.*\n((?:\t.*\n)+)", (ROOT / "Makefile").read_text(), re.MULTILINE)[1]
    checked = [line.strip().removeprefix("$(BIN)/") for line in recipe.splitlines()]
    hooks = re.findall(r"entry: \.venv/bin/(.*)", (ROOT / ".pre-commit-config.yaml").read_text())
    assert hooks == checked
