"""A console on which names in data cannot move the cursor, change the title or hide a line."""

from collections.abc import Iterable
from typing import Any

from rich.console import Console
from rich.segment import Segment

from phist.cli.text import printable


class SafeConsole(Console):
    """Rich's console; control characters in what is printed are spelled out, those of its own styles are not."""

    def render(self, *arguments: Any, **settings: Any) -> Iterable[Segment]:
        """Render as rich does, and spell out what a terminal would obey."""
        for segment in super().render(*arguments, **settings):
            yield segment if segment.control else Segment(printable(segment.text), segment.style)
