"""Numbers in tables stay on one line: a narrow column breaks neither "87.3 ± 7.1" nor an interval."""

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from docutils import nodes
    from sphinx.application import Sphinx

WITHIN = re.compile(r"(?<=[\d±]) (?=[\d±≈%])|(?<=\d,) (?=[+-]?[\d.]+\])")  # "87.3 ± 7.1 ≈", "90 %", "[+0.8, +2.4]"


def unbroken(text: str) -> str:
    """The same text with no-break spaces within its numbers."""
    return WITHIN.sub("\N{NO-BREAK SPACE}", text)


def _keep_together(app: "Sphinx", document: "nodes.document") -> None:
    from docutils import nodes

    for cell in document.findall(nodes.entry):
        for text in list(cell.findall(nodes.Text)):
            text.parent.replace(text, nodes.Text(unbroken(text.astext())))


def setup(app: "Sphinx") -> dict[str, bool]:
    """Change the tables of every page that is read."""
    app.connect("doctree-read", _keep_together)
    return {"parallel_read_safe": True}
