"""JSONL: one graph per line."""

import json
from pathlib import Path
from typing import Any

import numpy as np

from phist.errors import GraphInputError, brief, shown
from phist.graphs.arrays import IntArray
from phist.graphs.formats.text import as_weight, number_names
from phist.graphs.graphset import GraphSet
from phist.graphs.loose import MOST_NODES, LooseGraph, pack_loose
from phist.graphs.packing import Reading

SUFFIXES = (".jsonl", ".ndjson")
_EXAMPLE = 'write: {"edges": [[0, 1], [1, 2]], "n_nodes": 3, "label": "path"}'


def read_jsonl(path: Path, reading: Reading) -> GraphSet:
    """Read objects with ``edges`` (rows ``[source, target]`` or ``[source, target, weight]``) and what else they say:

    ``n_nodes`` (nodes are then 0 to n_nodes - 1) or ``nodes`` (their names, in order), ``weights`` (one for each edge,
    in place of a third number in each), ``label``, ``id``, and ``directed`` (``true``: rows are arcs; ``false``: rows are
    undirected edges, whatever is asked for).
    """
    with path.open("rb") as file:
        graphs = [parse_line(line, f"{path}, line {number}") for number, line in enumerate(file, start=1) if line.strip()]
    if not graphs:
        raise GraphInputError(f"{path} is empty; {_EXAMPLE}")
    labels = [graph.label for graph in graphs]
    return pack_loose(graphs, reading, labels=None if all(label is None for label in labels) else labels)


def parse_line(line: bytes, place: str) -> LooseGraph:
    """The graph of one line, which messages call ``place``."""
    try:
        content = json.loads(line.decode("utf-8-sig"))
    except (ValueError, RecursionError) as error:
        raise GraphInputError(f"{place} is not JSON ({brief(error)}); {_EXAMPLE}") from error
    if not isinstance(content, dict) or not isinstance(content.get("edges"), list):
        raise GraphInputError(f"{place} is not an object with a list of edges; {_EXAMPLE}")
    return parse_graph(content, place)


def parse_graph(content: dict[str, Any], place: str) -> LooseGraph:
    """The graph that an object with a list of ``edges`` describes."""
    edges = content["edges"]
    for edge in edges:
        if not isinstance(edge, list) or len(edge) not in (2, 3) or not all(_is_name(end) for end in edge[:2]):
            raise GraphInputError(f"{place}: {shown(edge)} is not an edge; write [source, target] or [source, target, weight]")
    directed = content.get("directed")
    if directed not in (None, True, False):
        raise GraphInputError(f"{place}: directed is {shown(directed)}; write true or false, or leave it out")
    for key in ("label", "id"):
        if isinstance(content.get(key), list | dict):
            raise GraphInputError(f"{place}: {key} is a {type(content[key]).__name__}; write one number or name")
    n_nodes, ends = _nodes(content, place)
    graph = LooseGraph(
        n_nodes,
        ends[:, 0],
        ends[:, 1],
        _weights(content, place),
        is_edge_list=directed is None,
        label=content.get("label"),
        id=content.get("id"),
    )
    return graph.mirrored() if directed is False else graph


def _nodes(content: dict[str, Any], place: str) -> tuple[int, IntArray]:
    """How many nodes, and the ends of the edges as numbers (edges, 2)."""
    names = [end for edge in content["edges"] for end in edge[:2]]
    if content.get("n_nodes") is not None:
        n_nodes = content["n_nodes"]
        if not _is_number(n_nodes) or n_nodes > MOST_NODES:
            raise GraphInputError(f"{place}: n_nodes={shown(n_nodes)} is not a whole number up to {MOST_NODES:,}; correct it")
        odd = next((name for name in names if not _is_number(name) or not 0 <= name < n_nodes), None)
        if odd is not None:
            raise GraphInputError(
                f"{place}: {shown(odd)} does not fit: with n_nodes={n_nodes}, nodes are whole numbers from 0 below it"
            )
        return n_nodes, np.array(names, dtype=np.int64).reshape(-1, 2)
    if content.get("nodes") is None:
        distinct, numbers = number_names(names)
        return len(distinct), numbers.reshape(-1, 2)
    return _named_nodes(content["nodes"], names, place)


def _named_nodes(nodes: Any, names: list[Any], place: str) -> tuple[int, IntArray]:
    if not isinstance(nodes, list) or not all(_is_name(node) for node in nodes) or len(set(nodes)) != len(nodes):
        raise GraphInputError(f"{place}: nodes must be a list of different names; or give n_nodes instead")
    number = {node: position for position, node in enumerate(nodes)}
    missing = next((name for name in names if name not in number), None)
    if missing is not None:
        raise GraphInputError(f"{place}: an edge ends at {shown(missing)}, which is not in nodes; add it or correct the edge")
    return len(nodes), np.array([number[name] for name in names], dtype=np.int64).reshape(-1, 2)


def _weights(content: dict[str, Any], place: str) -> Any:
    edges, weights = content["edges"], content.get("weights")
    own = [edge[2] for edge in edges if len(edge) == 3]
    if weights is None:
        if own and len(own) < len(edges):
            raise GraphInputError(f"{place}: some edges have a weight and some have none; give every edge one or none")
        weights = own
    elif own or not isinstance(weights, list) or len(weights) != len(edges):
        raise GraphInputError(
            f"{place}: weights is {shown(weights)}; a list of {len(edges)} numbers is needed, one for each edge, "
            "which then has no weight of its own"
        )
    return np.array([as_weight(weight, place) for weight in weights], dtype=np.float64) if weights else None


def _is_number(value: Any) -> bool:
    return type(value) is int


def _is_name(value: Any) -> bool:
    return isinstance(value, str) or _is_number(value)
