import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

import phist
from phist.cli.app import app

VERBS = ("demo", "datasets", "check", "fit", "evaluate", "predict", "explain", "embed", "info")
PHIST = (sys.executable, "-c", "from phist.cli.app import main; main()")


def test_version_is_that_of_the_package(run):
    assert run("--version").stdout.strip() == f"phist {phist.__version__}"


def test_help_lists_every_verb(run):
    text = run("--help").stdout
    assert all(verb in text for verb in VERBS)


@pytest.mark.parametrize("verb", VERBS)
def test_help_of_every_verb_has_examples(run, verb):
    result = run(verb, "--help")
    assert result.exit_code == 0
    assert "Examples:" in result.stdout
    assert f"phist {verb}" in result.stdout


def test_usage_errors_exit_with_2(run):
    assert run("fit").exit_code == 2
    assert run("no-such-verb").exit_code == 2


@pytest.mark.parametrize("begin", ["import phist", "from phist.cli.app import app"])
def test_nothing_heavy_is_imported_before_it_is_needed(begin):
    heavy = "{'torch', 'sklearn', 'scipy', 'numpy', 'numba', 'matplotlib', 'networkx'}"
    subprocess.run([sys.executable, "-c", f"import sys; {begin}; assert not {heavy} & set(sys.modules)"], check=True)


def test_help_imports_nothing_heavy():
    code = "import sys\nfrom phist.cli.app import main\ntry: main()\nfinally: assert not {'torch', 'numpy'} & set(sys.modules)"
    subprocess.run([sys.executable, "-c", code, "--help"], check=True, capture_output=True)


def test_a_reader_that_leaves_early_causes_no_traceback():
    process = subprocess.Popen([*PHIST, "datasets", "--json"], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    process.stdout.close()
    assert process.stderr.read() == ""
    process.wait()
    process.stderr.close()


@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
def test_a_full_disk_is_one_line():
    with Path("/dev/full").open("w") as full:
        result = subprocess.run([*PHIST, "datasets", "--json"], stdout=full, stderr=subprocess.PIPE, text=True)
    assert result.returncode == 2
    assert result.stderr.startswith("phist: output: ")
    assert result.stderr.count("\n") == 1


def test_ctrl_c_is_one_line_and_exit_code_130(monkeypatch):
    def interrupt(*arguments, **settings):
        raise KeyboardInterrupt

    monkeypatch.setattr("phist.graphs.datasets.load_graphs", interrupt)
    result = CliRunner().invoke(app, ["check", "MUTAG"])
    assert (result.exit_code, result.stderr) == (130, "phist: interrupted\n")
