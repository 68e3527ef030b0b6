"""How a function becomes a command."""

from collections.abc import Callable

import typer

from phist.cli.help import HelpfulCommand
from phist.cli.option_groups import with_option_groups
from phist.cli.verbosity import with_verbosity


def add_command(app: typer.Typer, verb: Callable[..., None], name: str | None = None, panel: str | None = None) -> None:
    """Add ``verb`` with the options of its groups, ``--quiet`` and ``--verbose``, and help that fits 80 columns."""
    app.command(name, cls=HelpfulCommand, rich_help_panel=panel)(with_verbosity(with_option_groups(verb)))
