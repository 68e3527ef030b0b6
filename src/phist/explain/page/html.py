"""The page: one HTML file that needs nothing else."""

import base64
import hashlib
from collections.abc import Hashable, Sequence
from importlib.resources import files
from string import Template
from typing import Any

from phist import __version__
from phist.errors import ConfigError
from phist.estimators.fitted.classifier import FittedClassifier
from phist.explain.page.content import page_content
from phist.explain.page.packing import Packer
from phist.report.html import template_part
from phist.report.payload import embed
from phist.report.svg import words

MOST_BYTES = 12 << 20  # of a page: more is slow to open, and to send to somebody
SCRIPTS = (
    "unpack", "canonical", "operator", "network", "ensemble", "canvas", "state", "map", "map_input", "graph", "graph_input",
    "verdict", "why", "tables", "page",
)  # fmt: skip


def make_page(
    model: FittedClassifier,
    graphs: Any,
    *,
    wanted: Sequence[int] = (),
    target: Hashable = None,
    name: str = "graphs",
    max_deletions: int | None = None,
) -> str:
    """Explanations of many graphs as a page with a map, the graphs, and why the model says what it says of them.

    Args:
        model: a fitted classifier.
        graphs: anything `as_graphset` takes.
        wanted: positions of the graphs to explain in full. Unless given, at most 200: mistakes, look-alikes and doubtful ones
            first.
        target: the class to explain; that which is predicted for each graph unless given.
        name: of the graphs, for the title.
        max_deletions: the most edges, and nodes, to delete of a graph; see `explain`.
    """
    packer = Packer()
    content = page_content(model, graphs, wanted, target, packer, max_deletions)
    script = page_script()
    digest = base64.b64encode(hashlib.sha256(script.encode()).digest()).decode()
    page = Template(_part("page.html")).substitute(
        title=words(f"phist explains {name}"),
        name=words(name),
        version=words(__version__),
        style=template_part("palette.css") + _part("style.css"),
        script=script,
        script_hash=f"sha256-{digest}",
        data=embed(content),
        arrays=packer.text(),
    )
    if len(page.encode()) > MOST_BYTES:
        raise ConfigError(
            f"the page would have {len(page) / 1e6:.1f} MB; at most {MOST_BYTES / 1e6:.0f} MB are sensible: "
            "explain fewer graphs, such as a part of the data"
        )
    return page


def page_script() -> str:
    """The modules of the page as one script."""
    return '"use strict";\n(() => {\n' + "\n".join(_part(f"{name}.js") for name in SCRIPTS) + "})();\n"


def _part(name: str) -> str:
    return files("phist.explain.page").joinpath("templates", name).read_text(encoding="utf-8")
