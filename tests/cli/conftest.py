import json

import pytest
from typer.testing import CliRunner

from phist.cli.app import app
from phist.graphs.generate import make_trees


def write_jsonl(path, graphs, labelled=True):
    """The graphs as JSONL, as somebody else's program would write them."""
    lines = []
    for graph in graphs:
        edges = [[int(a), int(b)] for a, b in graph.to_networkx().edges]
        content = {"id": f"g{graph.id}", "n_nodes": graph.n_nodes, "edges": edges}
        lines.append(json.dumps(content | ({"label": graph.label} if labelled else {})))
    path.write_text("\n".join(lines) + "\n")
    return path


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("PHIST_CACHE", str(tmp_path_factory.getbasetemp() / "cache"))


@pytest.fixture(autouse=True)
def usual_terminal(monkeypatch):
    """Eighty columns, however wide the terminal is that runs the tests."""
    monkeypatch.delenv("COLUMNS", raising=False)


@pytest.fixture
def save_jsonl():
    return write_jsonl


@pytest.fixture
def run():
    """Call the command line within this process."""
    return lambda *arguments: CliRunner().invoke(app, [str(argument) for argument in arguments])


@pytest.fixture
def refused(run):
    """Call it with something it must refuse: exit code 2, nothing on standard output, one line on standard error."""

    def call(*arguments):
        result = run(*arguments)
        assert result.exit_code == 2, result.output
        assert result.stdout == ""
        assert result.stderr.startswith("phist: ")
        assert result.stderr.count("\n") == 1
        return result.stderr

    return call


@pytest.fixture(scope="session")
def data(tmp_path_factory):
    return write_jsonl(tmp_path_factory.mktemp("data") / "trees.jsonl", make_trees(40, n_nodes=10, seed=0))


@pytest.fixture(scope="session")
def unlabelled(tmp_path_factory):
    graphs = make_trees(6, n_nodes=8, seed=1)
    return write_jsonl(tmp_path_factory.mktemp("data") / "unlabelled.jsonl", graphs, labelled=False)


@pytest.fixture(scope="session")
def model(data, tmp_path_factory):
    folder = tmp_path_factory.mktemp("models") / "trees"
    result = CliRunner().invoke(app, ["fit", str(data), "--out", str(folder), "--effort", "low", "--epochs", "2"])
    assert result.exit_code == 0, result.output
    return folder
