"""Help as it is rendered: of every command, at 80 columns."""

import re

import pytest
import typer
from typer.testing import CliRunner

from phist.cli.app import app
from phist.cli.options import complete_dataset

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
