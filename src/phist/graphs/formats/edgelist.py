"""Edge lists: one graph per file, one edge per line."""

import ast
import re
from pathlib import Path

import numpy as np

from phist.errors import GraphInputError, brief
from phist.graphs.formats.text import as_weight, number_names, read_text
from phist.graphs.loose import LooseGraph

SUFFIXES = (".edges", ".edgelist", ".txt", ".csv", ".tsv")
_SEPARATOR = re.compile(r"[,;\s]+")
_LONGEST_ATTRIBUTES = 10_000  # characters behind an edge; what is nested deeper than that holds could exhaust the stack
_HEADERS = (["source", "target"], ["source", "target", "weight"])


def read_edge_list(path: Path) -> LooseGraph:
    """Lines ``source target`` or ``source target weight``, parted by blanks, commas or semicolons.

    Nodes may have any names. A line with one name declares a node, which keeps nodes without edges. Lines that begin
    with ``#`` or ``%`` are comments, a first line ``source,target[,weight]`` is a header, and what networkx writes
    behind an edge (``{'weight': 2.0}``) is understood.
    """
    rows = _rows(path)
    alone = [row[0] for row in rows if len(row) == 1]
    edges = [row for row in rows if len(row) > 1]
    weighted = [len(row) == 3 for row in edges]
    if any(weighted) and not all(weighted):
        source, target = (brief(end, 60) for end in edges[weighted.index(False)][:2])
        raise GraphInputError(f"{path}: edge {source}-{target} has no weight while others have; give every edge one or none")
    names, numbers = number_names([*(row[0] for row in edges), *(row[1] for row in edges), *alone])
    weights = np.array([as_weight(row[2], _place(path, row)) for row in edges]) if any(weighted) else None
    return LooseGraph(len(names), numbers[: len(edges)], numbers[len(edges) : 2 * len(edges)], weights, is_edge_list=True)


def _place(path: Path, row: list[str]) -> str:
    return f"{path}, edge {brief(row[0], 60)}-{brief(row[1], 60)}"


def _rows(path: Path) -> list[list[str]]:
    rows = []
    for number, line in enumerate(read_text(path).splitlines(), start=1):
        if line.strip() and line.lstrip()[0] not in "#%":
            rows.append(_fields(line, f"{path}, line {number}"))
    if rows and [field.lower() for field in rows[0]] in _HEADERS:
        del rows[0]
    if not rows:
        raise GraphInputError(f"{path} lists no edge and no node; a graph needs at least one node")
    return rows


def _fields(line: str, place: str) -> list[str]:
    ends, brace, attributes = line.partition("{")
    fields = [field for field in _SEPARATOR.split(ends) if field]
    if brace:
        fields += _networkx_weight(brace + attributes, place)
    if not 1 <= len(fields) <= 3:
        raise GraphInputError(f"{place}: {line.strip()[:60]!r} is not an edge; write: source target [weight]")
    return fields


def _networkx_weight(text: str, place: str) -> list[str]:
    try:
        attributes = ast.literal_eval(text.strip()) if len(text) < _LONGEST_ATTRIBUTES else None
    except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError) as error:
        raise GraphInputError(f"{place}: {text[:60]!r} is not a list of edge attributes; write: source target [weight]") from error
    if not isinstance(attributes, dict):
        raise GraphInputError(f"{place}: {text[:60]!r} is not a list of edge attributes; write: source target [weight]")
    return [str(attributes["weight"])] if "weight" in attributes else []
