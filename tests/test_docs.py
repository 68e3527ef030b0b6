"""What the documents tell people to type works."""

import re
import shlex
import tomllib
from pathlib import Path

import pytest
import typer.main

from phist.cli.app import app
from phist.evaluation.spec_file import parse_spec

ROOT = Path(__file__).parents[1]
DOCUMENTS = [ROOT / "README.md", *sorted(path for path in (ROOT / "docs").rglob("*.md") if "_build" not in path.parts)]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)


def blocks(document, language):
    return [code for kind, code in BLOCK.findall(document.read_text()) if kind == language]


def commands():
    for document in DOCUMENTS:
        for code in blocks(document, "bash"):
            for line in code.splitlines():
                words = shlex.split(line, comments=True)
                if words and words[0] == "phist":
                    yield pytest.param(words[1:], id=line.strip())


@pytest.mark.parametrize("document", [path for path in DOCUMENTS[1:] if blocks(path, "python")], ids=lambda path: path.name)
def test_python_examples_run(document, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    names = {}
    for code in blocks(document, "python"):
        exec(compile(code, document.name, "exec"), names)
    assert names


def test_the_readme_shows_what_its_example_prints(tmp_path, monkeypatch, capsys):
    """Words exactly; numbers as near as another processor's rounding leaves them."""
    readme = ROOT / "README.md"
    monkeypatch.chdir(tmp_path)
    exec(compile(blocks(readme, "python")[0], "README.md", "exec"), {})
    printed, shown = capsys.readouterr().out, blocks(readme, "text")[0]
    number = r"\d+(?:\.\d+)?"
    assert re.sub(number, "0", printed) == re.sub(number, "0", shown)
    assert [float(one) for one in re.findall(number, printed)] == pytest.approx(
        [float(one) for one in re.findall(number, shown)], abs=4
    )


def test_the_readme_is_short():
    assert len((ROOT / "README.md").read_text().splitlines()) <= 90


def test_the_study_that_is_shown_is_one():
    content = tomllib.loads(blocks(ROOT / "docs" / "study.md", "toml")[0])
    spec = parse_spec(content, ROOT)
    assert len(spec.cells()) == 10 * 10
    assert {run.label: dict(run.options) for run in spec.runs}["phist-long"] == {"epochs": 200}


def test_the_further_tables_of_a_study_are_understood():
    content = tomllib.loads(blocks(ROOT / "docs" / "study.md", "toml")[1])
    spec = parse_spec({"name": "more", "protocol": "paper", **content}, ROOT)
    assert {(cell.labelled, cell.tested) for cell in spec.cells()} == {(30, 100), (300, 100)}


@pytest.mark.parametrize("words", list(commands()))
def test_shell_examples_name_verbs_and_options_that_exist(words):
    command, rest = typer.main.get_command(app), words
    while hasattr(command, "commands"):  # a verb of a verb, as in phist theory capacity
        command, rest = command.commands[rest[0]], rest[1:]
    known = {option for parameter in command.params for option in parameter.opts}
    assert {word for word in rest if word.startswith("--")} <= known


@pytest.mark.parametrize("document", DOCUMENTS, ids=lambda path: path.name)
def test_links_lead_somewhere(document):
    for target in re.findall(r"\]\(([^)#:]+)\)", document.read_text()):
        assert (document.parent / target).exists(), target


@pytest.mark.parametrize(
    "package",
    ["jit", "graphs", "nn", "engine", "training", "estimators", "theory", "baselines", "evaluation", "explain", "report", "scale"],
)
def test_architecture_names_every_module(package):
    plan = (ROOT / "docs" / "architecture.md").read_text()
    description = re.search(rf"^  {package}/.*?(?=^  \w|^```)", plan, re.MULTILINE | re.DOTALL)[0]
    modules = {path.name for path in (ROOT / "src" / "phist" / package).glob("[a-z]*.py")}
    assert modules <= set(re.findall(r"\w+\.py", description))
