"""The directive ``phist-commands``: every command with its panels of parameters, as its help has them."""

from collections.abc import Iterator
from itertools import groupby
from typing import Any

import typer.main
from docutils import nodes
from sphinx.application import Sphinx
from sphinx.util.docutils import SphinxDirective

from phist.cli.app import app
from phist.cli.help import panel_place, parameter_rows

COMMON = {"help_option_names": ["-h", "--help"]}  # which commands have from `app` when they are run


class PhistCommands(SphinxDirective):
    """One section for each command."""

    def run(self) -> list[nodes.Node]:
        return [_section(path, command) for path, command in _leaves(typer.main.get_command(app), ("phist",))]


def _leaves(command: Any, path: tuple[str, ...]) -> Iterator[tuple[tuple[str, ...], Any]]:
    if not hasattr(command, "commands"):
        yield path, command
    for name, member in getattr(command, "commands", {}).items():
        yield from _leaves(member, (*path, name))


def _section(path: tuple[str, ...], command: Any) -> nodes.section:
    title = " ".join(path)
    section = nodes.section("", nodes.title("", title), ids=["-".join(path)], names=[title])
    described, _, examples = (command.help or "").partition("Examples:")
    section += [nodes.paragraph("", " ".join(block.split())) for block in described.split("\n\n") if block.strip()]
    if examples:
        section += nodes.literal_block("", "\n".join(line.strip() for line in examples.strip().splitlines()), language="bash")
    rows = list(parameter_rows(command, command.make_context(title, [], resilient_parsing=True, **COMMON)))
    for panel, own in groupby(sorted(rows, key=lambda row: panel_place(row[0])), key=lambda row: row[0]):
        section += nodes.rubric("", panel)
        section += _definitions([(written, text) for _, written, text in own])
    return section


def _definitions(rows: list[tuple[str, str]]) -> nodes.definition_list:
    items = [
        nodes.definition_list_item(
            "", nodes.term("", "", nodes.literal("", written)), nodes.definition("", nodes.paragraph("", text))
        )
        for written, text in rows
    ]
    return nodes.definition_list("", *items)


def setup(app: Sphinx) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("phist-commands", PhistCommands)
    return {"parallel_read_safe": True}
