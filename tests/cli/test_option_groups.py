"""Options that several commands share as one parameter."""

from dataclasses import dataclass
from typing import Annotated

import pytest
import typer
from typer.testing import CliRunner

from phist.cli.commands import add_command
from phist.cli.option_groups import OptionGroup

Size = Annotated[int, typer.Option(min=1, help="How large.")]
Name = Annotated[str | None, typer.Option(help="How it is called.")]


@dataclass(frozen=True)
class Shape(OptionGroup):
    size: Size = 1
    name: Name = None


USUAL, LARGE = Shape(), Shape(size=9)


@pytest.fixture
def call():
    app = typer.Typer()
    add_command(app, small)
    add_command(app, large, "big")
    return lambda *arguments: CliRunner().invoke(app, list(arguments))


def small(place: str, shape: Shape = USUAL) -> None:
    typer.echo(f"{place} {shape}")


def large(shape: Shape = LARGE) -> None:
    typer.echo(shape)


def test_every_field_of_a_group_is_an_option(call):
    assert call("small", "here", "--size", "3", "--name", "x").stdout == f"here {Shape(3, 'x')}\n"
    assert "How large." in call("small", "--help").stdout


def test_a_command_may_have_defaults_of_its_own(call):
    assert call("small", "here").stdout == f"here {USUAL}\n"
    assert call("big").stdout == f"{LARGE}\n"


def test_a_field_checks_its_values_as_an_option_does(call):
    assert call("big", "--size", "0").exit_code == 2
