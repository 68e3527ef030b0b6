"""Help as it is rendered: of every command, at 80 columns."""

import os
import re
import subprocess
import sys

import pytest
import typer
from typer.testing import CliRunner

from phist.cli.app import app
from phist.cli.options import complete_dataset
from phist.cli.theory_constructions import KERNELS as NAMED_KERNELS
from phist.nn.kernels import KERNELS

COLUMNS = 80


def paths(command, path=()):
    """Every command, groups included, as the words that are typed for it."""
    yield path
    for name, member in getattr(command, "commands", {}).items():
        yield from paths(member, (*path, name))


COMMANDS = list(paths(typer.main.get_command(app)))
LEAVES = [path for path in COMMANDS if path and path not in (("bench",), ("theory",))]


def help_of(path, **environment):
    result = CliRunner().invoke(app, [*path, "--help"], env={"COLUMNS": str(COLUMNS), **environment})
    assert result.exit_code == 0, result.output
    return result.stdout


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_no_line_of_help_is_wider_than_the_terminal(path):
    assert max(map(len, help_of(path).splitlines())) <= COLUMNS


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_help_names_no_types_and_no_ranges_and_cuts_nothing(path):
    text = help_of(path)
    assert not re.search(r"<\w+>|<=|int range|\[x>", text)
    assert "…" not in text


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_every_parameter_has_a_meaning(path):
    command = typer.main.get_command(app)
    for word in path:
        command = command.commands[word]
    assert [parameter.name for parameter in command.params if not parameter.help] == []


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_every_command_can_be_quiet_and_verbose(path):
    text = help_of(path)
    assert "-q, --quiet" in text
    assert "-v, --verbose" in text


@pytest.mark.parametrize("path", [path for path in LEAVES if path != ("serve",)], ids=" ".join)
def test_every_command_can_answer_a_program(path):
    assert "--json" in help_of(path)


@pytest.mark.parametrize("path", COMMANDS, ids=" ".join)
def test_the_value_of_an_option_is_named_by_what_it_is(path):
    assert not re.search(r"--[\w-]+ (TEXT|INTEGER|FLOAT)\b", help_of(path))


def test_options_of_fit_are_grouped_and_the_basic_ones_come_first():
    text = help_of(("fit",))
    titles = re.findall(r"─ (\w[\w ]+) ─", text)
    assert titles == ["Arguments", "Basic", "Training", "Computing", "Reading the graphs"]
    assert text.index("--out") < text.index("--members") < text.index("--threads") < text.index("--directed")


def test_a_long_list_of_choices_is_told_in_the_text():
    text = " ".join(help_of(("bench", "table")).replace("│", " ").split())
    assert "--metric CHOICE" in text
    assert "One of accuracy, balanced-accuracy, roc-auc, log-loss." in text


def test_examples_keep_their_lines():
    assert "\n  phist fit ENZYMES --out enzymes\n" in help_of(("fit",))


@pytest.mark.parametrize("path", LEAVES, ids=" ".join)
def test_every_example_is_one_line_of_the_terminal(path):
    examples = help_of(path).partition("Examples:\n")[2].partition("\n\n")[0].splitlines()
    assert [line for line in examples if "phist " not in line and not line.startswith("  curl ")] == []


def test_an_optional_argument_has_one_pair_of_brackets():
    text = help_of(("theory", "proposition"))
    assert "[OPTIONS] A [B]\n" in text
    assert "[[B]]" not in text


def test_the_kernels_that_help_names_are_those_of_the_network():
    assert set(NAMED_KERNELS) == {kernel for kernel in KERNELS if type(KERNELS[kernel]).__module__ == "phist.nn.kernels"}


def test_a_mistake_tells_the_usage_that_help_tells():
    told = CliRunner().invoke(app, ["fit", "mine.jsonl"], prog_name="phist").stderr
    assert "Usage: phist fit [OPTIONS] DATA\n" in told


def test_completion_is_that_of_phist_however_it_is_started():
    command = [sys.executable, "-m", "phist", "--show-completion", "bash"]
    asked = {**os.environ, "_TYPER_COMPLETE_TEST_DISABLE_SHELL_DETECTION": "1"}  # a test need not be started from a shell
    shown = subprocess.run(command, capture_output=True, text=True, check=True, env=asked).stdout
    assert shown.rstrip().endswith("_phist_completion phist")


def test_no_color_leaves_no_escape_codes():
    assert "\x1b[" in help_of(("fit",), FORCE_COLOR="1", TERM="xterm-256color")
    assert "\x1b[3" not in help_of(("fit",), FORCE_COLOR="1", TERM="xterm-256color", NO_COLOR="1")


def test_completion_can_be_installed():
    text = help_of(())
    assert "--install-completion" in text
    assert "--show-completion" in text


def test_completion_offers_datasets_by_name():
    assert complete_dataset("imdb") == ["IMDB-BINARY", "IMDB-MULTI"]
    environment = {"_PHIST_COMPLETE": "complete_bash", "COMP_WORDS": "phist check MUT", "COMP_CWORD": "2"}
    assert CliRunner().invoke(app, [], env=environment, prog_name="phist").stdout.split() == ["MUTAG"]
