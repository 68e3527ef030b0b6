"""Help of every command: options in panels of two columns, which fit 80 characters."""

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from typer.core import TyperCommand, TyperGroup

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

ARGUMENTS, BASIC, TRAINING, COMPUTING, READING = "Arguments", "Basic", "Training", "Computing", "Reading the graphs"
PANEL_ORDER = (ARGUMENTS, BASIC, TRAINING, COMPUTING, READING)
WIDEST_LEFT = 26  # what an option and its value may take; longer values are named in the text
WIDEST_LINE = 100  # lines beyond it are hard to read, however wide the terminal is
VALUE_NAMES = {int: "N", float: "X", str: "TEXT", Path: "PATH"}


class _Helpful:
    """Help that is written by `print_help`, and the usage that begins it also where a mistake is told."""

    def format_help(self, ctx: Any, formatter: Any) -> None:
        print_help(self, ctx)

    def get_usage(self, ctx: Any) -> str:
        return f"Usage: {_usage(self, ctx)}"


class HelpfulCommand(_Helpful, TyperCommand):
    """A command with such help."""


class HelpfulGroup(_Helpful, TyperGroup):
    """A group of commands with such help."""


def print_help(command: Any, ctx: Any) -> None:
    """Usage, what the command does, its parameters panel by panel, and the commands of a group."""
    from rich.console import Console

    screen = Console(highlight=False, markup=False, emoji=False)
    screen.width = min(screen.width, WIDEST_LINE)
    screen.print(f"\n{command.get_usage(ctx)}\n", style="bold")
    for paragraph in _paragraphs(command.help or ""):
        screen.print(paragraph + "\n")
    panels = _parameter_panels(command, ctx)
    width = max((len(left) for rows in panels.values() for left, _ in rows), default=0)
    for title in sorted(panels, key=panel_place):
        _print_panel(screen, title, panels[title], width)
    _print_commands(screen, command, ctx)


def _usage(command: Any, ctx: Any) -> str:
    arguments = [_argument_usage(parameter) for parameter in command.params if parameter.param_type_name == "argument"]
    verb = ["COMMAND"] if isinstance(command, TyperGroup) else []
    return " ".join([ctx.command_path, "[OPTIONS]", *verb, *arguments])


def _argument_usage(argument: Any) -> str:
    name = (argument.metavar or argument.name).upper()
    return (name if argument.required else f"[{name}]") + ("" if argument.nargs == 1 else "...")


def parameter_rows(command: Any, ctx: Any) -> Iterator[tuple[str, str, str]]:
    """Of every parameter that is shown: its panel, how it is written, and what it means with its default."""
    for parameter in command.get_params(ctx):
        if not getattr(parameter, "hidden", False):
            is_argument = parameter.param_type_name == "argument"
            panel = getattr(parameter, "rich_help_panel", None) or (ARGUMENTS if is_argument else BASIC)
            yield panel, *_described(parameter)


def panel_place(title: str) -> int:
    """Where a panel stands among those of its command."""
    return PANEL_ORDER.index(title) if title in PANEL_ORDER else len(PANEL_ORDER)


def _parameter_panels(command: Any, ctx: Any) -> dict[str, list[tuple[str, str]]]:
    panels: dict[str, list[tuple[str, str]]] = {}
    for panel, left, text in parameter_rows(command, ctx):
        panels.setdefault(panel, []).append((left, text))
    return panels


def _described(parameter: Any) -> tuple[str, str]:
    text = [parameter.help or ""]
    if parameter.param_type_name == "argument":
        left = (parameter.metavar or parameter.name).upper()
        text += [] if parameter.required else ["[optional]"]
        return left, " ".join(text)
    left, value = ", ".join([*sorted(parameter.opts, key=len), *parameter.secondary_opts]), _value_name(parameter)
    if len(left) + 1 + len(value) > WIDEST_LEFT and "|" in value:
        text.append(f"One of {', '.join(value.split('|'))}.")
        value = "CHOICE"
    return f"{left} {value}".rstrip(), " ".join([*text, *_remarks(parameter)])


def _value_name(parameter: Any) -> str:
    """What stands for the value of an option: its metavar, else a word for its type; nothing for a switch."""
    if parameter.is_flag or parameter.count:
        return ""
    return parameter.metavar or VALUE_NAMES.get(parameter.type_descriptor.annotation, "TEXT")


def _remarks(parameter: Any) -> list[str]:
    if parameter.required:
        return ["[required]"]
    default = parameter.default
    is_shown = parameter.show_default and default not in (None, "", ()) and not parameter.is_flag
    return [f"[default:\N{NO-BREAK SPACE}{default}]"] if is_shown else []


def _paragraphs(text: str) -> list[str]:
    """Paragraphs as one line each, which the console wraps; examples keep their lines."""
    from inspect import cleandoc

    blocks = cleandoc(text).split("\n\n")
    return [block if block.startswith("Examples:") else " ".join(block.split()) for block in blocks if block]


def _print_panel(screen: "Console", title: str, rows: list[tuple[str, str]], width: int) -> None:
    from rich.panel import Panel
    from rich.table import Table

    table = Table.grid(padding=(0, 2, 0, 0))
    table.add_column(style="cyan", no_wrap=True, width=width)
    table.add_column()
    for left, text in rows:
        table.add_row(left, _with_dim_remarks(text))
    screen.print(Panel(table, title=title, title_align="left", border_style="dim"))


def _with_dim_remarks(text: str) -> "RenderableType":
    from rich.text import Text

    styled = Text(text)
    styled.highlight_regex(r"\[(default:.*|required|optional)\]$", "dim")
    return styled


def _print_commands(screen: "Console", command: Any, ctx: Any) -> None:
    panels: dict[str, list[tuple[str, str]]] = {}
    for name in command.list_commands(ctx) if isinstance(command, TyperGroup) else ():
        member: Any = command.get_command(ctx, name)
        if not member.hidden:
            row = (name, _paragraphs(member.help or "")[0])
            panels.setdefault(getattr(member, "rich_help_panel", None) or "Commands", []).append(row)
    width = max((len(name) for rows in panels.values() for name, _ in rows), default=0)
    for title, rows in panels.items():
        _print_panel(screen, title, rows, width)
